"""TopDown: classes by dividing clusters around two far rows (Xu et al. 2006; Ghinita et al. 2009, section 2.2).

A cluster of 2k rows or more is divided around two rows that are far apart, each other row joining the side that it
widens less. Clusters of fewer than k rows are then merged with another, or borrow rows from it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.kernels.random import shuffle

MOST_ROWS = 50_000
"""The cost is quadratic; callers refuse more rows."""

ROUNDS = 6
"""Times a farther row is looked for (Xu et al.: hardly any gain beyond)."""


@njit(nogil=True, cache=True)
def cluster_top_down(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    geometry: Geometry,
    k: int,
    state: npt.NDArray[np.uint64],
    group: npt.NDArray[np.int32],
) -> int:
    """Divide n rows into clusters of fewer than 2k rows, some of them too small.

    Args:
        places, sets: the rows, see `Rows`.
        geometry: the attributes.
        k: rows of a class, at least.
        state: the generator, see `chance`.
        group: int32[n], written: the cluster of each row, 0 to the result - 1.

    Cost: O(n d) a division; n^2 d / k at worst, when single rows are split off.
    """
    facts, table = geometry.facts, geometry.table
    n, lanes, words = len(group), places.shape[1], sets.shape[1]
    weight = weigh_lines(geometry, lanes)
    seen = np.full((len(facts), 3), -1, np.int64)
    low, high = np.empty((3, lanes), np.int32), np.empty((3, lanes), np.int32)
    mask = np.zeros((3, words), np.uint64)
    order, spare = np.arange(n), np.empty(n, np.int64)
    size, wide, wider = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
    stack = [(np.int64(0), np.int64(n))]
    groups = 0
    while len(stack) > 0:
        start, stop = stack.pop()
        if stop - start < max(2 * k, 2):
            for index in range(start, stop):
                group[order[index]] = groups
            groups += 1
            continue
        # Two far rows: the farthest from a random row, the farthest from that, and so on.
        shuffle(state, order[start:stop])
        first_seed, second_seed, apart = order[start], order[start + 1], np.int64(-1)
        for _ in range(ROUNDS):
            far, most = np.int64(-1), np.int64(-1)
            for index in range(start, stop):
                i = order[index]
                if i == first_seed:
                    continue
                for b in range(0, lanes, WIDTH):
                    take(low, 2, places, first_seed, b)
                    take(high, 2, places, first_seed, b)
                    widen(low, high, 2, places, places, i, b)
                for w in range(words):
                    mask[2, w] = sets[first_seed, w] | sets[i, w]
                total = measure_set(facts, table, mask, 2) + measure_codes(facts, table, low, high, 2, seen)
                for b in range(0, lanes, WIDTH):
                    total += measure_width(low, high, 2, weight, b)
                if total > most:
                    far, most = i, total
            if most <= apart:
                break
            first_seed, second_seed, apart = far, first_seed, most
        for side in range(2):
            seed = first_seed if side == 0 else second_seed
            for b in range(0, lanes, WIDTH):
                take(low, side, places, seed, b)
                take(high, side, places, seed, b)
            for w in range(words):
                mask[side, w] = sets[seed, w]
            size[side], wide[side] = 1, 0
        low_rows, right = start, stop
        spare[low_rows] = first_seed
        spare[right - 1] = second_seed
        low_rows, right = low_rows + 1, right - 1
        for index in range(start, stop):
            i = order[index]
            if i in (first_seed, second_seed):
                continue
            for side in range(2):
                for b in range(0, lanes, WIDTH):
                    take(low, 2, low, side, b)
                    take(high, 2, high, side, b)
                    widen(low, high, 2, places, places, i, b)
                for w in range(words):
                    mask[2, w] = mask[side, w] | sets[i, w]
                total = measure_set(facts, table, mask, 2) + measure_codes(facts, table, low, high, 2, seen)
                for b in range(0, lanes, WIDTH):
                    total += measure_width(low, high, 2, weight, b)
                wider[side] = total
            zero, first = wider[0] - wide[0], wider[1] - wide[1]
            side = 0 if zero < first or (zero == first and size[0] <= size[1]) else 1
            for b in range(0, lanes, WIDTH):
                widen(low, high, side, places, places, i, b)
            for w in range(words):
                mask[side, w] |= sets[i, w]
            size[side] += 1
            wide[side] = wider[side]
            if side == 0:
                spare[low_rows] = i
                low_rows += 1
            else:
                right -= 1
                spare[right] = i
        order[start:stop] = spare[start:stop]
        stack.append((low_rows, stop))
        stack.append((start, low_rows))
    return groups


@njit(nogil=True, cache=True)
def repair(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    geometry: Geometry,
    k: int,
    group: npt.NDArray[np.int32],
    classes: int,
) -> int:
    """Bring every cluster of fewer than ``k`` rows to ``k``, by the cheaper of two ways in rows x extents.

    Args:
        places, sets, geometry, k: as in `cluster_top_down`; there are at least ``k`` rows.
        group: int32[n], 0 to ``classes`` - 1; changed, and numbered anew without gaps.
        classes: the number of classes.

    Returns:
        The number of classes left.

    A cluster is merged with the cluster of the cheapest union; or it takes rows, the least widening first, from
    the nearest cluster (by the same measure) that keeps ``k``. Ties: the first.

    Cost: O(classes d + n) a repair.
    """
    facts, table = geometry.facts, geometry.table
    lanes, words = places.shape[1], sets.shape[1]
    weight = weigh_lines(geometry, lanes)
    seen = np.full((len(facts), 3), -1, np.int64)
    low, high = np.empty((classes + 2, lanes), np.int32), np.empty((classes + 2, lanes), np.int32)
    mask = np.zeros((classes + 2, words), np.uint64)
    size, wide = np.zeros(classes + 2, np.int64), np.zeros(classes + 2, np.int64)
    members = [np.flatnonzero(group == g) for g in range(classes)]
    trial, own_class = classes, classes + 1
    for g in range(classes):
        _box(places, sets, members[g], low, high, mask, g)
        size[g] = len(members[g])
        wide[g] = measure_set(facts, table, mask, g) + measure_codes(facts, table, low, high, g, seen)
        for b in range(0, lanes, WIDTH):
            wide[g] += measure_width(low, high, g, weight, b)
    for g in range(classes):
        while 0 < size[g] < k:
            lack = k - size[g]
            partner, donor, price, nearest = -1, -1, np.int64(0), np.int64(0)
            for h in range(classes):
                if h == g or size[h] == 0:
                    continue
                for b in range(0, lanes, WIDTH):
                    take(low, trial, low, g, b)
                    take(high, trial, high, g, b)
                    widen(low, high, trial, low, high, h, b)
                for w in range(words):
                    mask[trial, w] = mask[g, w] | mask[h, w]
                total = measure_set(facts, table, mask, trial) + measure_codes(facts, table, low, high, trial, seen)
                for b in range(0, lanes, WIDTH):
                    total += measure_width(low, high, trial, weight, b)
                cost = (size[g] + size[h]) * total - size[g] * wide[g] - size[h] * wide[h]
                if partner < 0 or cost < price:
                    partner, price = h, cost
                if size[h] >= k + lack and (donor < 0 or total < nearest):
                    donor, nearest = h, total
            if partner < 0:
                break
            taken_rows = np.zeros(0, np.int64)
            if donor >= 0:
                # Borrow, one row after the other, into a box of its own.
                rows = members[donor].copy()
                taken_rows = np.empty(lack, np.int64)
                for b in range(0, lanes, WIDTH):
                    take(low, own_class, low, g, b)
                    take(high, own_class, high, g, b)
                for w in range(words):
                    mask[own_class, w] = mask[g, w]
                here = np.int64(0)
                for step in range(lack):
                    best_row, least = -1, np.int64(0)
                    for index in range(len(rows)):
                        if rows[index] < 0:
                            continue
                        for b in range(0, lanes, WIDTH):
                            take(low, trial, low, own_class, b)
                            take(high, trial, high, own_class, b)
                            widen(low, high, trial, places, places, rows[index], b)
                        for w in range(words):
                            mask[trial, w] = mask[own_class, w] | sets[rows[index], w]
                        total = measure_set(facts, table, mask, trial) + measure_codes(
                            facts, table, low, high, trial, seen
                        )
                        for b in range(0, lanes, WIDTH):
                            total += measure_width(low, high, trial, weight, b)
                        if best_row < 0 or total < least:
                            best_row, least = index, total
                    taken_rows[step] = rows[best_row]
                    rows[best_row] = -1
                    here = least
                    for b in range(0, lanes, WIDTH):
                        widen(low, high, own_class, places, places, taken_rows[step], b)
                    for w in range(words):
                        mask[own_class, w] |= sets[taken_rows[step], w]
                rest = rows[rows >= 0]
                _box(places, sets, rest, low, high, mask, trial)
                total = measure_set(facts, table, mask, trial) + measure_codes(facts, table, low, high, trial, seen)
                for b in range(0, lanes, WIDTH):
                    total += measure_width(low, high, trial, weight, b)
                cost = k * here + len(rest) * total - size[g] * wide[g] - size[donor] * wide[donor]
                if cost < price:
                    members[g], members[donor] = np.concatenate((members[g], taken_rows)), rest
                    size[g], size[donor] = k, len(rest)
                    wide[g], wide[donor] = here, total
                    _box(places, sets, members[g], low, high, mask, g)
                    _box(places, sets, rest, low, high, mask, donor)
                    continue
            members[g] = np.concatenate((members[g], members[partner]))
            wide[g] = (price + size[g] * wide[g] + size[partner] * wide[partner]) // (size[g] + size[partner])
            size[g] += size[partner]
            size[partner] = 0
            _box(places, sets, members[g], low, high, mask, g)
    groups = 0
    for g in range(classes):
        if size[g] > 0:
            group[members[g]] = groups
            groups += 1
    return groups


@njit(nogil=True, cache=True)
def _box(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.int64],
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    to: int,
) -> None:
    """The box of some rows."""
    for index in range(len(rows)):
        for b in range(0, places.shape[1], WIDTH):
            if index == 0:
                take(low, to, places, rows[index], b)
                take(high, to, places, rows[index], b)
            else:
                widen(low, high, to, places, places, rows[index], b)
        for w in range(sets.shape[1]):
            mask[to, w] = sets[rows[index], w] | (mask[to, w] if index > 0 else np.uint64(0))
