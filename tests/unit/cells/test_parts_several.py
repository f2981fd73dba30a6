"""Several releases of rows next to counts: what is safe next to each of them by itself is found by readers of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.oracle.class_reader import ENDS, MEMBERS, Row, agreeing, tables_of
from tests.unit.cells.made import Tiny
from tests.unit.cells.test_parts import M, drawn_classes, joint_system, protect, shown_by, tiny_of

pytest.importorskip("highspy")

Table = tuple[int, ...]


def divide(rows: Sequence[Row], first: int, size: int) -> list[list[Row]]:
    """Classes of rows that are near in a column."""
    ordered = sorted(rows, key=lambda row: (row[first], row[1 - first]))
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]


def find(case: Tiny, shown: Mapping[tuple[object, ...], int | None], *releases: set[Table]) -> int:
    """The small cells that a reader of the counts and of some releases of rows finds to be small, or exactly.

    A small cell may have as few rows as these releases allow by themselves.
    """
    alone = set.intersection(*releases)
    both = list(agreeing(alone, dict(case.within), dict(shown)))
    exposed = 0
    for cell, number in case.value.items():
        if number < M:
            sums = {sum(one[at] for at in case.within[cell]) for one in both}
            least = min(sum(one[at] for at in case.within[cell]) for one in alone)
            most = max(sum(one[at] for at in case.within[cell]) for one in alone)
            exposed += most >= M and (min(sums) > least or max(sums) < M)
    return exposed


def count(seeds: range, ways: tuple[str, str]) -> tuple[int, int, int]:
    """Small cells; those that a reader of the counts and of either release finds; and those that one of all finds."""
    small = by_one = by_all = 0
    for seed in seeds:
        rows = [row for one in drawn_classes(("several", seed), (2, 4), 5, 3) for row in one]
        first, second = divide(rows, 0, 5), divide(rows, 1, 5)
        case = tiny_of(first)
        systems = [joint_system(case, classes, ways) for classes in (first, second)]
        choices = [protect(system, insiders=False) for system in systems]
        if choices[0] is None or choices[1] is None:
            continue
        shown = shown_by(case, systems[0], choices[0])
        other = shown_by(case, systems[1], choices[1])
        cells = {cell: number if other[cell] is not None else None for cell, number in shown.items()}
        tables = [tables_of(classes, ways, list(case.counts)) for classes in (first, second)]
        small += sum(number < M for number in case.value.values())
        by_one += find(case, cells, tables[0]) + find(case, cells, tables[1])
        by_all += find(case, cells, *tables)
    return small, by_one, by_all


def test_counts_that_are_safe_next_to_each_release_are_found_next_to_both() -> None:
    """Why several releases of rows are refused: a cell is hidden here where either of them asks for it."""
    small, by_one, by_all = count(range(30), (ENDS, ENDS))
    assert small
    assert by_one == 0
    assert by_all


@pytest.mark.thorough
def test_how_many_cells_are_found_next_to_two_releases() -> None:
    """The figures of docs/statistics.md."""
    assert count(range(60), (ENDS, ENDS)) == (219, 0, 6)
    assert count(range(60), (MEMBERS, MEMBERS)) == (180, 0, 6)
