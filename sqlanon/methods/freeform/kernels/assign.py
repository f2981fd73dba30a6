"""One matching of rows to boxes at least cost, while the other matchings stay.

The sources are Doka et al. 2015, section 4, and Jonker and Volgenant 1987.

The cost of a row in a box is how much the box grows by it, an integer.
"""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import Geometry
from sqlanon.methods.freeform.kernels.prices import TAKEN, Ints, Longs, price_window

_FAR = np.int64(1) << 46
"""The cost of a forbidden pair: more than all allowed pairs of a window together."""


@njit(nogil=True, cache=True)
def assign(cost: Ints, price: Longs, row_of: Longs) -> None:
    """Assign a row to every box at least cost.

    Args:
        cost: int32[m, m], by box and row; 2^31 - 1 where they may not meet. An assignment exists.
        price: int64[m], any prices of the rows, changed: near prices save time.
        row_of: int64[m], written: the row of every box.

    Cost: O(m^3) at worst. Boxes bid for their rows first; the others get a row by shortest augmenting paths. Of
    equally near rows those without a box come first: where many rows cost the same, paths are short.
    """
    m = len(cost)
    far, out = np.int64(1) << 60, np.int64(1) << 61
    box_of = np.full(m, -1, np.int64)
    free = np.arange(m)
    remaining, budget = m, 4 * m
    for _ in range(2):
        index, count, remaining = 0, remaining, 0
        while index < count:
            box = free[index]
            index += 1
            first, second, best_row, two = _FAR * 4, _FAR * 4, 0, 0
            line = cost[box]
            for i in range(m):
                here = (_FAR if line[i] == TAKEN else np.int64(line[i])) - price[i]
                if here < second:
                    if here < first:
                        second, two = first, best_row
                        first, best_row = here, i
                    else:
                        second, two = here, i
            if m == 1:
                second = first
            other = box_of[best_row]
            lower = first < second
            if lower:
                price[best_row] -= second - first
            elif other >= 0:
                best_row = two
                other = box_of[best_row]
                i = two + 1
                while other >= 0 and i < m:
                    here = (_FAR if line[i] == TAKEN else np.int64(line[i])) - price[i]
                    if box_of[i] < 0 and here == first:
                        best_row, other = i, -1
                    i += 1
            box_of[best_row] = box
            if other >= 0:
                if lower and budget > 0:
                    budget -= 1
                    index -= 1
                    free[index] = other
                else:
                    free[remaining] = other
                    remaining += 1
    row_of[:] = -1
    single, count = np.empty(remaining, np.int64), 0  # rows without a box
    for i in range(m):
        if box_of[i] >= 0:
            row_of[box_of[i]] = i
        else:
            single[count] = i
            count += 1
    open_, came = np.empty(m, np.int64), np.empty(m, np.int64)
    scanned, dist = np.empty(m, np.int64), np.empty(m, np.int64)
    bar = price.copy()  # as `price`, but no path comes again to a row that was scanned
    for f in range(remaining):
        start = free[f]
        line = cost[start]
        least = far
        for i in range(m):
            here = (_FAR if line[i] == TAKEN else np.int64(line[i])) - bar[i]
            open_[i] = here
            came[i] = start
            least = min(least, here)
        passes = 0
        while True:
            index = 0
            while index < count and open_[single[index]] != least:
                index += 1
            if index < count:
                count -= 1
                near, single[index] = single[index], single[count]
                break
            near = 0
            while open_[near] != least:
                near += 1
            box = box_of[near]
            line = cost[box]
            step = (_FAR if line[near] == TAKEN else np.int64(line[near])) - bar[near] - least
            open_[near], bar[near] = far, -out
            scanned[passes], dist[passes] = near, least
            passes += 1
            least = far
            for i in range(m):  # apart from the next loop: so both become vector instructions
                here = (_FAR if line[i] == TAKEN else np.int64(line[i])) - bar[i] - step
                if here < open_[i]:
                    open_[i] = here
                    came[i] = box
            for i in range(m):
                least = min(least, open_[i])
        for index in range(passes):
            price[scanned[index]] += dist[index] - least
            bar[scanned[index]] = price[scanned[index]]
        i = near
        while True:
            box = came[i]
            box_of[i] = box
            i, row_of[box] = row_of[box], i
            if box == start:
                break


@njit(nogil=True, cache=True)
def improve(
    codes: Ints, geometry: Geometry, targets: Longs, row_in: Longs, t: int, matchings: int, windows: Longs, price: Longs
) -> None:
    """Take matching ``t`` out of some windows of rows and assign it anew, or make it.

    The rows of a window exchange the boxes that they hold in that matching; of a matching that is made, the window's
    own boxes. No row gets a box that it has in another matching, and the loss does not grow.

    Args:
        codes, geometry, row_in: as in `price_window`.
        targets: int64[k, n], the box of every row in each matching; matching ``t`` of this and of ``row_in`` is written
            in the windows.
        t, matchings: the matching, and how many there are, from the first on; ``t == matchings``: it is made.
        windows: int64[w, 2], the first and past-last row of each.
        price: int64[n], see `assign`, by row.

    Cost: O(m^3) for a window of m rows at worst, and `price_window`.
    """
    for index in range(len(windows)):
        begin, stop = windows[index, 0], windows[index, 1]
        m = stop - begin
        boxes = targets[t, begin:stop].copy() if t < matchings else np.arange(begin, stop)
        cost, row_of, own_price = np.empty((m, m), np.int32), np.empty(m, np.int64), price[begin:stop]
        price_window(codes, geometry, row_in, t, matchings, begin, stop, boxes, cost)
        for i in range(m):
            if own_price[i] < -_FAR >> 1:
                own_price[:] = 0
                break
        assign(cost, own_price, row_of)
        for b in range(m):
            targets[t, begin + row_of[b]] = boxes[b]
            row_in[t, boxes[b]] = begin + row_of[b]
