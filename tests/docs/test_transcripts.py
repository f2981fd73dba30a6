"""Blocks of ``console`` on the pages: each command runs in the page's order, and prints what the page shows.

A line ``...`` is any number of lines that the page leaves out. Progress is left out, and so are spaces at the ends of
lines.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import SCREEN, goes_on, pinned_environment
from tests.project.tree import ROOT

PAGES = sorted(path for path in (ROOT / "docs").glob("*.md") if "\n```console\n" in path.read_text(encoding="utf-8"))

EXTRAS = {
    "differential-privacy": ("opendp", "deprecated", "wrapt"),
    "lake": ("deltalake", "arro3-core", "deprecated", "pyarrow", "wrapt"),
    "statistics": ("highspy",),
}
"""Pages about an extra, with the packages of it."""


def transcripts(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands of a page, each with the lines that the page shows below it."""
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.rstrip().split("\n")
            while goes_on(command):
                command = f"{command}\n{shown.pop(0)}"
            if command.endswith("<<'END'"):
                end = shown.index("END") + 1
                command, shown = "\n".join([command, *shown[:end]]), shown[end:]
            yield command, shown


def agrees(printed: list[str], shown: list[str]) -> bool:
    pattern = "".join("(?:.*\n)*" if line.strip() == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.mark.thorough
@pytest.mark.duckdb
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(page, tmp_path):
    environment = pinned_environment(tmp_path / "environment", EXTRAS.get(page.stem, ()))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    parts = list(transcripts(page))
    assert parts
    for command, shown in parts:
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment | SCREEN | {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        lines = [line.rstrip() for line in ended.stdout.splitlines() if not re.fullmatch(r"\[[\w. ]+\] [a-z].*", line)]
        assert agrees(lines, shown), f"{command}\n{ended.stdout}"


def test_agreement_notices_a_changed_line():
    assert agrees(["a", "b", "c"], ["a", "...", "c"])
    assert agrees(["a", "c"], ["a", "...", "c"])
    assert not agrees(["a", "b"], ["a", "...", "c"])
    assert not agrees(["a", "b"], ["a"])
