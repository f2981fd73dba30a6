"""Privacy models by their definitions, on lists of values: exact, slow, and without the product's code.

``own`` are the values of a class, ``all_`` those of the whole release.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

Values = Sequence[Any]


def shares(values: Values) -> dict[Any, Fraction]:
    """The share of each value."""
    return {value: Fraction(n, len(values)) for value, n in Counter(values).items()}


Shares = Callable[[Any], Mapping[Any, Fraction]]


def alpha(asked: Fraction, listed: Sequence[Any] | None = None) -> Callable[[Values, Values], bool]:
    """No share above ``asked``."""
    return lambda own, _: all(
        share <= asked for value, share in shares(own).items() if listed is None or value in listed
    )


def recursive(c: Fraction, least: int) -> Callable[[Values, Values], bool]:
    """r1 < c (r_l + ... + r_m)."""

    def meets(own: Values, _: Values) -> bool:
        counts = sorted(Counter(own).values(), reverse=True)
        return counts[0] < c * sum(counts[least - 1 :])

    return meets


def entropy(least: Fraction) -> Callable[[Values, Values], bool]:
    """The product of p^-p is at least l, to the power of the rows."""

    def meets(own: Values, _: Values) -> bool:
        n = len(own)
        return Fraction(n) ** n >= least**n * math.prod(count**count for count in Counter(own).values())

    return meets


def beta(
    most: Fraction, *, enhanced: bool, shares: Callable[[Any], Mapping[Any, Fraction]] = shares
) -> Callable[[Any, Any], bool]:
    """(q - p) / p <= beta, or also <= -ln p, where q > p."""

    def meets(own: Values, all_: Values) -> bool:
        p, q = shares(all_), shares(own)
        gains = {value: (q[value] - p[value]) / p[value] for value in q if q[value] > p[value]}
        return all(
            gain <= most and (not enhanced or float(gain) <= -math.log(p[value])) for value, gain in gains.items()
        )

    return meets


def delta(
    most: Fraction, *, ignored: bool, shares: Callable[[Any], Mapping[Any, Fraction]] = shares
) -> Callable[[Any, Any], bool]:
    """|log2(q / p)| < delta; a value that the class lacks has log 0."""

    def meets(own: Values, all_: Values) -> bool:
        p, q = shares(all_), shares(own)
        if not ignored and set(p) - set(q):
            return False
        over, under = most.numerator, most.denominator
        return all(Fraction(1, 2**over) < (share / p[value]) ** under < 2**over for value, share in q.items())

    return meets


def transport(own: Values, all_: Values, distance: Callable[[Any, Any], Fraction]) -> Fraction:
    """The earth mover's distance of the values of a class to those of the release."""
    return moved(shares(own), shares(all_), distance)


def moved(
    own: Mapping[Any, Fraction], all_: Mapping[Any, Fraction], distance: Callable[[Any, Any], Fraction]
) -> Fraction:
    """The earth mover's distance of shares, as the least cost of a flow.

    Successive shortest paths by Bellman and Ford.
    """
    left, right = dict(own), dict(all_)
    flow: defaultdict[tuple[Any, Any], Fraction] = defaultdict(Fraction)
    cost = Fraction(0)
    while any(left.values()):
        length: dict[tuple[str, Any], Fraction] = {("l", v): Fraction(0) for v, n in left.items() if n}
        before: dict[tuple[str, Any], tuple[str, Any]] = {}
        changed = True
        while changed:
            changed = False
            for a in left:
                for b in right:
                    for at, to, own_cost in (
                        (("l", a), ("r", b), distance(a, b)),
                        (("r", b), ("l", a), -distance(a, b)),
                    ):
                        if at[0] == "r" and not flow[a, b]:
                            continue
                        if at in length and (to not in length or length[at] + own_cost < length[to]):
                            length[to], before[to], changed = length[at] + own_cost, at, True
        end = min((("r", b) for b, n in right.items() if n), key=lambda at: length.get(at, Fraction(10**9)))
        path = [end]
        while path[-1] in before:
            path.append(before[path[-1]])
        path.reverse()
        steps = list(pairwise(path))
        amount = min(left[path[0][1]], right[end[1]], *(flow[to[1], at[1]] for at, to in steps if at[0] == "r"))
        for at, to in steps:
            if at[0] == "l":
                flow[at[1], to[1]] += amount
            else:
                flow[to[1], at[1]] -= amount
        left[path[0][1]] -= amount
        right[end[1]] -= amount
        cost += amount * length[end]
    return cost


def equal(one: Any, other: Any) -> Fraction:
    """1 between any two values."""
    return Fraction(one != other)


def ordered(values: Values) -> Callable[[Any, Any], Fraction]:
    """|i - j| / (m - 1) among the different values, None first."""
    known = sorted(set(values), key=lambda value: (value is not None, value if value is not None else 0))
    place = {value: i for i, value in enumerate(known)}
    return lambda one, other: Fraction(abs(place[one] - place[other]), max(len(known) - 1, 1))


def hierarchical(paths: Mapping[Any, Sequence[str]]) -> Callable[[Any, Any], Fraction]:
    """The level of the lowest common node by the height; None is under the root by itself."""
    height = len(next(iter(paths.values()))) - 1

    def distance(one: Any, other: Any) -> Fraction:
        if one == other:
            return Fraction(0)
        if one is None or other is None:
            return Fraction(1)
        level = next(i for i in range(height + 1) if paths[one][i:] == paths[other][i:])
        return Fraction(level, height)

    return distance


def close(
    most: Fraction, distance: Callable[[Values], Callable[[Any, Any], Fraction]]
) -> Callable[[Values, Values], bool]:
    """The earth mover's distance is at most t; ``distance`` makes one of the values of the whole release."""
    return lambda own, all_: transport(own, all_, distance(all_)) <= most
