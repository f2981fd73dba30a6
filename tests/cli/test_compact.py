"""``--compact`` of erase, unpublish and clean.

It is refused before anything is done, or done afterwards, with a note of what stays.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from sqlanon.engines.duckdb import fresh_copy
from sqlanon.errors import DatabaseError
from tests.cli.conftest import make_duckdb
from tests.cli.test_refresh import edit

NOTE = (
    "note: values of dropped tables can stay in free blocks of the database's file, and in backups, until they are "
    "overwritten; --compact writes the file anew"
)


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def frozen(cli: Any, policy: Path, tmp_path: Path) -> Path:
    """A release with a lineage, published; gives a file with one of its keys."""
    edit(policy, "    privacy:", "    key: id\n    refresh: {mode: frozen}\n    privacy:")
    assert cli("run").code == 0
    keys = tmp_path / "keys.csv"
    keys.write_text("id\n1000\n", encoding="utf-8")
    return keys


@pytest.mark.thorough
def test_erase_says_what_stays_and_compacts(cli: Any, frozen: Path, tmp_path: Path) -> None:
    file = tmp_path / "warehouse.duckdb"
    inode = file.stat().st_ino
    asked = cli("erase", "people", "--key-file", frozen, "--compact")
    assert asked.code == 0
    assert "--yes --compact" in asked.out  # the command to go on with
    assert (file.stat().st_ino, NOTE in one_line(asked.out)) == (inode, False)
    done = cli("erase", "people", "--key-file", frozen, "--yes", "--compact")
    assert done.code == 0
    said = one_line(done.out)
    assert re.search(rf"written anew: {re.escape(str(file))} \([\d,]+ bytes before, [\d,]+ now\) note: backups", said)
    assert NOTE not in said
    assert file.stat().st_ino != inode
    assert "release people: 1 key (1 published, 0 waiting, 0 gone before, 0 never seen) 1 exit group (a class," in said
    assert "tables of 1 earlier version dropped" in said
    (tmp_path / "keys.csv").write_text("id\n1001\n", encoding="utf-8")
    without = cli("erase", "people", "--key-file", frozen, "--yes")
    assert (without.code, NOTE in one_line(without.out)) == (0, True)
    assert "docs/refresh.md, What dropped tables leave in files" in one_line(without.out)


@pytest.mark.usefixtures("frozen")
def test_a_purge_reports_lineages_and_compacts(cli: Any) -> None:
    ended = cli("unpublish", "people", "--purge", "--compact")
    assert ended.code == 0
    said = one_line(ended.out)
    assert "lineage 1 stays in _sqlanon.people_" in said
    assert "60 keys, as hashes, with published values of 60 of them" in said
    assert "as readers may have kept versions" in said
    assert "sqlanon erase people --key-file FILE --yes --compact" in said.replace(" -m sqlanon", " sqlanon")
    assert re.search(
        r'DROP TABLE "_sqlanon"\."people_\w+_lineage1"; DROP TABLE "_sqlanon"\."people_\w+_lineage1_classes"', said
    )
    assert "written anew" in said
    again = cli("unpublish", "people", "--purge", "--compact", "--json").json
    assert (again["purged"], [one["keys"] for one in again["lineages"]], again["erased"]) == ([], [60], 0)
    assert set(again["compacted"]) == {"written", "before", "after", "stays"}
    assert cli("unpublish", "people", "--purge", "--json").json["compacted"] is None


@pytest.mark.usefixtures("policy")
def test_compact_without_what_it_is_for_is_refused(cli: Any, tmp_path: Path) -> None:
    assert cli("run").code == 0
    ended = cli("unpublish", "people", "--compact")
    assert (ended.code, "--compact goes with --purge" in ended.err) == (2, True)
    (tmp_path / "other").hardlink_to(tmp_path / "warehouse.duckdb")
    ended = cli("unpublish", "people", "--purge", "--compact")
    assert (ended.code, "2 names (hard links)" in ended.err) == (3, True)
    assert "published" in cli("releases").out  # nothing was done
    ended = cli("clean", "--compact", "--db", "duckdb:///:memory:")
    assert (ended.code, "--compact: it has no file of its own" in ended.err) == (2, True)


@pytest.mark.thorough
@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.usefixtures("policy")
def test_a_compaction_that_fails_says_what_was_done_and_the_command_that_compacts(
    cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: tuple[str, ...]
) -> None:
    assert cli("run").code == 0

    def full(*_: object) -> None:
        raise DatabaseError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(fresh_copy, "_check_room", full)
        ended = cli("unpublish", "people", "--purge", "--compact", *form)
    assert ended.code == 3
    failed = "the command has done the rest, and nothing is compacted: the disk is full"
    if form:
        assert ended.json["error"]["message"] == failed
        return
    assert f"error: {failed}" in ended.err
    assert "tables of version 1 are dropped" in ended.out
    (advice,) = re.findall(r"^next: (.*)$", ended.err, re.MULTILINE)
    words = shlex.split(advice)
    inode = (tmp_path / "warehouse.duckdb").stat().st_ino
    assert cli(*words[words.index("clean") :]).code == 0
    assert (tmp_path / "warehouse.duckdb").stat().st_ino != inode


def test_clean_names_the_copy_that_a_killed_compaction_left(cli: Any, tmp_path: Path) -> None:
    url = make_duckdb(tmp_path / "x.duckdb", "CREATE TABLE t AS SELECT 1 AS i")
    left = tmp_path / "x.duckdb.sqlanon-00000000"
    left.mkdir()
    from sqlanon.private_folder import _CONTENT, MARKER

    (left / MARKER).write_bytes(_CONTENT)
    assert cli("clean", "--db", url, "--json").json == {"dropped": [str(left)], "compacted": None}
    assert not left.exists()
