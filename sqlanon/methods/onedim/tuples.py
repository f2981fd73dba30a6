"""The division into runs for k alone, on tuples: rows of equal codes as one row with a count.

Loss and boxes are those of single rows, and so are the published rows. Where many rows are equal, most steps cost the
number of tuples in place of the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.compiled import expect
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.onedim.curves import Curve
from sqlanon.methods.onedim.kernels.tuple_rows import expand_tuples, find_divided, join_equal_runs
from sqlanon.methods.onedim.parallel_runs import row_runs
from sqlanon.methods.onedim.row_orders import RankedRows, settle_ties
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.class_boxes import make_spans
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.methods.shared.load_assignment import load_classes
from sqlanon.methods.shared.threads import put_at
from sqlanon.privacy.base import least_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Ints, Longs

MOST = 0.5
"""Part of the rows up to which tuples are taken: with more of them, rows cost less."""


@dataclass(frozen=True, slots=True)
class Tuples:
    """Rows by key as tuples.

    Attributes:
        ranked: the rows by key.
        bare: the tuples, by key; ``number`` is the first of their rows in ``ranked``, ``count`` how many there are.
    """

    ranked: RankedRows
    bare: TreeRows

    @classmethod
    def find(cls, context: Context, loaded: LoadedTable, ranked: RankedRows, stretch: int) -> Tuples | None:
        """The tuples, none of which is in two stretches of rows; None where rows cost less.

        Args:
            context: the run.
            loaded: the work table.
            ranked: the rows by key.
            stretch: see `Curve.find_stretch`.
        """
        begins = ranked.begins.copy()
        begins[::stretch] = True
        first = np.flatnonzero(begins).astype(np.int32)
        n = len(begins)
        if not ranked.exact or len(first) > MOST * n:
            return None
        codes = kernel_input.bare_of(loaded.codes, ranked.order[first], loaded.geometry, context.threads).codes
        return cls(ranked, TreeRows(codes, first, np.diff(first, append=np.int32(n))))


@dataclass(frozen=True, slots=True)
class TupleClasses:
    """Classes of rows that were divided as tuples.

    Attributes:
        classes: int32[n], the class of every row of the loaded table.
        parts: the tuples, each once in every class that has some of its rows.
        of_part: int32, ascending: the class of every part.
        sizes: int64, rows of every class.
        shared: int32, the rows of the loaded table that have rows of equal codes in other classes.
    """

    classes: Ints
    parts: TreeRows
    of_part: Ints
    sizes: Longs
    shared: Ints


def divide_tuples(context: Context, loaded: LoadedTable, tuples: Tuples, order: Curve) -> TupleClasses:
    """Divide the rows by `find_best_row_runs`; runs of equal rows that follow one another are one class.

    Args:
        context: the run.
        loaded: the work table.
        tuples: the tuples; their order becomes that of `Order.within`, and ties of rows of several classes are settled.
        order: the order of their keys.

    Cost: O(n), and the order's and the solver's for the tuples.
    """
    geometry, bare, ranked, threads = loaded.geometry, tuples.bare, tuples.ranked, context.threads
    order.within(context, bare, geometry)
    place, of = np.empty(len(ranked.order), np.int32), np.empty(len(ranked.order), np.int32)
    expand_tuples(bare.number, bare.count, place, of)
    rows = kernel_input.fill_rows(bare, geometry, threads, codes=False)
    begins, _ = row_runs(rows, geometry, least_rows(context.requirements), threads, of)
    join_equal_runs(of, begins)
    group: Ints = np.cumsum(begins, dtype=np.int32) - np.int32(1)
    is_divided = _find_divided_rows(tuples, group)
    settle_ties(loaded, ranked.order, ranked.begins | ~is_divided, loaded.codes[:0], threads)
    classes = put_at(group, ranked.order[place], threads)
    starts_part = begins.copy()
    np.logical_or(starts_part[1:], of[1:] != of[:-1], out=starts_part[1:])
    starts = np.flatnonzero(starts_part)
    parts = TreeRows(bare.codes[of[starts]], starts.astype(np.int32), np.zeros(0, np.int32))
    sizes = np.diff(np.flatnonzero(begins), append=len(of))
    return TupleClasses(classes, parts, group[starts], sizes, ranked.order[is_divided])


def assign_tuples(context: Context, loaded: LoadedTable, tuples: Tuples, order: Curve) -> Assignment:
    """The assignment of `divide_tuples`."""
    expect(join_equal_runs)
    divided = divide_tuples(context, loaded, tuples, order)
    table, names = context.scratch.table("assign"), np.arange(len(divided.sizes), dtype=np.int32)
    listed = load_classes(context, table, loaded.rid, divided.classes)
    boxes = make_spans(context, divided.parts, loaded.geometry, divided.of_part, names, divided.sizes)
    if not len(divided.shared):
        return Assignment(table, "kernel", (), boxes, divided=False, listed=listed)
    shared_rows = context.scratch.table("shared_rows")
    context.scratch.engine.load_arrays(shared_rows, {"rid": loaded.rid[divided.shared]})
    return Assignment(table, "kernel", (), boxes, shared=shared_rows, listed=listed)


def _find_divided_rows(tuples: Tuples, classes: Ints) -> Flags:
    """Which rows, by key, have a row of equal codes in another class; ``classes`` are in the order of the tuples."""
    equal = np.cumsum(tuples.ranked.begins, dtype=np.int32) - np.int32(1)
    divided = np.empty(int(equal[-1]) + 1, np.bool_)
    find_divided(tuples.bare.number, tuples.bare.count, equal, classes, divided)
    rows: Flags = divided[equal]
    return rows
