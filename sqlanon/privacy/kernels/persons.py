"""Tally of frequency l over persons: in a class every person weighs one, split over the rows there.

A row has three numbers: the person, the value, and the pair of both. A person's part of a value is the rows with the
value by the rows in the class, times ``UNIT`` and rounded up. Parts are exact for persons of up to 16 rows in a class,
and else too large by less than 1 / ``UNIT``, so that a class is refused rather than accepted. Parts change with every
row of the person: classes that each meet it may have a union that does not.

No part is more than one person, so a value that few persons have cannot weigh too much. Parts are computed only where
some value has more persons than that; persons whose rows have changed since then wait until it happens again.
"""

from __future__ import annotations

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.tally import Flags, Ints, Longs, Reals, adding, clearing

UNIT = 720_720
"""The weight of a person: the least number that 1, 2, .., 16 divide."""

_MET, _WAIT, _MOST, _VALUES = 0, 1, 2, 3
"""First counters: persons that were met, persons that wait, most persons of a value, values that were met."""
_FIRST = 4
"""Begins of the counters of each person: the rows, whether it is weighed, its latest pair + 1.

After the counters of the persons there are the list of waiting persons, the list of met values, the weight and the
persons of each value, and the rows of each pair with the person's pair before it + 1.
"""


def count_counters(persons: int, values: int, pairs: int) -> int:
    """How many counters the tally needs."""
    return _FIRST + 4 * persons + 3 * values + 2 * pairs


@njit(nogil=True, cache=True, inline="always")
def _weigh(bounds: Longs, counts: Longs, who: int, sign: int, of_values: int, of_pairs: int) -> None:
    """Add the parts of a person to the weights of its values, or take them away."""
    n, link = counts[_FIRST + 3 * who], counts[_FIRST + 3 * who + 2]
    while link > 0:
        pair = link - 1
        rows = counts[of_pairs + 2 * pair]
        part = UNIT if rows == n else (rows * UNIT + n - 1) // n
        counts[of_values + 2 * bounds[4 + pair]] += sign * part
        link = counts[of_pairs + 2 * pair + 1]


@adding
def add_weighted(items: Ints, ends: Longs, bounds: Longs, _: Reals, counts: Longs, __: Reals, holds: Flags) -> None:
    """Most weight of a value * p <= persons * UNIT * q.

    bounds: p, q, persons, values, then the value of each pair.
    counts: see `count_counters`.

    Cost: one step a row, as long as no value has so many persons that it might weigh too much; after that, of a slot,
    the different values in it of the persons that have rows in it, and all values that were met. Slots that fail anyhow
    are not looked at.
    """
    p, q, persons, values = bounds[0], bounds[1], bounds[2], bounds[3]
    waiting = _FIRST + 3 * persons
    of_seen = waiting + persons
    of_values = of_seen + values
    of_pairs = of_values + 2 * values
    met, wait, most, many, begin = counts[_MET], counts[_WAIT], counts[_MOST], counts[_VALUES], 0
    for s in range(len(ends)):
        for row in range(begin, ends[s]):
            who, value, pair = items[3 * row], items[3 * row + 1], items[3 * row + 2]
            person = _FIRST + 3 * who
            if counts[person] == 0:
                met += 1
                counts[waiting + wait] = who
                wait += 1
            elif counts[person + 1] == 1:
                _weigh(bounds, counts, who, -1, of_values, of_pairs)
                counts[person + 1] = 0
                counts[waiting + wait] = who
                wait += 1
            counts[person] += 1
            offset = of_pairs + 2 * pair
            if counts[offset] == 0:
                counts[offset + 1] = counts[person + 2]
                counts[person + 2] = pair + 1
                having = counts[of_values + 2 * value + 1] + 1
                counts[of_values + 2 * value + 1] = having
                if having == 1:
                    counts[of_seen + many] = value
                    many += 1
                most = max(most, having)
            counts[offset] += 1
        begin = ends[s]
        if not holds[s] or most * p <= met * q:
            continue
        for w in range(wait):
            who = counts[waiting + w]
            counts[waiting + w] = 0
            _weigh(bounds, counts, who, 1, of_values, of_pairs)
            counts[_FIRST + 3 * who + 1] = 1
        wait = 0
        for i in range(many):
            if counts[of_values + 2 * counts[of_seen + i]] * p > met * UNIT * q:
                holds[s] = False
                break
    counts[_MET], counts[_WAIT], counts[_MOST], counts[_VALUES] = met, wait, most, many


@clearing
def clear_weighted(items: Ints, bounds: Longs, _: Reals, counts: Longs, __: Reals) -> None:
    """Forget the persons and values of the rows."""
    persons, values = bounds[2], bounds[3]
    waiting = _FIRST + 3 * persons
    of_seen = waiting + persons
    of_values = of_seen + values
    of_pairs = of_values + 2 * values
    for w in range(counts[_WAIT]):
        counts[waiting + w] = 0
    for i in range(counts[_VALUES]):
        counts[of_seen + i] = 0
    for i in range(_FIRST):
        counts[i] = 0
    for row in range(len(items) // 3):
        person, value, offset = (
            _FIRST + 3 * items[3 * row],
            of_values + 2 * items[3 * row + 1],
            of_pairs + 2 * items[3 * row + 2],
        )
        counts[person] = 0
        counts[person + 1] = 0
        counts[person + 2] = 0
        counts[value] = 0
        counts[value + 1] = 0
        counts[offset] = 0
        counts[offset + 1] = 0
