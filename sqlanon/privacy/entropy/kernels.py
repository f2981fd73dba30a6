"""Tally of entropy l-diversity: N log N - sum of n log n against N log l, in integers.

A row has two numbers: its group, and its value within all groups; without groups there is one. Logarithms come from a
table of integers that is additive: the number of a product is the sum of the numbers. So classes whose entropy is log l
exactly have a difference of 0; any other difference counts only beyond the error of the table, so that no class passes
by rounding.

bounds: groups, values, the number of l, the error of a row, then of 0, 1, 2, .. the logarithm.
counts: failing groups; rows of each value; of each group rows and the sum of n log n.
"""

from __future__ import annotations

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing


@adding
def add_entropy(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """The entropy of every group that has rows is at least log l."""
    values, least, error = bounds[1], bounds[2], bounds[3]
    failing, place = counts[0], 0
    for s in range(len(ends)):
        while place < ends[s]:
            g, v = 1 + values + 2 * items[2 * place], 1 + items[2 * place + 1]
            total = counts[g]
            if total > 0:
                above = total * (bounds[4 + total] - least) - counts[g + 1]
                failing -= above != 0 and above < total * error
            n = counts[v]
            counts[v] = n + 1
            counts[g] = total + 1
            counts[g + 1] += (n + 1) * bounds[5 + n] - n * bounds[4 + n]
            total += 1
            above = total * (bounds[4 + total] - least) - counts[g + 1]
            failing += above != 0 and above < total * error
            place += 1
        if failing > 0:
            holds[s] = False
    counts[0] = failing


@clearing
def clear_entropy(items: Ints, bounds: Longs, _: Reals, counts: Longs, __: Reals) -> None:
    """Forget the groups and values of the rows."""
    values = bounds[1]
    counts[0] = 0
    for pair in range(len(items) // 2):
        g = 1 + values + 2 * items[2 * pair]
        counts[1 + items[2 * pair + 1]] = 0
        counts[g] = 0
        counts[g + 1] = 0
