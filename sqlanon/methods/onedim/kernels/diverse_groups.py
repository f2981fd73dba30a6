"""l-diverse groups along an order (Ghinita et al. 2009, section 4.3, Figures 13 and 14).

The rows of every sensitive value are in order; the *frontier* is the first row of each that is in no
group yet. A group takes the l rows of the frontier that come first (greedy step), or rows of the most frequent values
where the rest could not be divided otherwise (fall-back step), and so holds a value once (Corollary 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.boxes import measure_codes, measure_set, weigh_lines
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.heap import drop, push
from sqlanon.kernels.lanes import WIDTH, measure_width, take, widen
from sqlanon.methods.onedim.kernels.frontier import find_frontier, put_back, take_row


@njit(nogil=True, cache=True)
def make_diverse_groups(
    value: npt.NDArray[np.int32],
    values: int,
    l: int,  # noqa: E741
    keys: npt.NDArray[np.int64],
    places: npt.NDArray[np.int32],
    sets: npt.NDArray[np.uint64],
    geometry: Geometry,
    group: npt.NDArray[np.int32],
) -> int:
    """Divide n rows, in order, into groups of at least ``l`` rows that all differ in their sensitive value.

    Args:
        value: int32[n], sensitive codes, 0 to ``values`` - 1.
        values: codes there can be.
        l: at least 2 values a group (1 gives every row a group).
        keys: int64[n], ascending: distances on the line steer Figure 14's step, as in the paper; or empty: boxes do.
        places, sets, geometry: the rows' boxes, only looked at without ``keys``.
        group: int32[n], written: the number of each row's group, in the order in which they are made.

    Returns:
        How many groups there are; 0 if the table is not eligible (a value is more than n / l of the rows).

    A row that follows a closed group joins it if the group lacks the row's value, if the rest stays eligible, and if it
    is nearer to the group's first row than to the last of the ``l`` rows that come next. By boxes, which is ours: if
    the group's rows x extents grow by less than the next group's extents shrink when it takes the row after the last
    instead (the paper's distances, read as extents, made GCP worse). Then the next row is looked at.

    Cost: O(n (log m + d)) greedy steps for m values, O(m log m) for a fall-back step; memory O(n + m).
    """
    n = len(value)
    facts, table = geometry.facts, geometry.table
    lanes, words = places.shape[1], sets.shape[1]
    exact = len(keys) == 0
    weight = weigh_lines(geometry, lanes)
    seen = np.full((len(facts), 3), -1, np.int64)
    low, high = np.empty((2, lanes), np.int32), np.empty((2, lanes), np.int32)
    mask = np.zeros((2, words), np.uint64)
    following, _, count, holders, heap, size, most = find_frontier(value, values)
    remaining, groups = np.int64(n), np.int64(0)
    if most * l > n:
        return 0
    picked = np.empty(values + 1, np.int64)  # the group that grows, and before that the rows it will begin with
    ahead = np.int64(0)  # rows at the front of ``picked`` that have left the heap already
    inside = np.full(values, -1, np.int64)
    by_count = np.empty(values + 1, np.int64)  # a heap of its own: the most frequent values first
    while remaining > 0:
        # Greedy step.
        picks = np.int64(0)
        while True:
            if picks == ahead:
                if size == 0:
                    break
                picked[ahead] = heap[0]
                ahead += 1
                size = drop(heap, size)
            v = value[picked[picks]]
            most = take_row(count, holders, most, v)
            picks += 1
            remaining -= 1
            if picks >= l:
                if most * l <= remaining:
                    break
                if (most - 1) * l > remaining - 1:  # no further row can lower the most frequent value far enough
                    break
        if most * l > remaining:
            # Fall-back step: put the rows back, then take the most frequent values.
            for index in range(picks):
                v = value[picked[index]]
                most = put_back(count, holders, most, v)
            remaining += picks
            waiting = np.int64(0)
            for index in range(ahead + size):
                i = picked[index] if index < ahead else heap[index - ahead]
                waiting = push(by_count, waiting, ((n - count[value[i]]) << 32) | i)
            picks = 0
            while picks < l or most * l > remaining:
                picked[picks] = by_count[0] & 0xFFFFFFFF
                waiting = drop(by_count, waiting)
                v = value[picked[picks]]
                most = take_row(count, holders, most, v)
                picks += 1
                remaining -= 1
            size = 0
            for index in range(waiting):
                size = push(heap, size, by_count[index] & 0xFFFFFFFF)
            ahead = picks
        # Close the group: its values' next rows enter the frontier, and rows that it does not take return.
        leftmost = picked[0]
        for index in range(ahead):
            i = item = picked[index]
            if index < picks:
                item = following[i]
                leftmost = min(leftmost, i)
                group[i] = groups
                inside[value[i]] = groups
                if exact:
                    for b in range(0, lanes, WIDTH):
                        if index == 0:
                            take(low, 0, places, i, b)
                            take(high, 0, places, i, b)
                        else:
                            widen(low, high, 0, places, places, i, b)
                    for w in range(words):
                        mask[0, w] = sets[i, w] | (mask[0, w] if index > 0 else np.uint64(0))
            if item >= 0:
                size = push(heap, size, item)
        ahead = 0
        rows, now = picks, np.int64(-1)  # the width of the group's box is looked up where it is asked for
        # Figure 14: the row that comes next may rather belong here.
        while remaining > 0:
            while ahead < l and size > 0:
                picked[ahead] = heap[0]
                ahead += 1
                size = drop(heap, size)
            first = picked[0]
            v = value[first]
            if inside[v] == groups:
                break
            last = picked[ahead - 1]
            if exact:
                # How much narrower the next group would be with the row after its last in this one's stead: its box
                # with either of them, then this group's box with and without the row. One loop, since the functions
                # that look up widths are written into it and take most of the compilation.
                there = wider = np.int64(0)
                for turn in range(4 if now < 0 else 3):
                    if turn < 2:
                        source = first if turn == 0 or size == 0 else heap[0]
                        for b in range(0, lanes, WIDTH):
                            take(low, 1, places, source, b)
                            take(high, 1, places, source, b)
                        for w in range(words):
                            mask[1, w] = sets[source, w]
                        for index in range(1, ahead):
                            for b in range(0, lanes, WIDTH):
                                widen(low, high, 1, places, places, picked[index], b)
                            for w in range(words):
                                mask[1, w] |= sets[picked[index], w]
                    else:
                        for b in range(0, lanes, WIDTH):
                            take(low, 1, low, 0, b)
                            take(high, 1, high, 0, b)
                            if turn == 2:
                                widen(low, high, 1, places, places, first, b)
                        for w in range(words):
                            mask[1, w] = mask[0, w] | (sets[first, w] if turn == 2 else np.uint64(0))
                    total = measure_set(facts, table, mask, 1) + measure_codes(facts, table, low, high, 1, seen)
                    for b in range(0, lanes, WIDTH):
                        total += measure_width(low, high, 1, weight, b)
                    if turn < 2:
                        there += total if turn == 0 else -total
                    elif turn == 2:
                        wider = total
                    else:
                        now = total
                here = (rows + 1) * wider - rows * now
            else:
                wider = np.int64(0)
                here, there = abs(keys[first] - keys[leftmost]), keys[last] - keys[first]
            if here >= there:
                break
            top = most  # eligible without this row?
            if count[v] == most and holders[most] == 1:
                top = most - 1
            if top * l > remaining - 1:
                break
            most = take_row(count, holders, most, v)
            remaining -= 1
            group[first] = groups
            inside[v] = groups
            leftmost = min(leftmost, first)
            rows, now = rows + 1, wider
            if exact:
                for b in range(0, lanes, WIDTH):
                    widen(low, high, 0, places, places, first, b)
                for w in range(words):
                    mask[0, w] |= sets[first, w]
            for index in range(1, ahead):
                picked[index - 1] = picked[index]
            ahead -= 1
            if following[first] >= 0:
                # It may come before rows that have left the heap already, but not before those that are still there.
                index = ahead
                item = following[first]
                if size > 0 and heap[0] < item:
                    size = push(heap, size, item)
                    continue
                while index > 0 and picked[index - 1] > item:
                    picked[index] = picked[index - 1]
                    index -= 1
                picked[index] = item
                ahead += 1
        groups += 1
    return groups
