"""A pytest plugin: which blocks of code and which templates each test runs, and how long it takes.

``python -m pytest -p tests.mutants.record`` adds to the file that ``SQLANON_MUTANTS_MAP`` names, one JSON line a test.
Files that mutants are drawn from are compiled with a call at the start of every block, so that other code runs as fast
as ever. What the first test of a module prepares for all of them counts for each.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest

from tests.mutants.python_code import FILES, blocks

ROOT = Path(__file__).parents[2]
STATEMENTS = "sqlanon/sqltext/compile.py"
_CALLED = "_sqlanon_block"
_watched_files = {path.relative_to(ROOT).as_posix() for pattern in FILES for path in ROOT.glob(pattern)}
_prepared: dict[str, set[str]] = defaultdict(set)
_hits: set[str] = set()


class _Loader(SourceFileLoader):
    """Compiles a module with a call a block; nothing is read from or written to ``__pycache__``."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed syntax tree."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        shown = Path(path).relative_to(ROOT).as_posix()
        if shown == STATEMENTS:
            function = next(
                node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "statement"
            )
            function.body.insert(1, ast.parse(f"{_CALLED}('sql:' + name)").body[0])
        else:
            for statements, at, line in list(blocks(tree)):
                statements.insert(at, ast.parse(f"{_CALLED}({f'{shown}:{line}'!r})").body[0])
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Finder:
    """Finds the modules that are watched."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _: object = None) -> ModuleSpec | None:
        """As `importlib` asks."""
        found = PathFinder.find_spec(name, path) if name.startswith("sqlanon.") else None
        if found is None or found.origin is None or not Path(found.origin).is_relative_to(ROOT):
            return None
        if Path(found.origin).relative_to(ROOT).as_posix() not in _watched_files | {STATEMENTS}:
            return None
        found.loader = _Loader(name, found.origin)
        return found


assert not any(name.startswith("sqlanon.query") for name in sys.modules), "loaded before it could be watched"
setattr(builtins, _CALLED, _hits.add)
sys.meta_path.insert(0, _Finder)


def _watched(into: set[str]) -> Iterator[None]:
    _hits.clear()
    try:
        return (yield)
    finally:
        into |= _hits


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Shared with the module's other tests."""
    return (yield from _watched(_prepared[item.nodeid.partition("::")[0]]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """One line a test."""
    own: set[str] = set()
    start = time.perf_counter()
    try:
        return (yield from _watched(own))
    finally:
        hits = sorted(own | _prepared[item.nodeid.partition("::")[0]])
        line = {
            "test": item.nodeid,
            "thorough": bool(item.config.getoption("--thorough")),
            "seconds": round(time.perf_counter() - start, 3),
            "hits": hits,
        }
        with Path(os.environ["SQLANON_MUTANTS_MAP"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
