"""Refine: rows move to, or change places with rows of, classes near theirs while the loss falls. Ours, not a paper's.

Any method's classes can be refined once they are in an order in which neighbours are alike. A row on the rim of its
class looks at the classes around, takes the class that it would widen least, and moves there, or swaps with the row
there that gains most. A step is taken only if rows x extents falls and both classes still meet every requirement, so
the result is never worse; passes run up and down the order in turn.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.kernels.requirements import Demands, make_counters, satisfied

LARGE = 256
"""Rows of a larger class stay; it may still take others."""


@njit(nogil=True, cache=True, inline="always")
def _width(
    facts: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    weight: npt.NDArray[np.int32],
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    mask: npt.NDArray[np.uint64],
    row: int,
    seen: npt.NDArray[np.int64],
) -> int:
    """Weighted sum of extents of a box."""
    total = measure_set(facts, table, mask, row) + measure_codes(facts, table, low, high, row, seen)
    for b in range(0, low.shape[1], WIDTH):
        total += measure_width(low, high, row, weight, b)
    return total


@njit(nogil=True, cache=True)
def refine(
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    geometry: Geometry,
    demands: Demands,
    group: npt.NDArray[np.int32],
    classes: int,
    window: int,
    passes: int,
) -> int:
    """Improve an assignment in place.

    Args:
        places, sets: n rows, see `Rows`.
        geometry: the attributes.
        demands: the requirements, which the classes meet; the arrays are indexed by the same row numbers.
        group: int32[n], class of each row, 0 to ``classes`` - 1 in an order of the classes; changed.
        classes: how many there are.
        window: classes on either side that a row looks at.
        passes: runs over all rows, at most; a pass without a step is the last.

    Returns:
        By how much the sum of rows x extents has fallen, at least 0.

    Cost: O(n (window + k) d) a pass, for classes of O(k) rows; memory 3n rows.
    """
    facts, table = geometry.facts, geometry.table
    n, lanes, words = len(group), places.shape[1], sets.shape[1]
    weight = weigh_lines(geometry, lanes)
    last_width = np.full((len(facts), 3), -1, np.int64)
    checks = len(demands.add) > 0
    counters = make_counters(demands, n)
    numbers = np.arange(n).astype(np.int32)
    # The members of class g begin at start[g]; it has room for twice its rows, or for two more.
    size, start = np.zeros(classes, np.int64), np.zeros(classes + 1, np.int64)
    for g in group:
        size[g] += 1
    for g in range(classes):
        start[g + 1] = start[g] + max(2 * size[g], 3)
    members, place_of = np.empty(start[classes], np.int64), np.empty(n, np.int64)
    size[:] = 0
    for i in range(n):
        g = group[i]
        place_of[i] = start[g] + size[g]
        members[place_of[i]] = i
        size[g] += 1
    low, high = np.empty((classes, lanes), np.int32), np.empty((classes, lanes), np.int32)
    mask = np.zeros((classes, words), np.uint64)
    wide, without = np.zeros(classes, np.int64), np.zeros(n, np.int64)
    # Scratch boxes: 0 to LARGE are suffixes of a class, then the prefix, a trial, and the row's class without it.
    one_low, one_high = np.empty((LARGE + 4, lanes), np.int32), np.empty((LARGE + 4, lanes), np.int32)
    one_mask = np.zeros((LARGE + 4, words), np.uint64)
    prefix, trial, rest = LARGE + 1, LARGE + 2, LARGE + 3
    stale = np.ones(classes, np.bool_)
    gained = np.int64(0)
    spare = np.empty(max(start[classes], 1), np.int64)
    for turn in range(passes):
        steps = 0
        for index in range(n):
            i = index if turn % 2 == 0 else n - 1 - index
            g = int(group[i])
            first, past = max(g - window, 0), min(g + window + 1, classes)
            # Boxes of the classes in the window, and of each class without one row, are kept until the class changes.
            for h in range(first, past):
                if not stale[h]:
                    continue
                stale[h] = False
                begin, rows = start[h], size[h]
                for offset in range(rows):
                    m = members[begin + offset]
                    if offset == 0:
                        for b in range(0, lanes, WIDTH):
                            take(low, h, places, m, b)
                            take(high, h, places, m, b)
                        for w in range(words):
                            mask[h, w] = sets[m, w]
                    else:
                        for b in range(0, lanes, WIDTH):
                            widen(low, high, h, places, places, m, b)
                        for w in range(words):
                            mask[h, w] |= sets[m, w]
                wide[h] = _width(facts, table, weight, low, high, mask, h, last_width)
                if rows > LARGE or rows == 1:
                    for offset in range(rows):
                        without[members[begin + offset]] = wide[h]
                    continue
                for offset in range(rows - 1, 0, -1):
                    m = members[begin + offset]
                    s = offset
                    if offset == rows - 1:
                        for b in range(0, lanes, WIDTH):
                            take(one_low, s, places, m, b)
                            take(one_high, s, places, m, b)
                        for w in range(words):
                            one_mask[s, w] = sets[m, w]
                    else:
                        for b in range(0, lanes, WIDTH):
                            take(one_low, s, one_low, s + 1, b)
                            take(one_high, s, one_high, s + 1, b)
                            widen(one_low, one_high, s, places, places, m, b)
                        for w in range(words):
                            one_mask[s, w] = one_mask[s + 1, w] | sets[m, w]
                for offset in range(rows):
                    m = members[begin + offset]
                    source = offset + 1 if offset + 1 < rows else prefix
                    for b in range(0, lanes, WIDTH):
                        take(one_low, trial, one_low, source, b)
                        take(one_high, trial, one_high, source, b)
                        if 0 < offset < rows - 1:
                            widen(one_low, one_high, trial, one_low, one_high, prefix, b)
                    for w in range(words):
                        one_mask[trial, w] = one_mask[source, w] | (one_mask[prefix, w] if offset > 0 else np.uint64(0))
                    without[m] = _width(facts, table, weight, one_low, one_high, one_mask, trial, last_width)
                    for b in range(0, lanes, WIDTH):
                        if offset == 0:
                            take(one_low, prefix, places, m, b)
                            take(one_high, prefix, places, m, b)
                        else:
                            widen(one_low, one_high, prefix, places, places, m, b)
                    for w in range(words):
                        one_mask[prefix, w] = (one_mask[prefix, w] if offset > 0 else np.uint64(0)) | sets[m, w]
            if without[i] == wide[g]:
                continue
            # The class that the row widens least, in rows x extents.
            nearest, cost, joined = -1, np.int64(0), np.int64(0)
            for h in range(first, past):
                if h == g or start[h] + size[h] == start[h + 1]:
                    continue
                for b in range(0, lanes, WIDTH):
                    take(one_low, trial, low, h, b)
                    take(one_high, trial, high, h, b)
                    widen(one_low, one_high, trial, places, places, i, b)
                for w in range(words):
                    one_mask[trial, w] = mask[h, w] | sets[i, w]
                total = _width(facts, table, weight, one_low, one_high, one_mask, trial, last_width)
                price = size[h] * (total - wide[h])
                if nearest < 0 or price < cost:
                    nearest, cost, joined = h, price, total
            if nearest < 0:
                continue
            h = nearest
            loss_here, loss_there = size[g] * wide[g], size[h] * wide[h]
            best, partner = np.int64(0), -1
            if size[g] > demands.k and size[g] > 1:
                best = loss_here + loss_there - (size[g] - 1) * without[i] - (size[h] + 1) * joined
            if size[g] <= LARGE and size[h] <= LARGE:
                # A swap: the row's class without it, then every row of the other class in the row's place.
                begun = False
                for offset in range(size[g]):
                    m = members[start[g] + offset]
                    if m == i:
                        continue
                    for b in range(0, lanes, WIDTH):
                        if begun:
                            widen(one_low, one_high, rest, places, places, m, b)
                        else:
                            take(one_low, rest, places, m, b)
                            take(one_high, rest, places, m, b)
                    for w in range(words):
                        one_mask[rest, w] = (one_mask[rest, w] if begun else np.uint64(0)) | sets[m, w]
                    begun = True
                begin, rows = start[h], size[h]
                for b in range(0, lanes, WIDTH):  # the row closes every suffix, and begins the prefix
                    take(one_low, rows, places, i, b)
                    take(one_high, rows, places, i, b)
                    take(one_low, prefix, places, i, b)
                    take(one_high, prefix, places, i, b)
                for w in range(words):
                    one_mask[rows, w] = sets[i, w]
                    one_mask[prefix, w] = sets[i, w]
                for offset in range(rows - 1, 0, -1):
                    m = members[begin + offset]
                    for b in range(0, lanes, WIDTH):
                        take(one_low, offset, one_low, offset + 1, b)
                        take(one_high, offset, one_high, offset + 1, b)
                        widen(one_low, one_high, offset, places, places, m, b)
                    for w in range(words):
                        one_mask[offset, w] = one_mask[offset + 1, w] | sets[m, w]
                for offset in range(rows):
                    m = members[begin + offset]
                    # Without this row the other class cannot be narrower than ``without``: most rows lose here.
                    if loss_here + loss_there - size[g] * without[i] - rows * without[m] > best:
                        for b in range(0, lanes, WIDTH):
                            take(one_low, trial, one_low, offset + 1, b)
                            take(one_high, trial, one_high, offset + 1, b)
                            widen(one_low, one_high, trial, one_low, one_high, prefix, b)
                        for w in range(words):
                            one_mask[trial, w] = one_mask[offset + 1, w] | one_mask[prefix, w]
                        there = _width(facts, table, weight, one_low, one_high, one_mask, trial, last_width)
                        if loss_here + loss_there - size[g] * without[i] - rows * there > best:
                            for b in range(0, lanes, WIDTH):
                                take(one_low, trial, one_low, rest, b)
                                take(one_high, trial, one_high, rest, b)
                                if begun:
                                    widen(one_low, one_high, trial, places, places, m, b)
                                else:
                                    take(one_low, trial, places, m, b)
                                    take(one_high, trial, places, m, b)
                            for w in range(words):
                                one_mask[trial, w] = (one_mask[rest, w] if begun else np.uint64(0)) | sets[m, w]
                            here = _width(facts, table, weight, one_low, one_high, one_mask, trial, last_width)
                            gain = loss_here + loss_there - size[g] * here - rows * there
                            if gain > best:
                                best, partner = gain, m
                    for b in range(0, lanes, WIDTH):
                        widen(one_low, one_high, prefix, places, places, m, b)
                    for w in range(words):
                        one_mask[prefix, w] |= sets[m, w]
            if best <= 0:
                continue
            if checks:
                here_rows, there_rows = np.int64(0), np.int64(0)
                for offset in range(size[g]):
                    m = members[start[g] + offset]
                    if m != i:
                        spare[here_rows] = m
                        here_rows += 1
                if partner >= 0:
                    spare[here_rows] = partner
                    here_rows += 1
                if not satisfied(demands, numbers, spare[:here_rows], counters):
                    continue
                for offset in range(size[h]):
                    m = members[start[h] + offset]
                    if m != partner:
                        spare[there_rows] = m
                        there_rows += 1
                spare[there_rows] = i
                if not satisfied(demands, numbers, spare[: there_rows + 1], counters):
                    continue
            if partner >= 0:
                mine, theirs = place_of[i], place_of[partner]
                members[mine], members[theirs] = partner, i
                place_of[i], place_of[partner] = theirs, mine
                group[partner] = g
            else:
                size[g] -= 1
                last = members[start[g] + size[g]]
                members[place_of[i]] = last
                place_of[last] = place_of[i]
                place_of[i] = start[h] + size[h]
                members[place_of[i]] = i
                size[h] += 1
            group[i] = h
            stale[g], stale[h] = True, True
            gained += best
            steps += 1
        if steps == 0:
            break
    return gained
