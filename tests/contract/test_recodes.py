"""Rounding and coding at both ends.

It tests the published values, answers for the source, and one outlier that hides all else.
"""

from __future__ import annotations

import datetime
import json
import math
import random
import uuid
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.policy import release
from tests.engines import create_table

COLUMNS = {"age": "INTEGER", "cost": "DECIMAL(9, 2)", "w": "DOUBLE PRECISION", "day": "DATE", "ill": "TEXT"}
ASKED: dict[str, Any] = {
    "bottom": {"age": 18, "day": datetime.date(2020, 1, 1)},
    "top": {"age": 90, "cost": "500.50", "day": "2021-06-30"},
    "round": {"cost": 25, "w": 0.5, "age": 5},
}


def rows(seed: int = 2, count: int = 80) -> list[tuple[Any, ...]]:
    rng = random.Random(seed)
    return [
        (
            None if rng.random() < 0.1 else rng.choice([rng.randrange(101), 17, 18, 87, 88, 90, 92, 10_000_000, -4]),
            Decimal(rng.choice([rng.randrange(60_000), 1249, 1250, 51_250, 9_999_999])) / 100,
            rng.choice([rng.random() * 9, 0.25, 0.75, -0.25, 2.2499999999999996]),
            datetime.date(2019, 11, 1) + datetime.timedelta(rng.randrange(700)),
            rng.choice("xy"),
        )
        for _ in range(count)
    ]


def nearest(value: Any, step: Fraction) -> Fraction:
    return math.floor(Fraction(value) / step + Fraction(1, 2)) * step


def coded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a row becomes, by the definition."""
    age, cost, w, day, _ = row
    age = None if age is None else max(18, min(90, nearest(age, Fraction(5))))
    return (
        age,
        min(Fraction("500.5"), nearest(cost, Fraction(25))),
        nearest(w, Fraction(1, 2)),
        max(datetime.date(2020, 1, 1), min(datetime.date(2021, 6, 30), day)),
    )


@pytest.fixture(scope="module")
def world(shared_db: Any) -> tuple[Any, str]:
    table = f"r_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, table, COLUMNS, rows())
    return shared_db, table


def made(db: Any, table: str, name: str, **more: Any) -> Any:
    asked = {"quasi": list(COLUMNS)[:4], "sensitive": "ill", "k": 4, "accept_unique": ["ill"], "seed": 1} | ASKED | more
    return db.anonymize(table, name=name, publish=f"release.{name}", allow_weaker=True, **asked)


def test_values_are_rounded_and_coded_before_anything_else(world: Any) -> None:
    db, table = world
    made(db, table, "exactly", k=1)
    listed = db.engine.fetch("SELECT age_lo, age_hi, cost_lo, cost_hi, w_lo, w_hi, day_lo, day_hi FROM release.exactly")
    assert all(row[at] == row[at + 1] for row in listed for at in (0, 2, 4, 6))
    declared = db.engine.fetch("SELECT declared FROM release.exactly_metadata WHERE column_name = 'age'")[0][0]
    assert json.loads(declared) == {"recode": {"bottom": "18", "top": "90", "round": "5"}}
    assert Counter((a, Fraction(c), Fraction(w), d) for a, _, c, _, w, _, d, _ in listed) == Counter(map(coded, rows()))


QUESTIONS = (
    "age > 95",
    "age >= 90",
    "age > 89",
    "age < 90",
    "age < 18",
    "age <= 17",
    "age = 88",
    "age = 10000000",
    "age <> 90",
    "age IS NULL",
    "age BETWEEN 86 AND 92",
    "cost > 500",
    "cost >= 512.50",
    "cost < 12.5",
    "cost = 12.49",
    "cost BETWEEN 20 AND 30",
    "w < 0.25",
    "w >= 0.75",
    "w = 2.2499999999999996",
    "day < DATE '2020-01-01'",
    "day <= DATE '2019-12-01'",
    "day > DATE '2021-06-30'",
    "day >= DATE '2021-06-30'",
    "age > 95 AND cost < 100",
    "age > 100 OR w < 1",
    "NOT (age > 95)",
)


@pytest.mark.cover
@pytest.mark.parametrize(
    ("form", "k", "more"),
    [
        ("ranges", 2, {"hierarchies": {"age": "steps:10,30", "day": "calendar:month,year"}}),
        ("labels", 1, {}),
        *(
            pytest.param(*one, {}, marks=pytest.mark.thorough)
            for one in (("ranges", 4), ("points", 3), ("suppressed", 2))
        ),
    ],
)
def test_answers_hold_for_the_source(world: Any, form: str, k: int, more: dict[str, Any]) -> None:
    db, table = world
    made(db, table, "asked", k=k, format=form, **more)
    for some in [QUESTIONS[at : at + 8] for at in range(0, len(QUESTIONS), 8)]:
        items = ", ".join(f"count(*) FILTER (WHERE {question}) AS n{i}" for i, question in enumerate(some))
        truths = db.engine.fetch(f"SELECT {items} FROM {table}")[0]
        cells = db.query(f"SELECT {items} FROM asked").rows[0]
        for i, (question, truth) in enumerate(zip(some, truths, strict=True)):
            cell = cells[f"n{i}"]
            assert cell.low <= truth <= cell.high, (question, truth, cell)
            assert cell.low <= cell.estimate <= cell.high
    if (form, k) == ("labels", 1):
        for question in ("cost > 600", "day > DATE '2021-06-30'"):  # at least as much, and nobody knows how much more
            cell = db.query(f"SELECT count(*) AS n FROM asked WHERE {question}").rows[0]["n"]
            assert cell.low == 0
            assert cell.high > 0
    chosen = (
        "sum(CASE WHEN age > 95 THEN 3 WHEN cost < 100 THEN 1 ELSE 0 END) AS x, 100.0 * count(*) FILTER (WHERE age >= "
        "80) / count(*) AS y"
    )
    truths = db.engine.fetch(f"SELECT {chosen} FROM {table}")[0]
    for truth, cell in zip(truths, db.query(f"SELECT {chosen} FROM asked").rows[0].values(), strict=True):
        assert float(cell.low) - 1e-9 <= float(truth) <= float(cell.high) + 1e-9
    if form != "ranges":
        return
    for refused in (
        "sum(age)",
        "max(day)",
        "min(w)",
        "avg(cost)",
        "sum(age * 2)",
        "median(age)",
        "count(DISTINCT age)",
        "sum(abs(w))",
        "sum(CASE WHEN cost < 1 THEN age ELSE 0 END)",
        "count(*) FILTER (WHERE abs(w) > 3)",
        "count(*) FILTER (WHERE age % 2 = 1)",
        "count(*) FILTER (WHERE age + 1 > 5)",
        "count(*) FILTER (WHERE coalesce(age, 0) > 5)",
        "count(*) FILTER (WHERE age < w)",
        "count(*) FILTER (WHERE extract(month FROM day) = 1)",
    ):
        with pytest.raises(SqlanonError, match="rounded or coded"):
            db.query(f"SELECT {refused} AS x FROM asked")
    with pytest.raises(SqlanonError, match="rounded or coded"):
        db.query("SELECT age, count(*) AS n FROM asked GROUP BY age")


@pytest.mark.thorough
def test_metadata_audit_history_and_refresh(world: Any) -> None:
    db, _ = world
    table = f"r_{uuid.uuid4().hex[:8]}"
    create_table(db, table, {"id": "INTEGER", **COLUMNS}, [(i, *row) for i, row in enumerate(rows(3))])

    def spec(top: int, **more: Any) -> Any:
        return release(
            source=table,
            name=f"n_{table}",
            publish=f"release.n_{table}",
            k=3,
            quasi=["age"],
            sensitive="ill",
            identifiers="id",
            key="id",
            rest="drop",
            accept_unique=["ill"],
            top={"age": top},
            **more,
        )

    first = db.run(spec(90))
    assert first.verified
    db.engine.execute(f"UPDATE {table} SET age = 20000000 WHERE age = 10000000")
    second = db.run(spec(90))
    assert second.version == 2
    assert db.run(spec(80)).version == 3
    said = [str(one) for one in db.diff(f"n_{table}@2", f"n_{table}@3").policy]
    assert any("recode top 90 -> top 80" in one for one in said), said
    declared = db.engine.fetch(f"SELECT declared FROM release.n_{table}_metadata WHERE column_name = 'age'")[0][0]
    assert json.loads(declared) == {"recode": {"top": "80"}}
    assert db.audit(f"release.n_{table}", quasi=["age_lo", "age_hi"]).k >= 3
    assert len(db.history(f"n_{table}")) == 2
    assert db.attack(f"n_{table}").held


def test_an_outlier_makes_every_range_look_narrow_and_plan_says_so(world: Any) -> None:
    db, _ = world
    table = f"r_{uuid.uuid4().hex[:8]}"
    create_table(
        db, table, {"age": "INTEGER", "n": "INTEGER"}, [(20 + i % 60, i) for i in range(300)] + [(10_000_000, 0)]
    )
    asked: dict[str, Any] = {
        "source": table,
        "name": table,
        "publish": f"release.{table}",
        "k": 5,
        "quasi": ["age", "n"],
        "rest": "drop",
    }
    warned = [one for one in db.plan(release(**asked)).warnings if "rows at its ends" in one]
    assert len(warned) == 1
    assert "column age" in warned[0]
    assert "10000000" not in warned[0]
    assert not [one for one in db.plan(release(**asked, top={"age": 80})).warnings if "rows at its ends" in one]
    narrow = db.run(release(**asked)).loss.columns["age"]["ncp"]
    coded = db.run(release(**asked, top={"age": 80}), full=True).loss.columns["age"]["ncp"]
    assert narrow < 6 / 301 < coded  # the outlier's class alone loses all


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"top": {"a": "x"}}, "neither a number nor a date"),
        ({"top": {"a": 3}, "bottom": {"a": 3}}, "not above bottom"),
        ({"top": {"a": 3}, "bottom": {"a": "2020-01-01"}}, "a number and a date"),
        ({"round": {"a": 0}}, "above 0"),
        ({"top": {"a": 3}, "hierarchies": {"a": {"groups": {"g": ["1"]}}}}, "lists its values"),
        ({"top": {"a": 3}, "mean": ["a"]}, "is recoded"),
        ({"top": {"a": 3}, "format": "anatomy", "sensitive": "s", "l": 2}, "as they are"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        release(**{"source": "t", "quasi": "a", "k": 5} | asked)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"top": {"ill": 3}}, "are for numbers"),
        ({"top": {"day": 3}}, "are dates"),
        ({"top": {"age": "2020-01-01"}}, "are numbers"),
        ({"round": {"day": 3}}, "round is for numbers"),
        ({"top": {"age": 1.5}}, "whole numbers"),
        ({"top": {"cost": "1.005"}}, "more decimals"),
        ({"top": {"cost": 10_000_000}}, "more digits"),
        ({"bottom": {"age": -3_000_000_000}}, "does not fit"),
    ],
)
def test_what_a_column_cannot_be_is_refused(world: Any, asked: dict[str, Any], why: str) -> None:
    db, table = world
    with pytest.raises(PolicyError, match=why):
        db.anonymize(table, quasi=list(COLUMNS), k=2, name="refused", **asked)


@pytest.mark.thorough
def test_evaluate_takes_recoded_columns_and_prefixes_of_texts(shared_db: Any, tmp_path: Path) -> None:
    db, table = shared_db, f"r_{uuid.uuid4().hex[:8]}"
    codes = [(i * 37 % 120, f"{'ABÄa'[i % 4]}{i * 13 % 50:02}{i % 3}", i) for i in range(120)]
    create_table(db, table, {"age": "INTEGER", "icd": "TEXT", "n": "INTEGER"}, codes)
    workload = tmp_path / "workload.yml"
    workload.write_text(
        f"version: 1\nqueries:\n  - {{name: head, sql: \"SELECT count(*) AS n FROM {table} WHERE icd >= 'B' AND age > "
        '99"}\ngenerators:\n  - {kind: ranges, dimensions: 2, selectivity: 0.1, queries: 4}\n  - {kind: '
        "equality, queries: 4}\n",
        encoding="utf-8",
    )
    db.anonymize(
        table,
        quasi=["age", "icd"],
        rest="drop",
        k=4,
        name="coded",
        publish="release.coded",
        hierarchies={"icd": "prefix:3,1"},
        top={"age": 90},
        round={"age": 5},
        seed=1,
        allow_weaker=True,
    )
    total = db.evaluate("coded", workload).total
    assert total.queries == 9
    assert total.refused == 0
    assert total.errors.inside == total.errors.cells == 9


def test_values_that_do_not_fit_once_they_are_rounded(shared_db: Any) -> None:
    """Column and number, of any step and scale against the definition.

    An end that takes their place lets the run go on.
    """
    table = f"r_{uuid.uuid4().hex[:8]}"
    kinds = {"a": "DECIMAL(4, 2)", "b": "SMALLINT", "c": "BIGINT"}
    values = [
        (Decimal("99.99"), 32767, 2**63 - 1),
        (Decimal("-99.99"), -32768, -(2**63)),
        (Decimal("97.49"), 32764, 5),
        (Decimal("97.50"), 0, 0),
    ]
    create_table(shared_db, table, kinds, values)
    spread = {"a": (Fraction(9999, 100), Fraction(9999, 100)), "b": (2**15, 2**15 - 1), "c": (2**63, 2**63 - 1)}
    shown = {"a": "DECIMAL|NUMERIC|numeric", "b": "SMALLINT|smallint", "c": "BIGINT|bigint"}
    for at, (name, (low, high)) in enumerate(spread.items()):
        for step in (2, 5, 7, 100) if name == "a" else (3, 5, 1000):
            out = sum(not -low <= nearest(row[at], Fraction(step)) <= high for row in values)
            asked = {"quasi": name, "rest": "drop", "k": 2, "round": {name: step}, "name": f"{table} {name}{step}"}
            asked["publish"] = f"release.{table}_{name}{step}"
            if not out:
                shared_db.anonymize(table, **asked)
                continue
            with pytest.raises(PolicyError, match=f"{name}: {out} values rounded .* do not fit into .*({shown[name]})"):
                shared_db.anonymize(table, **asked)
    asked = {"quasi": "b", "rest": "drop", "k": 2, "round": {"b": 1000}, "bottom": {"b": -30000}, "top": {"b": 30000}}
    assert shared_db.anonymize(table, **asked, name=f"{table} ends").report.verified
