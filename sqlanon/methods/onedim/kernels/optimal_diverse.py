"""Optimal l-diversity on one line, direct and dual (Ghinita et al. 2009, sections 4.2 and 5.1), for small inputs.

A *boundary* says how many rows of every sensitive value, in order, are in a group already. It is numbered in a mixed
radix, so that a group leads from a smaller number to a larger and one sweep solves all. Groups may be looked at in
the order of their first rows (Lemma 4), so the next always begins with the first row that is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.runs import NEVER, SUM

MOST_STEPS = 1 << 28
"""Steps that callers should allow, see `steps`: some seconds."""


def steps(count: Sequence[int], dual: bool = False) -> int:
    """Groups that the optimal solvers may have to look at: boundaries x choices at each, at worst.

    Args:
        count: rows of every sensitive value.
        dual: for `find_best_accurate` and `find_best_fractional`, where a group takes any number of rows of a value.
    """
    boundaries = choices = 1
    for rows in count:
        boundaries *= rows + 1
        choices *= rows + 1 if dual else min(rows + 1, 2)
    return boundaries * choices


@njit(nogil=True, cache=True)
def _domains(
    value: npt.NDArray[np.int32], values: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The order of rows by value, the begin of each value, and the radix: int64[n], and twice int64[m + 1]."""
    start, radix = np.zeros(values + 1, np.int64), np.ones(values + 1, np.int64)
    for v in value:
        start[v + 1] += 1
    for v in range(values):
        radix[v + 1] = radix[v] * (start[v + 1] + 1)
        start[v + 1] += start[v]
    fill, rows = start.copy(), np.empty(len(value), np.int64)
    for i in range(len(value)):
        rows[fill[value[i]]] = i
        fill[value[i]] += 1
    return rows, start, radix


@njit(nogil=True, cache=True)
def _trace(
    came: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    radix: npt.NDArray[np.int64],
    group: npt.NDArray[np.int32],
) -> int:
    """Number the groups along the path that ``came`` holds, from the last boundary back; returns how many."""
    values, groups = len(start) - 1, 0
    state = radix[values] - 1
    while state > 0:
        before = came[state]
        for v in range(values):
            last = state // radix[v] % (start[v + 1] - start[v] + 1)
            first = before // radix[v] % (start[v + 1] - start[v] + 1)
            for index in range(first, last):
                group[rows[start[v] + index]] = groups
        groups += 1
        state = before
    return groups


@njit(nogil=True, cache=True)
def _advance_choice(chosen: npt.NDArray[np.int64], room: npt.NDArray[np.int64], needed: int) -> bool:
    """The next choice of rows of every value, at least one of ``needed`` and at most ``room``; False after the last."""
    for v in range(len(chosen)):
        if chosen[v] < room[v]:
            chosen[v] += 1
            return True
        chosen[v] = 1 if v == needed else 0
    return False


@njit(nogil=True, cache=True)
def find_best_diverse(
    line: npt.NDArray[np.int64],
    value: npt.NDArray[np.int32],
    values: int,
    l: int,  # noqa: E741
    objective: int,
    group: npt.NDArray[np.int32],
) -> int:
    """The l-diverse groups of least loss among those that hold a sensitive value once (Equation 8).

    Args:
        line: int64[n], ascending positions.
        value: int32[n], sensitive codes.
        values: codes there can be, at most 62.
        l: rows of a group, at least.
        objective: `SUM` or `MOST` of `runs`: sum of extents, or largest extent.
        group: int32[n], written if there is a solution.

    Returns:
        The loss, `NEVER` if there is no solution. For `MOST` it is the least of all l-diverse partitions; for `SUM` a
        group that holds a value twice may be better: a,a,b,b at 0,1,2,3 with l = 2 (Corollary 1 fails there).

    Cost: O(m 2^m) a boundary, see `steps`; memory 16 bytes a boundary.
    """
    rows, start, radix = _domains(value, values)
    states = radix[values]
    opt, came = np.full(states, NEVER, np.int64), np.zeros(states, np.int64)
    opt[0] = 0
    front = np.empty(values, np.int64)
    for state in range(states - 1):
        if opt[state] >= NEVER:
            continue
        there = 0
        for v in range(values):
            used_rows = state // radix[v] % (start[v + 1] - start[v] + 1)
            if start[v] + used_rows < start[v + 1]:
                front[there] = rows[start[v] + used_rows]
                there += 1
        front[:there].sort()
        for choice in range(np.int64(1) << (there - 1)):
            size, last = 1, front[0]
            after = state + radix[value[front[0]]]
            for index in range(1, there):
                if choice >> (index - 1) & 1:
                    size += 1
                    last = front[index]
                    after += radix[value[last]]
            if size < l or size >= 2 * l:
                continue
            extent = line[last] - line[front[0]]
            loss = opt[state] + extent if objective == SUM else max(opt[state], extent)
            if loss < opt[after]:
                opt[after], came[after] = loss, state
    if opt[states - 1] < NEVER:
        _trace(came, rows, start, radix, group)
    return opt[states - 1]


@njit(nogil=True, cache=True)
def find_best_fractional(
    line: npt.NDArray[np.int64],
    value: npt.NDArray[np.int32],
    values: int,
    p: int,
    q: int,
    objective: int,
    group: npt.NDArray[np.int32],
) -> int:
    """`find_best_diverse` for l = p / q: groups of any rows >= p / q x rows of their most frequent value.

    Args:
        line, value, values, objective, group: as there; ``values`` may be any number.
        p, q: l.

    Returns:
        The loss, `NEVER` if there is no solution. For `MOST` it is the least of all l-diverse partitions: two groups
        may exchange rows of a value until those of the group that begins first come first. For `SUM` it is the least of
        the partitions in which they do.

    Cost: rows of every value, plus 1, multiplied, a boundary; see `steps`. Memory 16 bytes a boundary.
    """
    rows, start, radix = _domains(value, values)
    states = radix[values]
    opt, came = np.full(states, NEVER, np.int64), np.zeros(states, np.int64)
    opt[0] = 0
    used_rows, room, choice = np.empty(values, np.int64), np.empty(values, np.int64), np.empty(values, np.int64)
    for state in range(states - 1):
        if opt[state] >= NEVER:
            continue
        first = np.int64(len(line))
        for v in range(values):
            used_rows[v] = state // radix[v] % (start[v + 1] - start[v] + 1)
            room[v] = start[v + 1] - start[v] - used_rows[v]
            choice[v] = 0
            if room[v] > 0:
                first = min(first, rows[start[v] + used_rows[v]])
        needed = value[first]
        choice[needed] = 1
        while True:
            size, most, last, after = np.int64(0), np.int64(0), first, np.int64(state)
            for v in range(values):
                if choice[v] > 0:
                    size += choice[v]
                    most = max(most, choice[v])
                    last = max(last, rows[start[v] + used_rows[v] + choice[v] - 1])
                    after += choice[v] * radix[v]
            if most * p <= size * q:
                extent = line[last] - line[first]
                loss = opt[state] + extent if objective == SUM else max(opt[state], extent)
                if loss < opt[after]:
                    opt[after], came[after] = loss, state
            if not _advance_choice(choice, room, needed):
                break
    if opt[states - 1] < NEVER:
        _trace(came, rows, start, radix, group)
    return opt[states - 1]


@njit(nogil=True, cache=True)
def find_best_accurate(
    line: npt.NDArray[np.int64],
    value: npt.NDArray[np.int32],
    values: int,
    bound: int,
    group: npt.NDArray[np.int32],
) -> tuple[int, int]:
    """The groups of greatest privacy PM with extents within a bound (Equation 9): the best of all partitions.

    Args:
        line: int64[n], ascending positions.
        value: int32[n], sensitive codes.
        values: codes there can be.
        bound: E, at least 0.
        group: int32[n], written.

    Returns:
        PM as (rows, most frequent) of the worst group.

    Cost: rows of every value within the bound, plus 1, multiplied, a boundary; see `steps`. Memory 24 bytes a boundary.
    """
    rows, start, radix = _domains(value, values)
    states = radix[values]
    best_rows, best_most = np.zeros(states, np.int64), np.ones(states, np.int64)
    came = np.zeros(states, np.int64)
    best_rows[0], best_most[0] = 1, 0  # without a group, privacy has no bound
    used_rows, room, choice = np.empty(values, np.int64), np.empty(values, np.int64), np.empty(values, np.int64)
    for state in range(states - 1):
        if best_rows[state] == 0:
            continue
        first = np.int64(len(line))
        for v in range(values):
            used_rows[v] = state // radix[v] % (start[v + 1] - start[v] + 1)
            if start[v] + used_rows[v] < start[v + 1]:
                first = min(first, rows[start[v] + used_rows[v]])
        for v in range(values):
            place = start[v] + used_rows[v]
            while place < start[v + 1] and line[rows[place]] - line[first] <= bound:
                place += 1
            room[v] = place - start[v] - used_rows[v]
            choice[v] = 0
        needed = value[first]
        choice[needed] = 1
        while True:
            size, most, after = np.int64(0), np.int64(0), np.int64(state)
            for v in range(values):
                size += choice[v]
                most = max(most, choice[v])
                after += choice[v] * radix[v]
            if best_rows[state] * most < size * best_most[state]:
                size, most = best_rows[state], best_most[state]
            if best_rows[after] * most < size * best_most[after]:
                best_rows[after], best_most[after], came[after] = size, most, state
            if not _advance_choice(choice, room, needed):
                break
    _trace(came, rows, start, radix, group)
    return best_rows[states - 1], best_most[states - 1]
