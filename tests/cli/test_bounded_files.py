"""Files that options name are regular and bounded.

A pipe is not waited for, a device is not read to its end, and each refusal is one error.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, START, Cli, environment

SPECIAL = ("pipe", "device", "folder", "huge", "wide")


def special(folder: Path, kind: str, name: str) -> Path:
    path = folder / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "wide":  # a first line of a million names
        path.write_text("a" + ",a" * 1_000_000 + "\n", encoding="utf-8")
    else:
        with path.open("wb") as file:
            file.truncate(2**40)  # sparse: takes no space
    return path


def refused(folder: Path, *words: object) -> str:
    """The last line of a command that may use 2 GiB, and is waited for."""
    (folder / "anon.yml").write_text(POLICY.format(url="duckdb:///nowhere.duckdb"), encoding="utf-8")
    limit = 2**31
    ended = subprocess.run(
        [sys.executable, "-c", START, *map(str, words)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        stdin=subprocess.DEVNULL,
    )
    errors = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert (ended.returncode in (2, 3), len(errors)) == (True, 1), ended.stderr
    assert "unexpected" not in errors[0]
    return errors[0]


@pytest.mark.parametrize("kind", SPECIAL)
def test_key_file(cli: Cli, tmp_path: Path, kind: str) -> None:
    path = special(tmp_path, kind, "keys.csv")
    if kind in ("device", "pipe", "huge"):
        text = refused(tmp_path, "erase", "people", "--key-file", path)
        assert text.startswith(f"error: cannot read {path}: ")
    else:
        (tmp_path / "anon.yml").write_text(POLICY.format(url="duckdb:///nowhere.duckdb"), encoding="utf-8")
        assert cli("erase", "people", "--key-file", path).code == 2


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
@pytest.mark.parametrize(
    "words",
    [
        ("plan", "-p", "{}.yml"),
        ("warm", "{}.yml"),
        ("warm", "."),
        ("plan", "--db", "duckdb:///{}.duckdb"),
        ("init", "{}.csv"),
        ("init", "{}.parquet"),
        ("audit", "{}.csv", "--qi", "a"),
        ("audit", "sound.csv", "--qi", "a", "--population", "{}.csv"),
        ("evaluate", "people", "-w", "{}.yml"),
        ("dbt", "plan", "--project-dir", "."),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_other_files(tmp_path: Path, kind: str, words: tuple[str, ...]) -> None:
    default = "x.yml" if words[0] == "warm" else "dbt_project.yml"
    name = next((word for word in words if "{}" in word), default).rpartition("/")[2]
    (tmp_path / "sound.csv").write_text("a,b\n1,2\n2,3\n", encoding="utf-8")
    if kind == "huge" and words[0] in ("init", "audit"):
        pytest.skip("tables may be as large as they are")
    if kind != "huge" and words == ("warm", "."):
        pytest.skip("what is no file is no policy of a folder")
    special(tmp_path, kind, name.format("x"))
    refused(tmp_path, *(word.format("x") for word in words))
