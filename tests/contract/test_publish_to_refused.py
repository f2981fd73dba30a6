"""Releases in another database: what is refused, before and after something was sent."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import (
    DatabaseError,
    DependentsError,
    LockedError,
    PolicyError,
    UnsupportedError,
)
from tests.contract.elsewhere import PAIRS, Pair, pair, shown

__all__ = ["pair"]
pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]
EACH = pytest.mark.parametrize("pair", PAIRS, indirect=True)


@EACH
def test_rows_that_are_not_ours_are_not_replaced(pair):
    spec = pair.spec()
    with sqlanon.connect(pair.source) as db:
        with sqlanon.connect(pair.target) if not pair.of_file else sqlanon.connect(_made(pair)) as there:
            there.engine.execute("CREATE SCHEMA release")
            there.engine.execute("CREATE TABLE release.visits (a integer)")
        with pytest.raises(PolicyError, match="has rows that this release did not send"):
            db.run(spec)
        assert not db.releases()
        with sqlanon.connect(pair.target) as there:
            there.engine.execute("DROP TABLE release.visits")
        db.run(spec)
        before = pair.there()
        with sqlanon.connect(pair.target) as there:
            token = there.engine.fetch("SELECT token FROM _sqlanon.received")[0][0]
            there.engine.execute(f"INSERT INTO _sqlanon.sent_{token} SELECT * FROM _sqlanon.sent_{token} LIMIT 1")
        for act in (lambda: db.run(spec, full=True), lambda: db.unpublish("visits")):
            with pytest.raises(PolicyError, match="changed since"):
                act()
        assert sum((pair.there() - before).values()) == 1


def _made(pair: Pair) -> str:
    import duckdb

    duckdb.connect(pair.target.removeprefix("duckdb:///")).close()
    return pair.target


@pytest.mark.parametrize("pair", ["duckdb-postgres", "postgres-duckdb"], indirect=True)
def test_a_view_that_was_made_anew_is_not_replaced(pair):
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        with sqlanon.connect(pair.target) as there:
            names = [column.name for column in there.engine.relation("release.visits").columns]
            token = there.engine.fetch("SELECT token FROM _sqlanon.received")[0][0]
            own = f"SELECT {', '.join(names)} FROM _sqlanon.sent_{token} WHERE age_lo > 0"
            there.engine.execute(f"CREATE OR REPLACE VIEW release.visits AS {own}")
        with pytest.raises(PolicyError, match="made anew by somebody else"):
            db.run(pair.spec(), full=True)
        assert [row.version for row in db.releases() if row.status == "published"] == [1]


def test_a_release_of_another_database_is_not_replaced(pair, tmp_path):
    other = Pair("duckdb-postgres", tmp_path)
    with sqlanon.connect(pair.source) as db, sqlanon.connect(other.source) as second:
        db.run(pair.spec())
        with pytest.raises(PolicyError, match="did not send"):
            second.run(other.spec(publish_to=pair.target))
    other.drop()


@EACH
def test_values_that_were_changed_there_are_noticed(pair):
    spec = pair.spec()
    with sqlanon.connect(pair.source) as db:
        db.run(spec)
        assert db.audit("release.visits", spec=spec).satisfied
        token = _token(pair)
        for table, change in {token: "ill = 'd9' WHERE ill = 'd1'", f"{token}_metadata": "role = 'x'"}.items():
            with sqlanon.connect(pair.target) as there:
                there.engine.execute(f"CREATE TABLE _sqlanon.spare AS SELECT * FROM _sqlanon.sent_{table}")
                there.engine.execute(f"UPDATE _sqlanon.sent_{table} SET {change}")
            for act in (lambda: db.run(spec), lambda: db.plan(spec), lambda: db.unpublish("visits")):
                with pytest.raises(PolicyError, match="changed since"):
                    act()
            audited = db.audit("release.visits", spec=spec)
            assert not audited.satisfied
            assert "version 1 in" in str(audited.not_measured)
            with sqlanon.connect(pair.target) as there:
                there.engine.execute(f"DELETE FROM _sqlanon.sent_{table}")
                there.engine.execute(f"INSERT INTO _sqlanon.sent_{table} SELECT * FROM _sqlanon.spare")
                there.engine.execute("DROP TABLE _sqlanon.spare")
        assert db.run(spec).outcome == "unchanged"


def _token(pair: Pair) -> str:
    with sqlanon.connect(pair.target) as there:
        return str(there.engine.fetch("SELECT token FROM _sqlanon.received")[0][0])


@EACH
def test_another_session_publishes_there(pair):
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        with (
            sqlanon.connect(pair.target) as there,
            there.engine.lock("release in release.visits"),
            pytest.raises(LockedError, match="try again"),
        ):
            db.run(pair.spec(), full=True)
        assert {row.version: row.status for row in db.releases()}[1] == "published"
        assert pair.there() == shown(db)
        assert db.run(pair.spec(), full=True).outcome == "published"


def test_the_database_of_the_source_is_refused(tmp_path):
    for kinds in ("duckdb-duckdb", "postgres-postgres"):
        made = Pair(kinds, tmp_path)
        own = pytest.raises(PolicyError, match="names the database of the source itself")
        with sqlanon.connect(made.source) as db, own:
            db.run(made.spec(publish_to=made.source))
        made.drop()


@pytest.mark.parametrize(
    ("kinds", "kind", "text"),
    [
        ("duckdb-postgres", "INTERVAL", r"at \(INTERVAL\): CAST\(\"at\" AS TEXT\)"),
        ("duckdb-postgres", "TIMESTAMP_NS", r"at \(TIMESTAMP_NS\): CAST\(\"at\" AS TIMESTAMP\)"),
        ("postgres-duckdb", "numeric", r"at \(numeric\): CAST\(\"at\" AS DECIMAL\(38, 9\)\)"),
        ("postgres-duckdb", "jsonb", r"at \(jsonb\): CAST\(\"at\" AS TEXT\)"),
    ],
)
def test_types_that_would_lose_something(kinds, kind, text, tmp_path):
    made = Pair(kinds, tmp_path)
    with sqlanon.connect(made.source) as db:
        db.engine.execute(f'ALTER TABLE visits ADD COLUMN "at" {kind}')
        with pytest.raises(PolicyError, match=text):
            db.run(made.spec(insensitive="at"))
        assert not [row for row in db.releases() if row.status == "published"]
    if not made.of_file:
        assert made.tables() == []
    made.drop()


@pytest.mark.parametrize(("kinds", "value"), [("postgres-postgres", "[0:1]={1,2}"), ("postgres-duckdb", "{{1},{2}}")])
def test_arrays_that_are_no_lists(kinds, value, tmp_path):
    made = Pair(kinds, tmp_path)
    with sqlanon.connect(made.source) as db:
        flat = 'CASE WHEN "at" IS NOT NULL THEN ARRAY(SELECT UNNEST("at")) END'
        db.engine.execute('ALTER TABLE visits ADD COLUMN "at" integer[]')
        db.engine.execute(f"UPDATE visits SET \"at\" = '{value}' WHERE age < 24")
        db.engine.execute("UPDATE visits SET \"at\" = '{}' WHERE age = 24")
        with pytest.raises(PolicyError, match=rf"at \(arrays of several dim.*\): {re.escape(flat)}"):
            db.run(made.spec(insensitive="at"))
        assert not [row for row in db.releases() if row.status == "published"]
        db.engine.execute(f'CREATE VIEW flat AS SELECT id, age, ill, {flat} AS "at" FROM visits')
        db.run(made.spec(source="flat", insensitive="at"))
        assert made.there() == shown(db)
    made.drop()


@pytest.mark.parametrize(
    ("more", "error", "text"),
    [
        ({"publish_to": "mysql://host/db"}, PolicyError, "not the URL of a database"),
        ({"publish_to": "duckdb:///:memory:"}, PolicyError, "not the URL of a database"),
        ({"publish_to": "postgresql://a:secret@host/db"}, PolicyError, "a password in the URL"),
        ({"publish_to": "postgresql://host/db?password=secret"}, PolicyError, "a password in the URL"),
        ({"publish_to": "postgresql://a:sec#ret@host/db"}, PolicyError, "a password in the URL"),
        ({"publish_to": "postgresql://host/db?application_name=a#b&password=x"}, PolicyError, "a password in the URL"),
        ({"publish_to": "${SQLANON_NOT_SET}"}, PolicyError, "the environment variable SQLANON_NOT_SET is not set"),
        ({"publish_file": "a.duckdb"}, PolicyError, "a release goes to one"),
        ({"publish": "delta:a"}, PolicyError, "a release goes to one"),
        ({"format": "anatomy", "method": "anatomy", "k": 1}, UnsupportedError, "not with format anatomy"),
        ({"publish_to": "postgresql://127.0.0.1:1/db"}, DatabaseError, "publish_to: cannot connect to PostgreSQL"),
    ],
)
def test_what_is_refused(pair, more, error, text):
    with sqlanon.connect(pair.source) as db:
        with pytest.raises(error) as refused:
            db.run(pair.spec(**more))
        assert text in str(refused.value)
        assert "secret" not in str(refused.value)
        assert not db.releases()


def test_a_role_without_rights(pair):
    role = f"weak_{pair.target.rpartition('/t_')[2][:12]}"
    parts = urlsplit(pair.target)
    url = urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))
    with sqlanon.connect(pair.target) as there:
        there.engine.execute(f"CREATE ROLE {role} LOGIN")
        try:
            with (
                sqlanon.connect(pair.source) as db,
                pytest.raises(DatabaseError, match=r"lacks a right|refuses this user"),
            ):
                db.run(pair.spec(publish_to=url))
        finally:
            there.engine.execute(f"DROP ROLE {role}")
    assert pair.tables() == []


def test_objects_that_depend_on_the_view(pair):
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        with sqlanon.connect(pair.target) as there:
            there.engine.execute("CREATE VIEW public.mine AS SELECT * FROM release.visits")
        with pytest.raises(DependentsError, match="mine"):
            db.unpublish("visits")
        with pytest.raises(DependentsError, match="mine"):
            db.run(pair.spec(format="labels"))
        assert pair.there() == shown(db)
        assert [row.version for row in db.releases() if row.status == "published"] == [1]


def test_tables_that_are_published_together_are_refused():
    text = """
version: 1
releases:
  - name: clinic
    publish_to: duckdb:///a.duckdb
    tables:
      - {source: a, columns: {p: pseudonym, q: quasi}}
      - {source: b, columns: {p: pseudonym, q: quasi}}
    privacy: {k: 3}
    person: p
"""
    with pytest.raises(PolicyError, match="publish_to: the tables are published in one transaction"):
        policy.loads(text, {})
