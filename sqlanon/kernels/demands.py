"""Requirements on arrays: is a set of rows private enough, and are all prefixes and suffixes of an order?

A check is a sensitive attribute ("value"), counted within groups ("group", all zero unless ``joint``):
frequency l-diversity wants ``most * p <= rows * q`` in every group, distinct l-diversity ``distinct >= p``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

FREQUENCY, DISTINCT = 0, 1


class Demands(NamedTuple):
    """What both halves of a cut must meet.

    Attributes:
        k: rows, at least.
        kind: int64[c], `FREQUENCY` or `DISTINCT`.
        p: int64[c], numerator of l, or the distinct l.
        q: int64[c], denominator of l.
        group: int32[c, n], group of each row, by row number.
        value: int32[c, n], value within all groups (dense over group and value), by row number.
        groups: int64, most groups of any check.
        values: int64, most values of any check.
    """

    k: int
    kind: npt.NDArray[np.int64]
    p: npt.NDArray[np.int64]
    q: npt.NDArray[np.int64]
    group: npt.NDArray[np.int32]
    value: npt.NDArray[np.int32]
    groups: int
    values: int


class Tally(NamedTuple):
    """Counters that are all zero between uses."""

    counts: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]


@njit(nogil=True, cache=True)
def new_tally(demands: Demands) -> Tally:
    """Zeroed counters, large enough for every check."""
    return Tally(
        np.zeros(max(demands.values, 1), np.int64),
        np.zeros(max(demands.groups, 1), np.int64),
        np.zeros(max(demands.groups, 1), np.int64),
    )


@njit(nogil=True, cache=True, inline="always")
def _fails(kind: int, p: int, q: int, total: int, most: int) -> int:
    if total == 0:
        return 0
    if kind == FREQUENCY:
        return 1 if most * p > total * q else 0
    return 1 if most < p else 0


@njit(nogil=True, cache=True)
def _add(demands: Demands, c: int, row: int, tally: Tally) -> int:
    """Count one row; returns by how much the number of failing groups changes."""
    g = demands.group[c, row]
    v = demands.value[c, row]
    kind, p, q = demands.kind[c], demands.p[c], demands.q[c]
    before = _fails(kind, p, q, tally.total[g], tally.most[g])
    tally.total[g] += 1
    tally.counts[v] += 1
    if kind == FREQUENCY:
        tally.most[g] = max(tally.most[g], tally.counts[v])
    elif tally.counts[v] == 1:
        tally.most[g] += 1
    return _fails(kind, p, q, tally.total[g], tally.most[g]) - before


@njit(nogil=True, cache=True)
def _clear(demands: Demands, c: int, row: int, tally: Tally) -> None:
    g = demands.group[c, row]
    tally.total[g] = 0
    tally.most[g] = 0
    tally.counts[demands.value[c, row]] = 0


@njit(nogil=True, cache=True)
def satisfied(
    demands: Demands, rows: npt.NDArray[np.int32], positions: npt.NDArray[np.int64], tally: Tally
) -> bool:
    """Whether the rows at ``positions`` meet every requirement. Cost: linear in positions x checks."""
    if len(positions) < demands.k:
        return False
    for c in range(len(demands.kind)):
        failing = 0
        for i in positions:
            failing += _add(demands, c, rows[i], tally)
        for i in positions:
            _clear(demands, c, rows[i], tally)
        if failing > 0:
            return False
    return True


@njit(nogil=True, cache=True)
def allowed_slots(
    demands: Demands,
    rows: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    slots: int,
    tally: Tally,
    allowed: npt.NDArray[np.bool_],
) -> None:
    """For every slot, whether a cut after it leaves two halves that meet the checks (k is not looked at here).

    Args:
        demands: the requirements.
        rows: row numbers by position.
        order: the positions in the order that is cut.
        ends: int64[slots], rows up to and including each slot.
        slots: how many slots there are.
        tally: zeroed counters.
        allowed: bool[>= slots], written.
    """
    for s in range(slots):
        allowed[s] = True
    n = len(order)
    for c in range(len(demands.kind)):
        failing = 0
        at = 0
        for s in range(slots):
            while at < ends[s]:
                failing += _add(demands, c, rows[order[at]], tally)
                at += 1
            if failing > 0:
                allowed[s] = False
        for i in order:
            _clear(demands, c, rows[i], tally)
        failing = 0
        at = n
        for s in range(slots - 1, -1, -1):
            while at > ends[s]:
                at -= 1
                failing += _add(demands, c, rows[order[at]], tally)
            if failing > 0:
                allowed[s] = False
        for i in order:
            _clear(demands, c, rows[i], tally)
