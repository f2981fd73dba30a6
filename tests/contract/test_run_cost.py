"""The cost of a run in its report: statements and bytes by stage, against what was sent and what is stored."""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from benchmarks.release import counting
from sqlanon import policy
from sqlanon.engines.base import Statement
from sqlanon.results import RunCost
from tests.conftest import Connect
from tests.engines import PAIR

ROWS = 10_000
ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": "disease", "k": 5, "method": "tree"}


@pytest.fixture
def people(db: sqlanon.Database) -> sqlanon.Database:
    columns = [("age", "INTEGER"), ("zip", "INTEGER"), ("disease", "INTEGER")]
    rows = [(20 + i % 61, i * 7 % 997, i % 11) for i in range(ROWS)]
    db.engine.load_rows(db.engine.target("people"), columns, rows)
    return db


def cost_of(report: sqlanon.RunReport) -> RunCost:
    assert report.cost is not None
    return report.cost


def test_stages_account_for_all_statements_and_bytes(people: sqlanon.Database) -> None:
    with counting(people) as calls:
        report = people.anonymize("people", **ROLES).report
    cost = cost_of(report)
    assert cost.statements == len(calls)
    assert [stage.stage for stage in cost.stages] == [*(name for name in report.seconds if name != "total"), "outside"]
    assert [stage.seconds for stage in cost.stages[:-1]] == [report.seconds[stage.stage] for stage in cost.stages[:-1]]
    for name in ("statements", "bytes_read", "bytes_written"):
        assert getattr(cost, name) == sum(getattr(stage, name) for stage in cost.stages)
    assert cost.bytes_shuffled is None


def test_bytes_are_at_least_those_of_the_rows(people: sqlanon.Database) -> None:
    cost = cost_of(people.anonymize("people", **ROLES).report)
    stages = {stage.stage: stage for stage in cost.stages}
    source = ROWS * 3 * 4
    assert (stages["snapshot"].bytes_read or 0) >= source
    assert (stages["snapshot"].bytes_written or 0) >= source
    assert (stages["publish"].bytes_written or 0) >= ROWS * 5 * 4  # two ranges and the disease
    assert (stages["verify"].bytes_read or 0) >= ROWS * 5 * 4  # what was written is read back
    staged = stages["snapshot"].bytes_written or 0
    assert (cost.bytes_read or 0) <= 60 * staged
    assert (cost.bytes_written or 0) <= 12 * staged


def test_an_unchanged_source_is_read_and_no_rows_are_written(people: sqlanon.Database) -> None:
    spec = policy.release(source="people", name="people", **ROLES)
    first, again = (people.run(spec) for _ in range(2))
    assert (first.outcome, again.outcome) == ("published", "unchanged")
    cost = cost_of(again)
    assert 0 < cost.statements < cost_of(first).statements
    assert (cost.bytes_read or 0) >= ROWS * 3 * 4
    assert (cost.bytes_written or 0) < ROWS * 4


def test_the_catalog_keeps_no_cost(people: sqlanon.Database) -> None:
    report = people.anonymize("people", **ROLES).report
    assert people.version(report.release).report["cost"] is None


def test_a_plan_guesses_the_bytes_within_a_factor(people: sqlanon.Database) -> None:
    plan = people.plan(policy.release(source="people", name="people", **ROLES))
    guess = plan.cost
    assert guess is not None
    assert guess.stages == ()
    cost = cost_of(people.anonymize("people", **ROLES).report)
    for name in ("statements", "bytes_read", "bytes_written"):
        assert getattr(guess, name) / 3 <= getattr(cost, name) <= getattr(guess, name) * 3, name


@pytest.mark.thorough
@pytest.mark.parametrize("place", [{"publish_to": "duckdb:///{}/sent.duckdb"}, {"publish": "delta:{}/published"}])
def test_a_plan_guesses_what_another_place_costs(people: sqlanon.Database, tmp_path: Any, place: Any) -> None:
    named = {key: url.format(tmp_path) for key, url in place.items()}
    spec = policy.release(source="people", name="people", **ROLES, **named)
    guess, cost = people.plan(spec).cost, cost_of(people.run(spec))
    assert guess is not None
    for name in ("statements", "bytes_read", "bytes_written"):
        assert getattr(guess, name) / 3 <= getattr(cost, name) <= getattr(guess, name) * 3, name


@pytest.mark.parametrize("engine", PAIR[:1], ids=lambda engine: engine.name)
def test_statements_of_one_text_are_all_counted(connect: Connect, engine: Any) -> None:
    engine = connect(engine).engine
    engine.fetch(Statement("first", "SELECT 1", {}))  # names are looked up in the same database from here on
    before = engine.usage()
    texts = ("CREATE TEMP TABLE a AS SELECT i FROM range(1000) AS r(i)", "CREATE TEMP TABLE b AS SELECT i FROM a")
    engine.execute_all([Statement(f"s{i}", text, {}) for i, text in enumerate(texts)])
    with pytest.raises(sqlanon.DatabaseError):
        engine.execute(Statement("wrong", "CREATE TEMP TABLE a AS SELECT 1 AS i", {}))
    assert engine.fetch(Statement("sum", "SELECT SUM(i) FROM b", {})) == [(499_500,)]
    done = engine.usage().since(before)
    assert (done.statements, done.read, done.written) == (3, 3 * 8000, 2 * 8000)


@pytest.mark.parametrize("engine", PAIR[1:], ids=lambda engine: engine.name)
def test_sizes_are_those_of_the_tables(connect: Connect, engine: Any) -> None:
    engine = connect(engine).engine
    engine.execute("CREATE TABLE source AS SELECT i, repeat('x', 100) AS t FROM generate_series(1, 5000) AS g(i)")
    size = int(str(engine.fetch("SELECT pg_table_size('source')")[0][0]))
    before = engine.usage()
    with engine.snapshot():
        engine.fetch(Statement("all", 'SELECT SUM(s."i") FROM "public"."source" AS s', {}))
    assert (engine.usage().since(before).read, engine.usage().since(before).written) == (size, 0)
    engine.execute(Statement("copy", 'CREATE TEMPORARY TABLE "copy" AS SELECT * FROM "public"."source" AS s', {}))
    done = engine.usage().since(before)
    assert done.read == 2 * size
    assert done.written == int(str(engine.fetch("SELECT pg_table_size('copy')")[0][0]))
