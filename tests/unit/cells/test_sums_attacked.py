"""Readers of sums look at rows and sums together, and at classes of rows where they have them."""

from __future__ import annotations

import numpy as np
import pytest

from sqlanon.attack.sums import _Target
from sqlanon.statistics.amounts import Range
from sqlanon.statistics.joined_tables import JoinedSystem
from sqlanon.statistics.joint import Combinations
from sqlanon.statistics.reader_cells import HIDDEN, SeenCells, narrow

pytest.importorskip("highspy")

LEAST = Range(10, 100)
"""Of a row; two rows of the least have no room."""


def target(value: tuple[int, int], rows: int) -> _Target:
    """Two hidden cells whose total is shown; the first must be able to have 5 more, and 5 less."""
    of = np.array([[0, 1], [2, 2]], np.int64)
    seen = SeenCells(of, np.array([HIDDEN, HIDDEN, rows], np.int64), np.ones(2, np.int64), (), {}, 1)
    joined = JoinedSystem(seen, ((), (), ()), ((0,), (0,), (0,)), ((0,), (0,), ()), ())
    sums = np.array([*value, sum(value)], np.int64)
    demands = np.array([5, 0, 0], np.int64)
    limits = (sums[:2], np.zeros(2, np.int64), np.zeros(2, np.int64))
    return _Target("cost", joined, narrow(seen), LEAST, sums, demands, demands, limits, np.arange(2))


def test_who_has_the_rows_bounds_a_sum_by_the_rows_of_another_cell() -> None:
    """The second cell has two rows of the least each: who knows that they are two knows its sum, and so the first."""
    found = target((300, 20), 8)
    seen = found.joined.seen
    outsider = found.read("outsider", found.join(seen), lambda: 9.0)
    assert (outsider.sought, outsider.exact, outsider.near, outsider.held) == (1, 0, 0, True)
    classes = SeenCells(
        np.concatenate([seen.of, [[3, 4]]]), np.concatenate([seen.value, [6, 2]]), np.zeros(2, np.int64), (), {}, 1
    )
    joint = found.join(classes, Combinations(seen.of, np.arange(2)))
    reader = found.read("rows", joint, lambda: 9.0)
    assert (reader.sought, reader.exact, reader.near, reader.held) == (1, 0, 1, False)


def test_rows_and_sums_are_read_together() -> None:
    """Who knows the sum of the other cell knows that of a cell; who does not, does not."""
    found = target((300, 800), 11)
    reader = found.read("outsider", found.join(found.joined.seen), lambda: 9.0)
    assert reader.exact == 0
    joint = found.join(found.joined.seen)
    contributor = found.read_contributors([(1, 0, 1, 100, -100, -1)], joint, lambda: 9.0, promised=True)
    assert (contributor.sought, contributor.exact, contributor.held) == (1, 1, False)


def demands_of(contributions: list[tuple[int, int, int]], number: int) -> list[tuple[int, ...]]:
    """The changes of two cells in which a person can have 10 % more, and less, for the largest other contributor.

    Args:
        contributions: of each cell those of the person, of the other one, and of all the rest.
        number: the person's.
    """
    rows = []
    for atom, (person, other, rest) in enumerate(contributions):
        part = -(-person // 10)
        rows.append((number, atom, part - rest, 1000, -person - rest, rest - part))
        assert other >= rest
    return rows


def possible(contributions: list[tuple[int, int, int]]) -> set[int]:
    """What the person can have in both cells, for the other contributor, who knows the sum of both cells."""
    left = sum(person + rest for person, _, rest in contributions)
    any_rest = any(rest for _, _, rest in contributions)
    return {left - rest for rest in range(left + 1)} if any_rest else {left}


@pytest.mark.parametrize("rest", [0, 21])
def test_a_known_sum_of_cells_is_no_known_contribution_where_others_contribute(rest: int) -> None:
    contributions = [(50, 1, 0), (10, 100, rest)]
    found = target((51, 110 + rest), 12)
    joint = found.join(found.joined.seen)
    reader = found.read_contributors(demands_of(contributions, 1), joint, lambda: 9.0, promised=True)
    able = possible(contributions)
    is_held = max(able) >= 66 and min(able) <= 54
    assert is_held == bool(rest)
    assert (reader.exact > 0) == (len(able) == 1)
    assert (reader.sought, reader.near, reader.held) == (1, int(not is_held), is_held)
