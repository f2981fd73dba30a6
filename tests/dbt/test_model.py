"""`sqlanon.dbt.release` in a DuckDB that is open for writing, as in dbt's Python models.

The example runs it in dbt itself.
"""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections import Counter

import duckdb
import pytest

import sqlanon
from sqlanon.errors import GuardError, InfeasibleError, PolicyError, SqlanonError

CANARY = "kanarienvogel"
GIVEN = {"quasi": ["age", "zip"], "sensitive": "disease", "identifiers": "id", "k": 5, "l": 2}


class Wrapped:
    """A session as dbt-duckdb hands it out: attributes forwarded, ``execute`` its own."""

    def __init__(self, cursor):
        self._cursor = cursor

    def __getattr__(self, name):
        return getattr(self._cursor, name)

    def execute(self, sql, bindings=None):
        return self._cursor.execute(sql) if bindings is None else self._cursor.execute(sql, bindings)


@pytest.fixture(params=["file", "memory"])
def session(request, tmp_path):
    """One cursor of a DuckDB with people in it."""
    with duckdb.connect(str(tmp_path / "host.duckdb") if request.param == "file" else ":memory:") as host:
        host.execute(
            f"CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 41 AS age, '{CANARY}' || i % 5 AS zip, "
            "['flu', 'asthma', 'ulcer'][1 + i % 3] AS disease FROM range(60) AS r(i)"
        )
        yield Wrapped(host.cursor())


def judged(rows, width):
    classes = {}
    for row in rows:
        classes.setdefault(str(row[:width]), []).append(row[-1])
    assert min(map(len, classes.values())) >= 5
    assert all(2 * max(Counter(values).values()) <= len(values) for values in classes.values())


def databases(session):
    return {name for (name,) in session.execute("SELECT database_name FROM duckdb_databases()").fetchall()}


def test_a_relation_becomes_a_relation_that_dbt_can_write(session):
    before = databases(session)
    tables = session.execute("SELECT count(*) FROM duckdb_tables() WHERE NOT temporary").fetchall()[0]
    released = sqlanon.dbt.release(session.query("SELECT * FROM people"), session, **GIVEN)
    assert isinstance(released, duckdb.DuckDBPyRelation)
    session.register("df", released)  # as dbt-duckdb writes what a model returned
    session.execute("CREATE TABLE released AS SELECT * FROM df")
    session.unregister("df")
    columns = [name for name, *_ in session.execute("DESCRIBE released").fetchall()]
    assert columns == ["age_lo", "age_hi", "zip", "disease"]
    rows = session.execute("SELECT * FROM released").fetchall()
    assert len(rows) == 60
    judged(rows, 3)
    assert databases(session) == before
    assert session.execute("SELECT count(*) FROM duckdb_tables() WHERE NOT temporary").fetchall() == [(tables[0] + 1,)]
    assert session.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE '%sqlanon%'").fetchall() == [
        (0,)
    ]


def test_filtered_relations_and_two_releases_in_one_session(session):
    people = session.query("SELECT * FROM people")
    first = sqlanon.dbt.release(people.filter("id < 30"), session, **GIVEN)
    second = sqlanon.dbt.release(people, session, format="points", **GIVEN)
    assert (len(first), len(second)) == (30, 60)
    assert second.columns == ["age", "zip", "disease"]
    judged(second.fetchall(), 2)


def test_nothing_of_the_source_is_left_in_the_session(session):
    sqlanon.dbt.release(session.query("SELECT * FROM people"), session, **GIVEN)
    left = session.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'temp'"
    ).fetchall()
    assert {column for _, column in left} == {"age_lo", "age_hi", "zip", "disease"}
    assert session.execute("SELECT count(*) FROM duckdb_views() WHERE view_name LIKE '_sqlanon%'").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"k": 61}, InfeasibleError, "the largest feasible value is 60"),
        ({"quasi": ["age"]}, PolicyError, "zip"),
        ({"quasi": ["age", "zap"]}, PolicyError, "zap"),
        ({"publish": "release.x"}, PolicyError, "publish: dbt publishes the model; leave it out"),
        ({"source": "people"}, PolicyError, "the relation is the source"),
        ({"every": "24h"}, PolicyError, "m: every: a model of dbt has no versions"),
        ({"sensitve": "disease"}, PolicyError, "m: no argument sensitve; the arguments are: quasi, sensitive"),
        ({"format": "anatomy", "k": 1}, PolicyError, "a model is one; use sqlanon dbt run"),
        ({"identifiers": "zip", "quasi": ["age"], "insensitive": "id"}, GuardError, "zip repeats"),
    ],
)
def test_what_cannot_be_released_fails_the_model_and_leaves_nothing(session, change, error, words):
    before = databases(session)
    with pytest.raises(error, match=words):
        sqlanon.dbt.release(session.query("SELECT * FROM people"), session, name="m", **{**GIVEN, **change})
    assert databases(session) == before
    assert session.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


def test_what_dbt_prints_of_a_failure_quotes_no_value(session):
    """dbt prints the traceback of a model that failed, with every cause."""
    broken = session.query("SELECT id, CAST(zip AS INTEGER) AS age, zip, disease FROM people")
    with pytest.raises(SqlanonError) as caught:
        sqlanon.dbt.release(broken, session, **GIVEN)
    reported = "".join(traceback.format_exception(caught.value))
    assert "could not read the relation: a value cannot be converted" in reported
    assert CANARY not in reported
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_what_is_no_session_or_relation_is_said_plainly(session):
    with pytest.raises(SqlanonError, match="no DuckDB session"):
        sqlanon.dbt.release(session.query("SELECT * FROM people"), object(), **GIVEN)
    with pytest.raises(SqlanonError, match="could not read the relation"):
        sqlanon.dbt.release(object(), session, **GIVEN)


@pytest.mark.thorough
def test_neither_room_imports_dbt():
    script = "import sys, sqlanon; sqlanon.dbt.release; print(any(m.split('.')[0] == 'dbt' for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
