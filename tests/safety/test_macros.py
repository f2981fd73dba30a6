"""Macros in a DuckDB file that are named like everything DuckDB has.

Whatever we do there gives what it gives in a clean file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines import guest
from sqlanon.engines.base import TableRef
from sqlanon.progress import SilentProgress
from sqlanon.release.divide.classes import Machine

OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "||",
    "**",
    "^",
    "<<",
    ">>",
    "&",
    "|",
    "~",
    "~~",
    "!~~",
    "^@",
    "@",
    "&&",
    "->>",
)
OTHERS = ("extract", "array_extract", "struct_pack", "list_value", "coalesce", "greatest", "least", "if", "count_star")
RELEASE = policy.release(
    source="people",
    quasi=["age", "zip", "born"],
    sensitive="illness",
    identifiers="id",
    insensitive="note",
    k=5,
    distinct_l=2,
    name="people",
    publish="release.people",
    mean=["age"],
    key="id",
    seed=5,
    keep=3,
)
PAIR = policy.release(
    source="people",
    quasi=["age", "zip"],
    sensitive="illness",
    identifiers="id",
    insensitive=["note", "born"],
    l=2,
    method="anatomy",
    format="anatomy",
    name="pair",
    publish="release.pair",
    seed=5,
)
WORKLOAD = """
version: 1
queries:
  - {name: joined, sql: "SELECT p.zip, count(*) AS n FROM main.people AS p WHERE p.age - 1 < 9 GROUP BY p.zip"}
  - {name: plain, sql: "SELECT count(*) AS n, sum(people.age) AS s FROM People WHERE people.age < 9"}
generators: [{kind: equality, columns: zip}, {kind: datacube, level: 1}]
"""


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def spoil(connection: duckdb.DuckDBPyConnection) -> int:
    """Macros for every function, table function and operator, in main and in a schema that releases go to."""
    known = connection.execute(
        "SELECT DISTINCT function_name, function_type LIKE '%table%' FROM duckdb_functions()"
    ).fetchall()
    scalar = {name for name, table in known if not table} | set(OPERATORS) | set(OTHERS)
    tables = {name for name, table in known if table} - scalar
    for schema, names in (
        ("main", scalar),
        ("release", {*OPERATORS, "min", "max", "count", "sum"}),
        ("system", {"min", "+"}),
    ):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS spoiled.{schema}")
        for name in sorted(names):
            bodies = ", ".join(f"({', '.join('abcde'[:count])}) AS 1000" for count in range(6))
            connection.execute(f"CREATE MACRO spoiled.{schema}.{_quoted(name)}{bodies}")
    for name in sorted(tables):
        bodies = ", ".join(f"({', '.join('ab'[:count])}) AS TABLE (SELECT 99 AS n)" for count in range(3))
        connection.execute(f"CREATE MACRO spoiled.main.{_quoted(name)}{bodies}")
    for name in ("duckdb_columns", "duckdb_views", "duckdb_schemas", "tables", "columns"):
        connection.execute(f"CREATE TABLE spoiled.main.{name} (x INTEGER)")
    return len(scalar) + len(tables)


def source(path: Path, rows: range, *, spoiled: bool = False) -> None:
    """The people of a file; the connection's own database is another one, where builtins are builtins."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS spoiled")
        connection.execute("DROP TABLE IF EXISTS spoiled.main.people")
        connection.execute(
            "CREATE TABLE spoiled.main.people AS SELECT CAST(i AS INTEGER) AS id, CAST(i % 17 AS INTEGER) AS age, "
            "chr(CAST(97 + i % 4 AS INTEGER)) AS zip, DATE '2020-01-01' + CAST(i % 11 AS INTEGER) AS born, "
            "CASE WHEN i % 3 = 0 THEN 'flu' WHEN i % 3 = 1 THEN 'cold' ELSE 'gout' END AS illness, i % 2 AS note "
            f"FROM range({rows.start}, {rows.stop}) AS r(i)"
        )
        if spoiled:
            assert spoil(connection) > 500


def rows_of(path: Path, *tables: str) -> list[list[tuple[Any, ...]]]:
    """Tables of a file, as one reads them from a database without macros, sorted."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS given (READ_ONLY)")
        read = [connection.execute(f"SELECT * FROM given.{table}").fetchall() for table in tables]
    return [sorted((tuple(map(_without_token, row)) for row in rows), key=repr) for rows in read]


def _without_token(cell: Any) -> Any:
    """A cell of the metadata without the random token of its version."""
    return re.sub(r'"token": "[0-9a-f]{32}"', "", cell) if isinstance(cell, str) else cell


def plain(report: Any) -> Any:
    """A report without what differs from one moment and file to the next."""
    reported = json.loads(json.dumps(report if isinstance(report, dict | list) else report.to_dict(), default=str))
    return _without(reported)


def _without(reported: Any) -> Any:
    if isinstance(reported, dict):
        dropped = ("seconds", "stages", "published_at", "checked_at", "fingerprint", "estimate_seconds")
        dropped += ("bytes_read", "bytes_written")  # as the engine stores its tables
        return {key: _without(value) for key, value in reported.items() if key not in dropped}
    if isinstance(reported, list):
        return [_without(item) for item in reported]
    return float(f"{reported:.9g}") if isinstance(reported, float) else reported  # sums of floats depend on the threads


def everything(folder: Path, *, spoiled: bool) -> dict[str, Any]:
    """All that can be done with a file, and what came of it."""
    folder.mkdir()
    path, shared = folder / "people.duckdb", folder / "shared.duckdb"
    source(path, range(90), spoiled=spoiled)
    url = f"duckdb:///{path}"
    ask = (
        "SELECT zip, count(*) AS n, avg(age) AS mean FROM people WHERE age + 1 < 9 AND born >= DATE '2020-01-03' GROUP "
        "BY zip"
    )
    found: dict[str, Any] = {}
    with sqlanon.connect(url) as db:
        found["profile"] = [str(one) for one in db.profile("people")]
        found["plan"] = plain(db.plan(RELEASE))
        found["run"] = plain(db.run(RELEASE))
        found["pair"] = plain(db.run(PAIR))
        found["functions"] = db.install_functions("made")
        found["ask"] = plain(db.query(ask, release="release.people"))
        found["sample"] = sorted(map(str, db.sample("release.people", 1000)[1]))
        workload = folder / "workload.yml"
        workload.write_text(WORKLOAD, encoding="utf-8")
        found["evaluate"] = plain(db.evaluate("people", workload))
        for execution in ("kernel", "pushdown"):
            spec = policy.release(
                source="main.people",
                quasi=["age", "zip"],
                identifiers="id",
                rest="drop",
                k=4,
                method="mondrian",
                execution=execution,
                publish=f"release.{execution}",
                name=execution,
                format="labels",
                seed=1,
            )
            found[execution] = plain(db.run(spec))
        second = policy.release(
            source="people",
            quasi=["age", "zip"],
            sensitive="illness",
            identifiers="id",
            rest="drop",
            k=3,
            name="second",
            publish="release.second",
            publish_file=str(shared),
            seed=5,
        )
        report = plain(db.run(second))
        found["second"] = {key: report[key] for key in ("rows", "classes", "min_class", "requirements")}
    source(path, range(3, 96))
    with sqlanon.connect(url) as db:
        found["again"] = plain(db.run(RELEASE))
        found["history"] = [plain(one) for one in db.history("people")]
        db.run(second)
        found["back"] = plain(db.rollback("people"))
        db.rollback("second")
        found["together"] = plain(db.together("kernel", "pushdown"))
        found["clean"] = db.clean()
        found["releases"] = [(row.release, row.version, row.status, row.min_class) for row in db.releases()]
    with sqlanon.connect(url, read_only=True) as db:
        found["audit"] = plain(db.audit("release.people", sensitive=["illness"], spec=RELEASE))
        found["audit pair"] = plain(db.audit("release.pair", spec=PAIR))
        found["diff"] = plain(db.diff("people@1", "people@2"))
    found["rows"] = rows_of(path, "release.people", "release.people_metadata", "release.pair", "release.pushdown")
    found["rows of the file"] = rows_of(shared, "release.second")
    return found


@pytest.mark.thorough
def test_macros_change_nothing(tmp_path: Path) -> None:
    clean = everything(tmp_path / "clean", spoiled=False)
    spoiled = everything(tmp_path / "spoiled", spoiled=True)
    assert spoiled.keys() == clean.keys()
    for step, expected in clean.items():
        assert spoiled[step] == expected, step
    assert clean["run"]["min_class"] >= 5
    assert len(clean["rows"][0]) == 90


def test_a_view_that_uses_macros_keeps_them(tmp_path: Path) -> None:
    """What a view of the source means is its owner's business."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE MACRO main.decade(x) AS (x // 10) * 10")
        connection.execute("CREATE TABLE people AS SELECT i AS age FROM range(40) AS r(i)")
        connection.execute("CREATE VIEW decades AS SELECT decade(age) AS age FROM people")
    with sqlanon.connect(f"duckdb:///{path}") as db:
        assert db.anonymize("decades", quasi="age", k=5).report.classes == 4


def test_macros_of_a_host() -> None:
    """A process that passes its connection may have macros in its database and for its session."""
    with duckdb.connect() as session:
        session.execute("CREATE TABLE people AS SELECT i // 4 AS age, 'flu' AS illness FROM range(20) AS r(i)")
        for kind in ("", "TEMP "):
            for name in ("min", "max", "count", "sum", "+", "-", "*", ">=", "floor"):
                session.execute(f"CREATE {kind}MACRO {_quoted(name)}(a) AS 1000, (a, b) AS 1000")
        with guest(session) as inside:
            inside.take(session.table("people"), TableRef("main", "source"))
            db = sqlanon.Database(inside.engine, SilentProgress(), Machine.here())
            release = db.anonymize("source", quasi="age", sensitive="illness", k=4, publish="release.r")
            assert (release.report.min_class, release.report.classes) == (4, 5)
            assert len(inside.give(TableRef("release", "r"))) == 20
        assert session.execute("FROM duckdb_databases()").fetchall()
        assert {row[0] for row in session.execute("SHOW DATABASES").fetchall()} == {"memory"}


@pytest.mark.parametrize("name", ["release", "temporary", "main", "with space"])
def test_a_file_named_like_something_of_ours(tmp_path: Path, name: str) -> None:
    """A database is named by its file: names that could mean a schema mean the database of the URL."""
    path = tmp_path / f"{name}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i // 5 AS age FROM range(20) AS r(i)")
    with sqlanon.connect(f"duckdb:///{path}") as db:
        assert db.anonymize("people", quasi="age", k=5).report.min_class == 5
        assert db.audit("release.people").k == 5


def test_a_file_named_like_the_private_schema(tmp_path: Path) -> None:
    path = tmp_path / "_SQLANON.duckdb"
    duckdb.connect(str(path)).close()
    with pytest.raises(sqlanon.DatabaseError, match="rename the file"):
        sqlanon.connect(f"duckdb:///{path}")
    assert list(tmp_path.iterdir()) == [path]
