"""The accuracy-constrained problem, step by step as the paper gives its heuristic (sections 5.3 and 6.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from tests.oracle.divisions import partitions
from tests.oracle.domains import Table
from tests.oracle.losses import ncp, width

Within = Callable[[Sequence[int]], int | None]
"""The width of a set of rows, None if it breaks the bound."""


def privacy(values: Sequence[object], rows: Sequence[int]) -> Fraction:
    """PM of a group: rows over occurrences of the most frequent value."""
    return Fraction(len(rows), max(Counter(values[row] for row in rows).values()))


def find_least_privacy(values: Sequence[object], groups: Sequence[Sequence[int]]) -> Fraction:
    """PM of a partition."""
    return min(privacy(values, rows) for rows in groups if rows)


def candidates(count: int, within: Within) -> list[list[int]]:
    """Consecutive groups, each as long as the bound allows."""
    groups: list[list[int]] = []
    for row in range(count):
        if groups and within([*groups[-1], row]) is not None:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def make_accurate_groups(values: Sequence[int], within: Within) -> list[list[int]]:
    """Candidates after each has exchanged rows with the next one."""
    first, *others = candidates(len(values), within)
    done: list[list[int]] = []
    moved: set[int] = set()
    for following in others:
        before, first = _exchange(values, within, first, following, moved)
        if before:
            done.append(before)
    return [*done, first]


def _exchange(values, within: Within, first: list[int], second: list[int], moved: set[int]):
    groups = [list(first), list(second)]
    direction: dict[int, int] = {}

    def move(source: int) -> bool:
        own, other = groups[source], groups[1 - source]
        if not own or not other:
            return False
        least = find_least_privacy(values, groups)
        frequency = Counter(values[row] for row in own)
        for value in sorted(frequency, key=lambda value: (-frequency[value], value)):
            rows = [row for row in own if values[row] == value and row not in moved]
            if direction.get(value, source) != source or not rows:
                continue
            nearest = sorted(rows, reverse=source == 0)
            prices = [(within([*other, row]), row) for row in nearest]
            allowed = [(price, at, row) for at, (price, row) in enumerate(prices) if price is not None]
            if not allowed:
                continue
            row = min(allowed)[2]
            rest = [each for each in own if each != row]
            if find_least_privacy(values, [rest, [*other, row]]) < least:
                continue
            own.remove(row)
            other.append(row)
            moved.add(row)
            direction[value] = source
            return True
        return False

    while True:
        forth = move(0)
        back = move(1)
        if not forth and not back:
            return groups


def share(table: Table, rows: Sequence[int]) -> Fraction:
    """Weighted NCP of a class."""
    weights = sum(column.weight for column in table.quasi)
    return sum((column.weight * ncp(column, rows) for column in table.quasi), Fraction(0)) / weights


def held(
    table: Table, rows: Sequence[int], limit: Fraction | None, extents: Mapping[str, Fraction], slack: Fraction
) -> bool:
    """Whether a class keeps to a bound: its NCP (with some slack), and how far it reaches in columns' own units."""
    if limit is not None and share(table, rows) > limit + slack:
        return False
    for column in table.quasi:
        if column.name in extents:
            wide = width(column, rows)
            leaf = 1 if column.kind == "hierarchy" else 0
            if wide is None or wide > max(extents[column.name], leaf):
                return False
    return True


def most_private(values: Sequence[object] | None, count: int, allowed: Callable[[tuple[int, ...]], bool]) -> Fraction:
    """The best PM of all partitions into allowed classes; without values, the best k."""

    def of(rows: Sequence[int]) -> Fraction:
        return Fraction(len(rows)) if values is None else privacy(values, rows)

    return max(min(map(of, classes)) for classes in partitions(range(count), allowed))
