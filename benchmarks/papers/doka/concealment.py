"""k-concealment by agglomeration, without its randomization.

The sources are Gionis, Mazza and Tassa 2008, and Tassa, Mazza and Gionis 2012.

Every row gets at least k matches, boxes that hold it in some complete assignment of rows to boxes. They are not equally
likely, so that this is no k-anonymity and no solver of the product: it is measured as the paper's comparator only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from sqlanon.papers.matchings.kernels.cost import Coordinates, grow, measure_joint_width
from sqlanon.release.history.kernels.strong_components import find_strong_components

Longs = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]


@njit(nogil=True, cache=True)
def _cheapest(price: Longs, count: int) -> Longs:
    """The places of the ``count`` least numbers that are at least 0; fewer where there are not so many."""
    found = np.empty(count, np.int64)
    size = 0
    for j in range(len(price)):
        if price[j] < 0 or (size == count and price[j] >= price[found[count - 1]]):
            continue
        at = min(size, count - 1)
        while at > 0 and price[found[at - 1]] > price[j]:
            found[at] = found[at - 1]
            at -= 1
        found[at] = j
        size = min(size + 1, count)
    return found[:size].copy()


@njit(nogil=True, cache=True)
def _expand(c: Coordinates, k: int, box: Places, mask: Masks) -> None:
    """Let the box of every row grow by the row that widens it least until it has k rows ((k, 1)-anonymity)."""
    n = len(box)
    inside = np.full(n, -1, np.int64)
    for j in range(n):
        inside[j] = j
        for _ in range(1, k):
            near, least = -1, np.int64(0)
            for i in range(n):
                if inside[i] != j:
                    wide = measure_joint_width(box, mask, j, c.box, c.mask, i, c.measure)
                    if near < 0 or wide < least:
                        near, least = i, wide
            inside[near] = j
            grow(box, mask, j, c.box, c.mask, near)


@njit(nogil=True, cache=True)
def _cover(c: Coordinates, k: int, box: Places, mask: Masks) -> None:
    """Let the boxes that it costs least grow by every row that fewer than k boxes cover ((1, k)-anonymity)."""
    n = len(box)
    price = np.empty(n, np.int64)
    for i in range(n):
        lacks = k
        for j in range(n):
            price[j] = measure_joint_width(box, mask, j, c.box, c.mask, i, c.measure) - measure_joint_width(
                box, mask, j, box, mask, j, c.measure
            )
            if price[j] == 0:
                lacks -= 1
                price[j] = -1
        if lacks > 0:
            for j in _cheapest(price, lacks):
                grow(box, mask, j, c.box, c.mask, i)


@njit(nogil=True, cache=True)
def _edges(c: Coordinates, box: Places, mask: Masks) -> tuple[Longs, Longs]:
    """The boxes that cover each row: where each row's begin, int64[n + 1], and the boxes."""
    n = len(box)
    wide, start = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    for j in range(n):
        wide[j] = measure_joint_width(box, mask, j, box, mask, j, c.measure)
    held = np.empty((n, n), np.bool_)
    for i in range(n):
        for j in range(n):
            held[i, j] = measure_joint_width(box, mask, j, c.box, c.mask, i, c.measure) == wide[j]
            start[i + 1] += held[i, j]
    for i in range(n):
        start[i + 1] += start[i]
    boxes = np.empty(start[n], np.int64)
    for i in range(n):
        at = start[i]
        for j in range(n):
            if held[i, j]:
                boxes[at] = j
                at += 1
    return start, boxes


@njit(nogil=True, cache=True)
def concealed(c: Coordinates, k: int) -> tuple[Places, Masks, int]:
    """Boxes in which every row has at least k matches.

    Args:
        c: n rows; k is at most n.
        k: matches.

    Returns:
        The boxes, and the fewest matches of a row.

    Cost: O(k n^2 d), memory O(n^2) bytes.
    """
    n = len(c.box)
    box, mask = c.box.copy(), c.mask.copy()
    _expand(c, k, box, mask)
    _cover(c, k, box, mask)
    while True:
        start, boxes = _edges(c, box, mask)
        part = find_strong_components(start, boxes)  # a box that is in its row's component is a match
        fewest = n
        for i in range(n):
            matches = 0
            for at in range(start[i], start[i + 1]):
                matches += part[boxes[at]] == part[i]
            fewest = min(fewest, matches)
            if matches < k:  # the cheapest of its other boxes become matches: row and box hold each other
                price = np.full(start[i + 1] - start[i], -1, np.int64)
                for at in range(start[i], start[i + 1]):
                    if part[boxes[at]] != part[i]:
                        price[at - start[i]] = measure_joint_width(box, mask, i, c.box, c.mask, boxes[at], c.measure)
                for near in _cheapest(price, k - matches):
                    grow(box, mask, i, c.box, c.mask, boxes[start[i] + near])
        if fewest >= k:
            return box, mask, fewest
