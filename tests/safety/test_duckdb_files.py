"""Temporary files of DuckDB and sqlanon.

It tests who can read them, what is left of them, and the effect of a full disk.
"""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon import private_folder
from sqlanon.cli.failures import describe
from sqlanon.engines.duckdb.errors import explain
from sqlanon.private_folder import MARKER, PrivateFolder, sweep
from tests.engines import ENGINES
from tests.invoked import invoke
from tests.safety.conftest import FILE, hear, kill
from tests.safety.people import RELEASE, write_people
from tests.safety.worker import run_on_a_full_disk, spill_until


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def path_of(url: str) -> Path:
    return Path(url.removeprefix("duckdb:///"))


def spilled(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}.sqlanon-*"))


@pytest.mark.parametrize("engine", ENGINES[:2], ids=lambda engine: engine.name)
def test_spilled_rows_are_nobody_elses_and_do_not_outlive_a_kill(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Any
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    url = engine.fresh(tmp_path)
    name = "duckdb-spill" if "memory" in url else f"{path_of(url).name}.spill"
    process, pipe = start(_with_umask_0, url, str(tmp_path))
    assert hear(pipe) == "here"
    (folder,) = spilled(tmp_path, name)
    assert mode(folder) == 0o700
    held = [Path(at) / file for at, _, files in os.walk(tmp_path) for file in files if "duckdb_temp" in file]
    assert held
    assert all(file.is_relative_to(folder) for file in held)
    assert sweep(tmp_path / name) == []  # its process is there
    kill(process)
    assert spilled(tmp_path, name) == [folder]
    with sqlanon.connect(url) as db:
        assert folder not in spilled(tmp_path, name)
        db.clean()
    assert spilled(tmp_path, name) == []


def _with_umask_0(reported: Any, url: str, temporary: str) -> None:
    os.umask(0)
    tempfile.tempdir = temporary
    spill_until(reported, url)


def test_connections_of_one_process_share_the_folder(make_url: Any) -> None:
    url = make_url(FILE)
    folder, name = path_of(url).parent, f"{path_of(url).name}.spill"
    with sqlanon.connect(url) as one:
        with sqlanon.connect(url):
            assert len(spilled(folder, name)) == 1
        assert len(spilled(folder, name)) == 1
        one.engine.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert spilled(folder, name) == []


def test_somebody_elses_connection_of_this_process_goes_on(make_url: Any) -> None:
    url = make_url(FILE)
    with duckdb.connect(str(path_of(url))) as theirs:
        before = theirs.execute("SELECT current_setting('temp_directory')").fetchall()
        with sqlanon.connect(url):
            assert theirs.execute("SELECT current_setting('temp_directory')").fetchall() != before
        assert theirs.execute("SELECT current_setting('temp_directory')").fetchall() == before
        names = theirs.execute("SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall()
        assert names == [(path_of(url).stem,)]


def test_only_our_own_folders_are_removed(tmp_path: Path) -> None:
    """Names prove nothing: not a folder of the user's, nor a file or a link, nor one whose process lives."""
    stem = tmp_path / "shared [1].duckdb"
    mine = tmp_path / f"{stem.name}.sqlanon-mine"
    (mine / "deep").mkdir(parents=True)
    (tmp_path / f"{stem.name}.sqlanon-file").write_text("mine", encoding="utf-8")
    marked = tmp_path / f"{stem.name}.sqlanon-marked"
    marked.mkdir()
    (marked / MARKER).write_text("mine", encoding="utf-8")
    with PrivateFolder(stem) as folder:
        (tmp_path / f"{stem.name}.sqlanon-link").symlink_to(folder.path)
        before = sorted(tmp_path.iterdir())
        assert sweep(stem) == []
        assert sorted(tmp_path.iterdir()) == before
    assert not folder.path.exists()
    code = f"import os, pathlib, sqlanon.private_folder as p; p.PrivateFolder(pathlib.Path({str(stem)!r})); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(sweep(stem)) == 1
    assert sorted(tmp_path.iterdir()) == [path for path in before if path != folder.path]


@pytest.mark.parametrize("step", ["os.open", "fcntl.flock", "os.write", "pathlib.Path.rename", "unlink", "rmdir"])
def test_a_folder_is_removed_wherever_its_process_was_killed(tmp_path: Path, step: str) -> None:
    """Before its marker is in place, and while it is removed."""
    stem = tmp_path / "shared.duckdb"
    ends = {"unlink": "os.unlink = ending(os.unlink)", "rmdir": "os.rmdir = ending(os.rmdir, 2)"}.get(
        step, f"{step} = lambda *arguments, **named: os._exit(9)"
    )
    code = f"""
import fcntl, os, pathlib
import sqlanon.private_folder as p
def ending(function, last=1):
    calls = []
    def call(*arguments, **named):
        calls.append(1)
        if len(calls) == last:
            os._exit(9)
        return function(*arguments, **named)
    return call
{ends}
folder = p.PrivateFolder(pathlib.Path({str(stem)!r}))
(folder.path / "deep").mkdir()
(folder.path / "rows").write_text("rows")
folder.remove()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    (left,) = tmp_path.iterdir()
    assert sweep(stem) == [left]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_process_sweeps_before_its_marker_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stem, swept = tmp_path / "shared.duckdb", list[Path]()
    lock = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        swept.extend(sweep(stem))
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with PrivateFolder(stem) as folder:
        assert len(swept) == 1
        assert swept[0] != folder.path
        assert sweep(stem) == []
        assert list(tmp_path.iterdir()) == [folder.path]
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_takes_the_place_of_a_folder_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a folder and its removal; nor is a folder removed that keeps rows."""
    stem, victim = tmp_path / "shared.duckdb", tmp_path / "victim"
    victim.mkdir()
    (victim / "rows").write_text("rows", encoding="utf-8")
    code = f"import os, pathlib, sqlanon.private_folder as p; p.PrivateFolder(pathlib.Path({str(stem)!r})); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    (left,) = tmp_path.glob("shared.duckdb.*")
    remove = private_folder._remove

    def swapped(folder: Path) -> bool:
        folder.rename(tmp_path / "away")
        folder.symlink_to(victim)
        return remove(folder)

    with monkeypatch.context() as patch:
        patch.setattr(private_folder, "_remove", swapped)
        sweep(stem)
    assert (victim / "rows").read_text(encoding="utf-8") == "rows"
    left.unlink()
    (tmp_path / "away").rename(left)
    (left / "rows").write_text("rows", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", lambda *_, **__: None)
        assert sweep(stem) == []
    assert (left / MARKER).exists()
    assert sweep(stem) == [left]


def test_clean_keeps_the_users_folders(make_url: Any, tmp_path: Path) -> None:
    file = tmp_path / "shared.duckdb"
    mine = tmp_path / "shared.duckdb.sqlanon-backup"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine", encoding="utf-8")
    with sqlanon.connect(make_url(FILE)) as db:
        write_people(db.engine)
        db.anonymize("people", publish_file=str(file), **RELEASE)
        db.engine.execute("UPDATE _sqlanon.catalog SET status = 'pending'")
        db.clean()
    assert (mine / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("known", [None, 0o640, 0o600])
def test_the_mode_of_what_is_written(known: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target keeps its mode, a new one gets the usual one; until it is whole nobody else can open it."""
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("age\n" + "".join(f"{i // 5}\n" for i in range(20)), encoding="utf-8")
    if known is not None:
        target.write_text("before", encoding="utf-8")
        target.chmod(known)
    replace, seen = os.replace, []

    def watched(written: Any, to: Any) -> None:
        seen.append(mode(Path(written).parent))
        replace(written, to)

    monkeypatch.setattr(os, "replace", watched)
    before = os.umask(0o027)
    try:
        sqlanon.anonymize(source, to=target, quasi="age", k=5)
    finally:
        os.umask(before)
    assert seen == [0o700]
    assert mode(target) == (0o640 if known is None else known)
    assert sorted(tmp_path.iterdir()) == [target, source]


@pytest.mark.thorough
def test_a_full_disk(make_url: Any, tmp_path: Path, start: Any) -> None:
    """Wherever it fills up: an error of ours that says what to do, and the next run works."""
    url, file, csv = make_url(FILE), tmp_path / "shared.duckdb", tmp_path / "people.csv"
    rows = 12_000
    with sqlanon.connect(url) as db:
        db.engine.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 50 AS age, md5(CAST(i AS VARCHAR)) || md5(CAST(-i AS "
            f"VARCHAR)) AS note FROM range({rows}) AS r(i)"
        )
        db.engine.execute(f"COPY people TO '{csv}'")
    limits = [300_000, 700_000]
    _, pipe = start(run_on_a_full_disk, url, str(file), str(csv), limits)
    for _ in range(3 * len(limits)):
        limit, kind, said = hear(pipe)
        assert kind == "DatabaseError", (limit, kind, said)
        assert "free space" in said, (limit, said)
        assert "--debug" not in said
    assert not file.exists()
    for _ in range(2):
        assert hear(pipe) == (0, "", "")
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM release.people").fetchall() == [(rows,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "people.csv.out.csv", "shared.duckdb"]


@pytest.mark.thorough
def test_read_only_shares_the_file(make_url: Any) -> None:
    url = make_url(FILE)
    with sqlanon.connect(url) as db:
        write_people(db.engine)
        db.anonymize("people", **RELEASE)
    look = (
        f"import sqlanon\nwith sqlanon.connect({url!r}, read_only=True) as db: print(db.audit('release.people').rows)"
    )
    with sqlanon.connect(url, read_only=True) as db:
        other = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
        assert other.stdout == "40\n", other.stderr
        assert db.query("SELECT count(*) AS n FROM people").rows[0]["n"].estimate == 40
        with pytest.raises(sqlanon.DatabaseError, match="open for reading only") as caught:
            db.anonymize("people", **RELEASE)
        assert "--debug" not in str(caught.value)
        with pytest.raises(sqlanon.LockedError, match="reading only"):
            sqlanon.connect(url)
    with sqlanon.connect(url):
        other = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
        assert f"locked by process {os.getpid()}" in other.stderr
        assert "nobody read" in other.stderr
        with sqlanon.connect(url, read_only=True) as db:  # this process may
            assert len(db.releases()) == 1


@pytest.mark.thorough
def test_commands_that_only_look_open_the_file_for_reading(make_url: Any, tmp_path: Path) -> None:
    """While this process has the file open for reading only, nothing here can open it for writing."""
    url = make_url(FILE)
    with sqlanon.connect(url) as db:
        write_people(db.engine)
        for _ in range(2):
            db.anonymize("people", **RELEASE)
    policy = tmp_path / "anon.yml"
    columns = ", ".join(f"{name}: {{role: quasi}}" for name in ("id", "age", "sex", "illness", "generation"))
    policy.write_text(
        f"version: 1\nconnection: {url}\nreleases:\n"
        f"  - {{name: other, source: people, columns: {{{columns}}}, privacy: {{k: 2}}, publish: release.other}}\n",
        encoding="utf-8",
    )
    workload = tmp_path / "workload.yml"
    workload.write_text("version: 1\ngenerators: [{kind: equality, columns: age}]\n", encoding="utf-8")
    look = (
        ("audit", "release.people"),
        ("releases",),
        ("releases", "show", "people@1"),
        ("diff", "people@1", "people@2"),
        ("query", "SELECT count(*) AS n FROM people"),
        ("evaluate", "people", "-w", workload),
        ("plan", "-p", policy),
        ("init", "people"),
    )
    with sqlanon.connect(url, read_only=True):
        for words in look:
            where = () if words[0] == "plan" else ("--db", url)
            ended = invoke(*words, *where)
            assert ended.exit_code == 0, (words, ended.stderr)
        assert invoke("clean", "--db", url).exit_code == 3


CANARY = "zq81canary"
REFUSALS = {
    "conversion": f"SELECT CAST('{CANARY}' AS INTEGER)",
    "in a column": f'SELECT CAST("when casting from source column {CANARY}" AS INTEGER) FROM '
    f"(SELECT '{CANARY}' AS \"when casting from source column {CANARY}\")",
    "range": "SELECT CAST(9999999999 AS INTEGER)",
    "missing table": f'SELECT * FROM "{CANARY}"',
    "missing column": f'SELECT "{CANARY}" FROM range(3)',
    "constraint": f"INSERT INTO made VALUES ('{CANARY}'), ('{CANARY}')",
    "syntax": f"SELEC '{CANARY}'",
    "file": f"SELECT * FROM read_csv('/nowhere/{CANARY}.csv')",
    "error()": f"SELECT error('No space left on device {CANARY}')",
    "transaction": "COMMIT",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_duckdb_refuses_is_said_in_our_words(name: str) -> None:
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TABLE made (a VARCHAR PRIMARY KEY)")
        with pytest.raises(sqlanon.DatabaseError) as caught:
            db.engine.execute(REFUSALS[name])
    message = describe(caught.value).message
    assert CANARY not in message
    assert "--debug" not in message
    assert type(caught.value.__cause__).__name__ not in message
    assert ";" in message  # what to do


def test_a_column_is_named_where_the_statement_names_it() -> None:
    error = duckdb.ConversionException(
        "Conversion Error: Could not convert string 'when casting from source column x' to INT32 when casting from "
        "source column age"
    )
    assert "column age" in explain(error, 'SELECT CAST("age" AS INTEGER)')
    assert "column" not in explain(error, 'SELECT CAST("x" AS INTEGER)')
