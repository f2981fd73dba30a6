"""An analyst who wants more than releases: no text, value or name gives a source row, a file or another role's data."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sqlanon.serve.catalog.database import CatalogDatabase
from sqlanon.serve.refusals import ServeError
from tests.safety.test_query_as_role import FUNCTIONS, PLACES, TEXTS
from tests.serve.conftest import FILE, SERVER, Running, make_place, serving, turn

CANARY = "sesame"
"""A part of every value that nobody may read."""

CATALOG = [
    "SELECT * FROM read_text('{f}')",
    "SELECT read_text('{f}')",
    "SELECT * FROM read_csv('{f}')",
    "SELECT * FROM read_csv_auto('{f}')",
    "SELECT * FROM read_blob('{f}')",
    "SELECT * FROM '{f}'",
    'SELECT * FROM "{f}"',
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sniff_csv('{f}')",
    "SELECT * FROM parquet_scan('{f}')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('{t}')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM pragma_database_list()",
    "SELECT * FROM pg_catalog.read_text('{f}')",
    "SELECT * FROM information_schema.read_text('{f}')",
    "SELECT pg_catalog.getenv('SQLANON_SERVE_USERS')",
    "SELECT getenv('SQLANON_SERVE_USERS')",
    "SELECT current_setting('data_directory')",
    "SELECT pg_read_file('{f}')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_import('{f}')",
    "SELECT dblink('x', 'y')",
    "SELECT * FROM pg_catalog.pg_authid",
    "SELECT * FROM pg_catalog.pg_shadow",
    "SELECT * FROM pg_user_mappings",
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_stats",
    "SELECT most_common_vals FROM pg_catalog.pg_statistic",
    "SELECT * FROM _sqlanon.catalog",
    "SELECT * FROM {h}",
    "SELECT * FROM public.{h}",
    "SELECT * FROM memory.pgc.pg_class",
    "SELECT * FROM pgc.pg_class",
    "SELECT fn.to_regclass('x')",
    "SELECT main.read_text('{f}')",
    "SELECT '{h}'::regclass",
    "SELECT '_sqlanon.catalog'::regclass::oid",
    "SELECT COLUMNS('.*') FROM pg_class",
    "SELECT * FROM pg_class, read_text('{f}')",
    "SELECT (SELECT content FROM read_text('{f}'))",
    "WITH x AS (SELECT * FROM read_text('{f}')) SELECT * FROM x",
    "WITH pg_class AS (SELECT * FROM {h}) SELECT * FROM pg_class",
    "SELECT * FROM pg_class UNION ALL SELECT * FROM {h}",
    "SELECT * FROM pg_class WHERE EXISTS (SELECT 1 FROM {h})",
    "SELECT * FROM pg_class ORDER BY (SELECT max(secret) FROM {h})",
    "SELECT array(SELECT secret FROM {h})",
    "SELECT query_to_xml('SELECT 1', true, true, '')",
    "SELECT * FROM LATERAL (SELECT * FROM {h}) AS x",
    "SELECT * FROM users",
    "SELECT * FROM catalog",
    "SELECT * FROM self",
    "SELECT list_transform([1], x -> x)",
    "SELECT nextval('s')",
    "SELECT set_config('sqlanon.bounds', 'on', false)",
    "SELECT pg_sleep(60)",
    "ATTACH '{f}'",
    "INSTALL httpfs",
    "LOAD '{f}'",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "COPY (SELECT 1) TO '{f}'",
    "COPY pg_class FROM '{f}'",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "SUMMARIZE pg_class",
    "DESCRIBE pg_class",
    "SHOW TABLES",
    "USE memory",
    "CREATE TABLE pg_class (a int)",
    "CREATE MACRO f() AS 1",
    "SELECT 1 INTO x",
    "SELECT * FROM pg_class FOR UPDATE",
    "WITH x AS (DELETE FROM pg_class RETURNING 1) SELECT 1",
    "FROM pg_class",
    "LISTEN x",
    "DECLARE c CURSOR FOR SELECT 1",
    "PREPARE s AS SELECT 1",
    "EXECUTE s",
    "LOCK TABLE pg_class",
    "VACUUM",
    "SET search_path = _sqlanon",
    "SET role = postgres",
    "SET SESSION AUTHORIZATION DEFAULT",
    "RESET SESSION AUTHORIZATION",
]


@pytest.fixture(
    scope="module", params=[SERVER, pytest.param(FILE, marks=pytest.mark.thorough)], ids=["postgres", "file"]
)
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server, another role's table and view in its database, and a file with a secret."""
    folder = tmp_path_factory.mktemp("attacked")
    secret = folder / "secret.csv"
    secret.write_text(f"{CANARY} of a file\n")
    with ExitStack() as stack:
        place = make_place(request.param, folder, stack)
        hidden = f"hidden_{uuid.uuid4().hex[:6]}"
        run = place.owner.engine.execute
        run(f"CREATE TABLE {hidden} (secret VARCHAR)")
        run(f"INSERT INTO {hidden} VALUES ('{CANARY} of another role')")
        schema = f"s{uuid.uuid4().hex[:6]}"
        if request.param is SERVER:
            run(f"CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO {place.reader.role}")
            run(
                f"CREATE FUNCTION {schema}.leak() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT max(note) FROM "
                f"public.{place.source}'"
            )
            stack.callback(run, f"DROP SCHEMA {schema} CASCADE")
        running = stack.enter_context(serving(place, seconds=5.0))
        names = {"t": place.source, "h": hidden, "s": schema, "f": str(secret), "r": place.reader.role or "ann"}
        yield running, names


def shown(running: Running, sql: str) -> str:
    """All that a client gets for a text, by each protocol: rows, columns, notices or the error."""
    found = []
    with running.connect(options="-c sqlanon.bounds=on") as connection:
        connection.add_notice_handler(lambda notice: found.append(str(notice.message_primary)))
        for binary, parameters in ((False, None), (True, None), (False, [])):
            try:
                cursor = connection.cursor(binary=binary)
                cursor.execute(sql.encode(), parameters, prepare=binary)
                while True:
                    found.append(str(cursor.description))
                    found.append(str(cursor.fetchall()) if cursor.description else "")
                    if not cursor.nextset():
                        break
            except psycopg.Error as error:
                diag = error.diag
                found.append(f"{error} {diag.message_hint} {diag.message_detail} {diag.context}")
        assert connection.execute("SELECT 1").fetchone() == (1,) if not connection.closed else True
    return " ".join(found)


def test_no_question_to_the_catalog_reads_anything_else(attacked: Any) -> None:
    running, names = attacked
    for text in CATALOG:
        got = shown(running, text.format(**names))
        assert CANARY not in got, text
        assert "other word" not in got, text
        assert names["s"] not in got.replace(text.format(**names), ""), text
        # What an error quotes of the text apart, nothing of the database is named.
        assert f"'{names['h']}'" not in got, text
    with running.connect() as connection:
        for relation in ("pg_class", "information_schema.tables", "pg_tables"):
            rows = str(connection.execute(f"SELECT * FROM {relation}").fetchall())
            assert names["t"] in rows
            assert names["h"] not in rows
            assert "_sqlanon" not in rows
        assert "note" not in str(connection.execute("SELECT * FROM pg_attribute").fetchall())


def attempts(names: dict[str, str]) -> list[str]:
    texts = [text.format(**names) for text in TEXTS]
    for number, function in enumerate(FUNCTIONS):
        texts.append(PLACES[number % len(PLACES)].format(t=names["t"], f=function.format(**names)))
    return texts


@pytest.mark.thorough
def test_no_question_to_a_release_reads_anything_else(attacked: Any) -> None:
    running, names = attacked
    for text in attempts(names):
        assert CANARY not in shown(running, text), text


def test_some_questions_to_a_release_read_nothing_else(attacked: Any) -> None:
    running, names = attacked
    for text in attempts(names)[::20]:
        assert CANARY not in shown(running, text), text
    with running.connect() as connection:
        for column in ("note", "age_lo", "ctid", "xmin"):
            with pytest.raises(psycopg.Error, match="no column"):
                connection.execute(f"SELECT max({column}) FROM {names['t']}")


def test_releases_are_not_mixed_with_other_tables(attacked: Any) -> None:
    running, names = attacked
    for text in (
        "SELECT count(*) FROM {t} UNION ALL SELECT count(*) FROM {h}",
        "SELECT ill FROM {t} UNION SELECT secret FROM {h}",
        "SELECT ill FROM {t} UNION (SELECT secret FROM {h})",
        "WITH {h} AS (SELECT 1) SELECT ill FROM {t} UNION SELECT secret FROM public.{h}",
        "SELECT ill FROM {t} UNION SELECT relname FROM pg_class",
        "SELECT sum(n) FROM (SELECT count(*) AS n FROM {t} GROUP BY ill LIMIT 2) AS s, {h}",
        "SELECT sum(n) FROM (SELECT count(*) AS n FROM {h} GROUP BY secret LIMIT 2) AS s",
        "SELECT count(*) FROM {t} JOIN {h} ON {h}.secret = {t}.ill",
        "SELECT count(*) FROM {t} WHERE ill IN (SELECT secret FROM {h})",
        "SELECT count(*), (SELECT max(secret) FROM {h}) FROM {t}",
        "WITH {t} AS (SELECT secret AS ill FROM {h}) SELECT ill, count(*) FROM {t} GROUP BY ill",
        "WITH x AS (SELECT * FROM {h}) SELECT count(*) FROM x, {t}",
        "SELECT count(*) FROM {t}, pg_class",
        "SELECT count(*) FROM {t} AS a JOIN pg_catalog.pg_class AS b ON a.ill = b.relname",
        "SELECT count(*) FROM {t} JOIN _sqlanon.catalog AS c ON c.release = ill",
    ):
        got = shown(running, text.format(**names))
        assert CANARY not in got
        assert got.count("ERROR") + got.count("LINE 1") + got.count("HINT") or "error" in got.lower() or "None" in got
        assert "[(" not in got, text


def test_errors_do_not_show_which_tables_there_are(attacked: Any) -> None:
    running, names = attacked
    with running.connect() as connection:
        for text in (
            "SELECT count(*) FROM {t} JOIN {h} ON ill = {h}.secret",
            "SELECT count(*) FROM {t} LEFT JOIN public.{h} AS x ON ill = x.secret",
            "SELECT count(*) FROM {t} JOIN _sqlanon.{h} AS x ON ill = x.secret",
            "SELECT ill FROM {t} UNION SELECT secret FROM {h}",
            "SELECT count(*) FROM {t} WHERE ill IN (SELECT secret FROM {h})",
        ):
            said = []
            for table in (names["h"], "x" * len(names["h"])):
                with pytest.raises(psycopg.Error) as refused:
                    connection.execute(text.format(t=names["t"], h=table))
                diag = refused.value.diag
                said.append(f"{diag.sqlstate} {diag.message_primary} {diag.message_hint}".replace(table, "?"))
            assert said[0] == said[1]


def test_values_and_names_are_no_sql(attacked: Any) -> None:
    running, names = attacked
    evil = [
        "'; DROP TABLE x; --",
        "' UNION SELECT secret FROM {h} --",
        "\\'; --",
        "$$",
        '"; --',
        "{h}",
        "%s",
        "$1",
        "/*",
        "\u2019",
    ]
    with running.connect() as connection:
        for text in (one.format(**names) for one in evil):
            for binary in (False, True):
                cursor = connection.cursor(binary=binary)
                cursor.execute(f"SELECT count(*) FROM {names['t']} WHERE ill = %s", [text])
                assert cursor.fetchall() == [(0.0,)]
            assert connection.execute("SELECT %s::text", [text]).fetchone() == (text,)
            assert connection.execute("SELECT count(*) FROM pg_class WHERE relname = %s", [text]).fetchone() == (0,)
            with pytest.raises(psycopg.Error):
                psycopg.connect(running.url(), user=text, password="x", autocommit=True)
            with psycopg.connect(running.url(), application_name=text, dbname="any" + text) as named:
                assert named.execute("SHOW application_name").fetchone() == (text,)
                assert named.execute("SELECT current_database()").fetchone() == ("sqlanon",)


def test_the_catalog_is_locked_whatever_reaches_it(tmp_path: Path) -> None:
    """Without the rewriting before it."""
    secret = tmp_path / "secret.csv"
    secret.write_text(CANARY)
    catalog = CatalogDatabase([])
    try:
        for text in (
            f"SELECT * FROM read_text('{secret}')",
            f"SELECT * FROM '{secret}'",
            "SELECT * FROM connection",
            "SELECT getenv('SQLANON_SERVE_USERS')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'x.duckdb'}'",
            "SET enable_external_access = true",
            "SET memory_limit = '8GB'",
            "INSTALL httpfs",
            "SELECT repeat('x', 3000000000), repeat('y', 2000000000)",
        ):
            with pytest.raises(ServeError) as caught:
                pytest.fail(str(catalog.fetch(text, turn(), 10))[:1000])
            assert CANARY not in str(caught.value).replace(str(secret), "")
        assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
        with pytest.raises(ServeError, match=r"longer than|too much time"):
            catalog.fetch("SELECT sum(hash(a.range)) FROM range(1000000000000) AS a", turn(0.2), 10)
        with pytest.raises(ServeError, match="at most 10 rows"):
            catalog.fetch("SELECT * FROM range(1000000000000)", turn(), 10)
        assert catalog.fetch("SELECT 1 AS a", turn(), 10).rows == [[1]]
    finally:
        catalog.close()


def test_the_log_names_who_asked_what_and_no_value(attacked: Any) -> None:
    running, names = attacked
    with running.connect() as connection:
        connection.execute(f"SELECT count(*) FROM {names['t']} WHERE cost = %s", [1234567])
    line = [one for one in running.lines() if one["event"] == "ask"][-1]
    assert line["user"] == "ann"
    assert (line["release"], line["version"], line["rows"]) == (names["t"], 1, 1)
    assert set(line) == {"at", "event", "user", "address", "release", "version", "rows", "seconds"}
    assert "1234567" not in running.log.getvalue()
    assert CANARY not in running.log.getvalue()


@pytest.mark.thorough
def test_a_question_to_the_catalog_has_limits_of_time_and_memory(running: Running) -> None:
    doubled = ", ".join(f"c{i} AS (SELECT s || s AS s FROM c{i - 1})" for i in range(1, 60))
    with running.connect(options="-c statement_timeout=2000") as connection:
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT count(*) FROM generate_series(1, 1000000000000) AS a, pg_type AS b")
        with pytest.raises(psycopg.Error):
            connection.execute(f"WITH c0 AS (SELECT relname AS s FROM pg_class), {doubled} SELECT length(s) FROM c59")
        many = "pg_type AS a, generate_series(1, 100000000) AS c, pg_type AS b"
        with pytest.raises(psycopg.Error):
            connection.execute(f"SELECT string_agg(a.typname, b.typname) FROM {many}")
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            connection.execute("SELECT * FROM generate_series(1, 1000000)")
        assert connection.execute("SELECT 1").fetchone() == (1,)
