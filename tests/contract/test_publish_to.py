"""Releases in another database: what its readers have while versions change, and what arrived is verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines.postgres.engine import PostgresEngine
from sqlanon.errors import (
    DatabaseError,
    PolicyError,
    PrivacyViolation,
)
from sqlanon.release.publish import carry
from sqlanon.release.publish.carry import CarryRoute
from sqlanon.release.publish.send import InDatabase
from tests.contract.elsewhere import PAIRS, add, pair, shown

__all__ = ["pair"]
pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]
EACH = pytest.mark.parametrize("pair", PAIRS, indirect=True)


@EACH
def test_readers_of_the_other_database_have_the_rows(pair):
    spec = pair.spec()
    with sqlanon.connect(pair.source) as db:
        made = db.run(spec)
        assert made.published == f"release.visits and {pair.target}"
        assert pair.there() == shown(db)
        assert sum(pair.there().values()) == 24
        assert db.run(spec).outcome == "unchanged"
        add(db, range(100, 108))
        assert db.run(spec).version == 2
        assert sum(pair.there().values()) == 32
        assert pair.there() == shown(db)
    assert len(pair.tables()) == 3
    with sqlanon.connect(pair.target) as there:
        assert there.query("SELECT count(*) FROM release.visits").rows[0]["count"].estimate == 32
        assert there.audit("release.visits", quasi=["age_lo", "age_hi"], sensitive=["ill"]).k >= 3
        reached = there.audit("release.visits", spec=spec).requirements
        assert {item.name: item.satisfied for item in reached} == {"k": True, "l": True}
        assert [(row.version, row.status, row.rows) for row in there.releases()] == [(2, "received", 32)]


@pytest.mark.thorough
@EACH
def test_rollback_and_unpublish(pair):
    spec = pair.spec()
    with sqlanon.connect(pair.source) as db:
        db.run(spec)
        first = pair.there()
        db.engine.execute("DELETE FROM visits WHERE id < 6")
        db.run(spec)
        assert pair.there() != first
        db.rollback("visits")
        assert pair.there() == shown(db) == first
        db.unpublish("visits")
        assert pair.there() == Counter() == shown(db)
        assert pair.tables() == ["received"]
        assert db.run(spec).outcome == "published"
        assert sum(pair.there().values()) == 18


@pytest.mark.thorough
@EACH
@pytest.mark.parametrize("form", ["labels", "points", "ranges"])
def test_formats_and_versions_of_other_columns(pair, form):
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        db.run(pair.spec(format=form, insensitive="id", identifiers=None, accept_unique="id"), allow_weaker=True)
        assert pair.there() == shown(db)


@pytest.mark.thorough
@pytest.mark.parametrize("pair", ["duckdb-duckdb"], indirect=True)
def test_rows_that_were_removed_there_before_a_withdrawal_ended_are_noticed(pair, monkeypatch):
    """A command was killed after its decision to withdraw: the view is there, and the version is not withdrawn."""
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        with monkeypatch.context() as killed:
            killed.setattr(InDatabase, "take", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                db.unpublish("visits")
        with sqlanon.connect(pair.target) as there:
            (table,) = [name for name in pair.tables() if name.startswith("sent_") and "metadata" not in name]
            there.engine.execute(f"DELETE FROM _sqlanon.{table} WHERE age_lo = 20")
        with pytest.raises(PolicyError, match="or that were changed since"):
            db.unpublish("visits")
        assert [row.status for row in db.releases()] == ["withdrawing"]
        with sqlanon.connect(pair.target) as there:
            there.engine.execute("DROP VIEW release.visits; DROP VIEW release.visits_metadata")
        db.run(pair.spec(), full=True)
        assert pair.there() == shown(db)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _frozen(target: str) -> Any:
    """A lineage of visits."""
    text = f"""
version: 1
releases:
  - name: visits
    source: visits
    publish_to: '{target}'
    key: [id]
    refresh: {{mode: frozen, cohort: {{rows: 12}}}}
    columns: {{id: identifier, age: quasi, ill: sensitive}}
    privacy: {{k: 3, l: 2}}
    method: mondrian
"""
    return policy.loads(text, {}).releases[0]


@pytest.mark.thorough
@pytest.mark.parametrize("pair", ["duckdb-duckdb"], indirect=True)
def test_a_place_that_no_run_refreshes_any_more_is_named(pair, tmp_path):
    """Persons who are erased stay in it, and so does what is unpublished."""
    with sqlanon.connect(pair.source) as db:
        db.run(_frozen(pair.target))
        moved = _frozen(f"duckdb:///{tmp_path}/moved.duckdb")
        db.run(moved, new_lineage=True)
        (warning,) = db.erase(moved, [{"id": 1}]).warnings
        assert (
            warning
            == f"{pair.target} has version 1 of this release, unless that was removed there: drop the view there"
        )
        assert warning in db.erase(moved, [{"id": 1}], confirmed=True).warnings
        assert warning in db.unpublish("visits").warnings


@pytest.mark.thorough
@EACH
def test_a_lineage(pair):
    spec = _frozen(pair.target)
    with sqlanon.connect(pair.source) as db:
        db.run(spec)
        first = pair.there()
        add(db, range(100, 112))
        db.run(spec)
        assert pair.there() == shown(db)
        assert first <= pair.there()
        assert sum(pair.there().values()) == 36


def test_nothing_private_is_sent(pair):
    """Neither identifiers nor secrets, links or the policy: the tables of rows and metadata, and that of versions."""
    with sqlanon.connect(pair.source) as db:
        db.engine.execute("ALTER TABLE visits ADD COLUMN name text")
        db.engine.execute("UPDATE visits SET name = 'canary ' || id")
        db.run(pair.spec(identifiers=["id", "name"]))
        secrets = [str(secret) for (secret,) in db.engine.fetch("SELECT secret FROM _sqlanon.secrets")]
    assert secrets
    with sqlanon.connect(pair.target) as there:
        tables = there.engine.fetch(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        )
        assert len(tables) == 5
        texts = str([there.engine.fetch(f'SELECT * FROM "{schema}"."{name}"') for schema, name in tables])
    assert "canary" not in texts
    assert not any(secret in texts for secret in secrets)


def test_passwords_are_nowhere(pair, monkeypatch):
    """A variable is read when a run connects; catalog, reports and errors have its name."""
    monkeypatch.setenv("SQLANON_TARGET", pair.target)
    monkeypatch.setenv("SQLANON_PW", "canary-4711")
    with sqlanon.connect(pair.source) as db:
        assert db.run(pair.spec(publish_to="${SQLANON_TARGET}")).published == "release.visits and ${SQLANON_TARGET}"
        assert pair.there() == shown(db)
        parts = urlsplit(pair.target)
        user = f"postgresql://{parts.username or 'postgres'}:${{SQLANON_PW}}@{parts.netloc.rpartition('@')[2]}"
        db.run(pair.spec(publish_to=f"{user}{parts.path}?{parts.query}"), full=True)
        with pytest.raises(DatabaseError) as refused:
            db.run(pair.spec(publish_to="postgresql://u:${SQLANON_PW}@127.0.0.1:1/db"))
        catalog = str(db.engine.fetch("SELECT * FROM _sqlanon.catalog"))
    assert "canary-4711" not in catalog + str(refused.value)


def test_readers_are_those_of_the_other_database(pair, tmp_path):
    """Also where a run publishes nothing, or a version of other columns, or one was elsewhere meanwhile.

    Nobody is let into the private schema.
    """
    names = [f"reader_{pair.target.rpartition('/t_')[2][:12]}_{i}" for i in range(2)]
    with sqlanon.connect(pair.target) as there:
        for name in names:
            there.engine.execute(f"CREATE ROLE {name}")
        try:
            with sqlanon.connect(pair.source) as db:
                for readers in ([], names[:1], names[1:]):
                    report = db.run(pair.spec(readers=readers))
                    assert not any("has no role" in warning for warning in report.warnings)
                    assert [_reads(there, name) for name in names] == [name in readers for name in names]
                db.run(pair.spec(readers=names[:1], format="labels"))
                assert [_reads(there, name) for name in names] == [True, False]
                db.run(pair.spec(readers=names[1:], publish_to=f"duckdb:///{tmp_path}/meanwhile.duckdb"))
                db.run(pair.spec(readers=names[1:]))
                assert [_reads(there, name) for name in names] == [False, True]
        finally:
            for name in names:
                there.engine.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def _reads(there: Any, role: str) -> bool:
    rights = there.engine.rights
    views = [there.engine.target(name) for name in ("release.visits", "release.visits_metadata")]
    assert not rights.can_use(role, "_sqlanon")
    may = {rights.can_select(role, view) for view in views}
    assert len(may) == 1
    return may.pop()


# --- what arrived is verified


@pytest.mark.parametrize("pair", ["duckdb-postgres", "postgres-duckdb"], indirect=True)
@pytest.mark.parametrize("change", ["a row less", "another value"])
def test_what_arrived_is_compared(pair, change, monkeypatch):
    plain = CarryRoute.carry
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        before = pair.there()

        def spoil(road: Any, *asked: Any) -> Any:
            stream = road.source.transfer.stream_rows

            def spoiled(*statement: Any) -> Iterable[Any]:
                for first, *lines in stream(*statement):
                    other = first.rpartition("\t")[0] + "\td9"
                    yield lines if change == "a row less" else [other, *lines]

            monkeypatch.setattr(type(road.source), "stream_rows", lambda _, *statement: spoiled(*statement))
            try:
                return plain(road, *asked)
            finally:
                monkeypatch.undo()

        monkeypatch.setattr(CarryRoute, "carry", spoil)
        with pytest.raises(PrivacyViolation, match="differ from what was verified"):
            db.run(pair.spec(), full=True)
        assert pair.there() == before == shown(db)
        assert len(pair.tables()) == 3


def test_requirements_are_measured_there(pair, monkeypatch):
    """A comparison that lets everything pass does not let through what breaks a promise."""
    with sqlanon.connect(pair.source) as db:
        db.run(pair.spec())
        before = pair.there()
        monkeypatch.setattr(carry, "verify_equal", lambda *_: (24, ""))
        monkeypatch.setattr(
            PostgresEngine,
            "load_texts",
            lambda self, table, columns, blocks, plain=PostgresEngine.load_texts: plain(
                self, table, columns, [[line for block in blocks for line in block][:-1]]
            ),
        )
        with pytest.raises(PrivacyViolation, match="in the other place: asked"):
            db.run(pair.spec(k=24, l=1), full=True, allow_weaker=True)
        assert pair.there() == before


def test_a_reader_of_a_policy_sees_where_it_goes(pair):
    with sqlanon.connect(pair.source) as db:
        plan = db.plan(pair.spec())
        assert f"release.visits and {pair.target}" in str(plan.to_dict())
        assert pair.tables() == []
