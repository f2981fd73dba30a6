"""dbt itself, in the environment that dev.py made: where it is, copies of our projects, and one command of it."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from examples.dbt_hospital.run import dbt_folder
from tests.engines import required

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb", "package-lock.yml", "__pycache__")


def dbt() -> Path:
    """The folder of the dbt program; skips where there is none, fails where there must be one."""
    folder = dbt_folder()
    if folder is None:
        (pytest.fail if required("dbt") else pytest.skip)(
            "no dbt in .venv-dbt (python3 dev.py test makes it) nor in SQLANON_DBT"
        )
    return folder


def copied(project: str, place: Path) -> Path:
    """A copy of one of our projects and of the dbt package, where the one finds the other."""
    shutil.copytree(ROOT / "dbt", place / "dbt", ignore=MADE)
    if not project.startswith("dbt/"):
        shutil.copytree(ROOT / project, place / project, ignore=MADE)
    return place / project


_FORKING = """
import json, os, sys
from dbt.cli.main import cli
import dbt.adapters.duckdb, dbt.adapters.postgres
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environ"])
        to = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(to, 1)
        os.dup2(to, 2)
        sys.argv = ["dbt", *asked["words"]]
        cli()
        os._exit(99)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Each line is a command, run by a process that is forked from one that has loaded dbt.

Loading takes most of a command's time.
"""


@cache
def _server(folder: Path) -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [folder / "python", "-c", _FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)  # the end of its input ends it
    return server


def run(project: Path, *arguments: str, environ: dict[str, str], ok: bool = True) -> str:
    """One dbt command in a project's folder; its output."""
    home = project / "home"  # dbt writes to ~/.dbt
    home.mkdir(exist_ok=True)
    asked = {
        "folder": str(project),
        "words": arguments,
        "said": str(home / "said.txt"),
        "environ": {**os.environ, **environ, "HOME": str(home)},
    }
    server = _server(dbt())
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    code = int(server.stdout.readline())
    said = (home / "said.txt").read_text()
    assert not ok or code == 0, said
    return said


def artifact(project: Path, name: str) -> dict[str, Any]:
    """What dbt wrote about its last command."""
    return json.loads((project / "target" / name).read_text())


def statuses(project: Path) -> dict[str, str]:
    """Name of a node -> how it ended in the last command."""
    return {
        result["unique_id"].split(".")[2]: result["status"]
        for result in artifact(project, "run_results.json")["results"]
    }
