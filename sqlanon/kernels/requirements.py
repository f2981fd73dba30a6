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
def _all_satisfied(
    demands: Demands, c: int, rows: npt.NDArray[np.int32], positions: npt.NDArray[np.int64], tally: Tally
) -> bool:
    """Whether the rows at ``positions``, all of one group, meet a check. It ends as soon as that is clear."""
    kind, value, counts = demands.kind[c], demands.value[c], tally.counts
    # Frequency fails beyond so many rows of one value; distinct holds from so many values on.
    frequent, distinct = np.int64(len(positions)), np.int64(len(positions)) + 1
    if kind == FREQUENCY:
        frequent = len(positions) * demands.q[c] // demands.p[c]
    else:
        distinct = demands.p[c]
    most, different, seen = np.int64(0), np.int64(0), 0
    for i in positions:
        v = value[rows[i]]
        seen += 1
        count = counts[v] + 1
        counts[v] = count
        most = max(most, count)
        different += count == 1
        if count > frequent or different >= distinct:
            break
    for i in positions[:seen]:
        counts[value[rows[i]]] = 0
    if kind == FREQUENCY:
        return most <= frequent
    return seen == 0 or different >= distinct


@njit(nogil=True, cache=True)
def satisfied(
    demands: Demands, rows: npt.NDArray[np.int32], positions: npt.NDArray[np.int64], tally: Tally
) -> bool:
    """Whether the rows at ``positions`` meet every requirement. Cost: linear in positions x checks."""
    if len(positions) < demands.k:
        return False
    for c in range(len(demands.kind)):
        if demands.groups <= 1:
            if not _all_satisfied(demands, c, rows, positions, tally):
                return False
            continue
        failing = 0
        for i in positions:
            failing += _add(demands, c, rows[i], tally)
        for i in positions:
            _clear(demands, c, rows[i], tally)
        if failing > 0:
            return False
    return True


@njit(nogil=True, cache=True)
def _allowed_of_all(
    demands: Demands, c: int, held: npt.NDArray[np.int32], ends: npt.NDArray[np.int64], slots: int, tally: Tally,
    allowed: npt.NDArray[np.bool_],
) -> None:  # fmt: skip
    """`allowed_slots` of one check whose rows are all of one group; ``held``: their values in order.

    A loop of its own, without calls: numba counts references to every array that a call takes, for every row.
    """
    kind, p, q, counts = demands.kind[c], demands.p[c], demands.q[c], tally.counts
    n, begin = len(held), np.int64(0)
    most, different = np.int64(0), np.int64(0)
    for s in range(slots):
        end = ends[s]
        for at in range(begin, end):
            count = counts[held[at]] + 1
            counts[held[at]] = count
            most = max(most, count)
            different += count == 1
        begin = end
        if _fails(kind, p, q, end, most if kind == FREQUENCY else different) > 0:
            allowed[s] = False
    # The halves on the right of each slot, from the last one back.
    for at in range(n):
        counts[held[at]] = 0
    begin, most, different = n, np.int64(0), np.int64(0)
    for s in range(slots - 1, -1, -1):
        for at in range(ends[s], begin):
            count = counts[held[at]] + 1
            counts[held[at]] = count
            most = max(most, count)
            different += count == 1
        begin = ends[s]
        if _fails(kind, p, q, n - begin, most if kind == FREQUENCY else different) > 0:
            allowed[s] = False
    for at in range(n):
        counts[held[at]] = 0


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
    held = np.empty(n if demands.groups <= 1 else 0, np.int32)
    for c in range(len(demands.kind)):
        if demands.groups <= 1:
            value = demands.value[c]
            for at in range(n):
                held[at] = value[rows[order[at]]]
            _allowed_of_all(demands, c, held, ends, slots, tally, allowed)
            continue
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
