"""Texts that a DuckDB connection was sent before are parsed once.

They mean the same as if they were parsed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import sqlanon
from benchmarks.release import fill
from sqlanon.engines.base import Statement
from sqlanon.engines.duckdb import statement_cache
from sqlanon.sqltext import table_name


@pytest.fixture
def duck() -> Iterator[sqlanon.Database]:
    with sqlanon.connect("duckdb:///:memory:") as db:
        yield db


def test_what_is_executed(monkeypatch):
    """The text the first time, then its tree; a text of several statements and a long one as they are."""
    connection = duckdb.connect()
    monkeypatch.setattr(statement_cache, "KEPT", 2)
    monkeypatch.setattr(statement_cache, "LONGEST", 20)
    read = []

    def parse(text: str) -> list[duckdb.Statement]:
        read.append(text)
        return connection.extract_statements(text)

    known = statement_cache.ParsedStatements(parse)

    def sent(text: str) -> bool:
        return isinstance(known.of(text), str)

    assert [sent("SELECT 1") for _ in range(3)] == [True, False, False]
    assert [sent("SELECT 1; SELECT 2") for _ in range(3)] == [True, True, True]
    assert read == ["SELECT 1", "SELECT 1; SELECT 2"]
    assert [sent(f"SELECT {'1' * 20}") for _ in range(3)] == [True, True, True]
    assert not sent("SELECT 1")  # sent last of the two that are kept
    assert sent("SELECT 3")
    assert not sent("SELECT 1")
    assert sent("SELECT 1; SELECT 2")  # forgotten
    assert read == ["SELECT 1", "SELECT 1; SELECT 2"]
    known.forget()
    assert sent("SELECT 1")


def test_names_are_looked_up_again(duck):
    """A table that was made anew with another type, a bound value of another type."""
    place = duck.engine.target("t")
    for kind, value in (("INTEGER", 7), ("VARCHAR", "seven"), ("DATE", None)):
        duck.engine.load_rows(place, [("a", kind)], [(value,)])
        for _ in range(3):
            assert duck.engine.fetch(Statement("one", f"SELECT a, typeof(a) FROM {table_name(place)}")) == [
                (value, kind)
            ]
            for bound in (1, "x", None):
                found = duck.engine.fetch(Statement("two", "SELECT $v AS v", {"v": bound}))
                assert [tuple(map(str, row)) for row in found] == [(str(bound),)]
        duck.engine.execute_all([Statement("drop", f"DROP TABLE {table_name(place)}")])


def released(db: sqlanon.Database, table: str, **asked: Any) -> list[tuple[object, ...]]:
    asked = {"quasi": ["age", "zip"], "sensitive": "disease", "k": 4, "seed": 3} | asked
    db.anonymize(table, publish=f"release.{table}_shown", **asked)
    return sorted(db.engine.fetch(f"SELECT * FROM release.{table}_shown"), key=repr)


@pytest.mark.thorough
def test_releases_of_a_source_that_changes_between(duck):
    """Each is what the first release of a new connection is: rows, and a column that gets another type."""
    changes = [
        "SELECT 1",
        "INSERT INTO patients SELECT age + 50, zip + 3, disease FROM patients",
        "ALTER TABLE patients ALTER age TYPE VARCHAR",
        "UPDATE patients SET zip = NULL WHERE zip = 4",
        "DELETE FROM patients WHERE zip = 1",
    ]
    fill(duck)
    for i, change in enumerate(changes, 1):
        duck.engine.execute(change)
        # Numbers as texts are sets of many values.
        texts = {"accept_unique": "age", "allow_weaker": True} if i >= 3 else {}
        found = [released(duck, "patients", **texts) for _ in range(2)]
        with sqlanon.connect("duckdb:///:memory:") as anew:
            fill(anew)
            for earlier in changes[:i]:
                anew.engine.execute(earlier)
            assert found == [released(anew, "patients", **texts)] * 2
