"""What each test costs.

``--times=FILE`` writes seconds by folder, file and test (wall clock, and processor with ended child processes).

    python -m pytest --times=FILE ..                 what a run costs
    python -m tests.times FILE                       keep what combinations cost in tests/costs.json (tests.covering)

Fixtures of a module count for the first test that asks for them. The processor seconds of a database server are in none
of them. What is kept are processor seconds, which other programs of the machine change little.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.covering import COSTS, SECONDS

NAME = "cost"
"""What a report carries from a worker to the process that writes."""


def clock() -> tuple[float, float]:
    """Seconds so far: wall clock, processor."""
    used = os.times()
    return time.perf_counter(), used.user + used.system + used.children_user + used.children_system


class Costs:
    """Measures in the process that runs a test, and gathers in the one that reports."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, tuple[float, float]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        """The clock starts."""
        item.stash[START] = clock()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
        """The report of a test's end says what it cost."""
        report = yield
        if call.when == "teardown":
            wall, processor = (now - then for now, then in zip(clock(), item.stash[START], strict=True))
            report.user_properties.append((NAME, [round(wall, 4), round(processor, 4)]))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep it."""
        if report.when == "teardown":
            self.seconds[report.nodeid] = dict(report.user_properties)[NAME]  # type: ignore[assignment]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write, in the one process that heard of all."""
        if not hasattr(session.config, "workerinput"):
            self.file.write_text(json.dumps(summary(self.seconds), indent=1) + "\n", encoding="utf-8")


START = pytest.StashKey[tuple[float, float]]()


def summary(seconds: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Items, wall seconds and processor seconds: of all, by folder, by file, by test (its combinations added).

    The dearest first.
    """
    groups: dict[str, dict[str, list[float]]] = {
        part: defaultdict(lambda: [0, 0.0, 0.0]) for part in ("all", "folders", "files", "tests")
    }
    for node, (wall, processor) in seconds.items():
        file = node.partition("::")[0]
        names = ("all", str(Path(file).parent), file, node.partition("[")[0])
        for group, name in zip(groups.values(), names, strict=True):
            for place, more in enumerate((1, wall, processor)):
                group[name][place] += more
    return {
        part: {
            name: {"items": int(items), "wall": round(wall, 2), "processor": round(processor, 2)}
            for name, (items, wall, processor) in sorted(group.items(), key=lambda pair: -pair[1][1])
        }
        for part, group in groups.items()
    }


def main(words: Sequence[str]) -> None:
    """Keep what combinations cost, of tests that take longer than the default run gives them."""
    parser = argparse.ArgumentParser(description="Keep what combinations of tests cost.")
    parser.add_argument("file", type=Path, help="what --times wrote")
    given = parser.parse_args(words)
    costs = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.exists() else {}
    for name, cost in json.loads(given.file.read_text(encoding="utf-8"))["tests"].items():
        if name in costs or (cost["items"] > 1 and cost["processor"] > SECONDS):
            costs[name] = round(cost["processor"] / cost["items"], 3)
    COSTS.write_text(json.dumps(costs, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
