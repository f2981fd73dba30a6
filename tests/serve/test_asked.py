"""What clients ask unasked (asked_by_clients.sql) is answered or refused properly, by both protocols."""

from __future__ import annotations

import datetime
from pathlib import Path

import psycopg
import pytest

from tests.serve.conftest import Running
from tests.serve.test_clients import ran

TEXTS = [
    line
    for line in Path(__file__).with_name("asked_by_clients.sql").read_text(encoding="ascii").splitlines()
    if line and not line.startswith("--")
]
DESCRIBED = r"""
\d \d+ \dt+ \da \dA \dAc \dAf \dAo \dAp \db \dc \dC \dd \dD \ddp \des \det \deu \dew \df \df+ \dF \dFd \dFp \dFt \dg+
\dl \dL \dn+ \do \dO \dp \dP \drds \drg \dRp \dRs \dT \dT+ \du+ \dx \dX \dy \l+ \z \conninfo \encoding \dconfig
\dconfig+
""".split()  # noqa: SIM905 - sixty words


def test_each_is_answered_or_refused_properly(file_running: Running) -> None:
    wrong = []
    with file_running.connect() as connection:
        for line in TEXTS:
            wanted, text = (line[2:7], line[8:]) if line.startswith("! ") else ("", line)
            sql = text.replace("{t}", file_running.place.source).encode()
            for prepare in (False, True) if b"; " not in sql else (False,):
                found = ""
                try:
                    connection.execute(sql, prepare=prepare)
                except psycopg.Error as error:
                    found = error.sqlstate or "?"
                if found != wanted:
                    wrong.append((text, found))
    assert not wrong


def test_what_is_said_is_true(file_running: Running) -> None:
    table = file_running.place.source
    with file_running.connect() as connection:
        ((now, today),) = connection.execute("SELECT now(), current_date").fetchall()
        assert abs((now - datetime.datetime.now(datetime.UTC)).total_seconds()) < 600
        assert abs((today - datetime.datetime.now(datetime.UTC).date()).days) <= 1
        named = "pg_catalog.format('%I.%I', table_schema, table_name)::regclass"
        sql = f"SELECT column_name, col_description({named}::oid, ordinal_position) FROM information_schema.columns"
        assert ("note",) not in connection.execute("SELECT attname FROM pg_attribute").fetchall()
        comments = dict(connection.execute(sql.encode()).fetchall())
        assert comments == {
            "age": "quasi, published as age_lo, age_hi",
            "ill": "sensitive, published as ill",
            "cost": "insensitive, published as cost",
        }
        assert connection.execute("SELECT set_config('application_name', 'me', false)").fetchone() == ("me",)
        assert connection.execute("SHOW application_name").fetchone() == ("me",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT set_config('role', 'postgres', false)")
        lists = connection.execute("SELECT typelem::regtype::text FROM pg_type WHERE typname = '_int4'").fetchone()
        assert lists == ("integer",)
        assert connection.execute("SELECT has_table_privilege(%s, 'insert')", [table]).fetchone() == (False,)


def test_psql_describes_all(file_running: Running) -> None:
    ended = ran(file_running, *DESCRIBED, f"\\d+ {file_running.place.source}")
    assert ended.returncode == 0
    wrong = [line for line in ended.stderr.splitlines() if not line.startswith(("Did not find", "NOTICE"))]
    assert not wrong
