"""Boxes of their own by brute force: the least loss of any k-regular graph, and what a reader learns from a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations

from tests.oracle.divisions import wide
from tests.oracle.domains import Table

Box = tuple[tuple[object, ...], ...]
Targets = Sequence[Sequence[int]]


def list_rows_of_boxes(targets: Targets) -> list[list[int]]:
    """The rows that matchings send to each box."""
    held: list[list[int]] = [[] for _ in targets[0]]
    for matching in targets:
        for row, box in enumerate(matching):
            held[box].append(row)
    return held


def loss(table: Table, targets: Targets) -> int:
    """The sum of the boxes' extents."""
    return sum(wide(table, rows) for rows in list_rows_of_boxes(targets))


def least_loss(table: Table, k: int) -> int:
    """The least loss: boxes are filled one by one, over the states of what rows have left, (k+1)^n at most.

    Every k-regular graph can be divided into k matchings, so that graphs are all there is to try.
    """
    n = table.rows
    width = {rows: wide(table, rows) for rows in combinations(range(n), k)}

    @cache
    def least(left: tuple[int, ...]) -> int | None:
        open_rows = [row for row in range(n) if left[row]]
        if not open_rows:
            return 0
        first, best = open_rows[0], None
        for others in combinations(open_rows[1:], k - 1):
            rows = (first, *others)
            rest = least(tuple(left[row] - (row in rows) for row in range(n)))
            if rest is not None and (best is None or rest + width[rows] < best):
                best = rest + width[rows]
        return best

    found = least((k,) * n)
    assert found is not None
    return found


def covers(table: Sequence[Sequence[int]], targets: Targets) -> list[Box]:
    """Ranges of integer columns."""
    return [
        tuple((min(table[row][a] for row in rows), max(table[row][a] for row in rows)) for a in range(len(table[0])))
        for rows in list_rows_of_boxes(targets)
    ]


def published(
    table: Sequence[Sequence[int]], private: Sequence[object], targets: Targets, drawn: int
) -> Counter[tuple[Box, object]]:
    """The multiset of (box, private value) that is published."""
    boxes = covers(table, targets)
    return Counter((boxes[targets[drawn][row]], private[row]) for row in range(len(table)))


def arrangements(values: Sequence[object]) -> Iterator[tuple[object, ...]]:
    """Every way in which rows may have private values, each as often as it can come about."""
    yield from permutations(values)


def posterior(
    seen: Counter[tuple[Box, object]],
    row: int,
    values: Sequence[object],
    publish: Callable[[tuple[object, ...]], Iterator[Counter[tuple[Box, object]]]],
) -> dict[object, Fraction]:
    """The belief of a reader of a table in each private value of a row, if every arrangement is equally likely.

    Args:
        seen: the table.
        row: the row.
        values: the private values, which are known but not whose they are.
        publish: the tables that an arrangement may lead to, all equally likely, by the secret.
    """
    weight: Counter[object] = Counter()
    for private in arrangements(values):
        weight[private[row]] += sum(one == seen for one in publish(private))
    total = sum(weight.values())
    return {value: Fraction(count, total) for value, count in weight.items() if count}


def regular_graph_exists(fits: Sequence[Sequence[int]], k: int) -> bool:
    """Whether every row can have k of the boxes that it fits, so that every box has k rows; row by row, all choices.

    Args:
        fits: the boxes of every row, as many as rows.
        k: boxes of a row and rows of a box.
    """

    @cache
    def filled(row: int, needs: tuple[int, ...]) -> bool:
        if row == len(fits):
            return not any(needs)
        left = [box for box in fits[row] if needs[box]]
        return any(
            filled(row + 1, tuple(need - (box in chosen) for box, need in enumerate(needs)))
            for chosen in combinations(left, k)
        )

    return filled(0, (k,) * len(fits))
