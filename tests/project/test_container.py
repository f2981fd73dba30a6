"""The container, without an engine that builds it: its steps run in virtual environments, one for each stage."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tree import ROOT, tracked

FILE = ROOT / "Containerfile"


def stages() -> Iterator[list[tuple[str, str]]]:
    """Instructions and what follows them, of each stage."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    stage: list[tuple[str, str]] = []
    for line in filter(None, text.splitlines()):
        word, _, rest = line.partition(" ")
        if word == "FROM" and stage:
            yield stage
            stage = []
        stage.append((word, rest))
    yield stage


def test_what_is_copied_is_in_the_checkout():
    paths = [path.relative_to(ROOT) for path in tracked()]
    files = {path.parts[0] for path in paths} | {path.as_posix() for path in paths}
    copied = [rest.split() for stage in stages() for word, rest in stage if word == "COPY"]
    here = {source for *sources, _ in copied for source in sources if not sources[0].startswith("--from=")}
    assert here
    assert here <= files


def test_it_does_not_run_as_root():
    last = list(stages())[-1]
    assert [rest for word, rest in last if word == "USER"] == ["sqlanon"]
    assert last[-1] == ("ENTRYPOINT", '["sqlanon"]')


def test_python_is_one_that_is_tested():
    (version,) = {re.search(r"python:(\d\.\d+)-slim", stage[0][1])[1] for stage in stages()}
    assert f'"{version}"' in (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_its_steps(tmp_path):
    """The packages come from the package index, as in a container; users and their folders are left out."""
    for number, stage in enumerate(stages()):
        environment = tmp_path / f"stage{number}"
        venv.create(environment, with_pip=True)
        at = tmp_path
        for word, rest in stage:
            if word == "WORKDIR":
                at = tmp_path / rest.lstrip("/")
                at.mkdir(exist_ok=True)
            elif word == "COPY":
                *sources, target = [one for one in rest.split() if not one.startswith("--")]
                place = tmp_path / target[1:] if target.startswith("/") else at / target
                for source in sources:
                    copy(tmp_path / source[1:] if "--from" in rest else ROOT / source, place)
            elif word == "RUN" and re.search(r"pip|build", rest):
                run(re.sub(r" /(dist|tmp)\b", rf" {tmp_path}/\1", rest), at, environment)
    assert run("sqlanon --version", tmp_path, environment).startswith("sqlanon ")


def copy(source: Path, place: Path) -> None:
    """As COPY does: a folder's content into a folder, a file into a folder that is there."""
    place.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, place)


def run(command: str, folder: Path, environment: Path) -> str:
    """Run a command of a shell with the programs of an environment; its output."""
    names = os.environ | {"PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    names = {name: value for name, value in names.items() if not name.startswith("PYTHON")}
    ended = subprocess.run(["sh", "-euc", command], cwd=folder, env=names, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
