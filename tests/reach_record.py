"""A pytest plugin: which blocks of code and which templates each test runs. ``python -m tests.reach record`` uses it.

One JSON line a test: what it runs, as the lines that name the blocks of each file (`tests.mutants.python_code.blocks`;
of a template none), and its processor seconds. Modules that hold no kernels are compiled with a call at the start of
every block, so that other code runs as fast as ever. What the first test of a module prepares for all of them counts
for each. Processes that a test starts are not seen, nor are calls whose results a cache of an earlier test holds.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from tests.mutants.python_code import blocks
from tests.times import clock

ROOT = Path(__file__).parents[1]
STATEMENTS = "sqlanon/sqltext/compile.py"
_CALLED = "_sqlanon_reached"
_TEMPLATE = "_sqlanon_template"
_hits: set[tuple[str, int]] = set()
_prepared: dict[str, set[tuple[str, int]]] = defaultdict(set)
_seconds: dict[str, float] = defaultdict(float)


class _Loader(SourceFileLoader):
    """Compiles a module with a call a block; nothing is read from or written to ``__pycache__``."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed syntax tree."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        shown = Path(path).relative_to(ROOT).as_posix()
        if shown == STATEMENTS:
            (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "statement")
            function.body.insert(1, ast.parse(f"{_TEMPLATE}(template_path, name, dialect)").body[0])
        for statements, place, line in list(blocks(tree)):
            statements.insert(place, ast.parse(f"{_CALLED}({(shown, line)!r})").body[0])
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Finder:
    """Finds the modules that are recorded."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _: object = None) -> ModuleSpec | None:
        """As `importlib` asks."""
        if not name.startswith("sqlanon.") or "kernels" in name.split("."):
            return None
        found = PathFinder.find_spec(name, path)
        if found is None or found.origin is None or not Path(found.origin).is_relative_to(ROOT):
            return None
        found.loader = _Loader(name, found.origin)
        return found


assert not any(name.startswith("sqlanon.query") for name in sys.modules), "loaded before it could be recorded"


def _template(find: Callable[[str, str], tuple[Path, str]], name: str, dialect: str) -> None:
    """A template of ours was used, and the core one that it extends; others have no file in ``sql/``."""
    with suppress(FileNotFoundError):
        path, _ = find(name, dialect)
        extended = [find(name, "core")[0]] if path.read_text(encoding="utf-8").startswith("{% extends") else []
        _hits.update((text.relative_to(ROOT).as_posix(), 0) for text in (path, *extended))


setattr(builtins, _CALLED, _hits.add)
setattr(builtins, _TEMPLATE, _template)
sys.meta_path.insert(0, _Finder)


def _recorded(into: set[tuple[str, int]]) -> Generator[None, Any, Any]:
    _hits.clear()
    try:
        return (yield)
    finally:
        into |= _hits


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Shared with the module's other tests."""
    start = clock()[1]
    try:
        return (yield from _recorded(_prepared[item.nodeid.partition("::")[0]]))
    finally:
        _seconds[item.nodeid] = clock()[1] - start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """One line a test."""
    own: set[tuple[str, int]] = set()
    start = clock()[1]
    try:
        return (yield from _recorded(own))
    finally:
        hits: dict[str, list[int]] = defaultdict(list)
        for file, line in sorted(own | _prepared[item.nodeid.partition("::")[0]]):
            hits[file].append(line)
        record = {
            "test": item.nodeid,
            "thorough": bool(item.config.getoption("--thorough")),
            "seconds": round(_seconds.pop(item.nodeid) + clock()[1] - start, 3),
            "hits": hits,
        }
        with Path(os.environ["SQLANON_REACH"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
