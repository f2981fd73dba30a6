"""Notebooks: every cell runs, in one namespace and in order, and every value is shown as a notebook would show it.

The cells are plain Python (no magics), so they need no kernel. They are stored without outputs.
"""

from __future__ import annotations

import ast
import json

import pytest

from tests.project.tree import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def shown(source: str, names: dict[str, object]) -> str:
    """Run a cell; the text or HTML of its last expression, as IPython displays it."""
    cell = ast.parse(source)
    last = cell.body.pop() if cell.body and isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, "<cell>", "exec"), names)
    if last is None:
        return ""
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # type: ignore[attr-defined]
    as_html = getattr(value, "_repr_html_", None)
    return str(as_html() if as_html else repr(value))


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names: dict[str, object] = {"__name__": "__main__"}
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in codes if cell["outputs"] or cell["execution_count"] is not None] == []
    results = [shown("".join(cell["source"]), names) for cell in codes]
    assert sum(map(bool, results)) >= 3
    assert list(tmp_path.iterdir()) == []


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["asking_a_release", "choosing_a_method", "first_release"]
