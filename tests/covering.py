"""Which combinations of a test's parameters the default run takes, where all of them say little more than some.

A test that is marked ``cover`` runs by default on few combinations in which every value of every parameter occurs, the
engine among them; each argument of the mark names parameters whose values must also all occur together. ``--thorough``
runs the other combinations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

ENGINE = ("engine", "shared_db", "db")
"""Parameters that choose the engine; the mark may call each of them engine."""


def spared(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The items that the default run leaves out: combinations beyond what the mark ``cover`` of their test asks for."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        marked = {mark.name for mark in item.iter_markers()}
        if "cover" in marked and "thorough" not in marked and hasattr(item, "callspec"):
            tests[item.nodeid.partition("[")[0]].append(item)
    return {item for own in tests.values() for item in _left_out(own)}


def seeds(count: int, always: int = 1) -> list[Any]:
    """Seeds of random tables as pytest parameters: the first ones for every run, the others for ``--thorough``."""
    return [pytest.param(seed, marks=[pytest.mark.thorough] * (seed >= always)) for seed in range(count)]


def _left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """All but a covering choice."""
    mark = items[0].get_closest_marker("cover")
    assert mark is not None
    rows = [{name: _key(value) for name, value in item.callspec.params.items()} for item in items]  # type: ignore[attr-defined]
    together = [[_named(rows[0], name) for name in names.split()] for names in mark.args]
    chosen = set(covering(rows, together))
    return [item for place, item in enumerate(items) if place not in chosen]


def covering(rows: Sequence[dict[str, str]], together: Sequence[Sequence[str]] = ()) -> list[int]:
    """Numbers of rows among which every value of every column occurs, and every combination of some columns.

    Greedy: always the row with the most that is new, and of these the one whose values were taken least often.

    Args:
        rows: a value for every column.
        together: columns of which every combination that is in the rows is wanted.
    """
    groups = [*([name] for name in rows[0]), *together]
    has = [{(*names, *(row[name] for name in names)) for names in groups} for row in rows]
    holders: dict[Any, list[int]] = defaultdict(list)
    for number, own in enumerate(has):
        for each in own:
            holders[each].append(number)
    missing = set(holders)
    new, taken = [len(own) for own in has], [0] * len(rows)
    chosen = []
    while missing:
        most = max(new)
        best = min((i for i, count in enumerate(new) if count == most), key=lambda i: taken[i])
        chosen.append(best)
        for each in has[best]:
            for i in holders[each]:
                taken[i] += 1
                new[i] -= each in missing
        missing -= has[best]
    return chosen


def _named(row: dict[str, str], name: str) -> str:
    if name == "engine" and name not in row:
        return next(each for each in ENGINE if each in row)
    assert name in row, f"no parameter is called {name}"
    return name


def _key(value: Any) -> str:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else repr(value)
