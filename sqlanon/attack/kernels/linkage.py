"""Number of published rows that fit known values of a row: for every set of columns at once, by sums over supersets.

The columns of a row that a box covers are a set, written as the bits of a number. The boxes that cover at least a set
A are those with a number that has all bits of A: counts of rows by number, summed over all supersets of each number,
answer every A.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlanon.attack.kernels.cover_bits import Boxes, add_supersets, cover, mark_all_unseen
from sqlanon.kernels.compiled import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]

MOST_SETS = 8
"""Sets of columns of a person's boxes that are counted by inclusion and exclusion."""


@njit(nogil=True, cache=True)
def _go_on(counts: Longs, victims: int, fewest: Longs, chance: Doubles) -> None:
    """Count the success against so many victims with the same candidates."""
    for column_set in range(len(counts)):
        if counts[column_set]:
            fewest[column_set] = min(fewest[column_set], counts[column_set])
            chance[column_set] += victims / counts[column_set]


@njit(nogil=True, cache=True)
def count_candidates(boxes: Boxes, rows: Ints, victims: Longs, fewest: Longs, chance: Doubles) -> None:
    """Candidates of each row for every set of known columns.

    Args:
        boxes: b boxes of d columns, with bits less than w.
        rows: int32[r, d], different tuples of codes.
        victims: int64[r], the published rows of the source that have each.
        fewest: int64[2^w], the fewest candidates of any victim, by the set of known columns; goes on.
        chance: float64[2^w], the sum over victims of 1 / candidates; goes on.

    Cost: O(r (b d + w 2^w)).
    """
    seen, counts = mark_all_unseen(boxes), np.empty(len(fewest), np.int64)
    masks = seen.found
    for i in range(len(rows)):
        cover(boxes, rows[i], seen)
        counts[:] = 0
        for j in range(len(masks)):
            counts[masks[j]] += boxes.members[j]
        add_supersets(counts)
        _go_on(counts, victims[i], fewest, chance)


@njit(nogil=True, cache=True)
def count_candidate_persons(
    boxes: Boxes, rows: Ints, victims: Longs, begins: Longs, person: Ints, persons: int, fewest: Longs, chance: Doubles
) -> None:
    """As `count_candidates`, of different persons among the candidates.

    Args:
        boxes: see `count_candidates`, as ``rows``, ``victims``, ``fewest`` and ``chance``.
        rows: see there.
        victims: see there.
        begins: int64[b + 1], where a box's persons begin in ``person``.
        person: each person of a box once, 0, 1, ..
        persons: how many there are.
        fewest: see there.
        chance: see there.

    A person with boxes that cover m different sets of columns, none within another, is counted for the subsets
    of any of them by inclusion and exclusion: 2^m - 1 counts in place of a look at every set.

    Cost: a step for each person of each box for every row; 2^m more for a person with m sets, or m 2^w if
    m > `MOST_SETS`; w 2^w for the row.
    """
    seen, counts = mark_all_unseen(boxes), np.empty(len(fewest), np.int64)
    common, sign = np.empty(1 << MOST_SETS, np.int64), np.empty(1 << MOST_SETS, np.int64)
    first = np.full(persons, -1, np.int64)
    after, node = np.empty(len(person), np.int64), np.empty(len(person), np.int64)
    touched = np.empty(persons, np.int64)
    for i in range(len(rows)):
        cover(boxes, rows[i], seen)
        counts[:] = 0
        nodes, n = 0, 0
        for j in range(len(seen.found)):
            mask = np.int64(seen.found[j])
            for e in range(begins[j], begins[j + 1]):
                p = person[e]
                if first[p] < 0:
                    touched[n] = p
                    n += 1
                at_node, placed = first[p], False
                while at_node >= 0 and not placed:
                    if node[at_node] | mask == node[at_node]:
                        placed = True
                    elif node[at_node] | mask == mask:
                        node[at_node], placed = mask, True
                    at_node = after[at_node]
                if not placed:
                    node[nodes], after[nodes] = mask, first[p]
                    first[p] = nodes
                    nodes += 1
        for t in range(n):
            at_node, sets = first[touched[t]], 0
            common[0], sign[0] = -1, -1
            while at_node >= 0 and sets < MOST_SETS:
                for e in range(1 << sets):
                    with_it = (1 << sets) + e
                    common[with_it], sign[with_it] = common[e] & node[at_node], -sign[e]
                sets += 1
                at_node = after[at_node]
            if at_node < 0:
                for e in range(1, 1 << sets):
                    counts[common[e]] += sign[e]
                first[touched[t]] = -1
        add_supersets(counts)
        for t in range(n):
            begin = first[touched[t]]
            if begin >= 0:
                for column_set in range(len(counts)):
                    at_node = begin
                    while at_node >= 0:
                        if node[at_node] & column_set == column_set:
                            counts[column_set] += 1
                            break
                        at_node = after[at_node]
            first[touched[t]] = -1
        _go_on(counts, victims[i], fewest, chance)


@njit(nogil=True, cache=True)
def count_top_values(
    boxes: Boxes,
    rows: Ints,
    begins: Longs,
    value: Ints,
    times: Longs,
    values: int,
    top: Longs,
    every: Longs,
    has: Bools,
) -> None:
    """The sensitive values among the candidates of each row that is known by all columns.

    Args:
        boxes: b boxes of d columns.
        rows: int32[r, d], different tuples of codes.
        begins: int64[b + 1], where a box's values begin in ``value`` and ``times``.
        value: the number of a sensitive value, 0, 1, ..
        times: how often the box has it.
        values: how many values there are, s.
        top: int64[r], is written: how often the candidates have their most frequent value.
        every: int64[r], is written: how many values they have, each as often as they have it.
        has: bool[r, s], is written: which values they have; bool[r, 0]: that is not asked.

    Cost: O(r b d), and a step for each value of each candidate box.
    """
    seen, tally, listed = mark_all_unseen(boxes), np.zeros(values, np.int64), np.empty(values, np.int32)
    for i in range(len(rows)):
        covers = cover(boxes, rows[i], seen)
        n, most, total = 0, np.int64(0), np.int64(0)
        for j in range(len(seen.found)):
            if seen.found[j] == covers:
                for e in range(begins[j], begins[j + 1]):
                    if not tally[value[e]]:
                        listed[n] = value[e]
                        n += 1
                    tally[value[e]] += times[e]
                    total += times[e]
                    most = max(most, tally[value[e]])
        for e in range(n):
            tally[listed[e]] = 0
            if has.shape[1]:
                has[i, listed[e]] = True
        top[i], every[i] = most, total
