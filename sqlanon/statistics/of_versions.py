"""Published cells of several consecutive versions as one system of sums.

Rows are only added. A shown cell has the sum of its rows up to some version; if that is not the last version, rows were
added since. So each combination has one part for each version, and a cell is the sum of the parts up to its version.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, SeenCells

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


def divide_by_version(seen: SeenCells, as_of: Longs, newest: int) -> tuple[SeenCells, Longs]:
    """The same cells over the parts of each atom, in the order of the versions.

    Args:
        seen: the cells; every number is positive.
        as_of: int64[cells], the version of each number; of a hidden cell the newest.
        newest: the version of the view.

    Returns:
        the system; after the cells, each older one once more: hidden, with the rows that came to it since. Of these
        the places of the older cells.

    Cost: memory of the cells' margins and atoms for each version.
    """
    versions = np.union1d(as_of, [newest])
    number, times = np.searchsorted(versions, as_of), len(versions)
    older = np.flatnonzero(as_of < newest)
    if not len(older):
        return seen, older
    cells, many = len(seen.value), seen.of.shape[1]
    part, of = np.repeat(np.arange(times), many), np.tile(seen.of, times)
    until = np.where(of >= 0, number[of], times)
    later = np.full(cells, -1, np.int64)
    later[older] = cells + np.arange(len(older))
    since = np.where(part > until, later[of], -1)
    divided = replace(
        seen,
        of=np.concatenate([np.where(part <= until, of, -1), since[(since >= 0).any(axis=1)]]),
        value=np.concatenate([seen.value, np.full(len(older), HIDDEN, np.int64)]),
        least=np.zeros(times * many, np.int64),
        hidden=1,
        times=times,
    )
    return divided, older


def with_ends(divided: SeenCells, older: Longs, low: Longs, high: Longs) -> SeenCells:
    """The system with published bounds of the numbers of the last version.

    Args:
        divided: the system; see `divide_by_version`.
        older: places of the cells with an older number.
        low: int64[cells], the least numbers.
        high: int64[cells], the greatest; `UNBOUNDED`: there is none.
    """
    since = np.maximum(low[older] - divided.value[older], 1)
    until = np.where(high[older] < UNBOUNDED, high[older] - divided.value[older], UNBOUNDED)
    return replace(divided, ends=(np.concatenate([low, since]), np.concatenate([high, until])))
