"""Tallies of l-diversity: how often each value of a sensitive column occurs, alone or within groups of other columns.

Alone, a row has one number, its value. Within groups it has two: its group, and its value within all groups (dense over
group and value); the counters then are failing groups, rows of each group, most frequent or different values of each,
and counts.
"""

from __future__ import annotations

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing


@adding
def add_frequency(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """Most frequent * p <= rows * q. bounds: p, q; counts: rows, most frequent, rows of each value."""
    p, q = bounds[0], bounds[1]
    total, most, begin = counts[0], counts[1], 0
    for s in range(len(ends)):
        for place in range(begin, ends[s]):
            v = items[place] + 2
            count = counts[v] + 1
            counts[v] = count
            most = max(most, count)
        total += ends[s] - begin
        begin = ends[s]
        if most * p > total * q:
            holds[s] = False
    counts[0], counts[1] = total, most


@adding
def add_distinct(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """Different values >= p. bounds: p; counts: different values, 0 unused, whether each value was met."""
    p, different, begin = bounds[0], counts[0], 0
    for s in range(len(ends)):
        if different < p:
            for place in range(begin, ends[s]):
                v = items[place] + 2
                different += 1 - counts[v]
                counts[v] = 1
            begin = ends[s]
            if different < p:
                holds[s] = False
    counts[0] = different


@clearing
def clear_values(items: Ints, _: Longs, __: Reals, counts: Longs, ___: Reals) -> None:
    """Forget the values of the rows."""
    counts[0] = 0
    counts[1] = 0
    for v in items:
        counts[v + 2] = 0


@adding
def add_frequency_within(
    items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags
) -> None:
    """As `add_frequency`, in every group. bounds: p, q, groups."""
    p, q, groups = bounds[0], bounds[1], bounds[2]
    failing, place = counts[0], 0
    for s in range(len(ends)):
        while place < ends[s]:
            g, v = 1 + items[2 * place], 1 + 2 * groups + items[2 * place + 1]
            failing -= counts[groups + g] * p > counts[g] * q
            counts[g] += 1
            counts[v] += 1
            counts[groups + g] = max(counts[groups + g], counts[v])
            failing += counts[groups + g] * p > counts[g] * q
            place += 1
        if failing > 0:
            holds[s] = False
    counts[0] = failing


@adding
def add_distinct_within(
    items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags
) -> None:
    """As `add_distinct`, in every group that has a row. bounds: p, unused, groups."""
    p, groups = bounds[0], bounds[2]
    failing, place = counts[0], 0
    for s in range(len(ends)):
        while place < ends[s]:
            g, v = 1 + items[2 * place], 1 + 2 * groups + items[2 * place + 1]
            failing -= counts[g] > 0 and counts[groups + g] < p
            counts[g] += 1
            counts[groups + g] += counts[v] == 0
            counts[v] += 1
            failing += counts[groups + g] < p
            place += 1
        if failing > 0:
            holds[s] = False
    counts[0] = failing


@clearing
def clear_within(items: Ints, bounds: Longs, _: Reals, counts: Longs, __: Reals) -> None:
    """Forget the groups and values of the rows."""
    groups = bounds[2]
    counts[0] = 0
    for pair in range(len(items) // 2):
        g = 1 + items[2 * pair]
        counts[g] = 0
        counts[groups + g] = 0
        counts[1 + 2 * groups + items[2 * pair + 1]] = 0
