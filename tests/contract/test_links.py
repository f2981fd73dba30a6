"""The private link table: each row's link is the engine's own hash of the columns that tie it to its source row.

DuckDB keeps no link with the staged rows where it can be made of them; the expected values are hashes of the source
itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.policy import release
from sqlanon.table import staged_enums

MADE = """CREATE TYPE size AS ENUM ('s', 'm', 'l');
CREATE TABLE t AS SELECT CAST(i % 40 AS SMALLINT) AS x,
    CASE WHEN i < 3 THEN 'rare' ELSE ['é', 'b', NULL, 'longer than twelve bytes'][1 + i % 4] END AS s,
    CASE i % 3 WHEN 0 THEN -0.0 WHEN 1 THEN 0.0 ELSE CAST('nan' AS DOUBLE) END AS f,
    CAST(['s', 'm', 'l'][1 + i % 3] AS size) AS e,
    CAST(i % 5 || ' days' AS INTERVAL) AS v, ['u', 'v', 'w'][1 + i % 3] AS d, i // 2 AS name
FROM range(400) AS r(i)"""
PLAIN = "x, s, f, CAST(e AS VARCHAR), v, d"
LEFT_OUT = {"suppression": {"limit": 0.9, "rows": "left_out"}, "method": "fulldomain:search=global"}


@pytest.mark.parametrize("many", [0, 10**9], ids=["listed texts", "plain texts"])
@pytest.mark.parametrize(
    ("drop", "options", "hashed"),
    [
        ("DROP COLUMN name", {}, PLAIN),
        ("DROP COLUMN name", LEFT_OUT, PLAIN),
        ("RENAME COLUMN name TO number", {"rest": "drop"}, f"{PLAIN}, number"),
        ("RENAME COLUMN name TO id", {"identifiers": ["id"], "accept_repeats": ["id"]}, f"{PLAIN}, id"),
    ],
    ids=["staged", "left out", "not staged", "identifier"],
)
def test_links_are_hashes_of_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int, drop: str, options: dict[str, Any], hashed: str
) -> None:
    monkeypatch.setattr(staged_enums, "MANY_ROWS", many)
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"{MADE}; ALTER TABLE t {drop}")
    with sqlanon.connect(f"duckdb:///{path}") as db:
        report = db.anonymize(
            "t", quasi=["x", "s", "f", "e"], sensitive="d", insensitive=["v"], k=4, seed=1, allow_weaker=True, **options
        ).report
        (linked,) = [
            row[0]
            for row in db.engine.fetch("SELECT table_name FROM duckdb_tables() WHERE schema_name = '_sqlanon'")
            if str(row[0]).endswith("_link")
        ]
        found = db.engine.fetch(f'SELECT link FROM _sqlanon."{linked}" ORDER BY link')
        assert found == db.engine.fetch(f"SELECT hash({hashed}) AS link FROM t ORDER BY link")
        assert report.rows == len(found) == 400
        assert (report.left_out > 0) == (options is LEFT_OUT)
    assert (report.left_out > 0) == (options is LEFT_OUT)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rest", "changed"), [([], 20), (["other"], 60)], ids=["every column is published", "one is not"]
)
def test_a_value_of_an_enum_is_known_by_its_text(tmp_path: Path, rest: list[str], changed: int) -> None:
    """DuckDB hashes the place of a value in its type.

    Another place is no change, and another value at the same place is one.

    Each x goes with each value twice, so that only what was m is new; with ``other`` every row is one of its own.
    """
    path, more = tmp_path / "t.duckdb", "".join(f", i AS {name}" for name in rest)

    def write(type_: str, values: str) -> None:
        with duckdb.connect(str(path)) as connection:
            connection.execute("DROP TABLE IF EXISTS t; DROP TYPE IF EXISTS size")
            connection.execute(f"CREATE TYPE size AS ENUM ({type_})")
            connection.execute(
                f"CREATE TABLE t AS SELECT i % 10 AS x, CAST([{values}][1 + i % 3] AS size) AS e{more} FROM range(60) "
                "AS r(i)"
            )

    changes = []
    for type_, values in (
        ("'s', 'm', 'l'", "'s', 'm', 'l'"),
        ("'l', 'x', 's', 'm'", "'s', 'm', 'l'"),
        ("'l', 'x', 's'", "'l', 'x', 's'"),
    ):
        write(type_, values)
        with sqlanon.connect(f"duckdb:///{path}") as db:
            spec = release(source="t", quasi="x", insensitive="e", rest="drop", k=3, publish="release.t")
            report = db.run(spec)
            changes.append((report.outcome, report.data and (report.data.added, report.data.removed)))
    assert changes[1:] == [("unchanged", None), ("published", (changed, changed))], changes
