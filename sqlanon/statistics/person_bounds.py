"""Bounds of the numbers of persons in hidden cells, where persons have several rows and do not add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.public_system import find_margins
from sqlanon.statistics.reader_cells import ROUNDS, UNBOUNDED
from sqlanon.statistics.system import System

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs

    Steps = list[tuple[Longs, Longs]]


def bound_persons(system: System, persons: Longs, hidden: Flags, rows: Longs) -> tuple[Longs, Longs]:
    """The least and the greatest number of persons of each published cell; of a shown cell both are the number.

    No source has other numbers. A reader may have narrower ones: cells are compared with those one level below. Cells
    of several tables with the same rows are compared each by itself, as readers do not know that the rows are the same.

    Args:
        system: the cells over combinations.
        persons: int64[cells].
        hidden: bool[cells].
        rows: int64[cells], no cell has more persons; `UNBOUNDED`: nothing is known.

    Returns:
        int64[cells] twice; -1: there is no greatest number.

    Cost: `ROUNDS` scans of the pairs of cells, at most.
    """
    low = np.where(hidden, 1, persons)
    high = np.where(hidden, np.minimum(rows, UNBOUNDED), persons)
    low, high = narrow_persons(list_steps(system.levels, find_margins(system, np.arange(len(low)))), low, high)
    return low, np.where(high >= UNBOUNDED, -1, high)


def narrow_persons(steps: Steps, low: Longs, high: Longs) -> tuple[Longs, Longs]:
    """Narrow the persons of cells by those of others: a whole has at least the persons of each part, at most their sum.

    Args:
        steps: see `list_steps`.
        low: int64[cells], no cell has less.
        high: int64[cells], no cell has more; `UNBOUNDED`: nothing bounds it.

    Returns:
        the narrower ones; where the least is above the greatest, the cells contradict each other.

    Cost: `ROUNDS` scans of the pairs of cells, at most.
    """
    low, high = low.copy(), high.copy()
    for _ in range(ROUNDS):
        before = low.copy(), high.copy()
        for whole, part in steps:
            open_ends = high[part] >= UNBOUNDED
            ends = np.where(open_ends, 0, high[part])
            most, unbounded = np.zeros(len(low), np.int64), np.zeros(len(low), np.int64)
            divided = np.zeros(len(low), bool)
            np.add.at(most, whole, ends)
            np.add.at(unbounded, whole, open_ends.astype(np.int64))
            divided[whole] = True
            np.minimum(high, np.where(divided & (unbounded == 0), most, UNBOUNDED), out=high)
            # A part has at least those that the others cannot have.
            alone = unbounded[whole] - open_ends == 0
            np.maximum.at(low, part, np.where(alone, low[whole] - (most[whole] - ends), 0))
            np.minimum.at(high, part, high[whole])
            np.maximum.at(low, whole, low[part])
        if (low == before[0]).all() and (high == before[1]).all():
            break
    return low, high


def list_steps(levels: Longs, of: Longs) -> Steps:
    """Pairs of cells of two margins: a whole, and the parts of one level below in one column.

    Args:
        levels: int64[columns, cells].
        of: int64[margins, atoms], the cell of each atom in each margin, in the order of the margins; -1: none.

    Cost: a sort of the atoms for each pair of such margins.
    """
    margins = np.unique(levels, axis=1).T
    steps = []
    for place, coarse in enumerate(margins):
        for finer, fine in enumerate(margins):
            if (coarse - fine).sum() == 1 and (fine <= coarse).all():
                whole, part = np.unique(np.stack([of[place], of[finer]]), axis=1)
                listed = (whole >= 0) & (part >= 0)
                steps.append((whole[listed].astype(np.int64), part[listed].astype(np.int64)))
    return steps
