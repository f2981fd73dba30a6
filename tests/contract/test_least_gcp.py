"""The bound from below on GCP: against all sets of k rows of tiny tables, and against releases."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.loss import least_gcp
from tests.contract.cases import QI, Case, release_rows
from tests.contract.samples import CORE, MIXED
from tests.engines import PAIR
from tests.oracle.losses import ncp
from tests.oracle.requirements import Privacy

ROUNDED = 3e-6
"""Positions are rounded down to 2^-20 of a domain."""


def find_least(case: Case, k: int) -> float:
    """The mean over rows of the narrowest box of k rows around the row, by looking at all of them."""
    table, total = case.table, Fraction(0)
    weights = sum(column.weight for column in table.quasi)

    def wide(rows: tuple[int, ...]) -> Fraction:
        return sum((column.weight * ncp(column, rows) for column in table.quasi), Fraction(0)) / weights

    for row in range(table.rows):
        others = [other for other in range(table.rows) if other != row]
        total += min(wide((row, *some)) for some in combinations(others, k - 1))
    return float(total / table.rows)


def shorten(case: Case, seed: int, rows: int) -> Case:
    """A few rows of a case."""
    return replace(case, rows=tuple(random.Random(seed).sample(case.rows, rows)))


@pytest.mark.cover
@pytest.mark.parametrize("engine", PAIR)
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("case", CORE, ids=lambda case: case.name)
def test_all_sets_of_rows(connect_module: Any, engine: Any, case: Case, k: int, tmp_path: Path) -> None:
    few = replace(shorten(case, k, 8), sensitive=(), privacy=Privacy(k=k))
    _, report = release_rows(connect_module(engine), few, tmp_path, method="tree", metrics="least_gcp")
    bound = report.loss.more["least_gcp"]
    assert bound == pytest.approx(find_least(few, k), abs=ROUNDED)
    assert bound <= find_least(few, k)
    assert bound <= report.loss.gcp


def test_large_nominal_domains(shared_db: Any, tmp_path: Path) -> None:
    """Sets of more than 256 values are bounded by two values, never by their span of codes."""
    rows = tuple((f"v{i:03}", i % 7) for i in range(300))
    case = Case("many", {"a": "TEXT", "b": "INTEGER"}, rows, {"a": QI("nominal"), "b": QI()}, (), Privacy(k=3))
    _, report = release_rows(shared_db, case, tmp_path, method="tree", metrics="least_gcp")
    assert report.loss.more["least_gcp"] == pytest.approx((2 / 300) / 2, abs=ROUNDED)


@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed"])
def test_no_release_loses_less(shared_db: Any, kind: str, tmp_path: Path) -> None:
    """l counts as k where it asks for larger classes; other methods and formats are bounded alike."""
    found = []
    for method in ("tree", "mondrian", "kmember"):
        asked = {"method": method, "format": kind, "k": 2, "distinct_l": 3, "metrics": "least_gcp"}
        _, report = release_rows(shared_db, MIXED, tmp_path, **asked)
        found.append(report.loss.more["least_gcp"])
        assert 0 < found[-1] <= report.loss.gcp
    assert len(set(found)) == 1
    assert found[0] <= find_least(MIXED, 3)


def test_few_steps_and_few_near_rows_bound_from_below() -> None:
    """With less work the widths are lower, and with all of it those of all sets of rows."""
    from sqlanon.kernels.extent import ORDERED, Geometry

    draw = np.random.default_rng(3)
    for _ in range(20):
        n, d, k = int(draw.integers(6, 10)), int(draw.integers(1, 4)), int(draw.integers(2, 5))
        codes = np.unique(draw.integers(0, 12, (n, d)), axis=0).astype(np.int32)
        counts = draw.integers(1, 3, len(codes))
        facts = np.array([(ORDERED, 12, 0, 1 + a, 12 * a, 0, 0, 0, 0) for a in range(d)], np.int64)
        geometry = Geometry(facts, np.tile(np.arange(12, dtype=np.int64), d))
        every = np.repeat(codes, counts, axis=0)
        true = []
        for row in codes:
            first = int(np.flatnonzero((every == row).all(axis=1))[0])
            others = [i for i in range(len(every)) if i != first]
            sets = (every[[first, *some]] for some in combinations(others, k - 1))
            true.append(min(int((np.ptp(one, axis=0) * facts[:, 3]).sum()) for one in sets))
        asked, rows = np.arange(len(codes)), least_gcp.DifferentRows(codes, counts)
        whole = least_gcp.bound_widths(rows, asked, geometry, k, near=99, steps=512)
        assert whole.tolist() == true
        for near, steps in ((k, 1), (k + 1, 3), (99, 2)):
            less = least_gcp.bound_widths(rows, asked, geometry, k, near=near, steps=steps)
            assert (less <= whole).all()


def test_large_tables_are_drawn_from(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = tuple((i % 40,) for i in range(400))
    case = Case("drawn", {"a": "INTEGER"}, rows, {"a": QI()}, (), Privacy(k=20))
    _, report = release_rows(shared_db, case, tmp_path, method="tree", metrics="least_gcp")
    every = report.loss.more["least_gcp"]
    monkeypatch.setattr(least_gcp, "EACH", 100)
    monkeypatch.setattr(least_gcp, "DRAWN", 90)
    _, report = release_rows(shared_db, case, tmp_path, method="tree", metrics="least_gcp")
    assert report.loss.more["least_gcp"] == pytest.approx(every, abs=ROUNDED)  # each row's box is as wide
    monkeypatch.setattr(least_gcp, "MOST", 300)
    _, report = release_rows(shared_db, case, tmp_path, method="tree", metrics="least_gcp")
    assert report.loss.more["least_gcp"] == 0
