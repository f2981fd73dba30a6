"""What a reader learns from a table of boxes, who knows all quasi values, the policy and the code, and not the secret.

By enumeration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from sqlanon.methods.freeform.draw import remix_matchings
from sqlanon.methods.freeform.walk import BlockWalk, walk_blocks
from tests.oracle.domains import Quasi, Table
from tests.oracle.freeform import Box, posterior, published
from tests.properties.kernel import product_codes
from tests.properties.onedim import in_order
from tests.properties.test_freeform import held_of, key_of

Seen = Counter[tuple[Box, object]]

CROSSED = [[0, 1, 2, 3], [2, 3, 0, 1]]
POINTS = [(0,), (0,), (4,), (9,)]
"""Rows 0 and 1 are equal; the first matching is the identity, the second exchanges 0 and 2, and 1 and 3."""


def of_slots(private: Sequence[object], tie: Sequence[int]) -> list[object]:
    """Private values by slot, where rows 0 and 1 take the slots of ``tie``."""
    found = list(private)
    for row, slot in enumerate(tie):
        found[slot] = private[row]
    return found


def test_equal_rows_in_an_order_that_readers_cannot_know_leave_two_candidates() -> None:
    def publish(private: Sequence[object]) -> Iterator[Seen]:
        for tie in permutations((0, 1)):  # by a keyed hash of the private values: each as likely as the other
            for drawn in (0, 1):
                yield published(POINTS, of_slots(private, tie), CROSSED, drawn)

    for private in permutations((5, 3, 1, 0)):
        for seen in publish(private):
            for row in range(4):
                assert max(posterior(seen, row, (0, 1, 3, 5), publish).values()) <= Fraction(1, 2)


def test_equal_rows_in_the_order_of_their_values_would_give_one_away() -> None:
    """What the classes' tie-break would do: some matchings become impossible."""

    def publish(private: Sequence[object]) -> Iterator[Seen]:
        tie = (0, 1) if str(private[0]) < str(private[1]) else (1, 0)
        for drawn in (0, 1):
            yield published(POINTS, of_slots(private, tie), CROSSED, drawn)

    surest = max(
        max(posterior(seen, 2, (0, 1, 3, 5), publish).values())
        for private in permutations((5, 3, 1, 0))
        for seen in publish(private)
    )
    assert surest == 1


TABLES = [
    ([(0,), (1,), (2,), (3,), (4,)], 2),
    ([(0, 3), (1, 1), (5, 2), (6, 0), (9, 9)], 3),
    ([(0,), (0,), (4,), (9,)], 2),
    ([(1,), (1,), (1,), (7,), (8,)], 2),
    ([(2,), (2,), (2,), (2,)], 3),
]


@pytest.mark.parametrize("passes", [0, 1])
@pytest.mark.parametrize(("points", "k"), TABLES)
def test_no_value_of_a_row_is_surer_than_one_in_k(points: list[tuple[int, ...]], k: int, passes: int) -> None:
    """All private values, several secrets, every draw; equal rows take their slots in every order."""
    n = len(points)
    table = Table(tuple(Quasi(f"x{a}", tuple(p[a] for p in points)) for a in range(len(points[0]))))
    codes = np.array([product_codes(column) for column in table.quasi], np.int32)
    _, shape = in_order(table)
    matchings = [
        remix_matchings(
            held_of(walk_blocks(codes, shape, BlockWalk(k, 2 * k, passes, key_of(number)), 1)), key_of(number)
        ).tolist()
        for number in range(3)
    ]
    equal = [i for i in range(n) if points[i] == points[0]]
    orders = [(*tie, *range(len(equal), n)) for tie in permutations(equal)]

    weight: dict[frozenset[tuple[object, int]], Counter[tuple[int, object]]] = {}
    times: Counter[frozenset[tuple[object, int]]] = Counter()
    for private in permutations(range(n)):
        for tie in orders:
            placed = of_slots(private, tie)
            for targets in matchings:
                for drawn in range(k):
                    seen = frozenset(published(points, placed, targets, drawn).items())
                    times[seen] += 1
                    weight.setdefault(seen, Counter()).update(enumerate(private))
    for seen, count in times.items():
        assert max(weight[seen].values()) * k <= count
    if passes == 0 and len(set(points)) == n:  # one graph: exactly k candidates, each as likely
        assert all(value * k == times[seen] for seen in times for value in weight[seen].values())
