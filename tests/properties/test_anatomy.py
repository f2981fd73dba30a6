"""Anatomy's groups: every value once, the largest buckets first, and random where they may be."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.kernels.random import draw_below, seed_state, shuffle
from sqlanon.methods.anatomy.kernels import make_anatomy_groups
from tests.properties.onedim import by_number
from tests.properties.strategies import examples


def solve(values: list[int], l: int, seed: int) -> list[list[int]]:  # noqa: E741
    group = np.full(len(values), -1, np.int32)
    made = make_anatomy_groups(np.array(values, np.int32), max(values) + 1, l, seed_state(seed), group)
    if made == 0:
        return []
    found = by_number(group)
    assert len(found) == made
    return found


@examples(300)
@given(values=st.lists(st.integers(0, 7), min_size=1, max_size=60), l=st.integers(1, 6), seed=st.integers(0, 2**64 - 1))
def test_every_eligible_table_is_divided(values: list[int], l: int, seed: int) -> None:  # noqa: E741
    found = solve(values, l, seed)
    if max(Counter(values).values()) * l > len(values):
        assert found == []
        return
    assert sorted(row for rows in found for row in rows) == list(range(len(values)))
    assert len(found) == len(values) // l
    assert sum(len(rows) - l for rows in found) == len(values) % l
    for rows in found:
        assert max(Counter(values[row] for row in rows).values()) == 1
    assert found == solve(values, l, seed)


def test_rows_groups_and_numbers_are_drawn() -> None:
    values = [0] * 4 + [1] * 4 + [2] * 1
    partners, joined, numbers = Counter(), Counter(), Counter()
    for seed in range(400):
        found = solve(values, 2, seed)
        own = next(rows for rows in found if 0 in rows)
        partners[next((row for row in own if row in range(4, 8)), None)] += 1
        joined[tuple(sorted(values[row] for row in next(rows for rows in found if 8 in rows)))] += 1
        numbers[found.index(own)] += 1
    assert all(partners[row] > 50 for row in range(4, 8))
    assert joined[0, 1, 2] == 400  # the left-over row of the smallest bucket joins a full group
    assert all(numbers[number] > 50 for number in range(4))


def test_generator() -> None:
    state = seed_state(7)
    draws = Counter(int(draw_below(state, 10)) for _ in range(20_000))
    assert set(draws) == set(range(10))
    assert all(1800 < count < 2200 for count in draws.values())
    items = np.arange(50)
    shuffle(state, items)
    assert sorted(items.tolist()) == list(range(50)) != items.tolist()
