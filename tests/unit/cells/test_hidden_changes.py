"""Changes of hidden cells alone keep every shown cell, meet their demand, and are found where a table has it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sqlanon.statistics import choose, hidden_changes, improve_choice
from sqlanon.statistics.count_search import CountSearch
from sqlanon.statistics.demands import Demand
from sqlanon.statistics.hidden_changes import HiddenChanges
from sqlanon.statistics.system import System
from sqlanon.statistics.work import Work
from tests.unit.cells.made import drawn, tiny

pytest.importorskip("highspy")

M = 3
MOST = 5
"""The reader tries numbers of each combination up to it."""


def system_of(seed: object, shape: tuple[int, ...] = (2, 3)) -> System:
    """A table without empty combinations."""
    return tiny({codes: count + 1 for codes, count in drawn(seed, shape, 3).items()}).system(M)


def draw_hidden(system: System, draw: np.random.Generator) -> np.ndarray:
    """Some hidden classes, the finest ones among them more often."""
    hidden: np.ndarray = draw.random(len(system)) < np.where(np.diff(system.at) == 1, 0.8, 0.5)
    return hidden


def list_changes(system: System, hidden: np.ndarray) -> np.ndarray:
    """Every table that has the shown numbers and leaves no cell empty, as sums of all classes less the true ones."""
    tables = np.array(list(itertools.product(range(MOST + 1), repeat=len(system.atoms.count))), np.int64)
    sums = np.stack([tables[:, system.members(cell)].sum(axis=1) for cell in range(len(system))], axis=1)
    agree = (sums[:, ~hidden] == system.value[~hidden]).all(axis=1) & (sums >= 1).all(axis=1)
    changes: np.ndarray = sums[agree] - system.value
    return changes


def make(system: System, hidden: np.ndarray) -> HiddenChanges:
    return HiddenChanges(system, hidden, Work(), np.random.default_rng(0))


def list_demands(system: System) -> list[Demand]:
    return [
        demand
        for cell in range(len(system))
        for amount in (1, 2)
        for demand in (Demand(cell, None, amount), Demand(cell, -amount, None))
    ]


def check(system: System, hidden: np.ndarray, demand: Demand, change: np.ndarray) -> None:
    """A change is what was demanded, by sums."""
    moved = np.array([change[system.members(cell)].sum() for cell in range(len(system))])
    assert not moved[~hidden].any()
    assert (system.value + moved >= 1).all()
    assert (system.atoms.count + change >= 0).all()
    assert demand.fewest is None or moved[demand.cell] >= demand.fewest
    assert demand.most is None or moved[demand.cell] <= demand.most


def test_what_is_found_is_a_change_and_what_exists_is_found() -> None:
    found = possible = 0
    for seed in range(4):
        system = system_of(("hidden", seed))
        hidden = draw_hidden(system, np.random.default_rng(seed))
        changes, inside = list_changes(system, hidden), make(system, hidden)
        for demand in list_demands(system):
            change = inside.solve(demand)
            moved = changes[:, demand.cell]
            exists = (moved >= demand.fewest if demand.fewest else moved <= (demand.most or 0)).any()
            possible += bool(exists)
            if change is not None:
                found += 1
                check(system, hidden, demand, change)
    assert possible > 30
    assert found >= possible


def test_a_class_that_is_shown_does_not_change_until_it_is_hidden_again() -> None:
    system = system_of("show")
    hidden = np.ones(len(system), bool)
    inside, first = make(system, hidden), make(system, hidden)
    for cell in range(len(system)):
        inside.show(cell)
        less = hidden & (np.arange(len(system)) != cell)
        for demand in list_demands(system):
            change = inside.solve(demand)
            if change is not None:
                check(system, less, demand, change)
        inside.reset(cell)
    for demand in list_demands(system):
        assert (inside.solve(demand) is None) == (first.solve(demand) is None)


def test_classes_that_are_shown_for_good_are_as_if_never_hidden() -> None:
    system = system_of("keep")
    inside, draw = make(system, np.ones(len(system), bool)), np.random.default_rng(3)
    hidden = draw_hidden(system, draw)
    assert inside.holds(hidden)
    inside.keep(hidden)
    new = make(system, hidden)
    assert not inside.holds(np.ones(len(system), bool))
    for demand in list_demands(system):
        change = inside.solve(demand)
        assert (change is None) == (new.solve(demand) is None)
        if change is not None:
            check(system, hidden, demand, change)


def test_atoms_that_an_insider_knows_stay() -> None:
    system = system_of("known")
    inside = make(system, np.ones(len(system), bool))
    for demand in list_demands(system):
        for atom in range(3):
            change = inside.solve(Demand(demand.cell, demand.most, demand.fewest, (atom,), (), ((atom + 3, -1),)))
            if change is not None:
                check(system, np.ones(len(system), bool), demand, change)
                assert change[atom] == 0
                assert change[atom + 3] >= -1


@pytest.mark.parametrize("insiders", [False, True])
def test_a_search_with_them_leaves_no_end_unserved(insiders: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_changes, "FEWEST_CLASSES", 0)
    monkeypatch.setattr(improve_choice, "IDLE", 1)
    found = 0
    for seed in range(3):
        system = tiny(drawn(("search", seed), (3, 4), 6)).system(M)
        persons = choose.insiders_of(system) if insiders else []
        search = CountSearch(system, M, persons, (Work(), system.small.copy()))
        for cell in np.flatnonzero(system.small).tolist():
            for low in (True, False):
                search.serve(cell, low=low)
        before = float((1 + improve_choice.PER_LEVEL * system.height)[search.hidden].sum())
        improve_choice.serve_again(search, b"key")
        assert float((1 + improve_choice.PER_LEVEL * system.height)[search.hidden].sum()) <= before
        assert not search.list_served().unserved.any()
        moved = np.stack([system.sums(change) for change in search.changes])
        assert (search.hidden == (system.small | (moved != 0).any(axis=0))).all()
        assert (system.atoms.count + search.changes >= 0).all()
        found += len(search.changes)
    assert found > 3


def test_systems_with_other_rules_have_none() -> None:
    system = system_of("fits")
    assert not HiddenChanges.fits(system, np.ones(len(system), bool))  # it is too small


def test_systems_whose_atoms_are_mostly_no_cells_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two tables with a column in common: all combinations may change, and the tableau has the square of them."""
    counts = dict.fromkeys(itertools.product(range(4), repeat=3), 2)
    linked, whole = (tiny(counts, tables).system(M) for tables in ([(0, 1), (1, 2)], None))
    few = np.arange(len(linked)) < 3
    monkeypatch.setattr(hidden_changes, "FEWEST_CLASSES", 0)
    assert HiddenChanges.fits(linked, few)
    monkeypatch.setattr(hidden_changes, "MOST_TABLEAU", 64 * (64 + len(linked)) - 1)
    assert not HiddenChanges.fits(linked, few)
    assert HiddenChanges.fits(whole, np.arange(len(whole)) < 3)
