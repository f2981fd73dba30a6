"""From a system of cells to tables of hidden cells and of witnesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.progress import Progress
from sqlanon.statistics.bounds import bound_hidden
from sqlanon.statistics.choose import choose_hidden
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.system import System
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden cells.

    Attributes:
        table: scratch table (cell, low, high) of the hidden cells; high is -1 where there is no bound.
        witness: scratch table (witness, atom, change), where the change is not 0.
        witnesses: number of witnesses, besides the true table.
    """

    table: TableRef
    witness: TableRef
    witnesses: int


def hide_cells(scratch: Scratch, shape: Shape, system: System, secret: bytes, progress: Progress) -> Hidden:
    """Choose the hidden cells, and load them.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        system: the cells.
        secret: key for the order of equal levels.
        progress: gets small cells.

    Raises:
        UnservedError: a small cell cannot be protected.
        UnsupportedError: HiGHS is not installed.
    """
    found = choose_hidden(
        system,
        shape.threshold,
        insiders=shape.insiders,
        secret=secret,
        step=lambda done, many: progress.update(done, many, "small cells"),
    )
    cells = np.flatnonzero(found.hidden[system.listed])
    low = high = np.full(len(system), -1, np.int64)
    if shape.bounds:
        low, high = bound_hidden(system, found.hidden, found.witnesses)
    own = system.listed[cells]
    table, witness = scratch.table("hidden"), scratch.table("witness")
    scratch.engine.load_arrays(table, {"cell": (cells + 1).astype(np.int64), "low": low[own], "high": high[own]})
    number, atom = np.nonzero(found.witnesses)
    changes = found.witnesses[number, atom]
    scratch.engine.load_arrays(
        witness, {"witness": number.astype(np.int64), "atom": (atom + 1).astype(np.int64), "change": changes}
    )
    return Hidden(table, witness, len(found.witnesses) - 1)
