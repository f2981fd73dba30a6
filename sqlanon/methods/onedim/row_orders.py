"""Orders: rows in order in memory, or keys by which the engine sorts them, and the settling of ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.canonical_order import settle
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.rows import Rows, TreeRows
from sqlanon.methods.base import Context
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.methods.shared.threads import spread_runs

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Ints, Longs


@dataclass(frozen=True, slots=True)
class OrderedRows:
    """Rows in order, as solvers take them.

    Attributes:
        rows: the rows, in order; ``number`` is the place of each in the loaded table.
        line, span: as in `SortedRows`.
    """

    rows: Rows
    line: Longs | None
    span: int


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Rows in order.

    Attributes:
        bare: the rows, in order; ``number`` is the place of each in the loaded table.
        line: int64[n], ascending keys with differences that are distances; None where the order has none.
        span: the largest key there can be.
    """

    bare: TreeRows
    line: Longs | None = None
    span: int = 0

    def arrange(self, geometry: Geometry, threads: int, *, codes: bool = True) -> OrderedRows:
        """The rows as they are now."""
        return OrderedRows(kernel_input.fill_rows(self.bare, geometry, threads, codes=codes), self.line, self.span)


@dataclass(frozen=True, slots=True)
class RankedRows:
    """Rows in memory by keys, before ties are settled.

    Attributes:
        order: int32[n], the places of the rows in the loaded table, by key.
        begins: bool[n], where in ``order`` another key begins.
        line, span: as in `SortedRows`.
        exact: equal keys mean equal codes.
    """

    order: Ints
    begins: Flags
    line: Longs
    span: int
    exact: bool


@dataclass(frozen=True, slots=True)
class SortKeys:
    """Keys in the database: a table (rid, one or more bigint columns to sort by); ``span`` as in `SortedRows`."""

    table: TableRef
    columns: tuple[str, ...]
    span: int = 0


class Order(Protocol):
    """A total order of rows: keys, and a rearrangement of the rows between fixed places."""

    rearranges: ClassVar[bool]
    """Whether `within` does anything."""

    def arrange(self, context: Context, loaded: LoadedTable) -> SortedRows:
        """Bring rows in memory into the order of their keys."""

    def kernels(self) -> tuple[object, ...]:
        """Functions that `within` calls, so that their compilation is announced."""

    def key_rows(self, context: Context, block: int) -> SortKeys:
        """Make a table of keys; memory is that of ``block`` rows, and of the order itself."""

    def within(self, context: Context, rows: TreeRows, geometry: Geometry) -> None:
        """Rearrange rows in the order of their keys, in place.

        Rows between two multiples of `ONE_TREE` are rearranged among themselves.
        """


def make_canonical(context: Context, loaded: LoadedTable) -> SortedRows:
    """By QI codes in column order, with the ties of every order: the start of methods that draw at random."""
    order = np.lexsort(tuple(loaded.codes[::-1])).astype(np.int32)
    begins = np.zeros(len(order), np.bool_)
    for column in loaded.codes:
        begins[1:] |= column[order[1:]] != column[order[:-1]]
    return arrange_rows(context, loaded, order, begins, exact=True)


def arrange_rows(
    context: Context,
    loaded: LoadedTable,
    order: Ints,
    begins: Flags,
    line: Longs | None = None,
    span: int = 0,
    *,
    exact: bool,
) -> SortedRows:
    """Break ties, then bring the rows into the order.

    Tied rows are in the order of ``loaded``; ``exact`` says that their codes are equal.
    """
    codes = loaded.codes[:0] if exact else loaded.codes
    settle_ties(loaded, order, begins, codes, context.threads)
    bare = kernel_input.bare_of(loaded.codes, order, loaded.geometry, context.threads)
    return SortedRows(bare, line, span)


def settle_ties(loaded: LoadedTable, order: Ints, begins: Flags, codes: Ints, threads: int) -> None:
    """Order the rows of every run of equal keys; see `settle` for ``codes``."""
    sensitive = loaded.sensitive_matrix
    # Rows of a tie are in the order in which they were loaded.
    rid = loaded.rid[: 0 if bool((loaded.rid[1:] > loaded.rid[:-1]).all()) else None]
    spread_runs(lambda begin, to: settle(order[begin:to], begins[begin:to], codes, sensitive, rid), begins, threads)
