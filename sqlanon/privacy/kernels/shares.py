"""Tallies of bounds on the share of each value in a class: from ``least[v]`` to ``most[v]``, fractions of 31 bits.

That a share is not above n / N <= p / q is that the class has at least ceil(n q / p) rows. As a value is counted, this
number only grows: so the largest over all values is kept, and a row costs a comparison. The lower bounds are the same
upside down: the class has at most floor(n q / p) rows, and the least of these numbers is looked for again when its
value has another row.

bounds: values, whether a value that is absent is ignored, then p and q of ``most`` of each value, p and q of ``least``
of each.
"""

from __future__ import annotations

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing

NEVER = 1 << 31
"""More rows than any class has."""


@adding
def add_most(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """No share is above its bound. counts: rows, the fewest rows that would do, rows of each value."""
    values = bounds[0]
    need, begin, total = counts[1], 0, counts[0]
    for s in range(len(ends)):
        for place in range(begin, ends[s]):
            v = items[place]
            n = counts[2 + v] + 1
            counts[2 + v] = n
            p, q = bounds[2 + v], bounds[2 + values + v]
            if n * q > need * p:
                need = NEVER if p == 0 else (n * q + p - 1) // p
        total += ends[s] - begin
        begin = ends[s]
        if total < need:
            holds[s] = False
    counts[0], counts[1] = total, need


@clearing
def clear_most(items: Ints, _: Longs, __: Reals, counts: Longs, ___: Reals) -> None:
    """Forget the values of the rows."""
    counts[0] = 0
    counts[1] = 0
    for v in items:
        counts[2 + v] = 0


@adding
def add_most_within(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """As `add_most`, in every group. A row has two numbers: its group, and its value within all groups.

    counts: failing groups, rows of each value, then rows and the fewest that would do of each group.
    """
    values = bounds[0]
    failing, place = counts[0], 0
    for s in range(len(ends)):
        while place < ends[s]:
            v, g = items[2 * place + 1], 1 + values + 2 * items[2 * place]
            failing -= counts[g] < counts[g + 1]
            counts[g] += 1
            n = counts[1 + v] + 1
            counts[1 + v] = n
            p, q = bounds[2 + v], bounds[2 + values + v]
            if n * q > counts[g + 1] * p:
                counts[g + 1] = NEVER if p == 0 else (n * q + p - 1) // p
            failing += counts[g] < counts[g + 1]
            place += 1
        if failing > 0:
            holds[s] = False
    counts[0] = failing


@clearing
def clear_most_within(items: Ints, bounds: Longs, _: Reals, counts: Longs, __: Reals) -> None:
    """Forget the groups and values of the rows."""
    values = bounds[0]
    counts[0] = 0
    for pair in range(len(items) // 2):
        g = 1 + values + 2 * items[2 * pair]
        counts[1 + items[2 * pair + 1]] = 0
        counts[g] = 0
        counts[g + 1] = 0


@adding
def add_between(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """No share is above or below its bounds.

    counts: rows, the fewest and the most that would do, 1 + the value by which they are the most, rows of each value.
    """
    values, ignored = bounds[0], bounds[1] != 0
    total, need, limit, last, begin = counts[0], counts[1], counts[2], counts[3], 0
    for s in range(len(ends)):
        for place in range(begin, ends[s]):
            v = items[place]
            n = counts[4 + v] + 1
            counts[4 + v] = n
            p, q = bounds[2 + v], bounds[2 + values + v]
            if n * q > need * p:
                need = NEVER if p == 0 else (n * q + p - 1) // p
            if last == 0 or last == 1 + v:
                limit, last = NEVER, 1 + v
                for u in range(values):
                    p, q = bounds[2 + 2 * values + u], bounds[2 + 3 * values + u]
                    if p > 0 and not (ignored and counts[4 + u] == 0):
                        most = counts[4 + u] * q // p
                        if most < limit:
                            limit, last = most, 1 + u
            elif ignored and n == 1:
                p, q = bounds[2 + 2 * values + v], bounds[2 + 3 * values + v]
                if p > 0 and q // p < limit:
                    limit, last = q // p, 1 + v
        total += ends[s] - begin
        begin = ends[s]
        if total < need or total > limit:
            holds[s] = False
    counts[0], counts[1], counts[2], counts[3] = total, need, limit, last


@clearing
def clear_between(items: Ints, _: Longs, __: Reals, counts: Longs, ___: Reals) -> None:
    """Forget the values of the rows."""
    counts[0], counts[1], counts[2], counts[3] = 0, 0, 0, 0
    for v in items:
        counts[4 + v] = 0
