"""docs/extending.md quotes the extensions as they are."""

from __future__ import annotations

import re
import tomllib
from configparser import ConfigParser

from tests.extend.installed import SITE

HERE = SITE.parent
PAGE = (HERE.parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")


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
