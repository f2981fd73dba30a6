"""``import sqlanon`` in an application: without the packages of the command line, which the extra ``cli`` installs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sqlanon.cli import NEEDED
from tests.project.tree import ROOT

BLOCKED = """\
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""
RELEASE = """\
import sqlanon
with sqlanon.connect("duckdb:///:memory:") as db:
    db.engine.execute("CREATE TABLE t AS SELECT i AS id, i % 9 AS age, 'd' || i % 3 AS ill FROM range(60) AS r(i)")
    release = db.anonymize(
        "t", quasi="age", sensitive="ill", identifiers="id", k=5, method="mondrian", execution="pushdown",
        publish="release.t"
    )
    page = db.report("t")
    print(release.report.rows, release.audit().k >= 5, "<h1" in page)
"""
COMMAND = "import sqlanon.cli\nsys.argv = ['sqlanon', '--version']\nsqlanon.cli.main()\n"


def extra() -> set[str]:
    """What the extra adds, and what that needs alone."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w-]+", one)[0] for one in declared["optional-dependencies"]["cli"]}
    assert not names & {re.match(r"[\w-]+", one)[0] for one in declared["dependencies"]}
    return names


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that finds none of these packages."""
    blocked = sorted(extra() | {"markdown_it", "pygments", "shellingham"})
    return subprocess.run(
        [sys.executable, "-c", BLOCKED.format(blocked=blocked) + text],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_extra_has_what_the_command_names() -> None:
    assert extra() == set(NEEDED)


@pytest.mark.thorough
def test_a_release_and_its_report(tmp_path: Path) -> None:
    done = run(tmp_path, RELEASE)
    assert done.stdout == "60 True True\n", done.stderr


def test_the_command_says_in_one_line_what_to_install(tmp_path: Path) -> None:
    done = run(tmp_path, COMMAND)
    assert done.returncode == 2
    assert done.stderr == "error: the command sqlanon needs typer and rich: pip install 'sqlanon[cli]'\n"


@pytest.mark.parametrize("name", ["run", "dev", "spark", "dbt"])
def test_pinned_environments_have_the_command(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    assert "--extra=cli" in text.splitlines()[4]
    assert all(re.search(rf"^{package}==", text, flags=re.MULTILINE) for package in extra())
