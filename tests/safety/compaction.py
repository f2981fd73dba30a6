"""DuckDB files to compact: with everything that a file may hold, and all that is in one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon

LISTINGS = (
    "schemas",
    "tables",
    "views",
    "columns",
    "constraints",
    "indexes",
    "sequences",
    "types",
    "functions",
    "triggers",
)


PASSING = {"database_name", "database_oid", "constraint_index", "estimated_size", "data_type_id", "is_bound", "oid"}


ALL_KINDS = (
    'CREATE SCHEMA s; CREATE SCHEMA "we ird""x"; CREATE SCHEMA a; CREATE SCHEMA a.b',
    "CREATE TYPE mood AS ENUM ('a', 'b', 'c'); CREATE TYPE s.pair AS STRUCT(a INT, m mood)",
    (
        "CREATE SEQUENCE numbers START 5 INCREMENT 2 MAXVALUE 100 CYCLE; SELECT nextval('numbers'); SELECT "
        "nextval('numbers')"
    ),
    "CREATE MACRO plus(x, y := 2) AS x + y; CREATE MACRO over(x) AS x, (x, y) AS x + y; CREATE MACRO sum(x) AS 7",
    (
        "CREATE TABLE t (id INT PRIMARY KEY DEFAULT nextval('numbers'), m mood DEFAULT 'b', x INT CHECK (x > 0), y INT "
        "AS (x + 1), z VARCHAR NOT NULL UNIQUE, p s.pair, d DECIMAL(18, 3) DEFAULT 1.5, q INT DEFAULT plus(1))"
    ),
    (
        "INSERT INTO t (x, z, p) VALUES (1, 'u', {'a': 1, 'm': 'a'}), (2, 'v', NULL), (3, 'gone', NULL); DELETE FROM t "
        "WHERE z = 'gone'"
    ),
    "CREATE TABLE child (pid INT REFERENCES t (id), v VARCHAR COLLATE NOCASE); INSERT INTO child VALUES (9, 'A')",
    "CREATE INDEX ix ON t (x); CREATE UNIQUE INDEX lowered ON child ((lower(v)))",
    (
        'CREATE TABLE "we ird""x"."Ta ble" ("A"" b" INT, "select" VARCHAR); INSERT INTO "we ird""x"."Ta ble" VALUES '
        "(1, "
        "NULL), (NULL, 'x')"
    ),
    (
        "CREATE TABLE nested AS SELECT [1, 2] AS a, MAP {'a': 1} AS b, '101'::BIT AS d, INTERVAL 1 DAY AS e, "
        "TIMESTAMPTZ '2020-01-01 00:00:00+02' AS f, 'x'::BLOB AS g, 170141183460469231731687303715884105727::HUGEINT "
        "AS h, 'NaN'::DOUBLE AS i, '{\"a\": 1}'::JSON AS j, TIMESTAMP 'infinity' AS k, [1, 2, 3]::INT[3] AS l"
    ),
    (
        "CREATE TABLE boss (i INT PRIMARY KEY, p INT REFERENCES boss (i), u VARCHAR UNIQUE, pu VARCHAR REFERENCES boss "
        "(u)); CREATE TABLE aide (i INT REFERENCES boss (i))"
    ),
    (
        "INSERT INTO boss VALUES (5, NULL, NULL, NULL); INSERT INTO boss VALUES (2, 5, 'x', NULL); INSERT INTO boss "
        "VALUES (3, 2, 'y', 'x'), (4, 5, NULL, 'x')"
    ),
    "INSERT INTO aide VALUES (3); CREATE TABLE s.boss (j INT); INSERT INTO s.boss VALUES (1)",
    "CREATE TABLE checked (i INT CHECK (plus(i) > 2), g INT AS (plus(i, 1))); INSERT INTO checked (i) VALUES (1)",
    (
        'CREATE MACRO "^@"(x, y) AS 77; CREATE MACRO "~~"(x, y) AS 77; CREATE MACRO "||"(x, y) AS 77; CREATE MACRO '
        "hash(x) "
        "AS 77; CREATE MACRO list(x) AS 77"
    ),
    "CREATE TABLE a.b.deep AS SELECT range AS i FROM range(5000)",
    "CREATE TABLE s.log (i INT); CREATE TABLE s.watched (i INT)",
    (
        "CREATE TRIGGER seen AFTER INSERT ON s.watched REFERENCING NEW TABLE AS new FOR EACH STATEMENT INSERT INTO "
        "everything.s.log SELECT i FROM new"
    ),
    "INSERT INTO s.watched VALUES (1)",
    (
        "CREATE VIEW v AS SELECT id, z FROM t; CREATE VIEW s.named (aa, bb) AS SELECT * FROM everything.main.v; CREATE "
        "VIEW later AS SELECT * FROM s.named"
    ),
    (
        "CREATE MACRO s.rows_of(n) AS TABLE SELECT * FROM t LIMIT n; CREATE VIEW called AS SELECT plus(1) AS q FROM "
        "s.rows_of(1)"
    ),
    (
        "CREATE TABLE doomed (i INT); CREATE VIEW broken AS SELECT i FROM doomed; CREATE MACRO lost() AS (SELECT "
        "max(i) FROM doomed); DROP TABLE doomed"
    ),
    (
        "COMMENT ON TABLE t IS 'ta''ble'; COMMENT ON COLUMN t.x IS 'column'; COMMENT ON VIEW v IS 'view'; COMMENT ON "
        "MACRO plus IS 'macro'"
    ),
    (
        "COMMENT ON SEQUENCE numbers IS 'sequence'; COMMENT ON TYPE mood IS 'type'; COMMENT ON INDEX ix IS 'index'; "
        "COMMENT ON COLUMN v.z IS 'column of a view'"
    ),
)


def made(path: Path, *statements: str, options: str = "") -> str:
    """A DuckDB file made by these statements; gives its URL."""
    with duckdb.connect() as db:
        db.execute(
            f"ATTACH '{path}' AS \"{path.stem}\" ({options})" if options else f"ATTACH '{path}' AS \"{path.stem}\""
        )
        db.execute(f'USE "{path.stem}"')
        for statement in statements:
            db.execute(statement)
        db.execute("USE memory")
        db.execute(f'DETACH "{path.stem}"')
    return f"duckdb:///{path}"


def content(path: Path) -> dict[str, Any]:
    """All that a file holds, by DuckDB's own lists and every row of every table."""
    found: dict[str, Any] = {}
    with duckdb.connect() as db:
        db.execute(f"ATTACH '{path}' AS everything (READ_ONLY)")
        db.execute("USE everything")  # expressions of columns call its macros
        for listing in LISTINGS:
            columns = [row[0] for row in db.execute(f"DESCRIBE FROM system.main.duckdb_{listing}()").fetchall()]
            kept = ", ".join(name for name in columns if name not in PASSING and not name.endswith("_oid"))
            rows = db.execute(
                f"SELECT {kept} FROM system.main.duckdb_{listing}() WHERE database_name = 'everything'"
            ).fetchall()
            found[listing] = sorted(map(repr, rows))
        for name, text in db.execute(
            "SELECT table_name, sql FROM duckdb_tables() WHERE database_name = 'everything'"
        ).fetchall():
            table = text.removeprefix("CREATE TABLE ").split("(")[0]
            found[f"rows of {name}"] = sorted(
                map(repr, db.execute(f"SELECT _row::VARCHAR FROM everything.{table} AS _row").fetchall())
            )
    return found


def compacted(url: str) -> Any:
    with sqlanon.connect(url) as db:
        return db.compact()


def alone(path: Path) -> bool:
    """Whether nothing lies beside a file that has its name."""
    return [entry.name for entry in path.parent.iterdir() if entry.name.startswith(path.name)] == [path.name]


def refused(url: str, path: Path, pattern: str, error: type[Exception] = sqlanon.DatabaseError) -> None:
    """Compacting is refused, and the file is the same one as before, byte for byte, with nothing beside it."""
    inode, whole = path.stat().st_ino, path.read_bytes()
    with sqlanon.connect(url) as db, pytest.raises(error, match=pattern):
        db.compact()
    assert (path.stat().st_ino, path.read_bytes()) == (inode, whole)
    assert alone(path)
    assert os.listdir(path.parent)  # noqa: PTH208
