"""A value that nobody may tell: not in an error, not in a log record, not in the catalog, not in a file name."""

from __future__ import annotations

import hashlib
import logging

import pytest

import sqlanon
from sqlanon import policy
from tests.engines import create_table

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
    """The shared database; after every test nothing has told the canary."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG, logger="sqlanon")
    shared_db.engine.execute("DROP VIEW IF EXISTS broken")
    shared_db.engine.execute("DROP TABLE IF EXISTS secret")
    rows = [(f"{CANARY}{i}", i % 5, f"{CANARY} {'abc'[i % 3]}", f"{CANARY} {'xy'[i % 2]}") for i in range(30)]
    create_table(shared_db, "secret", PEOPLE, rows)
    caplog.clear()
    yield shared_db
    ours = [record for record in caplog.records if record.name.startswith("sqlanon")]
    assert not [
        r for r in ours if CANARY in r.getMessage() or CANARY in str(r.args) or CANARY in str(r.exc_info)
    ]
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
        source="secret", name="kept", publish="release.kept", quasi=["age", "city"], sensitive="illness", identifiers="id",
        key="id", k=2,
    )  # fmt: skip
    told = [db.run(spec)]
    db.engine.execute("DELETE FROM secret WHERE age = 0")
    told += [
        db.plan(spec),
        db.run(spec),
        *db.history("kept"),
        db.version("kept@1"),
        db.diff("kept@1", "kept@2"),
    ]
    told += [db.rollback("kept")]
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'"
    kept = sorted(
        name for (name,) in db.engine.fetch(names) if name.startswith("kept_") and name.endswith("_history")
    )
    assert len(kept) == 2
    rows = [db.engine.fetch(f"SELECT * FROM _sqlanon.{name}") for name in (*kept, "catalog", "secrets")]
    said = str([one.to_dict() for one in told]) + str(rows)
    assert CANARY not in said
    values = [f"{CANARY}{i}" for i in range(30)] + [f"{CANARY} {c}" for c in "abcxy"]
    for kind in ("md5", "sha1", "sha256", "sha512"):
        assert not [value for value in values if hashlib.new(kind, value.encode()).hexdigest()[:32] in said]


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
    """A type may hold values: its name is told, they are not."""
    from tests.engines import Enum

    kind = Enum((f"{CANARY} a", f"{CANARY} b"))
    db.engine.execute("DROP TABLE IF EXISTS listed")
    create_table(
        db, "listed", {"rank": kind, "age": "INTEGER"}, [(kind.labels[i % 2], i % 5) for i in range(30)]
    )
    for form in ("ranges", "labels", "points", "suppressed"):
        db.anonymize("listed", quasi=["rank", "age"], k=3, ordered=ordered, format=form)
    with pytest.raises(sqlanon.PolicyError) as caught:
        db.anonymize("listed", quasi=["rank", "age"], k=3, ordered={"rank": [f"{CANARY} a"]})
    assert CANARY not in str(caught.value)
    with pytest.raises(sqlanon.SqlanonError) as caught:
        db.anonymize("listed", quasi=["rank", "age"], k=5, mean="rank", allow_weaker=True)
    assert CANARY not in str(caught.value)
