"""Method microaggregation and metric sse: against all partitions of tiny tables, definitions, and the papers' steps."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sqlanon.errors import PolicyError
from sqlanon.methods.base import Assignment
from sqlanon.methods.microaggregation.method import Microaggregation, scale_places
from sqlanon.policy import release as spec_of
from tests.contract.cases import QI, Case, multiset, release_rows
from tests.contract.samples import MIXED
from tests.declared import declare
from tests.engines import PAIR, quote
from tests.oracle.requirements import Privacy

NO_STOP = np.zeros(1, np.int8)


def squared_error(points: Any, groups: Sequence[Sequence[int]]) -> float:
    return float(sum(((points[rows] - points[rows].mean(axis=0)) ** 2).sum() for rows in map(list, groups)))


def listed(group: Any) -> list[list[int]]:
    return [np.flatnonzero(group == g).tolist() for g in sorted(set(group.tolist()))]


def partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions into groups of at least k rows."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for mask in range(1 << len(rest)):
        group = [first, *(row for at, row in enumerate(rest) if mask >> at & 1)]
        others = [row for at, row in enumerate(rest) if not mask >> at & 1]
        if len(group) >= k and (not others or len(others) >= k):
            for more in partitions(others, k):
                yield [group, *more]


def run(points: Any, k: int, start: str = "mdav", gamma: int = 20, search: int = 2000) -> Any:
    group = np.empty(len(points), np.int32)
    method = Microaggregation(start, gamma, search, 50_000)
    made = method.group_points(points.astype(float), k, 7, group, NO_STOP)
    assert sorted(set(group.tolist())) == list(range(made))
    assert min(np.bincount(group)) >= min(k, len(points))
    return group


def mdav(points: Any, k: int) -> list[list[int]]:
    """MDAV as the paper's steps put it, ties by the first row."""
    left, groups = list(range(len(points))), []

    def square(row: int, point: Any) -> float:
        return float(((points[row] - point) ** 2).sum())

    def take(row: int) -> None:
        near = sorted(left, key=lambda other: square(other, points[row]))[:k]
        groups.append(sorted(near))
        left[:] = [other for other in left if other not in near]

    while len(left) >= 2 * k:
        twice = len(left) >= 3 * k
        middle = points[left].mean(axis=0)
        far = max(left, key=lambda row: square(row, middle))
        take(far)
        if twice:
            take(max(left, key=lambda row: square(row, points[far])))
    return [*groups, left] if left else groups


def test_mdav_is_the_papers() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
        n, k = int(draw.integers(2, 40)), int(draw.integers(2, 5))
        points = draw.integers(-1000, 1000, (n, 3)).astype(float)
        assert sorted(listed(run(points, k, search=0))) == sorted(mdav(points, k))


def test_vmdav_takes_near_rows() -> None:
    """Groups of 3 and 4 rows far apart: a fixed size would divide one of them; and none has 2k rows or more."""
    near = [0, 1, 2, 1000, 1001, 1002, 1003, -2000, -2001, -2002]
    points = np.array(near, float).reshape(-1, 1)
    assert sorted(listed(run(points, 3, "vmdav", search=0))) == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9]]
    points = np.arange(30, dtype=float).reshape(-1, 1)
    assert max(np.bincount(run(points, 3, "vmdav", 1000, search=0))) >= 5


@pytest.mark.parametrize("tables", [10, pytest.param(40, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("start", ["mdav", "vmdav"])
def test_the_search_finds_the_best_of_all_partitions(start: str, tables: int) -> None:
    """In 95 % of tiny tables at least; it never ends above its start."""
    draw, best = np.random.default_rng(11), 0
    for _ in range(tables):
        n, k = int(draw.integers(6, 10)), int(draw.integers(2, 4))
        points = draw.integers(-500, 500, (n, 2)).astype(float)
        least = min(squared_error(points, groups) for groups in partitions(list(range(n)), k))
        found = squared_error(points, listed(run(points, k, start)))
        assert found <= squared_error(points, listed(run(points, k, start, search=0))) * (1 + 1e-9) + 1e-9
        best += found <= least * (1 + 1e-9) + 1e-9
    assert best >= 0.95 * tables


def test_columns_are_scaled_by_their_deviation_and_weight() -> None:
    values = np.array([0, 1 << 20, 1 << 19, 1 << 10], np.int64)
    codes = np.array([0, 1, 2, 3, 3, 0])
    plain, heavy = scale_places(values, codes, 1), scale_places(values, codes, 4)
    truth = (values - values[codes].mean()) / values[codes].std()
    assert plain / 4096 == pytest.approx(truth, abs=1e-3)
    assert heavy / 4096 == pytest.approx(2 * truth, abs=1e-3)
    assert scale_places(values, np.array([1, 1]), 1).tolist() == [0, 0, 0, 0]


class Given:
    """A toy: rows by their first code get the classes that a test lists."""

    classes: ClassVar[Sequence[int]] = ()
    starred: ClassVar[int | None] = None

    def __init__(self, **options: object) -> None:
        """It has those of `tree`, and reads none."""

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        scratch, encoded = context.scratch, context.encoded
        rows = scratch.engine.fetch(f"SELECT rid FROM {quote(encoded.work.name)} ORDER BY c1")
        table = scratch.table("assign")
        arrays = {"rid": np.array(rows, np.int32)[:, 0], "class": np.array(self.classes, np.int32)}
        scratch.engine.load_arrays(table, arrays)
        return Assignment(table, "kernel", starred=self.starred)


def share(values: Sequence[float | None], groups: Sequence[Sequence[int]], lost: Sequence[int] = ()) -> float:
    """SSE / SST of a column; ``lost``: rows without a group."""
    known = np.array([value for value in values if value is not None], float)
    middle, error = known.mean(), 0.0
    for rows in groups:
        own = np.array([values[row] for row in rows if values[row] is not None], float)
        error += ((own - own.mean()) ** 2).sum() if len(own) else 0.0
    error += sum((values[row] - middle) ** 2 for row in lost)  # type: ignore[operator]
    return float(error / ((known - middle) ** 2).sum())


@pytest.mark.cover
@pytest.mark.parametrize("starred", [None, 2])
@pytest.mark.parametrize("kind", ["ranges", "labels"])
@pytest.mark.parametrize("engine", PAIR)
def test_metric_is_its_definition(
    connect_module: Any, engine: Any, kind: str, starred: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weight, dates, NULL, a column without an order, one of one value, and a starred class."""
    draw = random.Random(3)
    rows = tuple(
        (
            i * i,
            dt.date(2024, 1, 1) + dt.timedelta(draw.randrange(900)),
            draw.choice([None, -2.5, 0.0, 7.25, 1e6]),
            "ab"[i % 2],
            5,
        )
        for i in range(24)
    )
    columns = {"x": "INTEGER", "day": "DATE", "y": "DOUBLE PRECISION", "w": "TEXT", "one": "INTEGER"}
    quasi = {"x": QI(weight=2), "day": QI(), "y": QI(), "w": QI("nominal"), "one": QI()}
    case = Case("numbers", columns, rows, quasi, (), Privacy(k=3))
    declare(monkeypatch, "given", Given, like="tree", suppresses="rows")
    monkeypatch.setattr(Given, "classes", [i // 4 for i in range(24)])
    monkeypatch.setattr(Given, "starred", starred)
    asked: dict[str, Any] = {"suppression": {"limit": 1}} if starred else {}
    _, report = release_rows(
        connect_module(engine), case, tmp_path, method="given", format=kind, metrics="sse", **asked
    )
    groups = [list(range(at, at + 4)) for at in range(0, 24, 4)]
    lost = groups.pop(starred) if starred else []
    day = [row[1].toordinal() for row in rows]
    x, y = ([row[at] for row in rows] for at in (0, 2))
    y_lost = [row for row in lost if y[row] is not None]
    truth = (2 * share(x, groups, lost) + share(day, groups, lost) + share(y, groups, y_lost)) / 4
    assert report.loss.more["sse"] == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("method", ["microaggregation", "microaggregation:start=vmdav,gamma=110,search=50"])
def test_releases_do_not_depend_on_the_order_of_rows(shared_db: Any, method: str, tmp_path: Path) -> None:
    case = replace(MIXED, privacy=Privacy(k=3))
    released, report = release_rows(shared_db, case, tmp_path, method=method)
    assert report.min_class >= 3
    order = list(range(len(case.rows)))
    random.Random(1).shuffle(order)
    again, _ = release_rows(shared_db, case.shuffled(order), tmp_path, method=method)
    assert multiset(again) == multiset(released)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "microaggregation", "refine": True}, "not the squared error"),
        ({"method": "microaggregation:gamma=110"}, "gamma is for start=vmdav"),
        ({"method": "microaggregation", "sensitive": "s", "l": 2}, "counts the rows of groups alone"),
        ({"method": "microaggregation", "format": "anatomy", "sensitive": "s", "l": 2}, "anatomy"),
    ],
)
def test_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        spec_of(source="t", quasi="q", **{"k": 3, **options})
