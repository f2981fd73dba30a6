"""A DuckDB file written anew: all that was in it is in it, and what cannot be done leaves it as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb import fresh_copy
from sqlanon.lack import notyet
from sqlanon.private_folder import PrivateFolder
from tests.safety.conftest import hear, kill
from tests.safety.worker import compact_on_a_full_disk, compact_until, hold_file

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


def test_everything_of_a_file_is_in_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "everything.duckdb"
    url = made(path, *ALL_KINDS)
    before = content(path)
    assert len(before["triggers"]) == 1
    assert all(before.values())
    inode = path.stat().st_ino
    with sqlanon.connect(url) as db:
        db.engine.execute("CREATE TEMP TABLE own AS SELECT 1")
        report = db.compact()
        assert report.written == (str(path),)
        assert db.engine.fetch("SELECT count(*) FROM a.b.deep") == [(5000,)]  # the connection works on
        held = [str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
        assert [name for name in held if name.startswith(str(path)) and ".spill." not in name] == [
            str(path)
        ]  # the old file is let go
    assert path.stat().st_ino != inode
    assert content(path) == before
    assert alone(path)
    with duckdb.connect(str(path)) as db:
        db.execute("INSERT INTO s.watched VALUES (2)")
        assert db.execute("FROM s.log ORDER BY i").fetchall() == [(1,), (2,)]
        assert db.execute("SELECT nextval('numbers')").fetchall() == [(15,)]
        assert db.execute("FROM called").fetchall() == [(3,)]
        assert db.execute("SELECT bb FROM later ORDER BY bb").fetchall() == [("u",), ("v",)]
        with pytest.raises(duckdb.ConstraintException):
            db.execute("INSERT INTO child VALUES (12345, 'B')")


@pytest.mark.parametrize("version", ["v1.0.0", "v1.4.0", "v2.0.0"])
def test_the_new_file_has_the_storage_version_and_the_block_size_of_the_old_one(tmp_path: Path, version: str) -> None:
    path = tmp_path / "x.duckdb"
    options = f"STORAGE_VERSION '{version}', BLOCK_SIZE 16384"
    compacted(made(path, "CREATE TABLE t AS SELECT range AS i FROM range(10)", options=options))
    with duckdb.connect(str(path)) as db:
        kept = (
            "SELECT tags['storage_version'], block_size FROM duckdb_databases() JOIN pragma_database_size() USING "
            "(database_name)"
        )
        assert db.execute(f"{kept} WHERE NOT internal").fetchall() == [(f"{version}+", 16384)]


def test_changes_that_are_in_the_log_alone_are_in_the_new_file(tmp_path: Path) -> None:
    """A process that was killed left them there."""
    path = tmp_path / "x.duckdb"
    url = made(path, "CREATE TABLE t AS SELECT 1 AS i")
    left = "import duckdb, os; d = duckdb.connect({!r}); d.execute('INSERT INTO t VALUES (2)'); os._exit(0)"
    subprocess.run([sys.executable, "-c", left.format(str(path))], check=True)
    assert Path(f"{path}.wal").exists()
    compacted(url)
    assert alone(path)
    with duckdb.connect(str(path)) as db:
        assert db.execute("FROM t ORDER BY i").fetchall() == [(1,), (2,)]


@pytest.mark.thorough
@pytest.mark.parametrize("stem", ["memory", "temp", "main", 'qu"o', "o'x"])
def test_files_of_any_name(tmp_path: Path, stem: str) -> None:
    path = tmp_path / f"{stem}.duckdb"
    duckdb.connect(str(path)).close()
    with sqlanon.connect(f"duckdb:///{path}") as db:
        db.engine.execute("CREATE TABLE t AS SELECT 1 AS i")
        db.compact()
        assert db.engine.fetch("SELECT i FROM t") == [(1,)]
    assert alone(path)


def test_mode_owner_group_attributes_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "real.duckdb", tmp_path / "link.duckdb"
    duckdb.connect(str(path)).close()
    link.symlink_to("real.duckdb")
    with duckdb.connect(str(link)) as db:
        db.execute("CREATE TABLE t AS SELECT 1 AS i; CREATE VIEW v AS SELECT i FROM real.main.t")
    if os.geteuid() == 0:
        os.chown(path, 12345, 54321)
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.label", b"kept")
    except OSError:
        attributes = []
    else:
        attributes = ["user.label"]
    before = path.stat()
    with sqlanon.connect(f"duckdb:///{link}") as db:
        db.compact()
        assert db.engine.fetch("SELECT i FROM v") == [(1,)]
    after = path.stat()
    assert link.is_symlink()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert [name for name in os.listxattr(path) if name.startswith("user.")] == attributes


def refused(url: str, path: Path, pattern: str, error: type[Exception] = sqlanon.DatabaseError) -> None:
    """Compacting is refused, and the file is the same one as before, byte for byte, with nothing beside it."""
    inode, whole = path.stat().st_ino, path.read_bytes()
    with sqlanon.connect(url) as db, pytest.raises(error, match=pattern):
        db.compact()
    assert (path.stat().st_ino, path.read_bytes()) == (inode, whole)
    assert alone(path)
    assert os.listdir(path.parent)  # noqa: PTH208


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, Path]:
    path = tmp_path / "x.duckdb"
    return made(path, "CREATE TABLE t AS SELECT range AS i FROM range(1000)"), path


def test_a_file_with_other_names_is_refused(small: tuple[str, Path]) -> None:
    """They would keep the old file, with what was erased."""
    url, path = small
    os.link(path, path.with_name("other"))
    refused(url, path, "2 names")


def test_a_file_of_another_user_and_a_folder_that_is_not_to_be_written_are_refused(
    small: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy would be this user's, and could not be made."""
    url, path = small
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        refused(url, path, "belongs to the user with number")
    monkeypatch.setattr(os, "access", lambda *_: False)
    refused(url, path, "may not write in")


def test_a_full_disk_is_refused_before_it_is_full(small: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, path = small
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))  # type: ignore[attr-defined]
    refused(url, path, "1,000 free; free space there")


@pytest.mark.thorough
def test_a_disk_that_is_full_before_the_copy_is_whole_keeps_the_file(tmp_path: Path, start: Any) -> None:
    path = tmp_path / "x.duckdb"
    url = made(path, "CREATE TABLE t AS SELECT md5(range::VARCHAR) AS m FROM range(60000)")
    inode, before = path.stat().st_ino, content(path)
    _, pipe = start(compact_on_a_full_disk, url, path.stat().st_size // 2)
    kind, said = hear(pipe)
    assert (kind, "x.duckdb is as it was, and not compacted: the disk is full" in said) == (
        "DatabaseError",
        True,
    )
    assert hear(pipe) == [(60000,)]
    assert (path.stat().st_ino, content(path), alone(path)) == (inode, before, True)


def test_what_is_not_in_the_copy_keeps_the_file(small: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """As if DuckDB left triggers, rows, or a kind of its catalog out."""
    url, path = small
    copy = fresh_copy._copy

    def leaves_out(connection: Any, database: str, place: Path) -> None:
        copy(connection, database, place)
        with duckdb.connect(str(place)) as db:
            db.execute("DELETE FROM t WHERE i = 7; INSERT INTO t VALUES (8); CREATE VIEW v AS SELECT 1")

    monkeypatch.setattr(fresh_copy, "_copy", leaves_out)
    refused(url, path, "different in the copy: columns main.v.1, rows of main.t, views main.v")


def test_an_open_file_is_refused(small: tuple[str, Path]) -> None:
    url, path = small
    with duckdb.connect(str(path)) as other:
        with sqlanon.connect(url) as db, pytest.raises(sqlanon.LockedError, match="2 connections of this"):
            db.compact()
        other.execute("INSERT INTO t VALUES (1)")
    with (
        sqlanon.connect(url, read_only=True) as db,
        pytest.raises(sqlanon.DatabaseError, match="reading only"),
    ):
        db.compact()


def test_an_engine_without_compaction_says_what_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlanon.connect("duckdb:///:memory:") as db:
        with pytest.raises(sqlanon.UnsupportedError, match="--compact: it has no file of its own"):
            db.check_compaction()
        assert (db.lingering, db.clean()) == ("", ())
        said = "files stay until VACUUM"
        monkeypatch.setattr(type(db.engine), "lacks", {"--compact": notyet(said)})
        assert db.lingering == said
        for action in (db.check_compaction, db.compact):
            with pytest.raises(sqlanon.UnsupportedError, match=said):
                action()


def test_who_opens_the_new_file_first_does_not_undo_what_was_done(
    small: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is closed then, and says so."""
    url, path = small
    inode = path.stat().st_ino

    def locked() -> None:
        raise sqlanon.LockedError("another process was faster")

    with sqlanon.connect(url) as db:
        monkeypatch.setattr(db.engine, "_again", locked)
        assert db.compact().written == (str(path),)
        with pytest.raises(sqlanon.DatabaseError, match="the connection is closed"):
            db.engine.fetch("SELECT 1")
    assert path.stat().st_ino != inode


@pytest.mark.thorough
def test_a_file_that_another_process_opens_meanwhile_is_refused(
    small: tuple[str, Path], start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our connection's end and the lock of the one that copies; then neither has lost anything."""
    url, path = small
    opens = fresh_copy._attach_unlocked

    def late(*arguments: Any) -> None:
        assert hear(start(hold_file, str(path))[1]) == "here"
        opens(*arguments)

    monkeypatch.setattr(fresh_copy, "_attach_unlocked", late)
    refused(url, path, "is locked by process", sqlanon.LockedError)


@pytest.mark.thorough
def test_nobody_writes_the_old_file_while_it_is_copied(
    small: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From before the copy until it is in place other processes are refused.

    Who opened the old file before finds no database in it.
    """
    url, path = small
    writes = f"import duckdb; duckdb.connect({str(path)!r}).execute('INSERT INTO t VALUES (-1)')"
    errors: list[str] = []
    descriptors: list[int] = []

    def tried(step: str) -> None:
        action = getattr(fresh_copy, step)

        def first(*arguments: Any) -> Any:
            if not descriptors:
                descriptors.append(os.dup(os.open(path, os.O_RDONLY)))  # not closed: that would end the lock
            ended = subprocess.run([sys.executable, "-c", writes], capture_output=True, text=True, check=False)
            errors.append(ended.stderr)
            return action(*arguments)

        monkeypatch.setattr(fresh_copy, step, first)

    for step in ("_copy", "put_in_place"):
        tried(step)
    compacted(url)
    assert len(errors) == 2
    assert all("lock" in error for error in errors)
    assert os.pread(descriptors[0], 12, 0) == bytes(12)
    subprocess.run([sys.executable, "-c", writes], check=True)
    with duckdb.connect(str(path)) as db:
        assert db.execute("SELECT count(*), min(i) FROM t").fetchall() == [(1001, -1)]


STEPS = ("_copy", "copied", "_add_triggers", "_give_owner", "put_in_place", "replace", "replaced")


@pytest.mark.parametrize("step", STEPS)
def test_killed_anywhere_leaves_the_old_file_or_the_new_one(tmp_path: Path, start: Any, step: str) -> None:
    path = tmp_path / "everything.duckdb"
    url = made(path, *ALL_KINDS)
    before, inode = content(path), path.stat().st_ino
    process, pipe = start(compact_until, url, step)
    assert hear(pipe) == "here"
    kill(process)
    assert content(path) == before
    assert (path.stat().st_ino != inode) == (step == "replaced")
    assert len(list(tmp_path.glob("everything.duckdb.sqlanon-*"))) == 1
    with sqlanon.connect(url) as db:
        (dropped,) = db.clean()
        assert dropped.startswith(f"{path}.sqlanon-")
        assert db.clean() == ()
    assert alone(path)
    assert content(path) == before


@pytest.mark.thorough
def test_killed_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path, start: Any) -> None:
    path = tmp_path / "everything.duckdb"
    url = made(path, *ALL_KINDS, "CREATE TABLE wide AS SELECT range AS i, md5(range::VARCHAR) AS m FROM range(60000)")
    before, begun = content(path), time.perf_counter()
    compacted(url)
    takes = time.perf_counter() - begun
    for moment in range(20):
        process, pipe = start(compact_until, url, "nowhere")
        assert hear(pipe) == "begins"
        time.sleep(takes * moment / 16)
        kill(process)
        assert content(path) == before
    compacted(url)
    assert content(path) == before
    assert alone(path)


def test_a_folder_of_a_process_that_is_there_is_left(small: tuple[str, Path]) -> None:
    url, path = small
    with PrivateFolder(path) as folder:
        with sqlanon.connect(url) as db:
            assert db.clean() == ()
        assert folder.path.exists()
