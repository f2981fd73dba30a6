"""dbt itself, in the environment that dev.py made: where it is, copies of our projects, and one command of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
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


def run(project: Path, *arguments: str, environ: dict[str, str], ok: bool = True) -> str:
    """One dbt command in a project's folder; its output."""
    home = project / "home"  # dbt writes to ~/.dbt
    home.mkdir(exist_ok=True)
    ended = subprocess.run(
        [dbt() / "dbt", *arguments],
        cwd=project,
        env={**os.environ, **environ, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert not ok or ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def artifact(project: Path, name: str) -> dict[str, Any]:
    """What dbt wrote about its last command."""
    return json.loads((project / "target" / name).read_text())


def statuses(project: Path) -> dict[str, str]:
    """Name of a node -> how it ended in the last command."""
    return {
        result["unique_id"].split(".")[2]: result["status"]
        for result in artifact(project, "run_results.json")["results"]
    }
