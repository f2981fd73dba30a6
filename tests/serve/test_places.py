"""Places that a server does not serve, and rights that end answers."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

import sqlanon
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from sqlanon.serve.client_tables import Reader
from tests.serve.conftest import FILE, Place, serving


def test_a_reader_who_may_read_more_is_refused(place: Place) -> None:
    run = place.owner.engine.execute
    role = place.reader.role
    run(f"GRANT SELECT (age) ON {place.source} TO {role}")
    try:
        with pytest.raises(PolicyError, match="the source of"), serving(place):
            pass
        owner = Place(place.url, place.source, Reader(role, owner=True), place.owner, place.again)
        with serving(owner) as running, running.connect() as connection:
            assert connection.execute(f"SELECT count(*) FROM {place.source}").fetchone() == (60.0,)
    finally:
        run(f"REVOKE SELECT (age) ON {place.source} FROM {role}")
    run(f"GRANT USAGE ON SCHEMA _sqlanon TO {role}")
    try:
        with pytest.raises((PolicyError, DatabaseError), match=r"private schema|_sqlanon"), serving(place):
            pass
    finally:
        run(f"REVOKE USAGE ON SCHEMA _sqlanon FROM {role}")
    for name, kind in ((None, PolicyError), ("nosuch", DatabaseError), ("postgres", PolicyError)):
        reader = Reader(name)
        other = Place(place.url, place.source, reader, place.owner, place.again)
        with pytest.raises(kind), serving(other):
            pass


def test_a_right_on_the_source_that_comes_later_ends_the_answers(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    run = place.owner.engine.execute
    role = place.reader.role
    with serving(place) as running, running.connect() as connection:
        assert connection.execute(f"SELECT count(*) FROM {place.source}").fetchone() == (60.0,)
        run(f"GRANT SELECT ON {place.source} TO {role}")
        try:
            running.server._shared.asking._listed_at = -1e9  # as seconds later
            with caplog.at_level("WARNING"), pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
                connection.execute(f"SELECT count(*) FROM {place.source}")
            said = f"{caught.value} {caught.value.diag.message_hint}"  # for clients
            assert "rights have changed" in said
            assert str(role) not in said
            assert place.source not in said
            assert f"role {role} may read" in caplog.text  # for whoever runs the server
        finally:
            run(f"REVOKE SELECT ON {place.source} FROM {role}")
        running.server._shared.asking._listed_at = -1e9
        assert connection.execute(f"SELECT count(*) FROM {place.source}").fetchone() == (60.0,)


@pytest.mark.thorough
def test_a_source_that_is_named_like_the_catalog_is_asked_with_its_schema(tmp_path: Path) -> None:
    url = FILE.fresh(tmp_path)
    with sqlanon.connect(url) as db:
        db.engine.execute("CREATE TABLE pg_class AS SELECT i // 5 AS age, 'flu' AS ill FROM range(20) AS r(i)")
        db.anonymize("pg_class", quasi="age", sensitive="ill", k=5, publish="release.pg_class")
    owned = Place(url, "pg_class", Reader(None, owner=True), None, lambda: None)
    with serving(owned) as running, running.connect() as connection:
        asked = "SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = 'main'"
        schema, name = connection.execute("SELECT schemaname, tablename FROM pg_tables").fetchone() or ("", "")
        assert connection.execute(asked.replace("main", schema).encode()).fetchall() == [(name,)] == [("pg_class",)]
        assert connection.execute(f"SELECT count(*) FROM {schema}.pg_class".encode()).fetchone() == (20.0,)
        assert connection.execute("SELECT count(*) FROM release.pg_class").fetchone() == (20.0,)


def test_a_duckdb_file_with_its_sources_is_refused(file_place: Place, tmp_path: Path) -> None:
    named = Place(file_place.url, file_place.source, Reader("ann"), None, lambda: None)
    with pytest.raises(UnsupportedError, match="no roles"), serving(named):
        pass
    url = FILE.fresh(tmp_path)
    with sqlanon.connect(url) as db:
        db.engine.execute("CREATE TABLE t AS SELECT i // 5 AS age, 'flu' AS ill FROM range(20) AS r(i)")
        db.anonymize("t", quasi="age", sensitive="ill", k=5)
    with pytest.raises(PolicyError, match="--owner"), serving(Place(url, "t", Reader(None), None, lambda: None)):
        pass
    owned = Place(url, "t", Reader(None, owner=True), None, lambda: None)
    with serving(owned) as running, running.connect() as connection:
        assert connection.execute("SELECT count(*) FROM main.t").fetchone() == (20.0,)
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT count(*) FROM _sqlanon.catalog")
