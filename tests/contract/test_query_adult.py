"""Two hundred queries of different shapes over a release of Adult: DuckDB and PostgreSQL answer alike.

A sample of the real table where the shared data are, else a made-up table of the same shape.
"""

from __future__ import annotations

import csv
import datetime
import math
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_query import cells, parts
from tests.covering import seeds
from tests.oracle import shapes

ADULT = Path(os.environ.get("SQLANON_DATA", Path(__file__).parents[3] / "shared/data")) / "adult/adult_train_30162.csv"
COUNT, SAMPLE, BATCHES = 200, 400, 10


def people() -> list[tuple[Any, ...]]:
    """Rows of `shapes.COLUMNS`: net hours and dates of birth are made of the other columns."""
    rng = random.Random(11)
    if ADULT.is_file():
        with ADULT.open(encoding="utf-8", newline="") as file:
            rows = rng.sample(list(csv.DictReader(file)), SAMPLE)
        given = [
            (
                int(r["age"]),
                int(r["hours_per_week"]),
                r["workclass"],
                r["education"],
                r["sex"],
                r["race"],
                r["occupation"],
                r["income"],
                int(r["capital_gain"]),
            )
            for r in rows
        ]
    else:
        words = [(*values, "Other") for values in shapes.WORDS.values()]
        given = [
            (
                rng.randint(17, 90),
                rng.choice([20, 40, 40, 50, rng.randint(1, 99)]),
                *(rng.choice(values) for values in words),
                rng.choice([*shapes.JOBS, "Other"]),
                rng.choice([">50K", "<=50K"]),
                rng.choice([0, 0, 0, rng.randint(1, 9999)]),
            )
            for _ in range(SAMPLE)
        ]
    return [
        (age, hours, hours / 16, datetime.date(1994 - age, 1 + hours % 12, 1 + age % 28), *rest)
        for age, hours, *rest in given
    ]


@pytest.fixture(scope="module")
def asked(both_dbs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A release of the same rows, and a dimension, on both engines."""
    rows = people()
    for db in both_dbs:
        db.engine.load_rows(db.engine.target("adult"), shapes.COLUMNS, rows)
        kinds = [(job, job[:1]) for job in sorted({row[8] for row in rows} - {"Sales"})]
        db.engine.load_rows(db.engine.target("kinds"), [("occupation", "TEXT"), ("kind", "TEXT")], kinds)
        db.anonymize(
            "adult",
            quasi=shapes.QUASI,
            sensitive="occupation",
            insensitive=["race", "income", "gain"],
            k=5,
            method="mondrian",
            accept_unique=["race", "income", "gain", "occupation"],
            mean=["age"],
            seed=1,
            dimensions=["kinds"],
        )
    return both_dbs


@pytest.mark.thorough
@pytest.mark.parametrize("batch", seeds(BATCHES, 2))
def test_engines_agree_over_adult(asked: tuple[Any, ...], batch: int) -> None:
    for query in shapes.queries(2026, COUNT, "adult", "kinds")[batch::BATCHES]:
        answers = [db.query(query) for db in asked]
        first, second = map(cells, answers)
        assert len(first) == len(second), query
        if "round(avg" in query:  # of doubles on one engine, of exact numbers on the other
            _rounded_alike(query, *answers)
            continue
        for one, two in zip(first, second, strict=True):
            assert all(map(_same, one, two)), (query, one, two)


def _rounded_alike(query: str, doubles: Any, exact: Any) -> None:
    """Rounded doubles may end one step further at either side; nothing else differs."""
    step = 0.01 + 1e-9
    for one, two in zip(doubles.rows, exact.rows, strict=True):
        for name in doubles.columns:
            a, b = one[name], two[name]
            if not re.search(rf"round\(avg\(\w+\), 2\) AS {name}\b", query):
                assert all(map(_same, parts(a), parts(b))), (query, a, b)
                continue
            assert (a.low is None, a.undefined_possible) == (b.low is None, b.undefined_possible), (
                query,
                a,
                b,
            )
            if a.low is not None:
                assert 0 <= float(b.low) - float(a.low) + 1e-9 <= step, (query, a, b)
                assert 0 <= float(a.high) - float(b.high) + 1e-9 <= step, (query, a, b)


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-6)
    return bool(one == two) or str(one)[:10] == str(two)[:10]  # a timestamp with a zone beside one without
