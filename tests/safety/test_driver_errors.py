"""What PostgreSQL's driver raises becomes one clear error of ours without cell values, wherever it is raised."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any
from urllib.parse import quote as escaped

import numpy as np
import psycopg
import pytest

import sqlanon
from sqlanon.engines.base import Statement, TableRef
from tests.engines import ENGINES
from tests.refresh.conftest import fill, release

SERVER = ENGINES[2]
CANARY = "zanzibar77"


@pytest.fixture(scope="module")
def server(connect_module) -> Any:
    return connect_module(SERVER)


def refused(url: str) -> str:
    """The message of a connection that fails: one line."""
    with pytest.raises(sqlanon.DatabaseError) as caught:
        sqlanon.connect(url)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_each_cause_of_a_failed_connection_has_its_own_message(server, monkeypatch):
    """Nothing listens, no such host, no such database, no such user, a wrong password, a URL that cannot be read."""
    monkeypatch.setenv("PGPASSWORD", CANARY)
    info = server.engine._connection.info
    here = f"host={escaped(info.host, safe='')}&port={info.port}"
    nobody = f"nobody_{uuid.uuid4().hex[:6]}"
    reported = {
        "port": refused(f"postgresql://u:{CANARY}@127.0.0.1:1/x"),
        "host": refused(f"postgresql://u:{CANARY}@no-such-host.invalid/x"),
        "database": refused(f"postgresql:///none_{CANARY[:4]}?{here}&user={info.user}"),
        "user": refused(f"postgresql:///{info.dbname}?{here}&user={nobody}"),
        "url": refused(f"postgresql://u:{CANARY} x@127.0.0.1/x"),
    }
    assert "cannot be reached: check host and port" in reported["port"]
    assert "cannot be reached: check host and port" in reported["host"]
    assert "no-such-host.invalid" in reported["host"]
    assert "there is no such database" in reported["database"]
    assert "refuses this user" in reported["user"]
    assert nobody in reported["user"]
    assert "the URL cannot be read" in reported["url"]
    assert all(CANARY not in text for text in reported.values())


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ('connection failed: FATAL:  password authentication failed for user "u"', "refuses this user"),
        ("connection failed: fe_sendauth: no password supplied", "refuses this user"),
        (
            'connection failed: FATAL:  no pg_hba.conf entry for host "1.2.3.4", user "u", database "d", SSL off',
            "pg_hba",
        ),
        ("connection failed: FATAL:  sorry, too many clients already", "try again later"),
        ("connection failed: server does not support SSL, but SSL was required", "sslmode"),
        ('connection failed: FATAL:  database "password authentication failed" does not exist', "no such database"),
    ],
)
def test_libpqs_words_are_distinguished(said, advice):
    """Of causes that a test server cannot have: texts of libpq 14 to 18 and of the server."""
    from sqlanon.engines.postgres.connect import advice_for

    assert advice in advice_for(said)


def test_a_password_is_removed_from_libpqs_words():
    from sqlanon.engines.postgres.connect import redact_message

    text = f"connection failed:\n\tbad {CANARY} and {escaped('p@ss')} and p@ss here"
    assert redact_message(text, CANARY, "p@ss") == "connection failed: bad *** and *** and *** here"


def lose(db: Any) -> None:
    """The server ends the session."""
    import psycopg

    pid = db.engine._connection.info.backend_pid
    with psycopg.connect(db.engine._connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


class At:
    """A `Progress` that loses the connection when a stage begins."""

    def __init__(self, stage: str) -> None:
        self.wanted, self.db = stage, None

    def stage(self, release: str, stage: str) -> None:
        if stage == self.wanted and self.db is not None:
            db, self.db = self.db, None
            lose(db)

    def update(self, done: int, total: int, unit: str) -> None: ...

    def note(self, message: str) -> None: ...

    def finish(self, release: str) -> None: ...


@pytest.mark.parametrize("stage", ["snapshot", "method", "verify", "publish"])
def test_a_lost_connection_is_one_error(server, stage):
    """Of the statement that met it, and not of what is rolled back, unlocked, dropped and closed afterwards."""
    fill(server, f"lost_{stage}")
    progress = At(stage)
    with sqlanon.connect(_url(server), progress=progress) as db:
        progress.db = db
        with pytest.raises(sqlanon.DatabaseError, match="the connection to PostgreSQL was lost") as caught:
            db.run(release(f"lost_{stage}"))
        assert "run again" in str(caught.value)
        with pytest.raises(sqlanon.DatabaseError, match="was lost"):
            db.releases()
    assert server.releases(f"lost_{stage}") == ()
    assert server.run(release(f"lost_{stage}")).verified  # and its lock is free


def _url(db: Any) -> str:
    info = db.engine._connection.info
    return f"postgresql://{info.user}@/{info.dbname}?host={escaped(info.host, safe='')}&port={info.port}"


def test_no_error_of_the_driver_leaves_the_engine(server):
    """Every method that talks to the database, on a lost connection and where the server refuses a value."""
    engine = sqlanon.connect(_url(server)).engine
    view, table = TableRef("public", "v"), TableRef(None, "scratch")
    refused_value = Statement("a template", f"SELECT CAST('{CANARY}' AS integer)")
    with pytest.raises(sqlanon.DatabaseError) as caught:
        engine.fetch(refused_value)
    assert CANARY not in str(caught.value)
    with pytest.raises(sqlanon.DatabaseError) as caught, engine.publishing():
        engine.fetch(refused_value)
    assert CANARY not in str(caught.value)
    lose_now = sqlanon.connect(_url(server))
    lose_now.engine.close()
    lost = lose_now.engine
    statement = Statement("a template", "SELECT 1")

    def entered(manager: Any) -> None:
        with manager:
            pass

    calls = (
        lambda: lost.execute(statement),
        lambda: lost.fetch(statement),
        lambda: lost.fetch("SELECT 1"),
        lambda: lost.fetch_arrays(statement, ["int64"]),
        lambda: next(lost.stream_arrays(statement, ["int64"], 5)),
        lambda: lost.load_arrays(table, {"a": np.arange(3)}),
        lambda: lost.load_rows(table, [("a", "integer")], [(1,)]),
        lambda: lost.relation("v"),
        lambda: lost.exists(view),
        lambda: lost.has_schema(view),
        lambda: lost.list_restore_statements(view, ["a"]),
        lambda: lost.roles(["x"]),
        lambda: lost.grant_usage([view], "x"),
        lambda: lost.grant_select([view], "x"),
        lambda: lost.revoke_select([view], "x"),
        lambda: lost.can_select("x", view),
        lambda: lost.can_use("x", "public"),
        lambda: lost.make_private("public", anew=False),
        lambda: lost.grantees("public"),
        lambda: lost.dependents(view),
        lost.all_readers,
        lambda: lost.reading(view).__enter__(),
        lambda: lost.hold(view),
        lambda: lost.drop_statistics([view]),
        lambda: entered(lost.snapshot()),
        lambda: entered(lost.publishing()),
        lambda: entered(lost.lock("x")),
        lambda: lost.run_swap(lambda: None),
    )
    for call in calls:
        with pytest.raises(sqlanon.DatabaseError, match="was lost"):
            call()
    lost.close()
    engine.close()

    def fails_after_the_loss() -> None:
        with sqlanon.connect(_url(server)) as db, db.engine.lock("y"), db.engine.publishing():
            lose(db)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):  # what is done in a finally does not replace it
        fails_after_the_loss()


@pytest.mark.parametrize("end", ["ROLLBACK", "COMMIT"])
def test_a_cancellation_of_the_end_leaves_no_transaction_open(server, monkeypatch, end):
    """A deadline cancels again until its query has ended, and may meet what ends the transaction."""
    connection, cancelled = server.engine._connection, []
    execute = connection.execute

    def meet(text, *arguments, **options):
        if text == end and len(cancelled) < 2:
            cancelled.append(text)
            with suppress(psycopg.Error):  # whatever fails: nothing but ROLLBACK can be run then
                execute("SELECT 1 / 0")
            raise psycopg.errors.QueryCanceled
        return execute(text, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(connection, "execute", meet)
        with pytest.raises((sqlanon.DatabaseError, ZeroDivisionError)), server.engine.snapshot():
            assert 1 // (end == "COMMIT")
    assert cancelled
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert server.engine.fetch(Statement("one", "SELECT 1")) == [(1,)]


@pytest.mark.parametrize("kind", ["text", 'text COLLATE "C"', "date", "integer"])
def test_the_servers_log_gets_no_row_of_a_load_that_is_cancelled(server, kind):
    # The log has the context of an error: of a COPY of texts the row that the server has read.
    table, value = TableRef(None, f"t_{uuid.uuid4().hex[:8]}"), {"date": "1977-07-07", "integer": 7_701_977}
    engine = server.engine

    def rows() -> Any:
        for index in range(400_000):
            if index == 20_000:
                engine.cancel()
            yield (value.get(kind, CANARY), value.get(kind, CANARY))

    with pytest.raises(sqlanon.DatabaseError) as caught:
        engine.load_rows(table, [("a", kind), ("b", kind)], rows())
    cause = caught.value.__cause__
    assert isinstance(cause, psycopg.errors.QueryCanceled)
    assert "line" in str(cause.diag.context)
    assert str(value.get(kind, CANARY)) not in f"{cause} {cause.diag.context}"


def test_rows_of_all_types_are_loaded_as_they_are(server):
    table = TableRef(None, f"t_{uuid.uuid4().hex[:8]}")
    kinds = ["smallint", "integer", "bigint", "double precision", "boolean", "text", "date", "numeric(5,2)"]
    rows = [(1, -2, 1 << 62, 0.1, True, "a\tb\\N", "0044-01-01 BC", "1.50"), (None,) * 8]
    rows += [(0, np.int64(3), 0, float("-inf"), False, 7, "infinity", 2)]
    columns = [(f"c{index}", kind) for index, kind in enumerate(kinds)]
    for place in range(0, 7, 3):
        some = TableRef(None, f"{table.name}{place}")
        server.engine.load_rows(some, columns[place : place + 3], [row[place : place + 3] for row in rows])
        names = ", ".join(f"{name}::text" for name, _ in columns[place : place + 3])
        read = server.engine.fetch(f"SELECT {names} FROM {some.name} ORDER BY ctid")
        assert read == [*TEXTS[place]]


TEXTS = {
    0: [("1", "-2", str(1 << 62)), (None, None, None), ("0", "3", "0")],
    3: [("0.1", "true", "a\tb\\N"), (None, None, None), ("-Infinity", "false", "7")],
    6: [("0044-01-01 BC", "1.50"), (None, None), ("infinity", "2.00")],
}


@pytest.mark.parametrize(("kind", "value"), [("smallint", 40_000), ("integer", "777001"), ("boolean", 777001)])
def test_a_value_that_does_not_fit_is_one_error_without_the_value(server, kind, value):
    table = TableRef(None, f"t_{uuid.uuid4().hex[:8]}")
    with pytest.raises(sqlanon.DatabaseError) as caught:
        server.engine.load_rows(table, [("a", kind)], [(value,)])
    assert str(value) not in f"{caught.value} {caught.value.__cause__}"
