"""The heuristic for l-diversity along an order, step by step as the paper tells it (section 4.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

Price = Callable[[Sequence[int]], int]


def eligible(values: Sequence[object], l: int) -> bool:  # noqa: E741
    """Whether no value is more than 1/l of the rows."""
    return not values or max(Counter(values).values()) * l <= len(values)


def diverse_groups(values: Sequence[object], l: int, width: Price, line: Sequence[int] | None = None):  # noqa: E741
    """Groups of row numbers, rows standing in order; None if the table is not eligible.

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
            chosen = next(
                frequent[:size] for size in range(l, len(frequent)) if rest_is_eligible(frequent[:size])
            )
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


def _frontier(values: Sequence[object], left: Sequence[int]) -> list[int]:
    """The first row of every value among those that are left, in order."""
    first: dict[object, int] = {}
    for row in left:
        first.setdefault(values[row], row)
    return sorted(first.values())
