"""Changes of sums that move no cell, or hidden cells alone: found where they exist, and no contribution is seen."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sqlanon.statistics.amounts import Amounts
from sqlanon.statistics.exchanges import Exchanges, serve_within_cells
from sqlanon.statistics.system import System
from tests.unit.cells.sums_made import Given, Rules
from tests.unit.cells.test_sums import check, found_persons, protect

pytest.importorskip("highspy")

APART = ((0,), (1,))
"""Two tables of one column each: no finest combination is published."""
TREE = ((0, 1), (1, 2))
"""Two tables with a common column."""


def draw_given(
    seed: object,
    shape: Sequence[int],
    tables: tuple[tuple[int, ...], ...],
    together: tuple[int, int] = (1, 2),
    of: tuple[int, int] = (5, 2),
    rules: Rules = Rules(30, high=2),  # noqa: B008 - frozen
) -> Given:
    """Rows of few persons in each combination, so that most of so many have rows in several; values up to a number."""
    draw = random.Random(str(seed))
    rows = {}
    for at in np.ndindex(*shape):
        inside = draw.sample(range(1, of[0] + 1), draw.randint(*together))
        rows[tuple(map(int, at))] = {person: [draw.randint(0, of[1])] for person in inside}
    return Given(rows, rules, tables)


def meets(change: tuple[int, ...], box: Sequence[tuple[int, int]], cells: Sequence[Sequence[int]]) -> bool:
    inside = all(low <= by <= high for by, (low, high) in zip(change, box, strict=True))
    return inside and not any(sum(change[at] for at in places) for places in cells)


def box_of(amounts: Amounts, person: int, *, more: bool) -> list[tuple[int, int]]:
    """The changes of each combination by the definition."""
    box = list(zip(amounts.low.tolist(), amounts.high.tolist(), strict=True))
    contributor = amounts.contributors[person]
    ends = contributor.more if more else contributor.less
    for place, atom in enumerate(contributor.atoms.tolist()):
        box[atom] = int(ends[0, place]), int(ends[1, place])
    return box


@pytest.mark.parametrize("tables", [APART, TREE])
def test_a_change_that_moves_no_cell_is_found_where_there_is_one(tables: tuple[tuple[int, ...], ...]) -> None:
    shape = (2, 2) if tables is APART else (2, 1, 2)
    found = missing = 0
    for seed in range(4):
        given = draw_given(("exists", seed), shape, tables)
        system = given.system()
        amounts = given.amounts(system)
        exchanges = Exchanges(system, amounts)
        cells = list(given.counts.within.values())
        for place, person in enumerate(amounts.contributors):
            for more in (True, False):
                box = [(max(low, -2), min(high, 2)) for low, high in box_of(amounts, place, more=more)]
                ranges = [range(low, high + 1) for low, high in box]
                exists = any(meets(change, box, cells) for change in itertools.product(*ranges))
                change = exchanges.serve(person, more=more)
                assert (change is not None) or not exists
                found, missing = found + exists, missing + (not exists)
                if change is not None:
                    whole = np.zeros(len(amounts.value), np.int64)
                    whole[change[0]] = change[1]
                    assert meets(tuple(whole.tolist()), box_of(amounts, place, more=more), cells)
    assert found
    assert missing


RULES = {"p": Rules(50, high=4), "share": Rules(30, (2, Fraction(85, 100)), high=4)}


def check_exchanged(seed: int, rules: str, shape: Sequence[int], tables: tuple[tuple[int, ...], ...]) -> None:
    """Nobody finds a contribution where some contributors are served by changes that move no cell."""
    given = draw_given(("apart", seed), shape, tables, (2, 3), (7, 3), RULES[rules])
    system = given.system()
    amounts = given.amounts(system)
    served = serve_within_cells(system, amounts)
    assert len(served.unserved) < len(amounts.contributors)
    for number in range(served.changes.many):
        change, inside = np.zeros(len(amounts.value), np.int64), served.changes.number == number
        change[served.changes.atom[inside]] = served.changes.change[inside]
        assert not system.sums(change).any()
    check(given)


@pytest.mark.parametrize(("seed", "rules"), [(6, "share")])
def test_nobody_finds_a_contribution_in_tables_without_all_columns(seed: int, rules: str) -> None:
    check_exchanged(seed, rules, (2, 2), APART)


@pytest.mark.thorough
@pytest.mark.parametrize(("seed", "rules"), [(3, "p"), (6, "p"), (10, "p"), (3, "share"), (13, "share")])
def test_nobody_finds_a_contribution_in_more_tables(seed: int, rules: str) -> None:
    check_exchanged(seed, rules, (2, 2), APART)
    check_exchanged(seed, rules, (2, 1, 2), TREE)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [3, 7, 13])
def test_nobody_finds_a_contribution_in_wider_tables(seed: int) -> None:
    check_exchanged(seed, "share", (2, 3), APART)


def show_by_range(given: Given) -> tuple[System, Amounts, Amounts]:
    """The demands, and those of a naive scheme: every amount may change as the range allows, whoever knows it."""
    system = given.system()
    amounts = given.amounts(system)
    return system, amounts, replace(amounts, low=amounts.least, high=amounts.most)


KNOWN = Given(
    {(0, 0): {1: [6]}, (0, 1): {2: [6]}, (1, 0): {3: [2], 4: [2], 5: [2]}, (1, 1): {6: [2], 7: [2], 8: [2]}},
    Rules(50, high=12),
    APART,
)
"""A cell of two persons, each in a combination of their own: each knows what the other has."""


def test_a_change_of_what_another_contributor_knows_protects_nobody() -> None:
    system, amounts, naive = show_by_range(KNOWN)
    assert not serve_within_cells(system, naive).unserved
    nothing = [False] * len(KNOWN.counts.cells)
    assert {(1, 2), (2, 1)} <= set(found_persons(KNOWN, nothing))
    unserved = {tuple(person.atoms.tolist()) for person in serve_within_cells(system, amounts).unserved}
    assert {(0,), (1,)} <= unserved
    _, protected = protect(KNOWN)
    assert found_persons(KNOWN, protected) == []


def test_a_direction_moves_the_cells_of_a_change_of_rows_alone() -> None:
    given = draw_given("direction", (3, 3), ((0, 1),), (3, 4))
    system = given.system()
    amounts = given.amounts(system)
    rows = np.zeros(9, np.int64)
    rows[[0, 1, 3, 4]] = [1, -1, -1, 1]
    exchanges = Exchanges(system, amounts, rows[np.newaxis])
    assert not exchanges.has_others
    moved = system.sums(rows) != 0
    found = 0
    for cell in np.flatnonzero(moved):
        for more in (True, False):
            change = exchanges.move_cell(int(cell), 1, more=more)
            if change is None:
                continue
            found += 1
            by = system.sums(change)
            assert not by[~moved].any()
            assert by[cell] >= 1 if more else by[cell] <= -1
    for person in amounts.contributors:
        for more in (True, False):
            change = exchanges.move_for_person(person, more=more)
            if change is not None:
                low, high = person.box(more=more)
                assert ((change[person.atoms] >= low) & (change[person.atoms] <= high)).all()
                assert not system.sums(change)[~moved].any()
                found += 1
    assert found
