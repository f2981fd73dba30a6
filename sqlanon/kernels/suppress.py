"""Sets of cells, and the rows that a set may keep.

The kept rows of a set meet every requirement (Xiao, Yi and Tao 2010, section 5.2).

A *cell* is a number of rows that are equal in their quasi values and in their sensitive value (with several sensitive
columns: in all of them). A *set* is the cells of one class in the making, one entry a value; entries of set s are
``start[s]`` to ``start[s + 1]``. The other rows are the *residue*. Nothing here looks at a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Rules(NamedTuple):
    """Requirements of every class, and the way that sets are kept.

    Attributes:
        whole: a set is kept whole or not at all, by ``checks``; otherwise values are cut until l = ``p`` / ``q`` holds.
        k: rows, at least.
        p, q: no value is more than q / p of the rows; 1 and 1 without such a limit.
        item: int64[checks, values], the item of each value that a check counts.
        within: int64[checks, items], the combination of other columns within which an item is counted.
        distinct: bool[checks], whether at least ``least`` items are asked; otherwise an item is at most ``of`` /
            ``least`` of the rows.
        least, of: int64[checks].
    """

    whole: bool
    k: int
    p: int
    q: int
    item: Longs
    within: Longs
    distinct: Flags
    least: Longs
    of: Longs


@njit(nogil=True, cache=True)
def number(keys: Longs, out: Longs) -> int:
    """Number equal keys by their first appearance; gives how many there are. Cost: O(n), by hashing."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    table, first = np.full(size, -1, np.int64), np.empty(len(keys), np.int64)
    groups = 0
    for i in range(len(keys)):
        mixed = np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(size - 1))
        while table[slot] >= 0 and first[table[slot]] != keys[i]:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = groups
            first[groups] = keys[i]
            groups += 1
        out[i] = table[slot]
    return groups


@njit(nogil=True, cache=True)
def gather(
    of: Longs,
    sets: int,
    value: Longs,
    count: Longs,
    turn: Longs,
    values: int,
    order: Longs,
    first: Longs,
    start: Longs,
    values_of: Longs,
    rows: Longs,
) -> None:
    """The entries of every set.

    Args:
        of: int64[n], the set of each cell, below ``sets``.
        value, count: int64[n], of each cell.
        turn: int64[n], the cells in the order in which those of a set are to come.
        values: values there can be.
        order, first: int64[n] and int64[made + 1], written: the cells set by set, and where each set begins.
        start: int64[made + 1], written: where the entries of each set begin.
        values_of, rows: int64[n], written as far as ``start[sets]``: value and rows of each entry.
    """
    first[:] = 0
    for i in range(len(of)):
        first[of[i] + 1] += 1
    for s in range(sets):
        first[s + 1] += first[s]
    fill = first[:sets].copy()
    for i in turn:
        order[fill[of[i]]] = i
        fill[of[i]] += 1
    entries, entry = np.int64(0), np.full(values, -1, np.int64)
    for s in range(sets):
        start[s] = entries
        for place in range(first[s], first[s + 1]):
            i = order[place]
            v = value[i]
            if entry[v] < start[s]:
                entry[v] = entries
                values_of[entries] = v
                rows[entries] = 0
                entries += 1
            rows[entry[v]] += count[i]
    start[sets] = entries


@njit(nogil=True, cache=True)
def sort_descending(count: Longs, turn: Longs) -> None:
    """The cells by descending number of rows, in a stable order.

    Cost: linear in the cells and the largest count, or a sort.
    """
    most = np.int64(0)
    for rows in count:
        most = max(most, rows)
    if most > 4 * len(count) + 1000:
        turn[:] = np.argsort(-count, kind="mergesort")
        return
    begin = np.zeros(most + 2, np.int64)
    for rows in count:
        begin[most - rows + 1] += 1
    for index in range(most + 1):
        begin[index + 1] += begin[index]
    for i in range(len(count)):
        turn[begin[most - count[i]]] = i
        begin[most - count[i]] += 1


@njit(nogil=True, cache=True)
def measure_height(rows: Longs, p: int, q: int, top: Longs) -> int:
    """The largest h so that no value is more than q / p of the rows left when every count is cut to h.

    With the counts c1 >= c2 >= ... and S_r the sum after the r largest, that is the least of c1 and of floor(q S_r / (p
    - q r)) over r < p / q: the sum of the cut counts is the least of r h + S_r over r. Removing single rows of the most
    frequent value ends there.

    Args:
        rows: the counts, any order.
        p, q: l = p / q, p >= q.
        top: room for ceil(p / q) counts.
    """
    steps, total = (p + q - 1) // q, np.int64(0)
    top[:steps] = 0
    for count in rows:
        total += count
        step = steps
        while step > 0 and top[step - 1] < count:
            if step < steps:
                top[step] = top[step - 1]
            step -= 1
        if step < steps:
            top[step] = count
    least = top[0]
    for r in range(steps):
        least = min(least, q * total // (p - q * r))
        total -= top[r]
    return least


@njit(nogil=True, cache=True)
def run_phase_one(start: Longs, value: Longs, rows: Longs, rules: Rules, keeps: Longs) -> int:
    """Rows that every set keeps by itself: ``keeps`` of each entry is written; returns their number.

    Cost: O(entries x l); with ``Rules.whole`` the entries times the checks.
    """
    groups, total = len(start) - 1, np.int64(0)
    top = np.zeros((rules.p + rules.q - 1) // rules.q, np.int64)
    room = counters(rules)
    for s in range(groups):
        a, b = start[s], start[s + 1]
        if rules.whole:
            mine = holds(value[a:b], rows[a:b], rules, room)
            for i in range(a, b):
                keeps[i] = rows[i] if mine > 0 else 0
            total += mine
            continue
        cut, mine = measure_height(rows[a:b], rules.p, rules.q, top), np.int64(0)
        for i in range(a, b):
            keeps[i] = min(rows[i], cut)
            mine += keeps[i]
        if mine < rules.k:
            keeps[a:b] = 0
        else:
            total += mine
    return total


@njit(nogil=True, cache=True)
def counters(rules: Rules) -> Longs:
    """Zeroed room for `holds`: rows of each item, and four numbers of each combination."""
    most, items = np.int64(0), rules.within.shape[1]
    for c in range(rules.within.shape[0]):
        for i in range(items):
            most = max(most, rules.within[c, i] + 1)
    return np.zeros(items + 4 * most, np.int64)


@njit(nogil=True, cache=True)
def holds(value: Longs, rows: Longs, rules: Rules, room: Longs) -> int:
    """The rows of a set that meets k and every check, else 0; ``room`` is made by `counters`, and left as it was found.

    Of a combination the room holds the rows, the rows of the most frequent item, the items, and, apart, which
    combinations were seen.
    """
    total = np.int64(0)
    for count in rows:
        total += count
    if total < rules.k:
        return 0
    items, good = rules.within.shape[1], True
    for c in range(rules.within.shape[0]):
        distinct = np.int64(0)
        for i in range(len(value)):
            if rows[i] == 0:
                continue
            what = rules.item[c, value[i]]
            inside = items + 4 * rules.within[c, what]
            if room[inside] == 0:
                room[items + 4 * distinct + 3] = inside
                distinct += 1
            room[inside + 2] += room[what] == 0
            room[what] += rows[i]
            room[inside] += rows[i]
            room[inside + 1] = max(room[inside + 1], room[what])
        for index in range(distinct):
            inside = room[items + 4 * index + 3]
            if rules.distinct[c]:
                good &= room[inside + 2] >= rules.least[c]
            else:
                good &= room[inside + 1] * rules.least[c] <= room[inside] * rules.of[c]
        for i in range(len(value)):
            room[rules.item[c, value[i]]] = 0
        for index in range(distinct):
            inside = room[items + 4 * index + 3]
            room[inside : inside + 3] = 0
    return total if good else 0


@njit(nogil=True, cache=True)
def is_lawful(residue: Longs, rules: Rules, room: Longs) -> bool:
    """Whether rows of each value, as many as ``residue`` has, may be a class; no rows are not."""
    total, most = np.int64(0), np.int64(0)
    for rows in residue:
        total += rows
        most = max(most, rows)
    if total == 0:
        return True
    if rules.whole:
        return holds(np.arange(len(residue)), residue, rules, room) > 0
    return total >= rules.k and total * rules.q >= rules.p * most


@njit(nogil=True, cache=True)
def one_by_one(start: Longs, value: Longs, rules: Rules, residue: Longs, keeps: Longs) -> int:
    """Keep sets that could be kept, the largest first, while the residue stays lawful; returns the rows kept.

    Args:
        residue: int64[values], the rows that nothing has kept yet, of all sets: lawful.
        keeps: the result of `run_phase_one`; written. A set that is not kept has zeros.

    Cost: O(sets x values).
    """
    groups, room, total = len(start) - 1, counters(rules), np.int64(0)
    size = np.zeros(groups, np.int64)
    for s in range(groups):
        for i in range(start[s], start[s + 1]):
            size[s] -= keeps[i]
    remaining = residue.copy()
    for s in np.argsort(size, kind="mergesort"):
        if size[s] == 0:
            break
        for i in range(start[s], start[s + 1]):
            remaining[value[i]] -= keeps[i]
        if is_lawful(remaining, rules, room):
            total -= size[s]
            continue
        for i in range(start[s], start[s + 1]):
            remaining[value[i]] += keeps[i]
            keeps[i] = 0
    return total
