"""The heuristic for l-diversity along an order, step by step as the paper gives it (section 4.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

Price = Callable[[Sequence[int]], int]


def eligible(values: Sequence[object], l: Fraction | int) -> bool:  # noqa: E741
    """Whether no value is more than 1/l of the rows."""
    return not values or max(Counter(values).values()) * l <= len(values)


def make_diverse_groups(values: Sequence[object], l: int, width: Price, line: Sequence[int] | None = None):  # noqa: E741
    """Groups of row numbers, rows in order; None if the table is not eligible.

    Args:
        values: sensitive values.
        l: rows of a group, at least, all of different values.
        width: extent of a set of rows.
        line: with keys, distances on the line are compared, as in the paper, instead of boxes.
    """
    if not eligible(values, l):
        return None
    left = list(range(len(values)))
    groups: list[list[int]] = []

    def rest_is_eligible(group: Sequence[int]) -> bool:
        return eligible([values[row] for row in left if row not in group], l)

    while left:
        frontier = _frontier(values, left)
        chosen = None
        for size in range(l, len(frontier) + 1):
            if rest_is_eligible(frontier[:size]):
                chosen = frontier[:size]
                break
        if chosen is None:
            frequency = Counter(values[row] for row in left)
            frequent = sorted(frontier, key=lambda row: (-frequency[values[row]], row))
            chosen = next(frequent[:size] for size in range(l, len(frequent)) if rest_is_eligible(frequent[:size]))
        left = [row for row in left if row not in chosen]
        group = list(chosen)
        while left:
            frontier = _frontier(values, left)
            first, *others = frontier[:l]
            if values[first] in {values[row] for row in group}:
                break
            if line is None:
                here = (len(group) + 1) * width([*group, first]) - len(group) * width(group)
                instead = frontier[l] if len(frontier) > l else first
                there = width([first, *others]) - width([instead, *others])
            else:
                here, there = line[first] - line[min(group)], line[[first, *others][-1]] - line[first]
            if abs(here) >= there or not rest_is_eligible([first]):
                break
            group.append(first)
            left.remove(first)
        groups.append(group)
    return groups


def make_copies(l: Fraction) -> int:  # noqa: E741
    """Number of copies of a value in a group.

    It is at most 8, with the fewest rows for each copy.
    """
    return min(range(1, min(l.denominator, 8) + 1), key=lambda c: (Fraction(ceil(c * l), c), c))


def make_fractional_groups(values: Sequence[int], l: Fraction):  # noqa: E741
    """Groups for a fractional l, which may hold a value more than once; None if the table is not eligible."""
    if not eligible(values, l):
        return None
    left, groups = list(range(len(values))), []
    while left:
        group = _as_they_come(values, left, l) or _with_the_frequent(values, left, l)
        left = [row for row in left if row not in group]
        groups.append(group)
    return groups


def _as_they_come(values: Sequence[int], left: Sequence[int], l: Fraction):  # noqa: E741
    """The rows that come first, each value up to `make_copies` times, until they and the rest are eligible."""
    group: list[int] = []
    for row in left:
        if sum(values[i] == values[row] for i in group) == make_copies(l):
            continue
        group.append(row)
        rest = [values[i] for i in left if i not in group]
        if not eligible([values[i] for i in group], l):
            continue
        if eligible(rest, l):
            return group
        if (max(Counter(rest).values()) - 1) * l > len(rest) - 1:
            return None
    return None


def _with_the_frequent(values: Sequence[int], left: Sequence[int], l: Fraction):  # noqa: E741
    """For the least c that will do.

    C x l rows, of each value as many as the rest cannot keep, then those that come first.
    """
    count = Counter(values[i] for i in left)
    for c in range(1, l.denominator + 1):
        size = ceil(c * l)
        keep = floor((len(left) - size) / l)
        if size >= len(left):
            break
        group: list[int] = []
        for value in sorted(count):
            group += [i for i in left if values[i] == value][: max(count[value] - keep, 0)]
        if len(group) > size or any(count[value] - keep > c for value in count):
            continue
        for row in left:
            if len(group) < size and row not in group and sum(values[i] == values[row] for i in group) < c:
                group.append(row)
        if len(group) == size:
            return group
    return list(left)


def _frontier(values: Sequence[object], left: Sequence[int]) -> list[int]:
    """The first row of every value among those that are left, in order."""
    first: dict[object, int] = {}
    for row in left:
        first.setdefault(values[row], row)
    return sorted(first.values())
