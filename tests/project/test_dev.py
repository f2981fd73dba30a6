"""dev.py: what it says where it cannot work, and that an old Python can at least read it."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with just enough in it to start."""
    for name in (
        "dev.py",
        "pyproject.toml",
        "requirements/dev.txt",
        "requirements/run.txt",
        "sqlanon/_version.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def dev(checkout: Path, *words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run dev.py there, with nothing but an optional folder of modules in the environment."""
    return subprocess.run(
        [sys.executable, str(checkout / "dev.py"), *words],
        cwd=checkout,
        env={"PATH": "", "HOME": "/nonexistent", "PYTHONPATH": str(path or "")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(("words", "code"), [((), 0), (("help",), 0), (("--help",), 0), (("tset",), 2)])
def test_shows_its_commands(checkout, words, code):
    reported = dev(checkout, *words)
    assert reported.returncode == code
    assert "python3 dev.py test" in reported.stdout
    assert not (checkout / ".venv").exists()


def test_without_ensurepip_says_what_to_install(checkout, tmp_path_factory):
    modules = tmp_path_factory.mktemp("modules")
    (modules / "ensurepip.py").write_text("raise ImportError")
    reported = dev(checkout, "demo", path=modules)
    assert reported.returncode == 2
    assert "python3-venv" in reported.stderr
    assert not (checkout / ".venv").exists()


def test_an_old_python_reads_it():
    ast.parse((ROOT / "dev.py").read_text(), feature_version=(3, 7))


@pytest.mark.thorough
def test_what_it_runs_before_the_tests_runs():
    """It runs first in every test run: where it fails, no test is run at all."""
    module = re.search(r'"-m", "(tests\.\w+)"', (ROOT / "dev.py").read_text())
    assert module
    done = subprocess.run(
        [sys.executable, "-m", module[1]], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
