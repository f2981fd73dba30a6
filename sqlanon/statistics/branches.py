"""The rows of persons in each table of a release, as traces; see `sqlanon.statistics.traces`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


Trace = tuple[tuple[int, int], ...]
"""Cells or combinations with rows, in ascending order, each with how many."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A table of the tree.

    Attributes:
        columns: the places of its columns, in ascending order.
        shared: those that it shares with the tables before.
        cells: int64[columns, n], the finest code of each of its finest cells.
        of: the traces, rows of finest cells.
        start: number of the first of them, over all tables.
    """

    columns: tuple[int, ...]
    shared: tuple[int, ...]
    cells: Longs
    of: tuple[Trace, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of persons in each table.

    Attributes:
        branches: the tables, each after one that has all columns that it shares with those before.
        persons: int64[traces], how many persons have each.
        patterns: the patterns that persons have, over finest combinations.
        numbers: int64[patterns], how many persons have each.
        traces: int64[branches, patterns], the trace of each pattern in each table.
        first: int64[cells], a finest combination of each published cell.
    """

    branches: tuple[Branch, ...]
    persons: Longs
    patterns: tuple[Trace, ...]
    numbers: Longs
    traces: Longs
    first: Longs
