"""Single attacks on `sqlanon serve`, and mistakes that would end in a wrong answer: each was possible once."""

from __future__ import annotations

import base64
import subprocess
import time
from contextlib import ExitStack, closing, suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pygwire.messages import Bind, ErrorResponse, Parse, Query, ReadyForQuery, Sync

import sqlanon
from sqlanon.engines import file_of
from sqlanon.query.answer import Answer, Bounded
from sqlanon.serve import answers, texts, users
from sqlanon.serve.catalog import database
from sqlanon.serve.catalog.calls import Asker
from sqlanon.serve.catalog.database import CatalogDatabase
from sqlanon.serve.catalog.rewrite import rewritten
from sqlanon.serve.client_tables import Reader
from sqlanon.serve.refusals import ServeError
from sqlanon.serve.tables import parse_text
from sqlanon.serve.values import FLOAT8, NUMERIC, TEXT, Column, decode
from tests.serve.conftest import FILE, Place, Running, serving, turn
from tests.serve.test_protocol import Raw

KEY = base64.b64encode(bytes(32)).decode()


@pytest.mark.thorough
def test_a_file_named_from_the_working_folder_is_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with sqlanon.connect(FILE.fresh(tmp_path)) as db:
        db.engine.execute("CREATE TABLE t AS SELECT i // 5 AS age, 'flu' AS ill FROM range(20) AS r(i)")
        options: dict[str, Any] = {"quasi": "age", "sensitive": "ill", "k": 5, "publish": "release.t"}
        db.anonymize("t", **options, publish_file="made.duckdb")
        place = Place("duckdb:///made.duckdb", "t", Reader(None), db, lambda: None)
        with serving(place) as running, running.connect() as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (20.0,)
            db.engine.execute("INSERT INTO t SELECT 1, 'flu' FROM range(20)")
            db.anonymize("t", **options, publish_file="made.duckdb")
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (40.0,)
            assert [line["version"] for line in running.lines() if line["event"] == "ask"] == [1, 2]


def test_only_a_duckdb_url_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert file_of("duckdb:////a/b c?d.duckdb") == Path("/a/b c?d.duckdb")
    assert file_of("duckdb:///a.duckdb") == file_of("duckdb:a.duckdb") == tmp_path / "a.duckdb"
    assert file_of("postgresql://host/tmp") is file_of("duckdb:///:memory:") is None


def test_nothing_is_imported_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("duckdb", "sqlanon", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'read')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    catalog = CatalogDatabase([])
    try:
        assert catalog.fetch("SELECT 1 AS a", turn(), 10).rows == [[1]]
    finally:
        catalog.close()
    assert not (tmp_path / "read").exists()


def test_a_catalog_that_was_closed_leaves_no_process() -> None:
    catalog = CatalogDatabase([])
    catalog.close()
    assert catalog.fetch("SELECT 1 AS a", turn(), 10).rows == [[1]]
    assert not catalog._processes._idle


def test_a_question_to_the_catalog_waits_no_longer_than_its_time() -> None:
    catalog = CatalogDatabase([])
    with ExitStack() as stack:
        for user in ("ann", "ann", "ann", "bea"):
            stack.enter_context(catalog._processes.take(turn(user=user)))
        with pytest.raises(ServeError, match="waited longer") as caught:
            catalog.fetch("SELECT 1 AS a", turn(0.01, "cid"), 10)
    assert caught.value.code == "57014"


@pytest.mark.parametrize("value", ["1e-999999999999", "-1e-1001"])
def test_a_number_of_many_digits_is_not_written_out(value: str) -> None:
    with pytest.raises(ServeError, match="digits"):
        texts.write_literal(Decimal(value), "postgres")


def test_a_long_parameter_is_not_repeated_without_end() -> None:
    (piece,) = texts.split(f"SELECT {', '.join(['$1'] * 1000)}")
    with pytest.raises(ServeError, match="at most") as caught:
        texts.bound(piece.text, texts.parameters(piece), ["x" * 1_000_000])
    assert caught.value.code == "54000"
    assert len(texts.bound(piece.text, texts.parameters(piece), ["x"]).text) < 10_000


def test_a_prepared_statement_has_the_rights_of_now(place: Place) -> None:
    role = place.reader.role
    sql = f"SELECT count(*) FROM {place.source}".encode()
    with serving(place) as running, running.connect() as connection:
        assert connection.execute(sql, prepare=True).fetchone() == (60.0,)
        place.owner.engine.execute(f"GRANT SELECT ON {place.source} TO {role}")
        try:
            running.server._shared.asking._listed_at = -1e9  # as seconds later
            with pytest.raises(psycopg.Error, match="rights have changed"):
                connection.execute(sql, prepare=True)
        finally:
            place.owner.engine.execute(f"REVOKE SELECT ON {place.source} FROM {role}")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_deadline_does_not_interrupt_the_list_of_releases(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    asking, ended = running.server._shared.asking, []
    list_served = asking.list_served

    def slowly(**options: bool) -> object:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            time.sleep(0.01)
        ended.append(True)
        return list_served(**options)

    with running.connect(options="-c statement_timeout=100") as connection:
        monkeypatch.setattr(asking, "list_served", slowly)
        with suppress(psycopg.Error):  # the answer may come in time
            connection.execute(f"SELECT count(*) FROM {running.place.source}")
    assert ended


@pytest.mark.parametrize(
    "value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, Decimal("0.1"), Decimal("12345678901234567.89"), 10**400, 7]
)
def test_bounds_that_are_sent_as_doubles_still_bound(value: Any) -> None:
    cells = answers.cells(["n"], ["n"], [], bounds=True)
    answer = Answer(("n",), ("n",), ({"n": Bounded(value, value, value, exact=True)},), (True,), "")
    columns = answers.columns_of(cells, {"n": NUMERIC}, ["n"])
    ((_, low, high, _),) = answers.result(answer, cells, columns).rows
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low == value == high or low < Fraction(value) < high or (high == float("inf") and low < value)
    plain = (Column("n", TEXT), Column("n_low", TEXT), Column("n_high", TEXT), columns[3])
    assert answers.result(answer, cells, plain).rows == [[value, value, value, True]]
    assert columns[1].type is FLOAT8


@pytest.mark.parametrize("name", ["n_low", "N_HIGH", "certain"])
def test_a_column_has_not_the_name_of_a_bound(name: str) -> None:
    with pytest.raises(ServeError, match="the name of a bound") as caught:
        answers.cells(["n", name], ["n", name], [], bounds=True)
    assert caught.value.code == "42701"
    assert [cell.name for cell in answers.cells(["n", name], ["n"], [], bounds=False)] == ["n", name]


def test_the_verifier_of_an_unknown_user_looks_like_those_of_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "users"
    for secret, shape in (
        ("a password", (16, 4096)),
        (f"SCRAM-SHA-256$10000:{base64.b64encode(b'x' * 40).decode()}${KEY}:{KEY}", (40, 10000)),
    ):
        file.write_text(f"ann:{secret}\n")
        file.chmod(0o600)
        known = users.read_users(file)
        for name in ("ann", "nobody", ""):
            salt, stored, server, iterations = known.verifier(name)
            assert (len(salt), iterations, len(stored), len(server)) == (*shape, 32, 32)


def test_a_cancellation_of_a_short_query_is_not_lost(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    asking = running.server._shared.asking
    ask = asking.ask

    def at_the_end(question: Any, turn: Any, shape: Any) -> object:
        def late(answer: Any, version: int) -> object:
            turn.cancel.request()
            return shape(answer, version)

        return ask(question, turn, late)

    with running.connect() as connection:
        monkeypatch.setattr(asking, "ask", at_the_end)
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(f"SELECT count(*) FROM {running.place.source}")
        assert running.server._shared.room.taken == 0
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.thorough
def test_a_process_whose_database_is_of_no_use_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB answers nothing any more after such an error: neither does the process."""
    fatal = "import duckdb; from sqlanon.serve.catalog import worker\n"
    fatal += "def fetch(*words): raise duckdb.FatalException('the database has been invalidated')\n"
    fatal += "worker._fetch = fetch; worker.main()"
    popen = subprocess.Popen

    def started(words: list[str], **options: Any) -> subprocess.Popen[bytes]:
        monkeypatch.setattr(database.subprocess, "Popen", popen)
        return popen([words[0], "-P", "-c", fatal], **options)

    monkeypatch.setattr(database.subprocess, "Popen", started)
    catalog = CatalogDatabase([])
    try:
        with pytest.raises(ServeError, match="defect of the database"):
            catalog.fetch("SELECT 1 AS a", turn(), 10)
        assert catalog.fetch("SELECT 1 AS a", turn(), 10).rows == [[1]]
    finally:
        catalog.close()


@pytest.mark.thorough
def test_an_answer_of_the_catalog_is_no_load_for_the_server() -> None:
    catalog = CatalogDatabase([])
    try:
        with pytest.raises(ServeError, match="too large"):
            catalog.fetch("SELECT repeat('x', 10000000)", turn(), 10)
        assert catalog.fetch("SELECT 1 AS a", turn(), 10).rows == [[1]]
    finally:
        catalog.close()


@pytest.mark.parametrize("oid", [1082, 1114, 1184, 1007, 1182, 20, 1700, 701])
@pytest.mark.parametrize(
    "byte", [b"1", *(pytest.param(one, marks=pytest.mark.thorough) for one in (b"1-", b"{", b"1 ", b"{1,"))]
)
def test_a_long_parameter_is_read_or_refused_in_no_time(oid: int, byte: bytes) -> None:
    """Once, a million digits in place of a date took hours."""
    begun = time.process_time()
    with suppress(ServeError):
        decode(byte * (1_000_000 // len(byte)), oid, binary=False)
    assert time.process_time() - begun < 5


def test_values_of_portals_are_counted(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    room = running.server._shared.room
    monkeypatch.setattr(room, "_most", 2_000_000)
    with Raw(running.port).log_in() as client:
        client.send(Query(query_string="BEGIN"))
        client.until(ReadyForQuery)
        client.send(Parse(query="SELECT $1::text"))
        client.send(*(Bind(portal=f"p{i}", param_values=[b"x" * 400_000]) for i in range(4)), Sync())
        errors = [one.code for one in client.until(ReadyForQuery) if isinstance(one, ErrorResponse)]
        assert errors == ["53200"]
        assert room.taken == 800_000
    until = time.monotonic() + 600
    while room.taken and time.monotonic() < until:
        time.sleep(0.02)
    assert room.taken == 0


def test_a_deep_query_is_refused_before_it_is_read_again(running: Running) -> None:
    with running.connect() as connection:
        deep = f"SELECT count(*) FROM {running.place.source} WHERE {'(' * 3000}cost < 1{')' * 3000}"
        for prepare in (False, True):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(deep.encode(), prepare=prepare)
            assert caught.value.sqlstate != "XX000"
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM (WITH {v} AS (SELECT 1) SELECT 1) AS q, {v}",
        "WITH a AS (SELECT * FROM {v}), {v} AS (SELECT 1) SELECT * FROM a",
        "WITH {v} AS (SELECT * FROM {v}) SELECT * FROM {v}",
        "WITH RECURSIVE {v} AS (SELECT * FROM {v}) SELECT * FROM {v}",
        "WITH RECURSIVE {v} AS (SELECT 1 FROM {v} UNION ALL SELECT 1) SELECT * FROM {v}",
        "SELECT (WITH {v} AS (SELECT 1) SELECT 1), (SELECT max(path) FROM {v})",
    ],
)
def test_a_cte_opens_no_view_outside_of_its_scope(text: str) -> None:
    """DuckDB has views of itself, and reads files by their names: a name is a CTE only where that is known."""
    for view in ("duckdb_databases", '"/etc/x.csv"'):
        with pytest.raises(ServeError, match="does not exist"):
            rewritten(parse_text(text.format(v=view)), Asker("ann", "public", ("public",), 1, {}))


def test_a_cte_is_read_within_its_scope() -> None:
    asked = (
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3), b AS (SELECT n FROM A) "
        "SELECT * FROM b WHERE EXISTS (SELECT 1 FROM a)"
    )
    with closing(CatalogDatabase(())) as catalog:
        text = rewritten(parse_text(asked), Asker("ann", "public", ("public",), 1, {}))
        assert [list(row) for row in catalog.fetch(text, turn(), 9).rows] == [[1], [2], [3]]
