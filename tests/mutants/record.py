"""A pytest plugin: which functions of the package and which templates each test runs, and how long it takes.

``python -m pytest -p tests.mutants.record`` adds to the file that ``SQLANON_MUTANTS_MAP`` names, one JSON line a test. What
the first test of a module prepares for all of them counts for each.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = f"{ROOT / 'sqlanon'}{os.sep}"
_known: dict[object, str | None] = {}
_prepared: dict[str, set[str]] = defaultdict(set)
_hits: set[str] = set()


def _seen(frame: FrameType, event: str, _: object) -> None:
    if event != "call":
        return
    code = frame.f_code
    if code not in _known:
        own = code.co_filename.startswith(PACKAGE)
        _known[code] = f"sqlanon/{code.co_filename[len(PACKAGE) :]}:{code.co_firstlineno}" if own else None
    if name := _known[code]:
        _hits.add(name)
        if code.co_name == "statement" and code.co_filename.endswith("compile.py"):
            _hits.add(f"sql:{frame.f_locals['name']}")


def _watched(into: set[str]) -> Iterator[None]:
    _hits.clear()
    sys.setprofile(_seen)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
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
        line = {"test": item.nodeid, "thorough": bool(item.config.getoption("--thorough")),
                "seconds": round(time.perf_counter() - start, 3), "hits": hits}  # fmt: skip
        with Path(os.environ["SQLANON_MUTANTS_MAP"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
