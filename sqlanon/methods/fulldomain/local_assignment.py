"""The classes of ``search: local`` as an assignment of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.kernels.compiled import expect
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.fulldomain.cells import attach, read_cells
from sqlanon.methods.fulldomain.infeasible_errors import explain_infeasible
from sqlanon.methods.fulldomain.kernels.lattice_local import Pieces, visit
from sqlanon.methods.fulldomain.left_out import leave_rows_out
from sqlanon.methods.fulldomain.levels import Lattice
from sqlanon.methods.fulldomain.local import complete_pieces, local_of, search

if TYPE_CHECKING:
    from sqlanon.arrays import Ints


def assign(context: Context, lattice: Lattice, *, divide: bool, most: int) -> Assignment:
    """The classes of the local search.

    Args:
        context: the run.
        lattice: of the metric loss.
        divide: a class may take part of the rows of a cell, by sensitive value.
        most: nodes that are looked at, at most, before the last node takes the rest.

    Raises:
        InfeasibleError: all rows together fail the requirements, and no classes were found that leave few enough of
            them out.
    """
    expect(visit)
    cells = read_cells(context)
    local = local_of(context, cells, divide=divide)
    search(context, lattice, local, most)
    pieces, lawful = complete_pieces(local)
    if context.suppression is not None and context.most_unassigned:
        outcome = leave_rows_out(context, lattice, cells, pieces if lawful else None, divide=divide, most=most)
        if outcome is None:
            raise InfeasibleError(explain_infeasible(context))
        pieces = outcome
    table, divided = attach(context, cells, pieces.record, _number_classes(pieces), pieces.rows)
    nodes = len(lattice.nodes)
    notes = (
        ()
        if most >= nodes - 1
        else (f"fulldomain: the search ended after {most} of {nodes} nodes, as nodes: {most} says",)
    )
    gone = int(pieces.rows.sum()) < context.encoded.rows
    return Assignment(table, "kernel", notes, divided=divided, unassigned=gone)


def _number_classes(pieces: Pieces) -> Ints:
    """Classes in the order of their first cells, so that near numbers are alike."""
    first = np.full(int(pieces.label.max(initial=-1)) + 1, len(pieces.record) and int(pieces.record.max()) + 1)
    np.minimum.at(first, pieces.label, pieces.record)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return rank[pieces.label]
