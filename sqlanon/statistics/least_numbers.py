"""The least numbers of small cells that a certificate asks witnesses for."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.statistics.shape import Shape
from sqlanon.table.scratch import Scratch


def list_least(scratch: Scratch, shape: Shape, cells: TableRef, atoms: TableRef) -> TableRef:
    """The scratch table of the least number of each cell: (cell, least).

    It is the number of finest cells that a table has within the cell, of the table with most. Small cells of several
    tables that have the same finest combinations have one number, and the least of each is the most of all.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        cells: see statistics/cells.
        atoms: see statistics/atoms.

    Cost: a grouping of the finest combinations by every margin; of several tables joins of the combinations of small
        cells.
    """
    least, context = scratch.table("least"), shape.context()
    scratch.execute("statistics/least", least=least, cells=cells, atoms=atoms, **context)
    if len(shape.tables) < 2:
        return least
    inside, raised = scratch.table("inside_least"), scratch.table("least_of_equal")
    scratch.execute("statistics/inside", inside=inside, cells=cells, atoms=atoms, **context)
    scratch.execute("statistics/least_of_equal", raised=raised, least=least, inside=inside)
    scratch.drop(inside)
    return raised
