"""Rows and persons, where a person has several rows: what is hidden is hidden from who tries every source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from sqlanon.statistics.choose import HiddenChoice, choose_hidden
from sqlanon.statistics.hide_patterns import bound_both
from sqlanon.statistics.person_bounds import bound_persons
from sqlanon.statistics.reader_cells import UNBOUNDED
from sqlanon.statistics.system import Atoms, PublishedCells, build_system
from sqlanon.statistics.unserved import UnservedError
from tests.oracle.person_reader import Rows
from tests.oracle.table_reader import Cell
from tests.unit.cells.persons_made import Persons, of_rows, persons
from tests.unit.cells.readers import failing_persons

pytest.importorskip("highspy")

M = 3
BOTH = ("n", "persons")
ALONE = ("persons",)


def protect(case: Persons, *, insiders: bool) -> HiddenChoice | None:
    """The hidden cells; None: nothing may be published, or the grand total is hidden, and readers have no end."""
    try:
        found = case.protect(insiders=insiders)
    except UnservedError:
        return None
    total = case.case.cells.index(tuple(None for _ in case.case.cells[0]))
    return None if case.hidden_of(found)[total] else found


DRAWN = [
    *((measures, seed, {"many": 7}) for measures in (BOTH, ALONE) for seed in range(4)),
    *((measures, seed, {"constant": (0,)}) for measures in (BOTH, ALONE) for seed in range(4)),
    *((measures, seed, {"most": 3, "many": 5}) for measures in (BOTH, ALONE) for seed in range(2)),
    *(
        (measures, seed, {"shape": (2, 2, 2), "tables": [(0, 1), (1, 2)]})
        for measures in (BOTH, ALONE)
        for seed in range(3)
    ),
]
SMALL = {"shape": (2, 2), "many": 8}
QUICK = [(BOTH, 2, SMALL), (ALONE, 0, SMALL), (BOTH, 1, {"constant": (0,)}), (ALONE, 1, {"constant": (0,)})]
CASES = [
    *(pytest.param(*case, id=f"quick{place}") for place, case in enumerate(QUICK)),
    *(pytest.param(*case, id=f"drawn{place}", marks=pytest.mark.thorough) for place, case in enumerate(DRAWN)),
]


@pytest.mark.parametrize(("measures", "seed", "how"), CASES)
def test_no_reader_finds_a_small_cell(measures: Sequence[str], seed: int, how: dict[str, object]) -> None:
    case = persons(("persons", seed), **{"many": 6, "measures": measures, **how})  # type: ignore[arg-type]
    found = protect(case, insiders=False)
    if found is not None:
        assert failing_persons(case, case.hidden_of(found)) == []


@pytest.mark.parametrize(("measures", "seed", "how"), CASES)
def test_nobody_who_is_alone_finds_another_small_cell(
    measures: Sequence[str], seed: int, how: dict[str, object]
) -> None:
    case = persons(("alone", seed), **{"many": 6, "measures": measures, **how})  # type: ignore[arg-type]
    found = protect(case, insiders=True)
    if found is not None:
        for known in case.alone():
            assert failing_persons(case, case.hidden_of(found), known) == []


@pytest.mark.parametrize(("measures", "seed", "how"), CASES)
def test_witnesses_are_sources_that_agree_with_what_is_shown(
    measures: Sequence[str], seed: int, how: dict[str, object]
) -> None:
    case = persons(("witness", seed), **{"many": 8, "measures": measures, **how})  # type: ignore[arg-type]
    try:
        found = case.protect(insiders=True)
    except UnservedError:
        return
    system, hidden = case.system(), case.hidden_of(found)
    assert system.wholes is not None
    able = set(case.able(max(len(kind) for kind in case.source)))
    for change in found.witnesses:
        numbers = system.atoms.count + change
        assert (numbers >= 0).all()
        source: dict[Rows, int] = {}
        for part, number in enumerate(numbers.tolist()):
            atoms, times = system.wholes.entries(part)
            rows = tuple(np.repeat(atoms, times).tolist())
            if number:
                source[rows] = number
            assert not change[part] or "n" not in measures or rows in able
        witness = replace(case, source=source)
        for cell, hide in zip(case.case.cells, hidden, strict=True):
            assert witness.persons(cell) >= 1
            assert hide or witness.numbers(cell) == case.numbers(cell)


@pytest.mark.parametrize(("measures", "seed", "how"), CASES[:4])
def test_bounds_hold_in_every_source(measures: Sequence[str], seed: int, how: dict[str, object]) -> None:
    case = persons(("bounds", seed), **{"many": 6, "measures": measures, **how})  # type: ignore[arg-type]
    found = protect(case, insiders=False)
    if found is None:
        return
    hidden = case.hidden_of(found)
    shape = type("Published", (), {"has_rows": "n" in measures})
    bounds = bound_both(case.system(), found, shape)  # type: ignore[arg-type]
    seen = case.read(case.shown(hidden), case.case.cells)
    for of, cell in enumerate(case.case.cells):
        counts = [count for _, count in seen[cell]]
        assert bounds["least"][of] <= min(counts)
        assert bounds["most"][of] == -1 or bounds["most"][of] >= max(counts)
        if "n" in measures:
            numbers = [rows for rows, _ in seen[cell]]
            assert bounds["low"][of] <= min(numbers)
            assert bounds["high"][of] == -1 or bounds["high"][of] >= max(numbers)


def narrow(case: Persons, hidden: Sequence[bool]) -> list[Cell]:
    """The small cells that cannot have as few persons as finest cells, or as many as the threshold."""
    found = case.read(case.shown(hidden), case.small)
    return [
        cell
        for cell in case.small
        if max(count for _, count in found[cell]) < case.threshold
        or min(count for _, count in found[cell]) > min(case.case.parts(cell), case.threshold)
    ]


def compare(case: Persons, hidden: npt.NDArray[np.bool_]) -> None:
    """What a naive scheme hides gives a small cell away, and what is published instead does not."""
    assert narrow(case, [bool(hidden[of]) for of in case.rows().listed])
    found = protect(case, insiders=False)
    assert found is None or not narrow(case, case.hidden_of(found))


@pytest.mark.parametrize("measures", [BOTH, ALONE])
def test_small_cells_that_are_hidden_alone_are_found(measures: Sequence[str]) -> None:
    """Persons do not add up, but a whole has no more of them than its parts together."""
    case = persons(("small", 0), shape=(2, 2), many=8, measures=measures)
    compare(case, case.rows().small)


@pytest.mark.parametrize("measures", [BOTH, ALONE])
def test_rows_that_are_protected_alone_give_persons_away(measures: Sequence[str]) -> None:
    """A reader of rows finds nothing, and a reader of persons does."""
    case = persons(("rows", 0), shape=(2, 2), many=8, measures=measures)
    compare(case, choose_hidden(case.rows(), M, insiders=False, secret=b"key").hidden)


@pytest.mark.parametrize(("seed", "shape", "many", "threshold"), [(19, (2, 3), 6, 2), (1, (2, 2), 8, 3)])
def test_persons_that_are_taken_to_add_up_are_found(
    seed: int, shape: tuple[int, ...], many: int, threshold: int
) -> None:
    """Persons of the finest cells are added up, as if nobody had rows in two of them."""
    case = persons(("added", seed), shape=shape, many=many, threshold=threshold)
    system = case.rows()
    count = np.array([case.persons(cell) for cell in case.case.counts], np.int64)
    added = replace(system, atoms=replace(system.atoms, count=count))
    added = replace(added, value=added.sums(count))
    compare(case, choose_hidden(added, threshold, insiders=False, secret=b"key").hidden)


def test_a_person_of_two_cells_is_not_added_up() -> None:
    """By hand: three persons of the north and three of the south are five, as one has rows in both."""
    rows = [[(0,)], [(0,)], [(0,), (1,)], [(1,)], [(1,)]]
    case = of_rows(rows, threshold=2)
    assert [case.persons(cell) for cell in ((0,), (1,), (None,))] == [3, 3, 5]
    system = case.system()
    assert dict(zip(case.case.cells, system.value[system.listed].tolist(), strict=True)) == {
        (0,): 3,
        (1,): 3,
        (None,): 5,
    }


def test_bounds_of_persons_take_no_cells_of_two_tables_for_the_same() -> None:
    """Two tables of one column each: that the first cells of both have the same rows is nothing that readers know."""
    nodes = np.array([[0, 1]])
    atoms = Atoms((nodes, nodes), np.array([3, 1]), np.array([-1, -1]))
    levels = np.array([[1, 0, 0, 1, 1], [1, 1, 1, 0, 0]])
    cells = PublishedCells(levels, np.array([0, 0, 1, 0, 1]), np.zeros(5, bool))
    system = build_system(atoms, cells, [(0, 1), (1, 0)], b"key")
    hidden, persons = np.array([False, True, False, True, True]), np.array([4, 3, 1, 3, 1])
    low, high = bound_persons(system, persons, hidden, np.full(5, UNBOUNDED))
    assert low.tolist() == [4, 3, 1, 1, 1]
    assert high.tolist() == [4, 4, 1, 4, 4]
