"""Which records can be in a class of a node, by projections of the lattice to some columns.

A group of a node lies in one group of every coarser node. A projection leaves columns out, as the levels that hide them
do. So a record in a group of too few rows in some projection is in no class of the node: for most nodes of a large
lattice no record is left.
"""

from __future__ import annotations

import numpy as np

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Ints, Longs
from sqlanon.methods.fulldomain.kernels.lattice import GroupingArrays, Maps, add_up, group
from sqlanon.methods.fulldomain.kernels.lattice_local import Bits, Levels
from sqlanon.methods.fulldomain.kernels.lattice_part import IN_USE, RemainingRows


@njit(nogil=True, cache=True)
def project(
    codes: Ints,
    maps: Maps,
    nodes: Levels,
    above: Ints,
    least: int,
    rest: RemainingRows,
    place: Ints,
    room: GroupingArrays,
    bits: Bits,
) -> None:
    """Fill ``bits[t]`` for each projection ``nodes[t]``, the coarser first.

    Args:
        codes: int32[d, m].
        maps: the levels.
        nodes: int16[t, d], -1 for columns that are left out.
        above: int32[t, *], coarser projections of each that come before it; -1: none.
        least: rows that a class has, at least.
        rest: the records.
        place: int32[m], the place of each record in ``rest.records``.
        room: for all records.
        bits: uint64[t, words]; changed.
    """
    in_use, rows = rest.facts[IN_USE], room.rows
    unit = np.uint64(1)
    for t in range(len(nodes)):
        n = 0
        for w in range(bits.shape[1]):
            bits[t, w] = ~np.uint64(0)
            for a in range(above.shape[1]):
                if above[t, a] >= 0:
                    bits[t, w] &= bits[above[t, a], w]
        for i in range(in_use):
            if bits[t, i >> 6] >> np.uint64(i & 63) & unit:
                rows[n] = rest.records[i]
                n += 1
        for w in range(bits.shape[1]):
            bits[t, w] = 0
        if n < 1:
            continue
        groups = group(codes, n, maps, nodes[t], room)
        add_up(n, groups, room, rest.left)
        for i in range(n):
            if room.size[room.group[i]] >= least:
                bit = place[rows[i]]
                bits[t, bit >> 6] |= unit << np.uint64(bit & 63)


@njit(nogil=True, cache=True)
def find_places(rest: RemainingRows, place: Ints) -> Longs:
    """The place of each record with rows; `RemainingRows.records` forgets the others.

    Returns their number, and their rows.
    """
    n, rows = 0, np.int64(0)
    for i in range(rest.facts[IN_USE]):
        record = rest.records[i]
        if rest.left[record] > 0:
            rest.records[n] = record
            place[record] = n
            rows += rest.left[record]
            n += 1
    rest.facts[IN_USE] = n
    return np.array([n, rows])
