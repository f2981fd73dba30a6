"""Why versions are refused where persons have several rows: persons come again, and differences show who came first."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from sqlanon.statistics.choose import UnservedError
from tests.oracle.table_reader import Cell
from tests.unit.cells.made import tiny
from tests.unit.cells.persons_made import Persons

pytest.importorskip("highspy")

M = 3
Visits = list[tuple[int, tuple[int, int]]]
"""Persons, each with the combination of a row."""


def drawn_visits(seed: object) -> tuple[Visits, Visits]:
    """Rows of a night, and those of the next one: of persons who were there before, and of some new ones."""
    draw = random.Random(str(seed))

    def rows(persons: list[int]) -> Visits:
        return [
            (person, (draw.randrange(2), draw.randrange(2))) for person in persons for _ in range(1 + draw.randrange(2))
        ]

    first = rows(list(range(16)))
    return first, rows(draw.sample(range(16), 6) + list(range(16, 18)))


def case_of(rows: Visits) -> Persons:
    case = tiny(dict(Counter(codes for _, codes in rows)))
    places = {codes: place for place, codes in enumerate(case.counts)}
    kinds: dict[int, list[int]] = {}
    for person, codes in rows:
        kinds.setdefault(person, []).append(places[codes])
    return Persons(case, dict(Counter(tuple(sorted(kind)) for kind in kinds.values())), M)


def shown_cells(rows: Visits) -> set[Cell]:
    """The cells of some rows that are shown, where these are protected by themselves."""
    made = case_of(rows)
    hidden = made.hidden_of(made.protect(insiders=False))
    return {cell for cell, hide in zip(made.case.cells, hidden, strict=True) if not hide}


def inside(cell: Cell, codes: tuple[int, int]) -> bool:
    return all(code in (None, own) for code, own in zip(cell, codes, strict=True))


def find_first_visits(seed: object) -> tuple[int, int]:
    """Cells to which a small number of persons came for the first time, and those of which the difference shows it.

    The rows of each night are protected by themselves, and a cell that is shown in both goes on, with its rows and
    persons.
    """
    first, second = drawn_visits(seed)
    try:
        shown = shown_cells(first) & shown_cells(second)
    except UnservedError:
        return 0, 0
    few = found = 0
    for cell in case_of(first + second).case.cells:
        before, now = ({who for who, codes in rows if inside(cell, codes)} for rows in (first, first + second))
        if 0 < len(now - before) < M:
            few += 1
            found += cell in shown
    return few, found


def find_single_persons(seed: int) -> tuple[int, int]:
    """Cells to which one person came with at least as many rows as are small, and those of which the number is shown.

    Nothing says whose rows are new: as many rows of each combination as are new are taken, whoever has them.
    """
    draw = random.Random(seed)
    first = [(person, (draw.randrange(2), draw.randrange(2))) for person in range(24)]
    second = [(100, (0, 0))] * M + [(101 + at, (1, draw.randrange(2))) for at in range(12)]
    taken = [
        (who, codes)
        for place, (who, codes) in enumerate(first + second)
        if sum(codes == own for _, own in (first + second)[:place]) < sum(codes == own for _, own in second)
    ]
    try:
        shown = shown_cells(taken)
    except UnservedError:
        return 0, 0
    cells = [
        cell for cell in case_of(second).case.cells if {who for who, codes in second if inside(cell, codes)} == {100}
    ]
    return len(cells), sum(cell in shown for cell in cells)


def total(found: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(few for few, _ in found), sum(seen for _, seen in found)


def test_differences_of_persons_show_who_came_for_the_first_time() -> None:
    few, found = total([find_first_visits(seed) for seed in range(6)])
    assert few
    assert found


def test_rows_of_one_person_are_taken_for_those_of_several() -> None:
    few, found = total([find_single_persons(seed) for seed in range(10)])
    assert (few, found) == (20, 18)


@pytest.mark.thorough
def test_how_often_differences_show_it() -> None:
    """The figures of docs/statistics.md."""
    assert total([find_first_visits(seed) for seed in range(100)]) == (509, 248)
    assert total([find_single_persons(seed) for seed in range(100)]) == (200, 194)
