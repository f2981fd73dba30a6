"""Phases two and three of TP (Xiao, Yi and Tao 2010, sections 5.3 and 5.4).

They move rows to the residue until it is eligible.

Sets that meet l = p / q give rows. A set is *thin* if it has fewer than l x the highest count + 1 rows, else *fat*;
*dead* if it is empty, or thin with a most frequent value that is also most frequent in the residue; else *live*. Ties
go to the set, then to the value of lower number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Longs = npt.NDArray[np.int64]

ROWS, HIGH, MOVED = 0, 1, 2
"""Of the residue, in `ResidueSets.residue`: rows, highest count, and rows that it was given in this round."""


class ResidueSets(NamedTuple):
    """The sets, and the residue that they give rows to.

    Attributes:
        start, held: int64, the sets' entries; see `sqlanon.kernels.suppress`.
        kept: int64, rows of each entry.
        rows, high: int64[sets], of each set.
        rest: int64[values], rows of each value in the residue.
        residue: int64[3].
        k, p, q: the requirement.
    """

    start: Longs
    held: Longs
    kept: Longs
    rows: Longs
    high: Longs
    rest: Longs
    residue: Longs
    k: int
    p: int
    q: int


@njit(nogil=True, cache=True)
def complete_residue(start: Longs, value_of: Longs, keeps: Longs, rest: Longs, k: int, p: int, q: int) -> int:
    """Move rows from sets to the residue until it has none, or is eligible and has k rows.

    Args:
        start, value_of, keeps: the sets after phase one; ``keeps`` is written.
        rest: int64[values], the residue after phase one; written. Together with the sets it is eligible and has k rows.
        k, p, q: rows of a class, at least; l = p / q.

    Returns:
        The phase that it ended in: 1, where nothing had to move for l, 2 or 3.

    Cost: phase two O(values + a set's entries) for a row that is moved; a round of phase three O(entries x sets
    chosen).
    """
    sets = len(start) - 1
    give = ResidueSets(
        start,
        value_of,
        keeps,
        np.zeros(sets, np.int64),
        np.zeros(sets, np.int64),
        rest,
        np.zeros(3, np.int64),
        k,
        p,
        q,
    )
    for s in range(sets):
        _measure(give, s)
    for count in rest:
        give.residue[ROWS] += count
        give.residue[HIGH] = max(give.residue[HIGH], count)
    phase = 1
    if not _eligible(give):
        phase = 2
        _phase_two(give)
    while not _eligible(give):
        phase = 3
        give.residue[MOVED] = 0
        _choose(give)
        for s in range(sets):
            _until_dead(give, s)
        if give.residue[MOVED] == 0:
            for s in range(sets):
                _measure_all(give, s)
            break
    while 0 < give.residue[ROWS] < k:
        least = np.int64(-1)
        for s in range(sets):
            if give.rows[s] > 0 and (least < 0 or give.rows[s] < give.rows[least]):
                least = s
        _measure_all(give, least)
    return phase


@njit(nogil=True, cache=True)
def _eligible(give: ResidueSets) -> bool:
    return give.residue[ROWS] * give.q >= give.p * give.residue[HIGH]


@njit(nogil=True, cache=True)
def _is_fat(give: ResidueSets, s: int) -> bool:
    return (give.rows[s] - 1) * give.q >= give.p * give.high[s]


@njit(nogil=True, cache=True)
def _is_live(give: ResidueSets, s: int) -> bool:
    if give.rows[s] == 0:
        return False
    if _is_fat(give, s):
        return True
    for i in range(give.start[s], give.start[s + 1]):
        if give.kept[i] == give.high[s] and give.rest[give.held[i]] == give.residue[HIGH]:
            return False
    return True


@njit(nogil=True, cache=True)
def _measure(give: ResidueSets, s: int) -> None:
    rows, high = np.int64(0), np.int64(0)
    for i in range(give.start[s], give.start[s + 1]):
        rows += give.kept[i]
        high = max(high, give.kept[i])
    give.rows[s], give.high[s] = rows, high


@njit(nogil=True, cache=True)
def _move(give: ResidueSets, i: int, rows: int) -> None:
    """Give rows of an entry; the set is measured afterwards."""
    give.kept[i] -= rows
    give.rest[give.held[i]] += rows
    give.residue[ROWS] += rows
    give.residue[MOVED] += rows
    give.residue[HIGH] = max(give.residue[HIGH], give.rest[give.held[i]])


@njit(nogil=True, cache=True)
def _measure_all(give: ResidueSets, s: int) -> None:
    for i in range(give.start[s], give.start[s + 1]):
        _move(give, i, give.kept[i])
    _measure(give, s)


@njit(nogil=True, cache=True)
def _give_row(give: ResidueSets, s: int, i: int) -> None:
    """A fat set gives a row of an entry; a set that falls under k goes as a whole."""
    _move(give, i, 1)
    _measure(give, s)
    if give.rows[s] < give.k:
        _measure_all(give, s)


@njit(nogil=True, cache=True)
def _most_frequent(give: ResidueSets, s: int) -> None:
    """A set gives a row of each of the most frequent values; a set that falls under k goes as a whole."""
    for i in range(give.start[s], give.start[s + 1]):
        if give.kept[i] == give.high[s]:
            _move(give, i, 1)
    _measure(give, s)
    if give.rows[s] < give.k:
        _measure_all(give, s)


@njit(nogil=True, cache=True)
def _phase_two(give: ResidueSets) -> None:
    """Of the values of live sets the value rarest in the residue, until it is eligible or every set is dead.

    Sets die for good while the highest count of the residue is the same. So for each value they are looked through
    once, and again after that count has grown (only with k, or l that is no whole number).
    """
    values, sets = len(give.rest), len(give.rows)
    first = np.zeros(values + 1, np.int64)
    for v in give.held:
        first[v + 1] += 1
    for v in range(values):
        first[v + 1] += first[v]
    entry, of, place = (
        np.empty(len(give.held), np.int64),
        np.empty(len(give.held), np.int64),
        first[:values].copy(),
    )
    for s in range(sets):
        for i in range(give.start[s], give.start[s + 1]):
            of[i] = s
            entry[place[give.held[i]]] = i
            place[give.held[i]] += 1
    place[:] = first[:values]
    while not _eligible(give):
        best_value, from_set = np.int64(-1), np.int64(-1)
        for v in range(values):
            if best_value >= 0 and give.rest[v] > give.rest[best_value]:
                continue
            while place[v] < first[v + 1] and not (
                give.kept[entry[place[v]]] > 0 and _is_live(give, of[entry[place[v]]])
            ):
                place[v] += 1
            if place[v] == first[v + 1]:
                continue
            s = of[entry[place[v]]]
            if best_value < 0 or give.rest[v] < give.rest[best_value] or s < from_set:
                best_value, from_set = v, s
        if best_value < 0:
            return
        high = give.residue[HIGH]
        if _is_fat(give, from_set):
            _give_row(give, from_set, entry[place[best_value]])
        else:
            _most_frequent(give, from_set)
        if give.residue[HIGH] > high:
            place[:] = first[:values]


@njit(nogil=True, cache=True)
def _choose(give: ResidueSets) -> None:
    """First step of a round of phase three.

    It chooses sets that together share no most frequent value of the residue, and takes rows of each.

    Each time the set that shares fewest of those shared by all chosen so far, until none is, or until no set shrinks
    them.
    """
    sets = len(give.rows)
    shared, is_chosen = give.rest == give.residue[HIGH], np.zeros(sets, np.bool_)
    remaining = shared.sum()
    while remaining > 0:
        best, fewest = np.int64(-1), remaining
        for s in range(sets):
            if give.rows[s] == 0 or is_chosen[s]:
                continue
            both = np.int64(0)
            for i in range(give.start[s], give.start[s + 1]):
                both += give.kept[i] == give.high[s] and shared[give.held[i]]
            if both < fewest:
                best, fewest = s, both
        if best < 0:
            break
        is_chosen[best] = True
        is_own = np.zeros(len(shared), np.bool_)
        for i in range(give.start[best], give.start[best + 1]):
            is_own[give.held[i]] = give.kept[i] == give.high[best]
        shared &= is_own
        remaining = fewest
    for s in range(sets):
        if is_chosen[s] and not _eligible(give):
            _most_frequent(give, s)


@njit(nogil=True, cache=True)
def _until_dead(give: ResidueSets, s: int) -> None:
    """Second step of a round: a live set gives rows until it is dead.

    A fat set gives the value that is rarest in the residue, never a value most frequent there.
    """
    while not _eligible(give) and _is_live(give, s):
        if not _is_fat(give, s):
            _most_frequent(give, s)
            continue
        best_index = np.int64(-1)
        for i in range(give.start[s], give.start[s + 1]):
            v = give.held[i]
            if give.kept[i] == 0 or give.rest[v] == give.residue[HIGH]:
                continue
            if best_index < 0 or (give.rest[v], v) < (give.rest[give.held[best_index]], give.held[best_index]):
                best_index = i
        if best_index < 0:
            return
        _give_row(give, s, best_index)
