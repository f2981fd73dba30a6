"""Every division of a few rows: into runs of an order, and into any classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.oracle.domains import Table
from tests.oracle.extent import extent

Rows = tuple[int, ...]


def runs(rows: Sequence[int], allowed: Callable[[Rows], bool]) -> Iterator[list[Rows]]:
    """Every division of a sequence into consecutive classes that are allowed."""
    if not rows:
        yield []
        return
    for size in range(1, len(rows) + 1):
        head = tuple(rows[:size])
        if allowed(head):
            for tail in runs(rows[size:], allowed):
                yield [head, *tail]


def partitions(rows: Sequence[int], allowed: Callable[[Rows], bool]) -> Iterator[list[Rows]]:
    """Every partition into classes that are allowed."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for chosen in range(2 ** len(rest)):
        own = (first, *(row for at, row in enumerate(rest) if chosen >> at & 1))
        if allowed(own):
            others = [row for at, row in enumerate(rest) if not chosen >> at & 1]
            for tail in partitions(others, allowed):
                yield [own, *tail]


def wide(table: Table, rows: Sequence[int]) -> int:
    """Weighted sum of the extents of a class."""
    return sum(column.weight * extent(column, rows) for column in table.quasi)


def gcp(table: Table, classes: Sequence[Sequence[int]]) -> int:
    """Sum of rows x extents."""
    return sum(len(rows) * wide(table, rows) for rows in classes)


def sum_of_extents(table: Table, classes: Sequence[Sequence[int]]) -> int:
    """The paper's IL1 before it is divided by the number of classes."""
    return sum(wide(table, rows) for rows in classes)


def most_extent(table: Table, classes: Sequence[Sequence[int]]) -> int:
    """IL-infinity."""
    return max(wide(table, rows) for rows in classes)


OBJECTIVES = (gcp, sum_of_extents, most_extent)
"""In the order of the kernels' numbers."""
