"""Random replacement of matchings by others of the same graph.

It spreads the information about the others that the drawn matching reveals (Doka et al. 2015, section 4).

The union of k matchings without a common edge is a k-regular graph. It can be divided into k matchings in many ways.
The edges, and so the boxes and their loss, stay as they are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.methods.freeform.kernels.stream import Words, draw_below, draw_choice, draw_word

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

SWAPS = 10
"""Swaps of two matchings before the draw, for each matching."""

SPLIT = 3
"""Matchings that are united and divided anew, at least; every fourth time 1 more, and every eighth 2."""


@njit(nogil=True, cache=True)
def swap(first: Ints, second: Ints, state: Words) -> None:
    """Along each alternating cycle of two matchings a fair coin swaps them.

    Args:
        first, second: int32[n], the box of every row, changed.
        state: the stream of random numbers.

    Cost: O(n).
    """
    n = len(first)
    holder, after = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        holder[second[i]] = i
    for i in range(n):
        after[i] = holder[first[i]]
    coins, bits_left = np.uint32(0), 0
    for start in range(n):
        if after[start] < 0:
            continue  # in a cycle that was walked
        if bits_left == 0:
            coins, bits_left = draw_word(state), 32
        heads = coins & np.uint32(1) == np.uint32(1)
        coins, bits_left = coins >> np.uint32(1), bits_left - 1
        i = np.int32(start)
        while after[i] >= 0:
            if heads:
                first[i], second[i] = second[i], first[i]
            after[i], i = -1, after[i]


@njit(nogil=True, cache=True)
def _match_by_walks(edges: Ints, degree: int, box: Ints, place: Ints, holder: Ints, state: Words) -> None:
    """A perfect matching of a ``degree``-regular graph by random walks (Goel, Kapralov and Khanna 2010).

    Args:
        edges: int32[n, *], the first ``degree`` of a row are the row's boxes.
        box, place: int32[n], written: the box of every row, and the place of this edge.
        holder: int32[n], written: the row of every box.
        state: the stream.

    Cost: O(n log n), expected.
    """
    n = len(edges)
    box[:], place[:], holder[:] = -1, -1, -1
    came = np.empty(n, np.int32)  # by which edge a walk left a row last: going back to a row forgets the loop
    for first in range(n):
        start = first
        i = start
        while True:
            choice = draw_choice(state, degree)
            if choice == place[i]:
                continue  # the edge that it has is no way out
            came[i] = choice
            j = edges[i, choice]
            if holder[j] < 0:
                break
            i = holder[j]
        i = start
        while True:
            choice = came[i]
            j = edges[i, choice]
            holder_row = holder[j]
            box[i], place[i], holder[j] = j, choice, i
            if holder_row < 0:
                break
            i = holder_row


@njit(nogil=True, cache=True)
def split(targets: Ints, chosen: Longs, state: Words) -> None:
    """Unite some matchings and divide their graph anew.

    Args:
        targets: int32[k, n], the box of every row in every matching, changed.
        chosen: int64[m], the matchings.
        state: the stream.

    Cost: O(n m log n), expected.
    """
    n, degree = targets.shape[1], len(chosen)
    edges = np.empty((n, degree), np.int32)
    for index in range(degree):
        for i in range(n):
            edges[i, index] = targets[chosen[index], i]
    box, place, holder = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for edges_left in range(degree, 1, -1):
        _match_by_walks(edges, edges_left, box, place, holder, state)
        for i in range(n):
            targets[chosen[edges_left - 1], i] = box[i]
            edges[i, place[i]] = edges[i, edges_left - 1]
    for i in range(n):
        targets[chosen[0], i] = edges[i, 0]


@njit(nogil=True, cache=True)
def _draw_some(k: int, few: int, state: Words) -> Longs:
    """``few`` of the numbers below k, in random order."""
    order = np.arange(k)
    for index in range(few):
        other = index + draw_below(state, k - index)
        order[index], order[other] = order[other], order[index]
    return order[:few].copy()


@njit(nogil=True, cache=True)
def remix(targets: Ints, swaps: int, splits: int, state: Words) -> None:
    """Divide the graph of k matchings into k others, at random.

    Args:
        targets: int32[k, n], the box of every row in every matching, changed.
        swaps: pairs of matchings that are swapped.
        splits: how often three or more are divided anew, spread among the swaps.
        state: the stream.

    Cost: O(n (swaps + splits log n)), expected.
    """
    k = len(targets)
    if k < 2:
        return
    swaps_done = 0
    for step in range(swaps):
        pair = _draw_some(k, 2, state)
        swap(targets[pair[0]], targets[pair[1]], state)
        while k >= SPLIT and swaps_done * swaps < splits * (step + 1):
            few = SPLIT + (1 if swaps_done % 4 == 3 else 0) + (1 if swaps_done % 8 == 7 else 0)
            split(targets, _draw_some(k, min(few, k), state), state)
            swaps_done += 1


@njit(nogil=True, cache=True)
def divide_graph(edges: Ints, state: Words) -> Ints:
    """Divide a k-regular graph into k matchings, int32[k, n], by random walks.

    Args:
        edges: int32[n, k], the boxes of every row; changed.
        state: the stream.

    Cost: O(n k log n), expected.
    """
    n, degree = edges.shape
    targets = np.empty((degree, n), np.int32)
    box, place, holder = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for edges_left in range(degree, 0, -1):
        if edges_left > 1:
            _match_by_walks(edges, edges_left, box, place, holder, state)
        else:
            box[:], place[:] = edges[:, 0], 0
        for i in range(n):
            targets[edges_left - 1, i] = box[i]
            edges[i, place[i]] = edges[i, edges_left - 1]
    return targets


def decompose_graph(edges: Longs, state: Words) -> Longs:
    """The k matchings of a k-regular graph, the identity first.

    Args:
        edges: int64[n, k], the boxes of every row, with the row's own; every box is k times there.
        state: a stream; the matchings are not secret before they are remixed.
    """
    n, k = edges.shape
    rest = edges[edges != np.arange(n)[:, None]].reshape(n, k - 1)
    identity = np.arange(n, dtype=np.int64)[None, :]
    return np.concatenate([identity, divide_graph(np.ascontiguousarray(rest, np.int32), state)]) if k > 1 else identity
