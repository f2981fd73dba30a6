"""Examples in docstrings give what they print."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from sqlanon.declared import effort
from tests.project.tree import MODULES, ROOT

WITH_EXAMPLES = [path for path in MODULES if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.thorough
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples(path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "DEFAULT", "normal")
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
