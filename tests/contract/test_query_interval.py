"""Intervals of counts and sums.

By enumeration, by draws from releases whose rows are uniform by construction, and what has none.
"""

from __future__ import annotations

import itertools
import statistics
import uuid
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.query.intervals import count_interval
from tests.engines import PAIR
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = (
    quasi("a", "integer", "INTEGER"),
    quasi("b", "integer", "INTEGER"),
    plain("c", "integer", "INTEGER"),
)
ROWS = 1_500


@pytest.mark.parametrize("shares", [[], [(0.5, 1)], [(1.0, 2), (0.25, 3), (0.0, 4)], [(0.1, 2), (0.9, 1), (0.5, 5)]])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_a_count_has_the_quantiles_of_all_outcomes(shares: list[tuple[float, int]], level: float) -> None:
    chances = [Fraction(p) for p, n in shares for _ in range(n)]
    weights = [Fraction(0)] * (len(chances) + 1)
    for way in itertools.product((0, 1), repeat=len(chances)):
        weight = Fraction(1)
        for one, chance in zip(way, chances, strict=True):
            weight *= chance if one else 1 - chance
        weights[sum(way)] += weight
    outside = (1 - Fraction(str(level))) / 2
    below = list(itertools.accumulate(weights))
    low = next(i for i, total in enumerate(below) if total >= outside)
    high = next(i for i, total in enumerate(below) if total >= 1 - outside)
    found = count_interval(shares, level)
    assert (found.low, found.high, found.error) == (low, high, 0)


def test_many_rows_are_as_binomial_as_few() -> None:
    """Of 40,000 rows with one share the ends lie where the normal distribution has them, give or take a row."""
    found = count_interval([(0.3, 20_000), (0.3 + 1e-12, 20_000)], 0.95)
    deviation = (40_000 * 0.3 * 0.7) ** 0.5
    assert abs(found.low - (12_000 - 1.959964 * deviation)) <= 1
    assert abs(found.high - (12_000 + 1.959964 * deviation)) <= 1


class Boxes:
    """A release of random boxes, and sources drawn from it uniformly."""

    def __init__(self, db: Any, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.low = self.draw.integers(0, 80, (ROWS, 2))
        self.high = self.low + self.draw.integers(0, 20, (ROWS, 2))
        self.cost = self.draw.integers(-5, 50, ROWS)
        self.name = f"u{uuid.uuid4().hex[:12]}"
        cells = np.column_stack([self.low[:, 0], self.high[:, 0], self.low[:, 1], self.high[:, 1], self.cost])
        publish(db, self.name, COLUMNS, [[str(cell) for cell in row] for row in cells])
        self.db = db

    def asked(self, queries: int) -> tuple[list[bool], list[bool], list[float]]:
        """Random ranges, each of a source of its own.

        Whether count and sum lie in their intervals, and the count's width by that of 10,000 draws.
        """
        counts, sums, widths = [], [], []
        for _ in range(queries):
            ends = np.sort(self.draw.integers(0, 100, (2, 2)), axis=1)
            where = " AND ".join(f"{c} BETWEEN {e[0]} AND {e[1]}" for c, e in zip("ab", ends, strict=True))
            text = f"SELECT count(*) AS n, sum(c) AS s FROM {self.name} WHERE {where}"
            row = self.db.query(text, interval=0.95).rows[0]
            source = self.draw.integers(self.low, self.high + 1)
            inside = ((source >= ends[:, 0]) & (source <= ends[:, 1])).all(axis=1)
            truth = int(inside.sum())
            count, total = row["n"], row["s"]
            assert count.low <= count.interval.low <= count.interval.high <= count.high
            if count.exact:
                continue
            counts.append(count.interval.low <= truth <= count.interval.high)
            if total.interval is not None and total.interval.error < 0.2 and truth:
                sums.append(total.interval.low <= int(self.cost[inside].sum()) <= total.interval.high)
            reached = np.minimum(self.high, ends[:, 1]) - np.maximum(self.low, ends[:, 0]) + 1
            share = (np.maximum(reached, 0) / (self.high - self.low + 1)).prod(axis=1)
            values, many = np.unique(share.round(12), return_counts=True)
            drawn = sum(self.draw.binomial(n, p, 10_000) for p, n in zip(values, many, strict=True))
            low, high = np.quantile(drawn, [0.025, 0.975])
            if high > low:
                widths.append((count.interval.high - count.interval.low) / (high - low))
        return counts, sums, widths


def test_the_truth_is_inside_where_rows_are_uniform(shared_db: Any) -> None:
    counts, sums, widths = Boxes(shared_db, 7).asked(15)
    assert len(counts) >= 10
    assert statistics.fmean(counts) >= 0.75  # more than 3 of 15 are outside once in 200 times
    assert statistics.fmean(sums) >= 0.75
    assert statistics.median(widths) <= 1.1


def test_a_sum_of_no_rows_has_no_interval(shared_db: Any) -> None:
    """No box can meet the condition: COUNT is 0, and SUM is NULL."""
    name = f"u{uuid.uuid4().hex[:12]}"
    publish(shared_db, name, COLUMNS, [["1", "4", "2", "9", "5"], ["1", "4", "2", "9", "7"]])
    (row,) = shared_db.query(f"SELECT count(*) AS n, sum(c) AS s FROM {name} WHERE a > 50", interval=0.95).rows
    assert (row["n"].low, row["n"].high, row["n"].exact) == (0, 0, True)
    assert row["s"].interval is None


@pytest.mark.thorough
@pytest.mark.parametrize("db", [PAIR[0]], ids=["duckdb"], indirect=True)
def test_the_truth_is_inside_of_19_in_20(db: Any) -> None:
    """2,000 random queries, each of a source of its own; on one engine, as it takes minutes."""
    counts, sums, widths = Boxes(db, 8).asked(2_000)
    assert 0.93 <= statistics.fmean(counts) <= 0.98
    assert 0.92 <= statistics.fmean(sums) <= 0.98
    assert statistics.median(widths) <= 1.1


@pytest.mark.parametrize(
    ("items", "rest", "reason"),
    [
        ("avg(c) AS x", "", r"count\(\.\.\), and of sum"),
        ("sum(a) AS x", "", r"count\(\.\.\), and of sum"),
        ("2 * count(*) AS x", "", r"count\(\.\.\), and of sum"),
        ("count(*) AS x", "WHERE a < b", "comparisons of two columns"),
    ],
)
def test_what_has_no_interval_is_refused(shared_db: Any, items: str, rest: str, reason: str) -> None:
    name = f"u{uuid.uuid4().hex[:12]}"
    publish(shared_db, name, COLUMNS, [["1", "4", "2", "9", "5"], ["1", "4", "2", "9", "7"]])
    with pytest.raises(UnsupportedError, match=reason):
        shared_db.query(f"SELECT {items} FROM {name} {rest}", interval=0.9)
    with pytest.raises(PolicyError, match="above 0 and below 1"):
        shared_db.query(f"SELECT count(*) FROM {name}", interval=1.5)


def test_groups_and_json(shared_db: Any) -> None:
    """By hand: a value of 1 to 4 is in each group with 1/4; two rows have it so."""
    name = f"u{uuid.uuid4().hex[:12]}"
    publish(
        shared_db,
        name,
        COLUMNS,
        [["1", "4", "2", "9", "5"], ["1", "4", "2", "9", "7"], ["9", "9", "1", "1", "2"]],
    )
    answer = shared_db.query(f"SELECT a, count(*) AS n, sum(c) AS s FROM {name} GROUP BY a ORDER BY a", interval=0.8)
    found = {row["a"]: row["n"].interval for row in answer.rows}
    assert {a: (one.low, one.high) for a, one in found.items()} == {
        **dict.fromkeys(range(1, 5), (0, 1)),
        9: (1, 1),
    }
    assert answer.to_dict()["rows"][0]["n"]["interval"] == {"level": 0.8, "low": 0, "high": 1, "error": 0.0}
    plain_answer = shared_db.query(f"SELECT a, count(*) AS n FROM {name} GROUP BY a")
    assert "interval" not in plain_answer.to_dict()["rows"][0]["n"]


def test_single_values_of_steps_and_sums_of_no_rows(shared_db: Any) -> None:
    """Of 11 decimals from 0.00 to 0.10 five are below 0.05.

    A value of a continuous range has no interval, nor has a sum that may be of no rows.
    """
    name = f"i{uuid.uuid4().hex[:10]}"
    columns = [
        quasi("d", "decimal", "DECIMAL(5,2)"),
        quasi("f", "float", "DOUBLE PRECISION"),
        plain("c", "integer", "INTEGER"),
    ]
    publish(
        shared_db,
        name,
        columns,
        [("0.00", "0.10", "0.0", "1.0", "5")] * 4 + [("0.05", "0.05", "0.5", "0.5", "7")],
    )
    steps = shared_db.query(f"SELECT floor(d * 20) AS g, count(*) AS n FROM {name} GROUP BY 1", interval=0.95)
    estimates = {float(row["g"]): row["n"].estimate for row in steps.rows}
    assert estimates == pytest.approx({0: 4 * 5 / 11, 1: 1 + 4 * 5 / 11, 2: 4 / 11})
    one = shared_db.query(
        f"SELECT floor(d * 10) AS g, count(*) AS n FROM {name} WHERE d = 0.05 GROUP BY 1", interval=0.95
    )
    (cell,) = [row["n"] for row in one.rows]
    assert (cell.estimate, cell.interval.low, cell.interval.high) == (pytest.approx(1 + 4 / 11), 1, 3)
    for text in (
        f"SELECT count(*) AS n FROM {name} WHERE f = 0.55",
        f"SELECT floor(f * 10) AS g, count(*) AS n FROM {name} WHERE f = 0.55 GROUP BY 1",
    ):
        (cell,) = [row["n"] for row in shared_db.query(text, interval=0.95).rows]
        assert (cell.low, cell.high, cell.interval) == (0, 4, None)
    for where, sure in (("f > 0.9", False), ("f < 0.9", True)):
        cell = shared_db.query(f"SELECT sum(c) AS n FROM {name} WHERE {where}", interval=0.95).rows[0]["n"]
        assert (cell.interval is not None) is sure
        assert not sure or cell.low <= cell.interval.low <= cell.interval.high <= cell.high
