"""Tally of frequency l over persons: in a class every person weighs one, split over its rows there.

A row has three numbers: its person, its value, and its pair of both. A person's part of a value is its rows with the value by its rows
in the class, times ``UNIT`` and rounded up. Parts are exact for persons of up to 16 rows in a class, and else too large by
less than 1 / ``UNIT``, so that a class is refused rather than accepted. Parts change with every row of the person: classes that
each meet it may have a union that does not.
"""

from __future__ import annotations

from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing

UNIT = 720_720
"""The weight of a person: the least number that 1, 2, .., 16 divide."""


@adding
def add_weighted(
    items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags
) -> None:
    """Most weight of a value * p <= persons * UNIT * q.

    bounds: p, q, persons, values, then where the pairs of each person begin (persons + 1), then the value of each pair.
    counts: persons that were met, unused, rows of each person, whether it waits to be weighed, a list of those that
    wait, weight of each value, rows of each pair. Pairs of a person are consecutive.

    Cost: of a slot the different values of the persons that have rows in it, and all values.
    """
    p, q, persons, values = bounds[0], bounds[1], bounds[2], bounds[3]
    first, value_of = 4, 5 + persons
    rows, waits, waiting = 2, 2 + persons, 2 + 2 * persons
    weight, pairs = 2 + 3 * persons, 2 + 3 * persons + values
    met, begin = counts[0], 0
    for s in range(len(ends)):
        many = 0
        for at in range(begin, ends[s]):
            who, pair = items[3 * at], items[3 * at + 2]
            n = counts[rows + who]
            if counts[waits + who] == 0:
                counts[waits + who] = 1
                counts[waiting + many] = who
                many += 1
                if n == 0:
                    met += 1
                else:
                    for i in range(bounds[first + who], bounds[first + who + 1]):
                        own = counts[pairs + i]
                        if own > 0:
                            counts[weight + bounds[value_of + i]] -= (own * UNIT + n - 1) // n
            counts[rows + who] = n + 1
            counts[pairs + pair] += 1
        begin = ends[s]
        for w in range(many):
            who = counts[waiting + w]
            n = counts[rows + who]
            counts[waits + who] = 0
            counts[waiting + w] = 0
            for i in range(bounds[first + who], bounds[first + who + 1]):
                own = counts[pairs + i]
                if own > 0:
                    counts[weight + bounds[value_of + i]] += (own * UNIT + n - 1) // n
        most = 0
        for v in range(values):
            most = max(most, counts[weight + v])
        if most * p > met * UNIT * q:
            holds[s] = False
    counts[0] = met


@clearing
def clear_weighted(items: Ints, bounds: Longs, _: Reals, counts: Longs, __: Reals) -> None:
    """Forget the persons and values of the rows."""
    persons, values = bounds[2], bounds[3]
    weight, pairs = 2 + 3 * persons, 2 + 3 * persons + values
    counts[0] = 0
    for at in range(len(items) // 3):
        counts[2 + items[3 * at]] = 0
        counts[weight + items[3 * at + 1]] = 0
        counts[pairs + items[3 * at + 2]] = 0
