"""A value that nobody may reveal: not in an error, not in a log record, not in the catalog, not in a file name."""

from __future__ import annotations

import hashlib
import html
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from benchmarks.release import counting
from sqlanon import policy
from sqlanon.engines.base import Statement
from tests.engines import ENGINES, create_table

CANARY = "zq81canary"
PEOPLE = {"id": "TEXT", "age": "INTEGER", "city": "TEXT", "illness": "TEXT"}


def texts(error: BaseException) -> list[str]:
    """Everything an error says, the driver's own error (``__cause__``) left out."""
    said = [str(error), repr(error), *map(str, error.args), *getattr(error, "__notes__", ())]
    context = error.__context__
    if context is not None and context is not error.__cause__ and not error.__suppress_context__:
        said += texts(context)
    if isinstance(error.__cause__, sqlanon.SqlanonError):
        said += texts(error.__cause__)
    return said


@pytest.fixture
def db(shared_db, caplog, tmp_path, monkeypatch):
    """The shared database; after every test nothing has revealed the canary."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG, logger="sqlanon")
    shared_db.engine.execute("DROP VIEW IF EXISTS broken")
    shared_db.engine.execute("DROP TABLE IF EXISTS secret")
    rows = [(f"{CANARY}{i}", i % 5, f"{CANARY} {'abc'[i % 3]}", f"{CANARY} {'xy'[i % 2]}") for i in range(30)]
    create_table(shared_db, "secret", PEOPLE, rows)
    caplog.clear()
    yield shared_db
    ours = [record for record in caplog.records if record.name.startswith("sqlanon")]
    assert not [r for r in ours if CANARY in r.getMessage() or CANARY in str(r.args) or CANARY in str(r.exc_info)]
    catalog = shared_db.engine.fetch("SELECT * FROM _sqlanon.catalog") if shared_db.releases() else []
    assert CANARY not in str(catalog)
    assert CANARY not in str(shared_db.releases())
    assert not [path for path in tmp_path.rglob("*") if CANARY in path.name]


def fails(db, kind, source="secret", **asked):
    asked = {"quasi": ["age", "city"], "sensitive": "illness", "identifiers": "id", "k": 2} | asked
    with pytest.raises(kind) as caught:
        db.anonymize(source, **asked)
    assert not [text for text in texts(caught.value) if CANARY in text]


def test_a_good_release(db):
    release = db.anonymize("secret", quasi=["age", "city"], sensitive="illness", identifiers="id", k=2)
    said = [str(release.report.to_dict()), str(release.audit().to_dict()), str(db.profile("secret"))]
    assert not [text for text in said if CANARY in text]


def test_what_stays_of_old_versions(db):
    """Nor a hash of it that needs no secret: what somebody could try values against."""
    spec = policy.release(
        source="secret",
        name="kept",
        publish="release.kept",
        quasi=["age", "city"],
        sensitive="illness",
        identifiers="id",
        key="id",
        k=2,
    )
    reported = [db.run(spec)]
    db.engine.execute("DELETE FROM secret WHERE age = 0")
    reported += [db.plan(spec), db.run(spec), *db.history("kept"), db.version("kept@1"), db.diff("kept@1", "kept@2")]
    reported += [db.rollback("kept")]
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'"
    kept = sorted(name for (name,) in db.engine.fetch(names) if name.startswith("kept_") and name.endswith("_history"))
    assert len(kept) == 2
    rows = [db.engine.fetch(f"SELECT * FROM _sqlanon.{name}") for name in (*kept, "catalog", "secrets")]
    said = str([one.to_dict() for one in reported]) + str(rows)
    assert CANARY not in said
    values = [f"{CANARY}{i}" for i in range(30)] + [f"{CANARY} {c}" for c in "abcxy"]
    for kind in ("md5", "sha1", "sha256", "sha512"):
        assert not [value for value in values if hashlib.new(kind, value.encode()).hexdigest()[:32] in said]


HIDDEN = "".join(f"{CANARY} {c};{'north' if c < 'c' else 'south'};*\n" for c in "abc")


def shown(db, source="secret", **asked):
    """A release of one class, whose cities are hidden by the root of their hierarchy."""
    Path("h.csv").write_text(HIDDEN)
    asked = {"quasi": ["age", "city"], "sensitive": "illness", "hierarchies": {"city": "h.csv"}, "k": 30} | asked
    db.anonymize(source, name="shown", publish="release.shown", rest="drop", identifiers="id", **asked)


def said_of(page):
    """The values that a page shows."""
    return set(re.findall(rf"{CANARY} ?\w*", html.unescape(page)))


def test_an_attack_and_reports(db):
    """An attack shows no value.

    A report for readers shows what the view shows, and the owner's shows the source, but no identifier.
    """
    shown(db)
    assert CANARY not in str(db.attack("shown").to_dict())
    illnesses = {f"{CANARY} x", f"{CANARY} y"}
    assert {row[0] for row in db.engine.fetch("SELECT illness FROM release.shown")} == illnesses
    assert not [row for row in db.engine.fetch("SELECT city FROM release.shown") if CANARY in str(row)]
    assert said_of(db.report("release.shown", audience="readers", form="md")) <= illnesses
    cities = {f"{CANARY} {c}" for c in "abc"}
    assert said_of(db.report("shown", form="md", attack=True)) <= illnesses | cities


def test_an_attack_and_reports_that_fail(db):
    """The source has a value that no hierarchy has, or a column that cannot be read any more."""
    shown(db)
    db.engine.execute(f"UPDATE secret SET city = '{CANARY} new' WHERE age = 0")
    ends_in_an_error(lambda: db.attack("shown"))
    db.engine.execute("CREATE VIEW broken AS SELECT id, age, city, illness FROM secret")
    shown(db, "broken", hierarchies={}, quasi=["age", "city"], allow_weaker=True)
    db.engine.execute("DROP VIEW broken")
    db.engine.execute("CREATE VIEW broken AS SELECT id, CAST(city AS INTEGER) AS age, city, illness FROM secret")
    for ask in (lambda: db.attack("shown"), lambda: db.report("shown", form="md")):
        ends_in_an_error(ask)


def ends_in_an_error(ask):
    with pytest.raises(sqlanon.SqlanonError) as caught:
        ask()
    assert not [text for text in texts(caught.value) if CANARY in text]


def test_values_missing_in_a_hierarchy_or_an_order(db, tmp_path):
    (tmp_path / "h.csv").write_text(f"{CANARY} a;*\n{CANARY} b;*\n")
    fails(db, sqlanon.PolicyError, hierarchies={"city": "h.csv"})
    fails(db, sqlanon.PolicyError, ordered={"city": [f"{CANARY} a"]})


def test_leaves_of_another_type(db, tmp_path):
    (tmp_path / "h.csv").write_text(f"{CANARY};*\n1;*\n")
    fails(db, sqlanon.PolicyError, hierarchies={"age": "h.csv"})


@pytest.mark.cover
@pytest.mark.parametrize("text", ["{c};*\n{c};*\n", "{c};x;*\n{c}2;*\n", "{c};*\n{c}2;+\n", '"{c};*\n'])
def test_broken_hierarchy_files(db, tmp_path, text):
    (tmp_path / "h.csv").write_text(text.format(c=CANARY))
    fails(db, sqlanon.PolicyError, hierarchies={"city": "h.csv"})


@pytest.mark.cover
@pytest.mark.parametrize("expression", ["CAST(city AS INTEGER)", "CAST(illness AS DATE)"])
@pytest.mark.parametrize("role", ["quasi", "insensitive"])
def test_a_view_that_fails(db, expression, role):
    db.engine.execute(f"CREATE VIEW broken AS SELECT age, city, illness, {expression} AS bad FROM secret")
    asked = {"quasi": ["age"], "sensitive": (), "identifiers": (), "insensitive": (), "rest": "drop"}
    asked[role] = [*asked[role], "bad"]
    fails(db, sqlanon.DatabaseError, source="broken", **asked)
    for ask in (lambda: db.profile("broken"), lambda: db.audit("broken")):
        try:
            ask()
        except sqlanon.SqlanonError as error:
            assert not [text for text in texts(error) if CANARY in text]  # noqa: PT017 - success is fine too


def test_infeasible_and_guards(db):
    fails(db, sqlanon.InfeasibleError, k=31)
    fails(db, sqlanon.InfeasibleError, l=5)
    fails(db, sqlanon.GuardError, identifiers="city", quasi="age", rest="drop")
    fails(
        db,
        sqlanon.GuardError,
        sensitive="id",
        identifiers="illness",
        quasi="age",
        accept_repeats="illness",
        rest="drop",
    )
    fails(db, sqlanon.GuardError, insensitive="id", identifiers=())


@pytest.mark.cover
@pytest.mark.parametrize("ordered", [{}, {"rank": "declared"}], ids=["nominal", "ordered"])
def test_enum_values(db, ordered):
    """A type may hold values: its name is reported, they are not."""
    from tests.engines import Enum

    kind = Enum((f"{CANARY} a", f"{CANARY} b"))
    db.engine.execute("DROP TABLE IF EXISTS listed")
    create_table(db, "listed", {"rank": kind, "age": "INTEGER"}, [(kind.labels[i % 2], i % 5) for i in range(30)])
    for form in ("ranges", "labels", "points", "suppressed"):
        db.anonymize("listed", quasi=["rank", "age"], k=3, ordered=ordered, format=form)
    with pytest.raises(sqlanon.PolicyError) as caught:
        db.anonymize("listed", quasi=["rank", "age"], k=3, ordered={"rank": [f"{CANARY} a"]})
    assert CANARY not in str(caught.value)
    with pytest.raises(sqlanon.SqlanonError) as caught:
        db.anonymize("listed", quasi=["rank", "age"], k=5, mean="rank", allow_weaker=True)
    assert CANARY not in str(caught.value)


SEED = 1234567890123456789
SENT = re.compile(r"^F\t\d+\t(\w+)(.*?)(?=^[FB]\t\d+\t|\Z)", re.MULTILINE | re.DOTALL)
"""One message to the server, as libpq writes it: its kind and what is in it."""


@contextmanager
def traced(connection: Any, path: Path) -> Iterator[dict[str, list[str]]]:
    """The messages that a connection sends to PostgreSQL inside, by kind; what the driver put into a text is in it."""
    from psycopg.pq import Trace

    sent: dict[str, list[str]] = {}
    with path.open("w") as file:
        connection.pgconn.trace(file.fileno())
        connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        try:
            yield sent
        finally:
            connection.pgconn.untrace()
    for kind, said in SENT.findall(path.read_text(encoding="utf-8", errors="replace")):
        sent.setdefault(kind, []).append(said)


def test_no_text_of_sql_has_the_secret_or_the_seed(db, tmp_path):
    """The server shows texts in pg_stat_activity, and writes those that fail to its log.

    Links, histories and ties are hashed with the secret.
    """
    asked = {
        "source": "secret",
        "name": "keyed",
        "publish": "release.keyed",
        "quasi": ["age"],
        "sensitive": "illness",
        "identifiers": "id",
        "insensitive": "city",
        "key": "id",
        "k": 2,
        "l": 2,
        "seed": SEED,
    }
    spec = policy.release(**asked)
    postgres = db.engine.dialect == "postgres"
    with traced(db.engine._connection, tmp_path / "trace") if postgres else counting(db) as sent:
        db.run(spec)
        db.engine.execute("DELETE FROM secret WHERE age = 0")
        db.run(spec)
    secret = db.engine.fetch("SELECT secret FROM _sqlanon.secrets WHERE release = 'keyed'")[0][0]
    texts = [*sent["Query"], *sent["Parse"]] if postgres else sent
    names = {name for text in texts for name in re.findall(r" name: (\S+)", text)}
    hidden = (secret, str(SEED))
    assert len(secret) == 64
    assert not [text for text in texts if any(value in text for value in hidden)]
    assert {"table/stage", "table/tied", "history/rows", "catalog/insert_secret"} <= names
    assert db.engine.fetch("SELECT DISTINCT seed FROM _sqlanon.catalog WHERE release = 'keyed'") == [(SEED,)]
    assert not postgres or any(secret in said for said in sent["Bind"])


def test_values_of_a_statement_are_no_part_of_what_is_sent_with_it(connect, tmp_path):
    """Whatever is sent before or after it, and where it fails; all is one transaction."""
    db = connect(ENGINES[2])
    made = Statement("make", 'CREATE TEMPORARY TABLE "made" AS SELECT CAST(%(v)s AS text) AS v', {"v": CANARY})
    plain = [Statement("a", "SELECT '100%'"), Statement("b", 'CREATE TEMPORARY TABLE "b" AS SELECT 1 AS v')]
    found = Statement("found", "SELECT v FROM made WHERE v = %(v)s", {"v": CANARY})
    wrong = Statement("wrong", "SELECT 1 / (LENGTH(%(v)s) - LENGTH(%(v)s))", {"v": CANARY})
    for by_default in (False, None):
        db.engine._by_default = by_default
        with traced(db.engine._connection, tmp_path / "trace") as sent:
            assert db.engine.fetch(found, first=[*plain, made, *plain[:1]]) == [(CANARY,)]
            assert db.engine.fetch("SELECT reltuples FROM pg_class WHERE relname = 'made'") == [(1.0,)]
            db.engine.execute_all([Statement("drop", "DROP TABLE made"), Statement("drop", "DROP TABLE b")])
            with pytest.raises(sqlanon.DatabaseError):
                db.engine.execute_all([*plain, made, wrong])
        texts = [*sent["Query"], *sent["Parse"]]
        assert not [text for text in texts if CANARY in text]
        assert sum(CANARY in said for said in sent["Bind"]) == 4
        left = db.engine.fetch("SELECT count(*) FROM pg_class WHERE relname IN ('made', 'b')")
        assert left == [(0 if by_default is False else 2,)]
        db.engine.execute_all([])
