"""COUNT over rows with boxes listed point by point, and laws of answers.

Up to twelve predicates, bounds are tight and estimates right.
"""

from __future__ import annotations

import math
import random
import uuid
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import points, queries
from tests.oracle.handmade import plain, publish, quasi
from tests.properties.strategies import FEW

SEEDS = st.integers(0, 2**32)


def made(db: Any, rng: random.Random, *, nulls: bool) -> tuple[str, list[points.Box]]:
    """A random release of a few rows."""
    name = f"p{uuid.uuid4().hex[:12]}"
    rows = points.boxes(rng, rng.randint(1, 8), nulls=nulls)
    publish(db, name, points.COLUMNS, [points.cells(row) for row in rows])
    return name, rows


@FEW
@given(seed=SEEDS)
def test_count_is_tight_up_to_twelve_predicates(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, seed: int
) -> None:
    rng = random.Random(seed)
    name, rows = made(shared_db, rng, nulls=True)
    points.load(side_by_side, rows)
    for atoms in (12, rng.randint(7, 12)):
        where = swapped(rng, queries.predicate(rng, "aashdc", atoms))
        expected = points.counts(side_by_side, where)
        answer = shared_db.query(f"SELECT d, count(*) AS n FROM {name} WHERE {where} GROUP BY d")
        found = {row["d"]: row["n"] for row in answer.rows}
        assert set(found) == set(expected), where
        for key, (share, low, high) in expected.items():
            cell = found[key]
            assert cell.tight
            assert (cell.low, cell.high) == (low, high), (where, rows)
            assert math.isclose(cell.estimate, share, abs_tol=1e-9), (where, rows)


def swapped(rng: random.Random, where: str) -> str:
    """Some predicates on ``a`` asked of ``b`` instead."""
    words = where.split(" ")
    return " ".join("b" + w[1:] if w in ("a", "a)") and rng.random() < 0.5 else w for w in words)


@FEW
@given(seed=SEEDS)
def test_estimates_lie_in_bounds_and_more_conditions_never_raise_them(shared_db: Any, seed: int) -> None:
    rng = random.Random(seed)
    name, rows = made(shared_db, rng, nulls=False)
    one, two = (queries.predicate(rng, "ash", rng.randint(1, 6)) for _ in range(2))
    while "NULL" in one:  # compared with NULL, a predicate and its negation both fail
        one = queries.predicate(rng, "ash", rng.randint(1, 6))
    first, both, either = (
        shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
        for where in (one, f"({one}) AND ({two})", f"({one}) OR NOT ({one})")
    )
    for cell in (first, both, either):
        assert cell.low <= cell.estimate <= cell.high
    assert both.high <= first.high
    assert both.low <= first.low
    assert both.estimate <= first.estimate + 1e-9
    assert either.low == either.high == len(rows)
    assert either.exact


@pytest.mark.thorough
def test_estimates_agree_with_draws_from_wide_boxes(shared_db: Any, side_by_side: Any) -> None:
    rng = random.Random(7)
    name = f"p{uuid.uuid4().hex[:12]}"
    columns = [
        quasi("x", "integer", "INTEGER"),
        quasi("y", "float", "DOUBLE PRECISION"),
        plain("c", "integer", "INTEGER"),
    ]
    ends = [
        (0, 999, 0.0, 1.0, 1),
        (500, 2_000, 0.25, 4.0, 2),
        (-300, 40, 0.5, 0.75, 3),
        (10, 10, 3.0, 9.0, 4),
    ]
    publish(shared_db, name, columns, [[str(end) for end in row] for row in ends])
    where = "(x BETWEEN 100 AND 800 OR y > 0.6) AND NOT (x < 20 AND y < 3.5)"
    answer = shared_db.query(f"SELECT count(*) AS n, sum(c) AS s, sum(x) AS t FROM {name} WHERE {where}").rows[0]
    draws = 4_000
    side_by_side.execute("CREATE OR REPLACE TABLE drawn (i INTEGER, x INTEGER, y DOUBLE, c INTEGER)")
    listed = [(i, rng.randint(a, b), rng.uniform(low, high), c) for i in range(draws) for a, b, low, high, c in ends]
    for start in range(0, len(listed), 4_000):
        values = ", ".join(map(str, listed[start : start + 4_000]))
        side_by_side.execute(f"INSERT INTO drawn VALUES {values}")
    rest = f"FROM drawn WHERE {where} GROUP BY i"
    totals = side_by_side.execute(f"SELECT count(*), sum(c), sum(x) {rest}").fetchall()
    for name_, at in (("n", 0), ("s", 1), ("t", 2)):
        values_ = [float(row[at]) for row in totals] + [0.0] * (draws - len(totals))
        mean = math.fsum(values_) / draws
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values_) / draws / draws)
        assert abs(answer[name_].estimate - mean) < 5 * spread, name_
