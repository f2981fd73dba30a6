"""The optimum of small tables is that of all partitions, and releases are near it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("highspy")

from benchmarks import optimum
from benchmarks.optimum import find_optimum, measure
from tests.oracle.partitions import least_cost


def least_of_all(values: np.ndarray, k: int) -> float:
    """The least range NCP of all partitions into classes of at least k rows."""
    n, d = values.shape
    spans = [max(int(column.max() - column.min()), 1) for column in values.T]
    parts = [int(np.lcm.reduce(spans)) // span for span in spans]
    owned: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for size in range(k, n + 1):
        for rows in combinations(range(n), size):
            members = values[list(rows)]
            widths = members.max(axis=0) - members.min(axis=0)
            cost = size * sum(int(width) * part for width, part in zip(widths, parts, strict=True))
            owned[rows[0]].append((sum(1 << row for row in rows), cost))
    return least_cost([classes or [(1, 2**61)] for classes in owned]) / (n * d * int(np.lcm.reduce(spans)))


@pytest.mark.parametrize(("rows", "columns", "k"), [(6, 1, 2), (7, 2, 2), (8, 2, 3), (8, 3, 2)])
def test_the_optimum_is_that_of_all_partitions(rows: int, columns: int, k: int) -> None:
    rng = np.random.default_rng(rows * columns)
    for _ in range(3):
        values = rng.integers(0, 5, (rows, columns))
        found = find_optimum(values, k)
        assert found.proved
        assert found.loss == pytest.approx(least_of_all(values, k), abs=1e-12)
        assert min(map(len, found.classes)) >= k


def test_a_bound_holds_where_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the last program the bound and the division enclose the optimum."""
    monkeypatch.setattr(optimum, "_NEAR", 0)
    rng, proofs = np.random.default_rng(3), []
    for _ in range(12):
        values = rng.integers(0, 6, (8, 2))
        found = find_optimum(values, 2)
        proofs.append(found.proved)
        assert found.bound - 1e-12 <= least_of_all(values, 2) <= found.loss + 1e-12
    assert not all(proofs)


@pytest.mark.thorough
def test_the_default_is_near_the_optimum() -> None:
    """Of few rows, with proof; a release never loses less."""
    for columns, rows, k in optimum.CASES[:4]:
        case = measure(columns, rows, k, ["fast", "normal", "high"])
        assert case["proved"]
        assert all(loss >= case["optimum"] - 1e-9 for loss in case["loss"].values())
        assert case["above_bound"]["normal"] <= min(case["above_bound"]["fast"], 0.08)
        assert case["above_bound"]["high"] <= case["above_bound"]["normal"]


@pytest.mark.thorough
def test_the_command(tmp_path: Path) -> None:
    optimum.main(["--cases", "1", "--effort", "fast", "--out", str(tmp_path / "optimum.json")])
    assert "proved" in (tmp_path / "optimum.json").read_text()
