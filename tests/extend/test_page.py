"""docs/extending.md quotes the extensions as they are."""

from __future__ import annotations

import ast
import re
import tomllib
from configparser import ConfigParser
from pathlib import Path

from tests.extend.installed import SITE

HERE = SITE.parent
ROOT = HERE.parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_its_python_is_that_of_the_files() -> None:
    files = {name: (HERE / f"{name}.py").read_text(encoding="utf-8") for name in ("leading", "share", "crowd", "ends")}
    checks = (HERE / "test_checks.py").read_text(encoding="utf-8")
    quoted = blocks("python")
    assert [block for block in quoted if not any(block in text for text in (*files.values(), checks))] == []
    for name, text in files.items():
        assert any(block in text and "DECLARED = " in block for block in quoted), name


def test_its_entry_points_are_those_of_the_distribution() -> None:
    installed = ConfigParser()
    installed.read(SITE / "toys-1.0.dist-info" / "entry_points.txt")
    (toml,) = blocks("toml")
    written = tomllib.loads(toml)["project"]["entry-points"]
    assert written == {group: dict(installed[group]) for group in installed.sections()}


def file_of(module: str, name: str) -> Path:
    """The file that ``from module import name`` reads, relative to the project."""
    path = Path(*module.split("."))
    for file in (path / f"{name}.py", path.with_suffix(".py")):
        if (ROOT / file).is_file():
            return file
    return path / "__init__.py"


def test_methods_to_compare_with_import_what_it_lists() -> None:
    """The list is of folders and of files; what the list has and they do not import belongs to other extensions."""
    listed = {
        Path(name) for name in re.findall(r"`(sqlanon/[\w/]*(?:/|\.py))`", PAGE.split("that a method may import")[1])
    }
    papers = Path("sqlanon", "papers")
    imported = {
        file_of(node.module, alias.name)
        for path in (ROOT / papers).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sqlanon.")
        for alias in node.names
    }
    outside = {file for file in imported if papers not in file.parents}
    assert {str(file) for file in outside if not {file, *file.parents} & listed} == set()
    assert {str(path) for path in listed if not (ROOT / path).exists()} == set()
    assert {path for path in listed if path.suffix and path not in outside and "methods" in path.parts} == set()
