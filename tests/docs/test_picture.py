"""The picture of the README: its left half is the file, its right half is what the command above it publishes."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest

from tests.docs.commands import README, commands
from tests.invoked import invoke
from tests.project.tree import ROOT


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.duckdb
def test_the_picture_is_a_file_and_its_release(tmp_path, monkeypatch):
    lines = README.read_text(encoding="utf-8").splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("<!-- picture"))
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start + 1 : start + 11]]
    del shown[1]  # the line below the head
    middle = shown[0].index("→")
    assert rows_of(ROOT / "examples" / "visits.csv") == [row[:middle] for row in shown]

    _, *arguments = shlex.split(next(commands(README)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ended = invoke(*arguments)
    assert ended.exit_code == 0, ended.output
    assert rows_of(Path(arguments[-1])) == [row[middle + 1 :] for row in shown]
