"""Method fulldomain: the lattice search against all nodes, one by one; both executions, both engines."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sqlanon.methods import method
from sqlanon.methods.base import Assignment, Context
from sqlanon.policy import release as spec_of
from sqlanon.progress import Silent
from sqlanon.spec import SuppressionSpec
from sqlanon.table.scratch import Scratch
from tests.contract.assigned import Sample, _fetch, encoded_sample
from tests.contract.cases import QI, Case
from tests.engines import PAIR
from tests.oracle import lattice
from tests.oracle.requirements import Privacy

METRICS = ("loss", "entropy", "height", "dm")
LIMITS = (Fraction(0), Fraction(1, 10), Fraction(3, 10))
CITY = (
    ("oslo", "norway", "*"),
    ("bergen", "norway", "*"),
    ("rome", "italy", "*"),
    ("pisa", "italy", "*"),
    ("nowhere", "italy", "*"),
)


def case(seed: int, privacy: Privacy, rows: int = 17) -> Case:
    """Three columns: with a hierarchy and NULLs, nominal, numbers."""
    rng = random.Random(seed)
    values = tuple(
        (rng.choice(["oslo", "bergen", "rome", "rome", "pisa", None]), rng.choice("xxyz"), rng.choice([1, 1, 2]), rng.choice("aabcd"))
        for _ in range(rows)
    )  # fmt: skip
    return Case(
        f"lattice_{seed}",
        {"city": "TEXT", "kind": "TEXT", "n": "INTEGER", "sa": "TEXT"},
        values,
        {"city": QI("hierarchy", levels=CITY), "kind": QI("nominal", weight=2), "n": QI()},
        ("sa",),
        privacy,
    )


def pair() -> Case:
    """Two classes, {a, b} and {b}: with l = 2 one row is suppressed apart, and three together."""
    return Case(
        "pair", {"city": "TEXT", "sa": "TEXT"}, (("oslo", "a"), ("oslo", "b"), ("bergen", "b"), ("rome", "c"), ("rome", "a"), ("pisa", "d")),
        {"city": QI("hierarchy", levels=CITY)}, ("sa",), Privacy(k=1, l=Fraction(2)),
    )  # fmt: skip


CASES = (
    case(1, Privacy(k=2)),
    case(2, Privacy(k=4)),
    case(3, Privacy(k=1, l=Fraction(2))),
    case(4, Privacy(k=3, l=Fraction(3, 2))),
    case(5, Privacy(k=2, distinct_l=2)),
    pair(),
)


@dataclass(frozen=True)
class Found:
    """What a search assigns: the level of every column, the classes, and the suppressed rows."""

    node: tuple[int, ...]
    classes: set[frozenset[int]]
    gone: set[int]
    notes: tuple[str, ...]


def found(sample: Sample, execution: str, options: dict[str, str], limit: Fraction, rows: str) -> Found:
    spec = spec_of(**{**sample.arguments, "method": {"name": "fulldomain", **options}, "seed": 1})
    suppression = SuppressionSpec(limit, rows)  # type: ignore[arg-type]
    with Scratch(sample.scratch.engine) as scratch:
        context = Context(
            scratch, sample.encoded, sample.ready.requirements, execution, sys.maxsize, 2, Silent(), 0,
            suppression=suppression, most_unassigned=suppression.most(sample.encoded.rows),
        )  # fmt: skip
        made: Assignment = method(spec.method).assign(context)
        assert made.execution == execution
        of_row = {int(rid): int(number) for rid, number in _fetch(scratch, made.table, ["rid", "class"])}
        assert made.levels is not None
        codes = [domain.code for domain in sample.encoded.quasi]
        text = f'SELECT class, {", ".join(codes)} FROM "{made.levels.name}"'
        levels = {int(row[0]): tuple(map(int, row[1:])) for row in scratch.engine.fetch(text)}
    rids = [int(rid) for (rid,) in _fetch(sample.scratch, sample.encoded.work, ["rid"])]
    members: dict[int, set[int]] = {}
    for place, rid in enumerate(rids):
        members.setdefault(of_row.get(rid, -1), set()).add(place)
    gone = members.pop(-1, set()) if made.unassigned else set()
    assert -1 not in members
    if made.starred is not None:
        gone = members.pop(made.starred)
        top = tuple(lattice.height(column) for column in sample.table.quasi)
        assert levels.pop(made.starred) == top
    assert set(levels) == set(members)
    (node,) = set(levels.values())
    return Found(node, {frozenset(rows) for rows in members.values()}, gone, made.notes)


@pytest.fixture(scope="module", params=CASES, ids=lambda one: one.name)
def table(request: pytest.FixtureRequest) -> Case:
    chosen: Case = request.param
    return chosen


@pytest.fixture(params=PAIR, ids=lambda engine: engine.name)
def sample(
    request: pytest.FixtureRequest, connect_module: Any, table: Case, tmp_path: Path
) -> Iterator[Sample]:
    with encoded_sample(connect_module(request.param), table, tmp_path) as made:
        yield made


def test_the_best_of_all_nodes(sample: Sample, table: Case) -> None:
    """Every metric, limits, and what becomes of suppressed rows; both executions."""
    turn = 0
    for metric in METRICS:
        for limit in LIMITS:
            for rows in ("starred", "left_out") if limit else ("starred",):
                most = int(limit * sample.table.rows)
                expected = lattice.best(sample.table, table.privacy, metric, most, rows == "starred")
                for execution in ("kernel", "pushdown"):
                    turn += 1
                    if execution == "pushdown" and turn % 8:
                        continue
                    one = found(sample, execution, {"search": "global", "metric": metric}, limit, rows)
                    where = (metric, limit, rows, execution)
                    assert one.node == expected.node, where
                    assert one.classes == {frozenset(rows) for rows in expected.classes}, where
                    assert one.gone == set(expected.gone), where


def test_every_minimal_node(sample: Sample, table: Case) -> None:
    diverse = table.privacy.l is not None or table.privacy.distinct_l is not None
    for limit in LIMITS[: 1 if diverse else 3]:
        most = int(limit * sample.table.rows)
        expected = lattice.minimal(sample.table, table.privacy, most)
        chosen = min(
            (
                lattice.published(sample.table, table.privacy, node, "loss", most, starred=False)
                for node in expected
            ),
            key=lambda one: one.key,  # type: ignore[union-attr]
        )
        assert chosen is not None
        for execution in ("kernel", "pushdown"):
            one = found(sample, execution, {"search": "all"}, limit, "left_out")
            listed = "; ".join(" ".join(map(str, node)) for node in expected)
            assert one.notes[1].endswith(f": {listed}"), (limit, execution)
            assert f"{len(expected)} minimal nodes" in one.notes[1]
            assert one.node == chosen.node


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("divide", ["values", "whole"])
def test_local_classes_are_those_of_the_oracle(
    connect_module: Any, tmp_path: Path, seed: int, divide: str
) -> None:
    """Every row once, every class meets the policy: the oracle's classes, with and without a limit of nodes."""
    privacies = [
        Privacy(k=3),
        Privacy(k=1, l=Fraction(2)),
        Privacy(k=3, l=Fraction(7, 4)),
        Privacy(k=2, distinct_l=3),
    ]
    one = case(seed + 20, privacies[seed % 4], rows=31)
    with encoded_sample(connect_module(PAIR[0]), one, tmp_path) as sample:
        for nodes in (0, 3):
            options = {"name": "fulldomain", "divide": divide, "nodes": str(nodes)}
            classes, _ = sample.classes("kernel", method=options, seed=1)
            own = [
                sorted((sample.table.codes[row], sample.table.sa_codes[row]) for row in rows)
                for rows in classes
            ]
            expected = lattice.local(sample.table, replace(one.privacy), divide, nodes)
            assert sorted(own) == sorted(
                sorted((sample.table.codes[row], sample.table.sa_codes[row]) for row in rows)
                for rows in expected
            )
