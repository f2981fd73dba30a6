"""Which combinations of a test's parameters each run takes, where all of them say little more than some.

**Costs.** A test whose combinations take long together (`costs.json`, by ``python -m tests.times``) runs by default on
as many of them as fit into `SECONDS`, and on one at least; ``--thorough`` adds the others.

**Engines.** A test that runs on several engines runs by default on one of them, which the hash of its name and of its
other parameters chooses; ``--thorough`` adds the others. Where the engines themselves are compared, or where the test
is about what they do differently, it is marked ``every_engine`` and runs on all.

A test that is marked ``cover`` runs by default on few combinations in which every value of every parameter occurs, the
engine among them; each argument of the mark names parameters whose values must also all occur together. ``--thorough``
adds combinations until every two values of different parameters have occurred together: most faults that depend on
parameters at all depend on one or two of them (D. R. Kuhn, D. R. Wallace, A. M. Gallo: Software Fault Interactions and
Implications for Software Testing, 2004). A test that is asked for by its name runs on all.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.engines import TestEngine

COSTS = Path(__file__).with_name("costs.json")
"""Processor seconds of one combination of a test, for tests that take longer than `SECONDS` in all."""
SECONDS = 0.15
"""Processor seconds that the combinations of one test may take together in the default run."""
ENGINE = ("engine", "shared_db", "shelf", "db")
"""Parameters that choose the engine; the mark ``cover`` may call each of them engine."""


def engine_of(item: pytest.Item) -> tuple[str, TestEngine] | None:
    """The parameter of an item that is an engine, and the engine; None: it has none, or several."""
    params: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    found = [(name, value) for name, value in params.items() if isinstance(value, TestEngine)]
    return found[0] if len(found) == 1 else None


def other_engines(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The items that differ from one that the default run takes only by the engine.

    pytest's numbers of parameters differ from engine to engine, so that values are compared.
    """
    same: dict[tuple[object, ...], list[tuple[str, str, pytest.Item]]] = defaultdict(list)
    for item in items:
        found = engine_of(item)
        if found is None or any(item.get_closest_marker(name) for name in ("cover", "every_engine")):
            continue
        name, engine = found
        test = item.nodeid.partition("[")[0]
        call: Any = item.callspec  # type: ignore[attr-defined]
        places = {key: place for key, place in call.indices.items() if key != name}
        values = [(key, id(value)) for key, value in call.params.items() if key != name]
        same[test, *values].append((engine.name, f"{test} {places}", item))
    left: set[pytest.Item] = set()
    for group in same.values():
        ordered = sorted(group, key=lambda each: each[0])
        chosen = crc32(ordered[0][1].encode()) % len(ordered)
        left |= {item for place, (*_, item) in enumerate(ordered) if place != chosen}
    return left


def too_long(items: Iterable[pytest.Item], costs: Mapping[str, float]) -> set[pytest.Item]:
    """The combinations of long tests for which `SECONDS` do not suffice.

    Those that are taken have as many values as they can.

    Args:
        items: those that the default run takes otherwise.
        costs: seconds of one combination of a test.
    """
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and not item.get_closest_marker("thorough"):
            tests[item.nodeid.partition("[")[0]].append(item)
    left: set[pytest.Item] = set()
    for name, own in tests.items():
        most = max(1, int(SECONDS / costs[name])) if costs.get(name) else len(own)
        if len(own) > most:
            rows, _ = _parameters(own)
            order = sorted(range(len(own)), key=lambda place: crc32(own[place].nodeid.encode()))
            best = [order[place] for place in covering([rows[place] for place in order])]
            taken = list(dict.fromkeys([*best, *order]))[:most]
            left |= {item for place, item in enumerate(own) if place not in taken}
    return left


def beyond_default(items: Sequence[pytest.Item]) -> tuple[set[pytest.Item], set[pytest.Item]]:
    """The items that the default run leaves out, and those of them that no run takes unless it is asked for them."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        marked = {mark.name for mark in item.iter_markers()}
        if "cover" in marked and hasattr(item, "callspec"):
            tests[item.nodeid.partition("[")[0]].append(item)
    spared = other_engines(items)
    never: set[pytest.Item] = set()
    for own in tests.values():
        rows, together = _parameters(own)
        names = list(rows[0])
        by_default = [place for place, item in enumerate(own) if item.get_closest_marker("thorough") is None]
        first = {by_default[place] for place in covering([rows[place] for place in by_default], together)}
        second = set(covering(rows, [*together, *combinations(names, 2)], first))
        spared |= {own[place] for place in by_default if place not in first}
        never |= {item for place, item in enumerate(own) if place not in first | second}
    costs = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.exists() else {}
    return spared | too_long([item for item in items if item not in spared], costs), never


def share_out(items: Sequence[pytest.Item]) -> tuple[set[pytest.Item], set[pytest.Item]]:
    """The items of the default run, and those of the thorough run.

    Each is of one of them, but tests over tables that hypothesis draws: the default run draws few tables, the thorough
    run draws more.
    """
    beyond, never = beyond_default(items)
    beyond |= {item for item in items if item.get_closest_marker("thorough")}
    drawn = {item for item in items if item.get_closest_marker("hypothesis")}
    return {*items} - beyond, (beyond | drawn) - never


def seeds(count: int, always: int = 1) -> list[Any]:
    """Seeds of random tables as pytest parameters: the first ones for every run, the others for ``--thorough``."""
    return [pytest.param(seed, marks=[pytest.mark.thorough] * (seed >= always)) for seed in range(count)]


def _parameters(items: Sequence[pytest.Item]) -> tuple[list[dict[str, str]], list[list[str]]]:
    """The parameters of every item of a test, and which of them its mark wants together."""
    mark = items[0].get_closest_marker("cover")
    together = mark.args if mark else ()
    rows = [{name: _key(value) for name, value in item.callspec.params.items()} for item in items]  # type: ignore[attr-defined]
    return rows, [[_named(rows[0], name) for name in names.split()] for names in together]


def covering(
    rows: Sequence[dict[str, str]], together: Sequence[Sequence[str]] = (), given: Iterable[int] = ()
) -> list[int]:
    """Numbers of rows among which every value of every column occurs, and every combination of some columns.

    Greedy: always the row with the most that is new, and of these the one whose values were taken least often.

    Args:
        rows: a value for every column.
        together: columns of which every combination that is in the rows is wanted.
        given: numbers of rows that are there already.

    Returns:
        The numbers of the rows that are wanted beside ``given``.
    """
    groups = [*([name] for name in (rows[0] if rows else ())), *together]
    has = [{(*names, *(row[name] for name in names)) for names in groups} for row in rows]
    holders: dict[Any, list[int]] = defaultdict(list)
    for number, own in enumerate(has):
        for each in own:
            holders[each].append(number)
    missing = set(holders)
    new, taken = [len(own) for own in has], [0] * len(rows)
    chosen: list[int] = []
    ahead = list(given)
    while ahead or missing:
        if ahead:
            best = ahead.pop()
        else:
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
