"""Ways to run the command line: in this process, or as a process of its own."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.invoked import invoke

ROOT = Path(__file__).parents[2]
START = "from sqlanon.cli import main; main()"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout; anything else on it fails."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        assert self.out.count("\n") == 1
        return value


Cli = Callable[..., Ended]


def run(*words: object) -> Ended:
    """Run one command in this process."""
    ended = invoke(*words)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run one command in this process, in the test's own directory."""
    monkeypatch.chdir(tmp_path)
    return run


def environment(**extra: str) -> dict[str, str]:
    """This process's environment with our checkout first, and no terminal's size."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "PYTHONPATH")}
    return {**inherited, "PYTHONPATH": str(ROOT), **extra}


def python(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run Python as a process of its own; without ``check`` it may fail."""
    command = [sys.executable, *words]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, check=check)


@pytest.fixture
def shell(tmp_path: Path) -> Cli:
    """Run one command as a process of its own."""

    def run(*words: object, **extra: str) -> Ended:
        ended = subprocess.run(
            [sys.executable, "-c", START, *(str(word) for word in words)],
            cwd=tmp_path,
            env=environment(**extra),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """A CSV file; None is an empty field."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


HEADER = ("id", "age", "zip", "sex", "disease")


def people(rows: int = 60) -> list[tuple[object, ...]]:
    """A small table whose diseases are spread evenly over everything else."""
    diseases = ("flu", "asthma", "ulcer")
    return [(1000 + n, 20 + n * 7 % 41, f"{53700 + n % 5}", "MF"[n // 3 % 2], diseases[n % 3]) for n in range(rows)]


@pytest.fixture
def people_csv(tmp_path: Path) -> Path:
    """That table as a file."""
    return write_csv(tmp_path / "people.csv", HEADER, people())


def make_duckdb(path: Path, *statements: str) -> str:
    """A DuckDB file made by these statements; gives its URL."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{path}"


@pytest.fixture(scope="session")
def people_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file with that table as ``main.people``, which tests copy: to make one takes longer."""
    path = tmp_path_factory.mktemp("shelf") / "people.duckdb"
    rows = ", ".join(map(str, people()))
    make_duckdb(
        path,
        "CREATE TABLE people (id BIGINT, age BIGINT, zip VARCHAR, sex VARCHAR, disease VARCHAR)",
        f"INSERT INTO people VALUES {rows}",
    )
    return path


@pytest.fixture
def warehouse(tmp_path: Path, people_file: Path) -> str:
    """The URL of a copy of that file."""
    path = tmp_path / "warehouse.duckdb"
    shutil.copyfile(people_file, path)
    return f"duckdb:///{path}"


POLICY = """\
version: 1
connection: {url}
releases:
  - name: people
    source: main.people
    publish: release.people
    columns:
      id: {{role: identifier}}
      age: {{role: quasi}}
      zip: {{role: quasi}}
      sex: {{role: quasi}}
      disease: {{role: sensitive}}
    privacy: {{k: 5, l: 2}}
"""


@pytest.fixture
def policy(tmp_path: Path, warehouse: str) -> Path:
    """An ``anon.yml`` that releases that table."""
    path = tmp_path / "anon.yml"
    path.write_text(POLICY.format(url=warehouse), encoding="utf-8")
    return path


Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Run one command on a pseudo terminal and answer its questions.

    Returns its exit code, and the text on the terminal without colours.

    ``answers`` are pairs: a text to wait for, and what is typed then.
    """

    def run(*words: object, answers: Sequence[tuple[str, str]] = (), **extra: str) -> tuple[int, str]:
        main, other = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", START, *map(str, words)],
            cwd=tmp_path,
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment(TERM="xterm", COLUMNS="200", **extra),
        )
        os.close(other)
        shown, at, left = "", 0, list(answers)
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if not select.select([main], [], [], 1)[0]:
                continue
            try:
                shown += os.read(main, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
            while left and left[0][0] in shown[at:]:
                wanted, typed = left.pop(0)
                at = shown.index(wanted, at) + len(wanted)
                os.write(main, f"{typed}\n".encode())
        os.close(main)
        if left:
            process.kill()
        code = process.wait(timeout=300)
        assert not left, (left, shown)
        return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")

    return run
