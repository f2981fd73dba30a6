"""Scores of pairs, trees, and rows drawn of tables: against brute force and closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.fit import draw_rows, fit_tables, project
from sqlanon.noisy.pairs import GAP_CHANGE, choose_pairs, list_pairs, measure_gap
from sqlanon.noisy.rows import MOST_APART, ROUNDED
from tests.oracle.chance_of import lower_bound

SHAPE = (3, 2, 2)
CELLS = list(itertools.product(*map(range, SHAPE)))


def gap(rows: list[tuple[int, ...]]) -> int:
    """The score by fractions, from the words of its definition."""
    total = 0
    for kind in range(SHAPE[2]):
        own = [row for row in rows if row[2] == kind]
        if not own:
            continue
        apart = Fraction(0)
        for one, other in itertools.product(range(SHAPE[0]), range(SHAPE[1])):
            both = sum(row[:2] == (one, other) for row in own)
            expected = Fraction(sum(row[0] == one for row in own) * sum(row[1] == other for row in own), len(own))
            apart += abs(both - expected)
        total += math.floor(apart)
    return total


def counts(rows: list[tuple[int, ...]]) -> Any:
    table = np.zeros(SHAPE, np.int64)
    for row in rows:
        table[row] += 1
    return table


def test_a_row_changes_a_score_by_no_more_than_is_charged() -> None:
    """All tables of up to 3 rows of 12 kinds, and every row that may come to them."""
    largest = 0
    for size in range(4):
        for rows in itertools.combinations_with_replacement(CELLS, size):
            before = measure_gap(counts(list(rows)))
            if size < 3:
                assert before == gap(list(rows))
            for row in CELLS:
                table = counts(list(rows))
                table[row] += 1
                largest = max(largest, abs(measure_gap(table) - before))
    assert 2 <= largest <= GAP_CHANGE


@pytest.mark.parametrize("seed", [0, *(pytest.param(one, marks=pytest.mark.thorough) for one in (1, 2))])
def test_a_row_changes_a_score_of_a_large_class_by_no_more_than_is_charged(seed: int) -> None:
    draw = np.random.default_rng(seed)
    largest = 0
    for _ in range(300):
        table = draw.integers(0, draw.choice([2, 5, 40]), SHAPE)
        before = measure_gap(table)
        for row in CELLS:
            table[row] += 1
            largest = max(largest, abs(measure_gap(table) - before))
            table[row] -= 1
    assert largest <= GAP_CHANGE


def test_the_chosen_tree_has_the_largest_sum_of_all_trees() -> None:
    draw = np.random.default_rng(5)
    columns = 4
    pairs = list_pairs(columns)
    for _ in range(20):
        scores = draw.integers(-50, 50, len(pairs))
        value = dict(zip(pairs, scores.tolist(), strict=True))
        trees = [tree for tree in itertools.combinations(pairs, columns - 1) if len(reached(tree)) == columns]
        found = choose_pairs(scores, columns)
        assert sum(value[pair] for pair in found) == max(sum(value[pair] for pair in tree) for tree in trees)
        for place, pair in enumerate(found):  # each pair has one column of those before
            assert len(set(pair) & reached(found[:place])) == 1


def reached(pairs: tuple[tuple[int, int], ...]) -> set[int]:
    """The columns that are joined with column 0."""
    found = {0}
    for _ in pairs:
        found |= {column for pair in pairs if found & set(pair) for column in pair}
    return found


def test_the_nearest_numbers_are_those_of_a_grid() -> None:
    numbers, total, step = np.array([2.0, -1.0, 0.5]), 2.0, 0.125
    grid = [np.array([a, b, total - a - b]) for a in np.arange(0, 2 + step, step) for b in np.arange(0, 2 + step, step)]
    best = min((one for one in grid if one[2] >= 0), key=lambda one: float(((one - numbers) ** 2).sum()))
    assert float(((project(numbers, total) - numbers) ** 2).sum()) <= float(((best - numbers) ** 2).sum()) + 1e-12
    assert project(numbers, total).sum() == pytest.approx(total)


def test_a_sum_that_is_lost_in_rounding_is_none() -> None:
    assert project(np.array([5.0, -3.0]), 1e-17).tolist() == [0.0, 0.0]


@pytest.mark.thorough
def test_rows_are_drawn_whatever_the_noise_is() -> None:
    """Each draw is within the difference that verification allows, however far the noise is above the counts."""
    draw = np.random.default_rng(1)
    for _ in range(300):
        columns = int(draw.integers(2, 5))
        sizes = draw.integers(1, 8, columns + 1)
        pairs = [(int(draw.integers(0, place)), place) for place in range(1, columns)]
        scale = float(draw.choice([0.3, 3, 300]))
        tables = [
            np.round(draw.laplace(0, scale, (sizes[one], sizes[other], sizes[-1]))).astype(np.int64)
            for one, other in pairs
        ]
        found = draw_rows(pairs, tables)
        for (one, other), table in zip(pairs, tables, strict=True):
            counted = np.zeros(table.shape, np.int64)
            np.add.at(counted, (found[:, one], found[:, other], found[:, -1]), 1)
            assert np.abs(counted - table).mean() <= MOST_APART * scale * 2**0.5 + ROUNDED


PAIRS = ((0, 1), (1, 2))


def exact_tables(rows: Any, sizes: tuple[int, ...]) -> list[Any]:
    made = []
    for one, other in PAIRS:
        table = np.zeros((sizes[one], sizes[other], sizes[-1]), np.int64)
        np.add.at(table, (rows[:, one], rows[:, other], rows[:, -1]), 1)
        made.append(table)
    return made


def test_of_tables_without_noise_the_rows_have_nearly_these_counts() -> None:
    draw = np.random.default_rng(1)
    sizes = (4, 3, 5, 2)
    rows = np.stack([draw.integers(0, size, 3000) for size in sizes], axis=1)
    rows[:, 1] = (rows[:, 0] + rows[:, 3] * draw.integers(0, 2, 3000)) % 3
    tables = exact_tables(rows, sizes)
    for fitted, table in zip(fit_tables(PAIRS, tables).pairs, tables, strict=True):
        assert np.abs(fitted - table).max() < 1e-3
    found = draw_rows(PAIRS, tables)
    assert len(found) == 3000
    for table, other in zip(tables, exact_tables(found, sizes), strict=True):
        assert np.abs(table - other).max() <= 3  # rounding, carried from group to group
    # Of columns that are in no table together: independent given the one between them and the target.
    for middle, kind in itertools.product(range(3), range(2)):
        own = found[(found[:, 1] == middle) & (found[:, 3] == kind)]
        both = np.histogram2d(own[:, 0], own[:, 2], [np.arange(5), np.arange(6)])[0]
        expected = np.outer(both.sum(axis=1), both.sum(axis=0)) / len(own)
        statistic = ((both - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
        assert statistic < 60  # chi-square of 12 degrees of freedom exceeds it once in 10^7


def test_rows_follow_from_the_noisy_counts_alone() -> None:
    tables = [np.full((2, 2, 2), 7), np.full((2, 3, 2), 5)]
    first, again = draw_rows(PAIRS, tables), draw_rows(PAIRS, tables)
    assert np.array_equal(first, again)
    tables[0][0, 0, 0] += 1
    assert not np.array_equal(first, draw_rows(PAIRS, tables))


@pytest.mark.parametrize("level", [-40, 0, 3])
def test_noise_alone_gives_rows_of_declared_values_or_none(level: int) -> None:
    draw = np.random.default_rng(level + 100)
    tables = [draw.integers(-30, 30, (3, 4, 2)) + level, draw.integers(-30, 30, (4, 2, 2)) + level]
    found = draw_rows(PAIRS, tables)
    if level < 0:
        assert len(found) == 0
    assert (found >= 0).all()
    assert (found < np.array([3, 4, 2, 2])).all()
    fitted = fit_tables(PAIRS, tables)
    assert all((one >= 0).all() for one in fitted.pairs)
    for (one, other), table in zip(PAIRS, fitted.pairs, strict=True):
        assert np.allclose(table.sum(axis=1), fitted.columns[one])
        assert np.allclose(table.sum(axis=0), fitted.columns[other])


RUNS = 1000


def seen(runs: int, *, there: bool, noisy: bool) -> int:
    """In how many releases of rows some row has the value that the victim alone has."""
    table = np.zeros((3, 2, 2), np.int64)
    table[:2] = 20
    table[2, 1, 1] = there
    times = 0
    for _ in range(runs):
        given = table
        if noisy:
            given = add_noise(table.reshape(-1), "laplace", Fraction(1)).reshape(table.shape)
        times += bool((draw_rows(((0, 1),), [given])[:, 0] == 2).any())
    return times


@pytest.mark.thorough
def test_rows_of_noisy_tables_give_no_person_away() -> None:
    """Epsilon is 1: a person changes one number, and the noise of each has scale 1."""
    pytest.importorskip("opendp")
    found = [seen(RUNS, there=there, noisy=True) for there in (True, False)]
    assert lower_bound(RUNS, *found, 0.0) <= 1


def test_rows_of_exact_tables_would_give_a_person_away() -> None:
    """The naive variant: no random number of the rows hides what the tables show."""
    assert [seen(1, there=there, noisy=False) for there in (True, False)] == [1, 0]
