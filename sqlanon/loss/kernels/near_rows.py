"""The rows nearest to a row by the width of their box together: a tree of boxes over the codes of all rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import KIND, LEVELS, NULLS, SIZE, START, WEIGHT, Geometry, measure_extent

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

_LEAF = 16
"""Rows that are not divided further."""
_DEPTH = 256
"""Nodes that wait while the tree is made or read: two a level, and a level halves the rows."""


class Nodes(NamedTuple):
    """A tree that halves rows, node 0 the root.

    Attributes:
        order: int64[n], rows, those of a node next to each other.
        first, past: int64[m], the rows of a node in ``order``.
        left: int64[m], the first of a node's two children, which follow one another; 0: no children.
        low, high: int32[m, d], the least and greatest codes of a node.
    """

    order: Longs
    first: Longs
    past: Longs
    left: Longs
    low: Ints
    high: Ints


@njit(nogil=True, cache=True)
def make_nodes(codes: Ints, geometry: Geometry) -> Nodes:
    """Halve n rows at the median of the attribute with the widest codes, as far as they differ.

    Args:
        codes: int32[n, d].
        geometry: the attributes.

    Cost: O(n log n) comparisons a level.
    """
    n, d = len(codes), len(geometry.facts)
    most = 4 * (n // _LEAF + 1) + 1
    order, first, past = np.arange(n), np.zeros(most, np.int64), np.zeros(most, np.int64)
    first_child, low, high = np.zeros(most, np.int64), np.zeros((most, d), np.int32), np.zeros((most, d), np.int32)
    past[0], nodes_made, current = n, 1, 0
    while current < nodes_made:
        start, stop, widest, cut = first[current], past[current], np.int64(0), -1
        for a in range(d):
            least = greatest = codes[order[start], a]
            for i in range(start + 1, stop):
                code = codes[order[i], a]
                least, greatest = min(least, code), max(greatest, code)
            low[current, a], high[current, a] = least, greatest
            wide = geometry.facts[a, WEIGHT] * _apart(geometry, a, least, greatest)
            if least < greatest and wide >= widest:
                widest, cut = wide, a
        if stop - start > _LEAF and cut >= 0:
            part = order[start:stop].copy()
            keys = np.empty(stop - start, np.int32)
            for i in range(stop - start):
                keys[i] = codes[part[i], cut]
            sorted_by = np.argsort(keys, kind="mergesort")
            for i in range(stop - start):
                order[start + i] = part[sorted_by[i]]
            middle = (start + stop) // 2
            first_child[current] = nodes_made
            first[nodes_made], past[nodes_made] = start, middle
            first[nodes_made + 1], past[nodes_made + 1] = middle, stop
            nodes_made += 2
        current += 1
    return Nodes(
        order, first[:nodes_made], past[:nodes_made], first_child[:nodes_made], low[:nodes_made], high[:nodes_made]
    )


@njit(nogil=True, cache=True)
def _apart(geometry: Geometry, a: int, first: int, other: int) -> int:
    """The extent of two codes of an attribute, the lesser first."""
    facts = geometry.facts
    return measure_extent(
        facts[a, KIND],
        facts[a, SIZE],
        facts[a, NULLS],
        facts[a, LEVELS],
        facts[a, START],
        geometry.table,
        first,
        other,
        2,
    )


@njit(nogil=True, cache=True)
def _measure_apart(codes: Ints, x: int, low: Ints, high: Ints, index: int, geometry: Geometry) -> int:
    """The least width of row ``x`` together with a row with codes between ``low[index]`` and ``high[index]``."""
    total = np.int64(0)
    for a in range(len(geometry.facts)):
        code = codes[x, a]
        if code < low[index, a]:
            total += geometry.facts[a, WEIGHT] * _apart(geometry, a, code, low[index, a])
        elif code > high[index, a]:
            total += geometry.facts[a, WEIGHT] * _apart(geometry, a, high[index, a], code)
    return total


@njit(nogil=True, cache=True)
def _sift(far: Longs, rows: Longs, size: int) -> None:
    """Move the first item of a heap, the farthest first, down to the right place."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and far[child + 1] > far[child]:
            child += 1
        if far[child] <= far[place]:
            return
        far[place], far[child] = far[child], far[place]
        rows[place], rows[child] = rows[child], rows[place]
        place = child


@njit(nogil=True, cache=True)
def find_near(nodes: Nodes, codes: Ints, geometry: Geometry, x: int, far: Longs, rows: Longs) -> None:
    """The rows that are nearest to row ``x``, itself among them.

    Args:
        nodes: the tree.
        codes: int32[n, d].
        geometry: the attributes.
        x: the row.
        far: int64[m], written: their widths together with ``x``, ascending. m is at most n.
        rows: int64[m], written: the rows.
    """
    m, waiting, count = len(far), np.empty(_DEPTH, np.int64), 1
    bound = np.empty(_DEPTH, np.int64)
    far[:], rows[:] = np.iinfo(np.int64).max, -1
    waiting[0] = bound[0] = 0
    while count > 0:
        count -= 1
        node = waiting[count]
        if bound[count] >= far[0]:
            continue
        if nodes.left[node] == 0:
            for i in range(nodes.first[node], nodes.past[node]):
                row = nodes.order[i]
                wide = _measure_apart(codes, x, codes, codes, row, geometry)
                if wide < far[0]:
                    far[0], rows[0] = wide, row
                    _sift(far, rows, m)
            continue
        child = nodes.left[node]
        to_one = _measure_apart(codes, x, nodes.low, nodes.high, child, geometry)
        to_other = _measure_apart(codes, x, nodes.low, nodes.high, child + 1, geometry)
        nearer = child if to_one <= to_other else child + 1
        waiting[count], bound[count] = 2 * child + 1 - nearer, max(to_one, to_other)
        waiting[count + 1], bound[count + 1] = nearer, min(to_one, to_other)
        count += 2
    by = np.argsort(far, kind="mergesort")
    far[:] = far[by]
    rows[:] = rows[by]
