"""Commands around a release on Spark, each against DuckDB on the same rows: plan, history, evaluate, persons.

Frozen refreshes are refused.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import UnsupportedError
from tests.frozen.wards import Rows, patient, seen, spec_of, ward

pytestmark = [pytest.mark.spark, pytest.mark.thorough]

WORKLOAD = """
version: 1
queries:
  - name: ill
    sql: select ill, count(*) as n, sum(cost) as cost from nights where age < 50 group by ill
generators:
  - {kind: datacube, level: 2}
"""


@contextmanager
def both(session: Any) -> Iterator[tuple[Any, Any]]:
    """Spark and DuckDB."""
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as spark,
        sqlanon.connect("duckdb:///:memory:") as known,
    ):
        yield spark, known


def write(db: Any, table: str, source: Rows) -> None:
    """Make the table what the rows say, in one order of rows on both engines."""
    cells = ", ".join(
        f"({number}, {age}, {dose}, '{ill}', {cost})" for number, (age, dose, ill, cost) in source.items()
    )
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    db.engine.execute(
        f"CREATE TABLE {table} AS SELECT * FROM (VALUES {cells}) AS v(id, age, dose, ill, cost) ORDER BY id"
    )


def test_plan_history_and_evaluate(session, tmp_path):
    """Two nights: what is planned, published, and revealed by both versions together.

    Then how well the release answers.
    """
    draw = random.Random(4)
    source = ward(draw, 24)
    spec = policy.release(
        source="nights",
        name="nights",
        quasi=["age", "dose"],
        sensitive="ill",
        insensitive=["cost"],
        identifiers=["id"],
        key=["id"],
        accept_unique=["cost", "ill"],
        k=3,
        l=2,
        readers=["ward"],
    )
    with both(session) as (spark, known):
        for night in range(2):
            planned, made = [], []
            for db in (spark, known):
                write(db, "nights", source)
                planned.append(db.plan(spec))
                made.append(db.run(spec, keep_scratch=night == 1))
            mine, theirs = planned
            assert (mine.rows, mine.feasible, mine.state) == (theirs.rows, theirs.feasible, theirs.state)
            assert any("Spark grants nothing" in warning for warning in mine.warnings)
            assert made[0].classes == made[1].classes
            assert seen(spark, "nights") == seen(known, "nights")
            if not night:
                del source[0], source[5]
                source |= {100 + i: patient(draw) for i in range(9)}
        kept = {one.statement: one for one in made[0].scratch}
        assert kept["table/stage"].rows == kept["table/classed"].rows == len(source)
        assert {one.table.rpartition(".")[2] for one in made[0].scratch} == set(spark.clean())
        mine, theirs = (db.history("nights") for db in (spark, known))
        assert len(mine) == 1
        assert mine == theirs
        file = tmp_path / "workload.yml"
        file.write_text(WORKLOAD)
        mine, theirs = (db.evaluate("nights", file) for db in (spark, known))
        assert mine.sound
        assert mine.total.errors.relative.mean == pytest.approx(theirs.total.errors.relative.mean)
        assert [one.kld for one in mine.cubes] == pytest.approx([one.kld for one in theirs.cubes])
        frozen = spec_of("nights")
        for refused in (spark.plan, spark.run):
            with pytest.raises(
                UnsupportedError, match="this database has none; use DuckDB or PostgreSQL, or mode: full"
            ):
                refused(frozen)


def test_persons(session):
    """Rows of a person stay together, and k holds over persons."""
    options = {
        "quasi": ["age", "dose"],
        "sensitive": "ill",
        "identifiers": "id",
        "person": "id",
        "persons": "whole",
        "rest": "drop",
        "k": 3,
        "l": 2,
        "method": "tree",
        "name": "events",
    }
    source = ward(random.Random(5), 40)
    with both(session) as (spark, known):
        made = []
        for db in (spark, known):
            write(db, "events_rows", source)
            db.engine.execute("DROP TABLE IF EXISTS events")
            db.engine.execute(
                "CREATE TABLE events AS SELECT CAST(FLOOR(id / 2) AS INTEGER) AS id, age, dose, ill FROM events_rows "
                "ORDER BY id"
            )
            made.append(db.anonymize("events", **options).report)
        assert made[0].classes == made[1].classes
        assert made[0].requirements == made[1].requirements
        sql = "SELECT age_lo, age_hi, dose_lo, dose_hi, ill FROM release.events"
        assert Counter(spark.engine.fetch(sql)) == Counter(known.engine.fetch(sql))


def test_values_that_a_hierarchy_does_not_list(session):
    built = {"groups": {"g": ["a", "b"]}, "other": "elsewhere"}
    cells = ", ".join(f"({i}, {value})" for i, value in enumerate(["'a'", "'b'", "'x'", "'y'", "NULL"] * 4))
    shown = []
    with both(session) as databases:
        for db in databases:
            db.engine.execute(f"CREATE TABLE places AS SELECT * FROM (VALUES {cells}) AS v(n, place)")
            made = db.anonymize(
                "places", name="placed", quasi=["place", "n"], hierarchies={"place": built}, k=1, seed=1
            ).report
            shown.append(Counter(db.engine.fetch(f"SELECT place, place_null, n_lo FROM {made.published}")))
            assert made.verified
            db.engine.execute("DROP TABLE places")
    assert shown[0] == shown[1]
    assert sum(count for (place, *_), count in shown[0].items() if place == "elsewhere") == 8


def test_boxes_of_their_own(session):
    """Sets and ranges with NULLs.

    Each row is found in its box by its number, and made again it has the same candidates.
    """
    source = {i: (None if i % 7 == 3 else i * i % 13, None if i % 5 == 1 else "abc"[i % 3]) for i in range(20)}
    cells = ", ".join(
        f"({i}, {'NULL' if x is None else x}, {'NULL' if c is None else repr(c)})" for i, (x, c) in source.items()
    )
    spec = policy.release(
        source="boxes",
        name="boxes",
        quasi=["x", "c"],
        insensitive=["n"],
        accept_unique=["n"],
        k=3,
        method="freeform",
        boxes="own",
    )
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        db.engine.execute(f"CREATE TABLE boxes AS SELECT * FROM (VALUES {cells}) AS v(n, x, c)")
        made = db.run(spec)
        assert db.audit(made.published).k == 3
        shown = db.engine.fetch(f"SELECT n, x_lo, x_hi, x_null <> 'none', c, c_null <> 'none' FROM {made.published}")
        assert len(shown) == len(source)
        for n, low, high, unknown, members, lacking in shown:
            x, c = source[n]
            assert unknown or low <= x <= high
            assert lacking or c in members
        assert any("same candidates as in version 1" in note for note in db.run(spec, full=True).notes)
        db.engine.execute("DROP TABLE boxes")
