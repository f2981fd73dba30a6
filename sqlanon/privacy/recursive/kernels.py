"""Tally of recursive (c, l)-diversity: the most frequent value against all from the l-th most frequent one on.

A row has two numbers: its group, and its value within all groups; without groups there is one. Of each group the l - 1
most frequent values are kept in a list without order. A value that is counted once more enters it where it is more
frequent than the rarest there.

bounds: p and q of c, l, groups, values.
counts: failing groups; of each group `OWN` numbers: rows, most frequent, rows of the values in the list, how many
values are there, the least frequent of a full list (0: it is not full), then the list; then rows of each value, and
whether it is in the list of its group.
"""

from __future__ import annotations

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing

OWN = 5
"""Numbers of a group before its list."""


@adding
def add_recursive(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """Most frequent * q < p * (rows - rows of the list), in every group that has rows."""
    p, q, kept_values, groups, values = bounds[0], bounds[1], bounds[2] - 1, bounds[3], bounds[4]
    width = 5 + kept_values
    first = 1 + groups * width
    failing, place = counts[0], 0
    for s in range(len(ends)):
        while place < ends[s]:
            g, v = 1 + width * items[2 * place], first + items[2 * place + 1]
            failing -= counts[g] > 0 and counts[g + 1] * q >= p * (counts[g] - counts[g + 2])
            n = counts[v] + 1
            counts[v] = n
            counts[g] += 1
            counts[g + 1] = max(counts[g + 1], n)
            full = counts[g + 3] == kept_values
            if counts[v + values] != 0:
                counts[g + 2] += 1
                if full and n - 1 == counts[g + 4]:
                    least = n
                    for i in range(g + 5, g + 5 + kept_values):
                        least = min(least, counts[counts[i]])
                    counts[g + 4] = least
            elif not full:
                counts[g + 5 + counts[g + 3]] = v
                counts[g + 3] += 1
                counts[v + values] = 1
                counts[g + 2] += n
                if counts[g + 3] == kept_values:
                    least = n
                    for i in range(g + 5, g + 5 + kept_values):
                        least = min(least, counts[counts[i]])
                    counts[g + 4] = least
            elif kept_values > 0 and n > counts[g + 4]:
                least, top_removed = n, False
                for i in range(g + 5, g + 5 + kept_values):
                    if not top_removed and counts[counts[i]] == counts[g + 4]:
                        top_removed = True
                        counts[counts[i] + values] = 0
                        counts[i] = v
                    least = min(least, counts[counts[i]])
                counts[v + values] = 1
                counts[g + 2] += n - counts[g + 4]
                counts[g + 4] = least
            failing += counts[g + 1] * q >= p * (counts[g] - counts[g + 2])
            place += 1
        if failing > 0:
            holds[s] = False
    counts[0] = failing


@clearing
def clear_recursive(items: Ints, bounds: Longs, _: Reals, counts: Longs, __: Reals) -> None:
    """Forget the groups and values of the rows."""
    width = 4 + bounds[2]
    first, values = 1 + bounds[3] * width, bounds[4]
    counts[0] = 0
    for pair in range(len(items) // 2):
        g, v = 1 + width * items[2 * pair], first + items[2 * pair + 1]
        if counts[g] > 0:
            for i in range(g, g + width):
                counts[i] = 0
        counts[v] = 0
        counts[v + values] = 0
