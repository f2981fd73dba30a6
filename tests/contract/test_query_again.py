"""A query that is asked again is not rewritten again while the version is the same, and answers as if it were."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
import sqlglot

from sqlanon.query import run_query
from sqlanon.query.functions.registry import reads_clock
from tests.oracle.handmade import plain, publish, quasi


def columns() -> list[Any]:
    return [
        quasi("age", "integer", "INTEGER"),
        quasi("seen", "date", "DATE"),
        plain("d", "text", "TEXT", "sensitive"),
    ]


def published(db: Any, name: str, shift: int = 0) -> str:
    """A release of four rows in two boxes."""
    rows = [
        [str(age + shift), str(age + 4 + shift), "DATE '2024-03-01'", "DATE '2024-03-05'", d]
        for age, d in ((20, "'x'"), (20, "'y'"), (40, "'x'"), (40, "'x'"))
    ]
    publish(db, name, columns(), rows, facts={"token": uuid.uuid4().hex})
    return name


@pytest.fixture
def release(shared_db: Any) -> str:
    return published(shared_db, f"a{uuid.uuid4().hex[:10]}")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the queries that are rewritten from now on."""
    found: list[str] = []
    plain_one = run_query._prepare

    def prepare(engine: Any, bound: Any, *args: Any, **named: Any) -> Any:
        found.append(bound.query.text)
        return plain_one(engine, bound, *args, **named)

    monkeypatch.setattr(run_query, "_prepare", prepare)
    return found


def test_the_same_query_is_rewritten_once(shared_db: Any, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = counted(monkeypatch)
    text = f"SELECT d, count(*) AS n FROM {release} WHERE age < 22 GROUP BY d"
    first, again = shared_db.query(text), shared_db.query(text)
    assert rewritten == [text]
    assert first == again
    assert [(row["n"].low, row["n"].high) for row in again.rows if row["d"] == "y"] == [(0, 1)]


def test_other_parameters_are_another_query(shared_db: Any, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = counted(monkeypatch)
    text = f"SELECT count(*) AS n FROM {release} WHERE age < $1"
    for value, ends in ((10, (0, 0)), (30, (2, 2)), (90, (4, 4)), (30, (2, 2))):
        (row,) = shared_db.query(text, parameters=[value]).rows
        assert (row["n"].low, row["n"].high) == ends
    assert len(rewritten) == 3


@pytest.mark.parametrize("day", ["current_date", "CAST(now() AS DATE)"])
def test_a_query_of_the_time_is_rewritten_each_time(
    shared_db: Any, release: str, monkeypatch: pytest.MonkeyPatch, day: str
) -> None:
    rewritten = counted(monkeypatch)
    for _ in range(2):
        (row,) = shared_db.query(f"SELECT count(*) AS n FROM {release} WHERE seen < {day}").rows
        assert (row["n"].low, row["n"].high) == (4, 4)
    assert len(rewritten) == 2


@pytest.mark.parametrize(
    ("text", "reads"),
    [("x < CAST('Tomorrow' AS DATE)", True), ("x < CURRENT_TIMESTAMP", True), ("x < DATE '2024-03-01'", False)],
)
def test_what_depends_on_the_time(text: str, reads: bool) -> None:
    assert reads_clock(sqlglot.parse_one(text)) is reads


def test_the_next_version_has_queries_of_its_own(shared_db: Any, release: str) -> None:
    text = f"SELECT count(*) AS n FROM {release} WHERE age < 30"
    assert [row["n"].high for _ in range(2) for row in shared_db.query(text).rows] == [2, 2]
    shared_db.engine.execute(f"DROP TABLE release.{release}")
    shared_db.engine.execute(f"DROP TABLE release.{release}_metadata")
    published(shared_db, release, shift=50)
    assert [row["n"].high for row in shared_db.query(text).rows] == [0]


def test_few_queries_are_kept(shared_db: Any, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_query, "_MOST_PLANS", 2)
    rewritten = counted(monkeypatch)
    for number in (1, 2, 3, 3, 1):
        shared_db.query(f"SELECT count(*) AS n FROM {release} WHERE age < {number}")
    assert len(rewritten) == 4
