"""What a reader learns from suppression, who knows all quasi values, the policy and the code.

By enumeration (minimality attack).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import factorial, prod
from typing import Any

import pytest

from tests.oracle.domains import Quasi, Sensitive, Table
from tests.oracle.requirements import Privacy
from tests.properties.suppressed import contents, solved

Groups = tuple[Counter[int], ...]
"""A source: of each group of persons with equal quasi values the rows by sensitive value."""
Seen = frozenset[tuple[Any, int]]
"""A release: how many classes show this."""
L = 2


def bags(rows: int, values: int) -> Iterator[Counter[int]]:
    """What a group of so many persons can hold."""
    for counts in product(range(rows + 1), repeat=values):
        if sum(counts) == rows:
            yield Counter({value: n for value, n in enumerate(counts) if n})


def ways(source: Groups) -> int:
    """To give the persons these values."""
    return prod(factorial(bag.total()) // prod(map(factorial, bag.values())) for bag in source)


def release(source: Groups, variant: str, divide: str) -> tuple[Seen, int]:
    """What is published of it, one column, so that a class shows its value or `*`; and the phase."""
    rows = [(group, value) for group, bag in enumerate(source) for value in sorted(bag.elements())]
    names = "abcd"
    table = Table(
        (Quasi("q", tuple(group for group, _ in rows)),), (Sensitive("s", tuple(names[value] for _, value in rows)),)
    )
    codes = {code: value for (_, value), (code,) in zip(rows, table.sa_codes, strict=True)}
    cells, found = solved(table, Privacy(1, Fraction(L)), variant, divide)
    shown: Counter[Any] = Counter()
    for one in contents(cells, found.parts):
        own = {group for group, _ in one}
        held: Counter[int] = Counter()
        for (_, value), n in one.items():
            held[codes[int(cells.combinations[0, value])]] += n
        shown[own.pop() if len(own) == 1 else "*", tuple(sorted(held.items()))] += 1
    return frozenset(shown.items()), found.phase


@cache
def releases(sizes: tuple[int, ...], values: int, variant: str, divide: str) -> dict[Seen, list[Groups]]:
    """Every source of these persons that meets l as a whole, by its release."""
    found: dict[Seen, list[Groups]] = {}
    for source in product(*(list(bags(rows, values)) for rows in sizes)):
        whole = sum(source, Counter())
        if whole.total() >= L * max(whole.values()):
            found.setdefault(release(source, variant, divide)[0], []).append(source)
    return found


def beliefs(sources: Sequence[Groups]) -> list[Counter[int]]:
    """Of a person of each group, in how many sources each value is theirs; every assignment of values is as likely."""
    found = [Counter() for _ in sources[0]]
    for source in sources:
        for own, bag in zip(found, source, strict=True):
            for value, rows in bag.items():
                own[value] += Fraction(ways(source) * rows, bag.total())  # type: ignore[assignment]
    return found


def surest(found: dict[Seen, list[Groups]]) -> Fraction:
    """The surest that a reader of any release is of any person's value."""
    return max(
        max(own.values()) / Fraction(sum(map(ways, sources))) for sources in found.values() for own in beliefs(sources)
    )


def guessed(found: dict[Seen, list[Groups]]) -> Fraction:
    """How often the best guess of a person's value is right, over all sources and persons."""
    right = sum(
        max(own.values()) * bag.total()
        for sources in found.values()
        for own, bag in zip(beliefs(sources), sources[0], strict=True)
    )
    every = [source for sources in found.values() for source in sources]
    return Fraction(right) / sum(ways(one) for one in every) / sum(bag.total() for bag in every[0])


def first_persons(sources: Sequence[Groups]) -> Fraction:
    """The surest value of a person of the first group."""
    return max(beliefs(sources)[0].values()) / Fraction(sum(map(ways, sources)))


@pytest.mark.parametrize("variant", ["tp", "cascade"])
def test_the_example_of_the_threat_model(variant: str) -> None:
    """Four persons, of whom a and b are kept: after phase one {a, a, a, b} or {a, b, b, b}.

    Two others share values too, and are starred.
    """
    found = releases((4, 2), 3, variant, "values")
    kept = {seen: sources for seen, sources in found.items() if ((0, ((0, 1), (1, 1))), 1) in seen}
    after_one = {
        tuple(sorted(source[0].elements()))
        for sources in kept.values()
        for source in sources
        if release(source, variant, "values")[1] == 1
    }
    assert after_one == {(0, 0, 0, 1), (0, 1, 1, 1)}
    assert max(map(first_persons, kept.values())) == Fraction(3, 4)
    # The starred class {a, a, c, c}: two a were cut, so that the two others have c.
    (sources,) = (own for seen, own in kept.items() if (("*", ((0, 2), (2, 2))), 1) in seen)
    assert sources == [(Counter({0: 3, 1: 1}), Counter({2: 2}))]
    assert surest(found) == 1


@pytest.mark.parametrize("variant", ["tp", "cascade"])
def test_whole_groups_do_not_remove_the_attack(variant: str) -> None:
    """Three groups of two persons: that the second one is kept, and not the first, shows that the first failed."""
    assert surest(releases((2, 2, 2), 3, variant, "whole")) == 1


LARGER = [
    pytest.param(sizes, values, marks=pytest.mark.thorough)
    for sizes, values in (((4, 2), 4), ((4, 1, 1), 3), ((4, 4), 3), ((5, 3), 3), ((3, 1, 1, 1), 3))
]


@pytest.mark.parametrize(("sizes", "values"), [((4, 2), 3), ((3, 3), 3), ((2, 2, 2), 3), *LARGER])
def test_whole_groups_show_less_in_these_tables(sizes: tuple[int, ...], values: int) -> None:
    """Neither the surest value nor the guesses of all persons are better where no group is divided."""
    divided, whole = (releases(sizes, values, "cascade", divide) for divide in ("values", "whole"))
    assert surest(whole) <= surest(divided)
    assert guessed(whole) <= guessed(divided)
    if sizes != (2, 2, 2):  # two persons are never divided
        assert surest(whole) <= Fraction(1, L) < surest(divided)
        assert guessed(whole) < guessed(divided)
