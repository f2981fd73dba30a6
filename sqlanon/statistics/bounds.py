"""Bounds of hidden cells that a reader can compute: over all tables that agree with the shown cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.amounts import Amounts, Range
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.seen import HIDDEN, Seen, narrow
from sqlanon.statistics.shifted import shift_sums
from sqlanon.statistics.spans import find_spans
from sqlanon.statistics.system import System, group_atoms

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


def bound_hidden(system: System, hidden: Flags, witnesses: Longs) -> tuple[Longs, Longs]:
    """The least and the greatest value of each class; of a shown class both are the value.

    Integers prove them (`Reach`). Atoms are taken for published cells: true where a table has all columns.

    Args:
        system: the cells.
        hidden: bool[classes].
        witnesses: int64[witnesses, atoms], changes: tables that have the shown cells.

    Returns:
        int64[classes] twice; -1: there is no greatest value.

    Cost: that of `find_spans` for the hidden classes.
    """
    count = system.atoms.count
    seen = Seen(find_margins(system), np.where(hidden, HIDDEN, system.value), np.ones(len(count), np.int64), (), {})
    reach, tables = Reach(seen), [count + change for change in witnesses]
    for table in tables:
        reach.keep(table)
    low, high, cells = system.value.copy(), system.value.copy(), np.flatnonzero(hidden).tolist()
    sets = [system.members(cell) for cell in cells]
    for cell, (bottom, top, _) in zip(cells, find_spans(seen, reach, sets, lambda: 1.0, tables), strict=True):
        low[cell], high[cell] = bottom, -1 if top is None else top
    return low, high


def bound_sums(system: System, hidden: Flags, amounts: Sequence[tuple[Amounts, Range]]) -> list[tuple[Longs, Longs]]:
    """Of each column the least and the greatest sum of each class, in units; of a shown class both are the sum.

    No table has a sum beyond them. They may be wider than what a reader has who looks at counts and sums together.

    Args:
        system: the cells.
        hidden: bool[classes].
        amounts: the columns' sums and ranges.

    Cost: that of two ends of `Reach` for each hidden class and column.
    """
    margins = find_margins(system)
    count = Seen(margins, np.where(hidden, HIDDEN, system.value), np.ones(len(system.atoms.count), np.int64), (), {})
    rows = narrow(count)
    ends = []
    for amount, of in amounts:
        value = system.sums(amount.value)
        shifted = shift_sums(margins, np.where(hidden, 0, value), hidden, rows, of)
        reach = Reach(shifted.seen)
        low, high = value.copy(), value.copy()
        for cell in np.flatnonzero(hidden).tolist():
            low[cell], high[cell] = shifted.span(reach, system.members(cell))
        ends.append((low, high))
    return ends


def find_margins(system: System) -> Longs:
    """int64[margins, atoms], the class of each atom in each margin; -1: no cell of it is published."""
    margins, of_cell = np.unique(system.levels, axis=1, return_inverse=True)
    first = system.member[system.at[:-1]][system.listed]
    cell_of_atom = np.full((margins.shape[1], len(system.atoms.count)), -1, np.int64)
    for margin in range(margins.shape[1]):
        inside = group_atoms(system.atoms, [int(level) for level in margins[:, margin]])
        cells = np.flatnonzero(of_cell.reshape(-1) == margin)
        number = np.full(int(inside.max()) + 1, -1, np.int64)
        number[inside[first[cells]]] = system.listed[cells]
        cell_of_atom[margin] = number[inside]
    return cell_of_atom
