"""Errors are one line for each problem, and printable, whatever the names in them are.

On the command line and in Python.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError
from tests.engines import PAIR

NAME = "a\nb\x1b[2J\u202ec"
SHOWN = ("a\\nb\\x1b[2J\\u202ec", "a\\x0ab\\x1b[2J\\u202ec")
"""As errors show it: policies have the escapes of YAML."""
QUOTED = f'"{NAME}"'

RAISE = {
    "no table": lambda db, _: db.anonymize(QUOTED, quasi="age", k=2),
    "no column": lambda db, _: db.anonymize("t", quasi=NAME, k=2),
    "no release": lambda db, _: db.version(f"{NAME} that nobody made@1"),
    "no version": lambda db, _: (
        db.anonymize("t", quasi="age", k=2, name=NAME, publish="release.v"),
        db.version(f"{NAME}@9"),
    ),
    "no published release": lambda db, _: db.report(f"{NAME}?"),
    "not feasible": lambda db, _: db.anonymize("t", quasi="age", k=2000, name=NAME),
    "place is taken": lambda db, _: (
        db.engine.execute(f"CREATE VIEW {QUOTED} AS SELECT 1 AS x"),
        db.anonymize("t", quasi="age", k=2, publish=QUOTED),
    ),
    "alias": lambda db, _: (
        db.anonymize("t", quasi="age", k=2),
        db.query(f"SELECT count(*) AS n FROM t ORDER BY {QUOTED}", release="release.t"),
    ),
    "column of a query": lambda db, _: (
        db.anonymize("t", quasi="age", k=2),
        db.query(f"SELECT count(*) AS n FROM t WHERE {QUOTED} = 1", release="release.t"),
    ),
    "key of a policy": lambda *_: policy.loads('version: 1\nreleases: [{"a\\nb\\e[2J\\u202ec": 1}]', {}),
    "column of a file": lambda _, folder: sqlanon.anonymize(
        file(folder), quasi=NAME, sensitive="x", k=2, to=folder / "to.csv"
    ),
    "file": lambda _, folder: sqlanon.anonymize(folder / f"{NAME}.csv", quasi="x", k=2, to=folder / "to.csv"),
}


def file(folder: Path) -> Path:
    """Two columns of nearly the same name: neither can be meant."""
    path = folder / "t.csv"
    path.write_text(f'"{NAME}","{NAME.upper()}",x\n' + "1,2,3\n" * 5, encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=PAIR, ids=lambda engine: engine.name)
def ages(request: pytest.FixtureRequest, connect_module: Any) -> Any:
    db = connect_module(request.param)
    db.engine.execute("CREATE TABLE t AS SELECT i AS age FROM generate_series(1, 40) AS g(i)")
    return db


@pytest.mark.parametrize("kind", RAISE)
def test_every_problem_is_one_printable_line(ages: Any, tmp_path: Path, kind: str) -> None:
    with pytest.raises(SqlanonError) as caught:
        RAISE[kind](ages, tmp_path)
    lines = str(caught.value).split("\n")
    assert lines == caught.value.problems
    assert all(line.isprintable() for line in lines)
    assert any(shown in str(caught.value) for shown in SHOWN)


def test_problems_stay_apart_through_a_pickle() -> None:
    error = PolicyError(["first", f"second {NAME}"]).with_advice("--yes")
    again = pickle.loads(pickle.dumps(error))
    assert (again.problems, str(again), again.options) == (error.problems, str(error), ("--yes",))
    assert error.problems == ["first", f"second {SHOWN[0]}"]
    assert str(DatabaseError("two\nlines")) == "two\\nlines"


def test_the_line_of_a_query_stays_above_its_carets() -> None:
    """Each character is one character, whatever it is."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TABLE t AS SELECT i AS age FROM generate_series(1, 40) AS g(i)")
        db.anonymize("t", quasi="age", k=2)
        query = 'SELECT count(*)\tAS "x\x1b[2J\u202e", nothing(age)\nFROM t'
        with pytest.raises(SqlanonError) as caught:
            db.query(query, release="release.t")
    *_, line, carets = str(caught.value).split("\n")
    assert line.isprintable()
    assert len(line) == len("  " + query.split("\n", maxsplit=1)[0])
    assert line[carets.index("^") : len(carets)] == "nothing(age)"
