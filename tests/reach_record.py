"""A pytest plugin: which files of the product each test runs. ``python -m tests.reach record`` uses it.

Modules that hold no kernels are compiled with a call at the start of every function, so that other code runs as fast as
ever. What the first test of a module prepares for all of them counts for each. Processes that a test starts are not
seen.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
STATEMENTS = "sqlanon/sqltext/compile.py"
_CALLED = "_sqlanon_reached"
_TEMPLATE = "_sqlanon_template"
_hits: set[str] = set()
_prepared: dict[str, set[str]] = defaultdict(set)
_seconds: dict[str, float] = defaultdict(float)


class _Loader(SourceFileLoader):
    """Compiles a module with a call a function; nothing is read from or written to ``__pycache__``."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed syntax tree."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        shown = Path(path).relative_to(ROOT).as_posix()
        for node in list(ast.walk(tree)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = [f"{_CALLED}({shown!r})"]
                if shown == STATEMENTS and node.name == "statement":
                    calls.append(f"{_TEMPLATE}(template_path, name, dialect)")
                documented = ast.get_docstring(node) is not None
                node.body[documented:documented] = ast.parse("\n".join(calls)).body
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
    """A template of ours was used; others have no file in ``sql/``."""
    with suppress(FileNotFoundError):
        _hits.add(find(name, dialect)[0].relative_to(ROOT).as_posix())


setattr(builtins, _CALLED, _hits.add)
setattr(builtins, _TEMPLATE, _template)
sys.meta_path.insert(0, _Finder)


def _recorded(into: set[str]) -> Generator[None, Any, Any]:
    _hits.clear()
    try:
        return (yield)
    finally:
        into |= _hits


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Shared with the module's other tests."""
    start = time.perf_counter()
    try:
        return (yield from _recorded(_prepared[item.nodeid.partition("::")[0]]))
    finally:
        _seconds[item.nodeid] = time.perf_counter() - start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """One line a test."""
    own: set[str] = set()
    start = time.perf_counter()
    try:
        return (yield from _recorded(own))
    finally:
        seconds = _seconds.pop(item.nodeid) + time.perf_counter() - start
        hits = sorted(own | _prepared[item.nodeid.partition("::")[0]])
        line = json.dumps({"test": item.nodeid.partition("[")[0], "seconds": round(seconds, 3), "hits": hits})
        with Path(os.environ["SQLANON_REACH"]).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
