"""A DuckDB file written anew: all that was in it is in it, and what cannot be done leaves it as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.engines.duckdb import fresh_copy
from sqlanon.lack import notyet
from sqlanon.private_folder import PrivateFolder
from tests.safety.compaction import ALL_KINDS, alone, compacted, content, made, refused
from tests.safety.conftest import hear
from tests.safety.worker import compact_on_a_full_disk


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
    assert (kind, "x.duckdb is as it was, and not compacted: the disk is full" in said) == ("DatabaseError", True)
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
    with sqlanon.connect(url, read_only=True) as db, pytest.raises(sqlanon.DatabaseError, match="reading only"):
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


def test_a_folder_of_a_process_that_is_there_is_left(small: tuple[str, Path]) -> None:
    url, path = small
    with PrivateFolder(path) as folder:
        with sqlanon.connect(url) as db:
            assert db.clean() == ()
        assert folder.path.exists()
