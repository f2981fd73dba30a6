"""Local recoding along a lattice: each node in turn keeps the classes of the rest that meet the requirements (ours).

The rest can always become a class at the last node, which hides everything: it has k rows or none and, with a
frequency l = p / q of one sensitive column, no value of it is more than q / p of the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.requirements import Counters, Demands, satisfied
from sqlanon.kernels.tally import Ints, Longs
from sqlanon.methods.fulldomain.kernels.lattice import (
    GroupingArrays,
    Maps,
    add_up,
    group_keys,
    make_keys,
    sort_by_group,
    thin_out,
)
from sqlanon.methods.fulldomain.kernels.lattice_part import (
    CLASSES,
    IN_USE,
    PIECES,
    ROWS,
    ClassRequirements,
    RemainingRows,
    ValueTally,
    count_taken,
)

Bits = npt.NDArray[np.uint64]
Levels = npt.NDArray[np.int16]


SUMS = 1 << 21
"""Sums that records are thinned out by, at most."""

PAUSE = 4
"""Nodes from a thinning that keeps most records to the next."""


class Pieces(NamedTuple):
    """Parts of classes: a record, the class, and a number of rows of the record."""

    record: Ints
    label: Ints
    rows: Longs


class Filter(NamedTuple):
    """Which records can be in a group of enough rows at a node: bits by the place in `RemainingRows.records`.

    Attributes:
        bits: uint64[tables, words], of projections of the lattice to some columns.
        which: int32[nodes, projections], the tables of each node; no projections: every record can.
    """

    bits: Bits
    which: Ints


@njit(nogil=True, cache=True)
def visit(
    codes: Ints,
    value: Ints,
    maps: Maps,
    nodes: Levels,
    requirements: ClassRequirements,
    demands: Demands,
    counters: Counters,
    rest: RemainingRows,
    pieces: Pieces,
    room: GroupingArrays,
    sieve: Filter,
) -> int:
    """Let nodes keep classes, one after the other.

    Args:
        codes: int32[d, m], of the records.
        value: int32[m], the sensitive value of each.
        maps: the levels.
        nodes: int16[*, d], in the order in which they take.
        requirements: the requirements counted here.
        demands: tallies of the other requirements; then groups are taken whole.
        counters: for them, for all rows.
        rest: the rows left; changed.
        pieces: gets the classes.
        room: for all records.
        sieve: see `Filter`.

    Returns:
        the number of nodes that kept a class.

    Cost: nodes x rest at worst.
    """
    facts, productive = rest.facts, 0
    least = requirements.k
    if requirements.p > 0:
        least = max(least, -(-requirements.p // requirements.q))
    tallied = ValueTally(
        np.zeros(len(rest.counts), np.int64),
        np.zeros(len(rest.counts), np.int64),
        np.zeros(len(rest.counts), np.int64),
        np.zeros(len(rest.counts), np.bool_),
    )
    thin, sums = 0, np.empty(SUMS, np.uint8)
    expanded = np.empty(facts[ROWS] if len(demands.add) > 0 else 1, np.int32)
    places = np.arange(len(expanded))
    for v in range(len(nodes)):
        if facts[ROWS] == 0:
            break
        n = _candidates(rest, sieve, v, room.rows)
        if n == 0:
            continue
        make_keys(codes, n, maps, nodes[v], room)
        if least > 1 and v >= thin:
            remaining = thin_out(n, maps.words, room, rest.left, least, sums)
            # Where most records stay, as at coarse nodes, the sums cost more than they save.
            thin, n = v + (1 if 2 * remaining < n else PAUSE), remaining
            if n == 0:
                continue
        groups = group_keys(n, maps.words, room)
        add_up(n, groups, room, rest.left)
        large = 0
        for g in range(groups):
            if room.size[g] >= least:
                room.size[g] = large
                large += 1
            else:
                room.size[g] = -1
        if large == 0:
            continue
        for i in range(n):
            room.group[i] = room.size[room.group[i]]
        start, order = sort_by_group(room.group, n, large)
        before = facts[CLASSES]
        for g in range(large):
            members = order[start[g] : start[g + 1]]
            for index in range(len(members)):
                members[index] = room.rows[members[index]]
            _take(members, value, requirements, demands, counters, rest, pieces, tallied, expanded, places)
        if facts[CLASSES] > before:
            productive += 1
            if sieve.which.shape[1] == 0:
                _compact(rest)
    return productive


@njit(nogil=True, cache=True)
def _candidates(rest: RemainingRows, sieve: Filter, v: int, rows: Ints) -> int:
    """The records that may be in a class of node ``v``, in ascending order; returns how many."""
    n, in_use = 0, rest.facts[IN_USE]
    if sieve.which.shape[1] == 0:
        for i in range(in_use):
            rows[i] = rest.records[i]
        return in_use
    which = sieve.which[v]
    for w in range(sieve.bits.shape[1]):
        word = sieve.bits[which[0], w]
        for f in range(1, len(which)):
            word &= sieve.bits[which[f], w]
        place = 64 * w
        while word != 0:
            if word & np.uint64(1):
                record = rest.records[place]
                if rest.left[record] > 0:
                    rows[n] = record
                    n += 1
            word >>= np.uint64(1)
            place += 1
    return n


@njit(nogil=True, cache=True)
def _compact(rest: RemainingRows) -> None:
    """Forget the records that have no rows left."""
    n = 0
    for i in range(rest.facts[IN_USE]):
        record = rest.records[i]
        if rest.left[record] > 0:
            rest.records[n] = record
            n += 1
    rest.facts[IN_USE] = n


@njit(nogil=True, cache=True)
def _take(
    members: Ints,
    value: Ints,
    requirements: ClassRequirements,
    demands: Demands,
    counters: Counters,
    rest: RemainingRows,
    pieces: Pieces,
    tallied: ValueTally,
    expanded: Ints,
    places: Longs,
) -> None:
    """Make a class of a group of records, of all its rows or of as many as keep class and rest lawful; or no class."""
    rows, rows_left, counts, facts = tallied.rows, rest.left, rest.counts, rest.facts
    size, values = np.int64(0), 0
    for record in members:
        size += rows_left[record]
        v = value[record]
        if rows[v] == 0:
            tallied.values[values] = v
            values += 1
        rows[v] += rows_left[record]
    if _is_whole_class(members, size, values, requirements, demands, counters, rest, tallied, expanded, places):
        take = size
        for y in range(values):
            tallied.taken[y] = rows[tallied.values[y]]
    else:
        take = count_taken(values, requirements, rest, tallied) if requirements.divide else np.int64(0)
    if take > 0:
        for y in range(values):
            v = tallied.values[y]
            rows[v] = tallied.taken[y]
            counts[v] -= rows[v]
        for record in members:
            v = value[record]
            share = min(rows[v], rows_left[record])
            if share > 0:
                rows[v] -= share
                rows_left[record] -= share
                fact = facts[PIECES]
                pieces.record[fact], pieces.label[fact], pieces.rows[fact] = record, facts[CLASSES], share
                facts[PIECES] += 1
        facts[ROWS] -= take
        facts[CLASSES] += 1
    for y in range(values):
        rows[tallied.values[y]] = 0


@njit(nogil=True, cache=True)
def _is_whole_class(
    members: Ints,
    size: int,
    values: int,
    requirements: ClassRequirements,
    demands: Demands,
    counters: Counters,
    rest: RemainingRows,
    tallied: ValueTally,
    expanded: Ints,
    places: Longs,
) -> bool:
    """Whether the whole group is a class: always where it is the rest, and otherwise where groups are not divided."""
    after = rest.facts[ROWS] - size
    if size < requirements.k or (0 < after < requirements.k):
        return False
    if requirements.p > 0:
        if requirements.divide and after > 0:
            return False
        for y in range(values):
            if tallied.rows[tallied.values[y]] * requirements.p > size * requirements.q:
                return False
        for v in range(len(rest.counts)):
            if (rest.counts[v] - tallied.rows[v]) * requirements.p > after * requirements.q:
                return False
    if len(demands.add) > 0:
        n = 0
        for record in members:
            for _ in range(rest.left[record]):
                expanded[n] = record
                n += 1
        return satisfied(demands, expanded, places[:n], counters)
    return True
