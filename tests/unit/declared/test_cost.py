"""What plan estimates: options that say how many rows are looked at together, how often, and by what."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import sqlanon
from sqlanon.database import Database
from sqlanon.declared.cost import COLUMNS, Cost, K
from sqlanon.methods import Problem, method
from sqlanon.policy import release as spec_of
from sqlanon.release.make.plan import estimate
from sqlanon.spec import MethodSpec

COST = Cost(
    1.0, 8.0, rows=2.0, block="block", times="runs", slower=(("way", "far", 3.0), ("way", "near", 2.0))
)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, 33.0),
        ({"block": 10_000}, 17.0),
        ({"block": 10_000, "runs": 3}, 49.0),
        ({"block": 50_000}, 33.0),
        ({"other": 10_000}, 33.0),
        ({"block": 10_000, "way": "far"}, 49.0),
        ({"block": 10_000, "way": "other"}, 17.0),
    ],
)
def test_blocks_cost_the_same_each(options: dict[str, object], seconds: float) -> None:
    assert COST.time(20_000, COLUMNS, K, options) == seconds


@pytest.mark.parametrize("name", ["kmember", "mdav", "agglomerative", "sequential"])
def test_methods_in_blocks_take_as_long_for_each_row(name: str) -> None:
    def seconds(rows: int, options: dict[str, str]) -> float:
        chosen = method(MethodSpec(name, options))
        return estimate(chosen, rows, 8, 10).seconds - chosen.cost.start

    block = {"block": "4096"}
    assert seconds(5_000_000, block) == pytest.approx(5 * seconds(1_000_000, block))
    assert seconds(40_000, {}) > 2 * seconds(20_000, {})
    assert seconds(40_000, {}) > 3 * seconds(40_000, block)


@pytest.mark.parametrize(
    ("objective", "rows", "block", "seconds"),
    [
        ("mi", 2_000, 50_000, 2.5),
        ("mi", 4_000, 50_000, 10.9),
        ("pmi", 4_000, 512, 3.7),
        ("pmi", 4_000, 50_000, 27.6),
        ("mixed", 4_000, 256, 5.8),
        ("mixed", 2_000, 50_000, 25.2),
        ("mixed", 4_000, 50_000, 129.0),
    ],
)
def test_objectives_of_sequential_that_count_values_take_longer(
    objective: str, rows: int, block: int, seconds: float
) -> None:
    """Processor seconds of 8 columns of uniform integers with l = 3 and 20 sensitive values, measured."""
    chosen = method(MethodSpec("sequential", {"objective": objective, "block": str(block)}))
    found = estimate(chosen, rows, 8, 10)
    assert 0.6 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


@pytest.mark.parametrize(
    ("options", "rows", "k", "seconds"),
    [
        ({}, 10_000, 10, 1.65),
        ({}, 40_000, 10, 5.6),
        ({}, 10_000, 50, 9.2),
        ({"passes": "0"}, 10_000, 10, 0.68),
        ({"passes": "4"}, 10_000, 10, 2.45),
        ({"block": "256"}, 10_000, 10, 1.0),
        ({"block": "1024"}, 10_000, 10, 3.1),
        ({"solver": "greedy"}, 4_000, 10, 3.6),
        ({"solver": "flow"}, 1_000, 10, 2.5),
        ({"solver": "ring"}, 40_000, 10, 0.5),
    ],
)
def test_freeform_by_its_blocks_and_passes(
    options: dict[str, str], rows: int, k: int, seconds: float
) -> None:
    """Processor seconds of 8 columns of uniform integers, measured."""
    found = estimate(method(MethodSpec("freeform", options)), rows, 8, k)
    assert 0.5 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


def test_freeform_needs_memory_by_k_and_block() -> None:
    """By the arrays of the kernels: 48 bytes for each of k, and costs of every two rows of a block."""

    def memory(k: int, **options: str) -> int:
        return estimate(method(MethodSpec("freeform", options)), 100_000, 8, k).memory

    assert memory(50) - memory(10) == 100_000 * 48 * 40
    assert memory(10, block="4096") - memory(10) == 16 * (4096**2 - 512**2)


@pytest.mark.parametrize(("k", "block"), [(2, "0"), (2, "4096"), (50, "0")])
def test_freeform_refuses_what_plan_says_does_not_fit(k: int, block: str) -> None:
    chosen = method(MethodSpec("freeform", {"block": block}))
    needed = estimate(chosen, 200_000, 8, k).memory
    problem = Problem([SimpleNamespace(name="k", asked=k)], None, range(8), (), 200_000, memory=needed)  # type: ignore[list-item, arg-type]
    assert chosen.refusal(problem) is None
    refused = chosen.refusal(replace(problem, memory=needed - 1))
    assert refused is not None
    assert f"raise memory to {(needed >> 20) + 1}MiB" in refused


def test_best_takes_as_long_as_its_methods() -> None:
    """And as much memory as the one that needs most."""

    def of(*names: str) -> tuple[float, float, int]:
        chosen = MethodSpec("best", {"of": ";".join(names)})
        found = estimate(method(chosen), 40_000, 8, 10)
        return found.seconds, found.most_seconds, found.memory

    slow = estimate(method(MethodSpec("sequential", {"objective": "mi"})), 40_000, 8, 10)
    alone, both = of("tree"), of("tree", "sequential:objective=mi")
    assert both[0] - alone[0] == pytest.approx(slow.seconds)
    assert both[1] - alone[1] == pytest.approx(slow.most_seconds)
    assert both[2] == slow.memory > alone[2]


@pytest.mark.parametrize(
    ("name", "rows", "k", "seconds"),
    [
        ("sequential", 3_000, 10, 1.4),
        ("sequential", 3_000, 50, 0.43),
        ("sequential", 45_222, 10, 253.0),
        ("sequential", 45_222, 50, 60.0),
        ("sequential", 45_222, 100, 60.0),
        ("kmember", 3_000, 10, 0.44),
        ("agglomerative", 3_000, 10, 1.28),
        ("mdav", 3_000, 10, 0.12),
    ],
)
def test_columns_of_a_value_or_nothing_take_less_or_longer(
    name: str, rows: int, k: int, seconds: float
) -> None:
    """Processor seconds of Adult with 14 suppressed columns (benchmarks/results/goldberger_*.json)."""
    found = estimate(method(MethodSpec(name, {})), rows, 14, k, flat=1.0)
    assert 0.4 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


@pytest.fixture
def memory_db() -> Iterator[Database]:
    with sqlanon.connect("duckdb:///:memory:") as db:
        yield db


def test_plan_counts_columns_of_a_value_or_nothing(memory_db: Database, tmp_path: Path) -> None:
    """Columns of two values, and those with a hierarchy of one level."""
    memory_db.engine.execute(
        "CREATE TABLE t AS SELECT i % 2 AS two, i % 5 AS flat, i % 7 AS many, i % 7 AS deep FROM range(2000) AS r(i)"
    )
    (tmp_path / "flat.csv").write_text("".join(f"{v};*\n" for v in range(5)))
    (tmp_path / "deep.csv").write_text("".join(f"{v};{v % 2};*\n" for v in range(7)))

    def seconds(*quasi: str) -> float:
        files = {name: tmp_path / f"{name}.csv" for name in quasi if name in ("flat", "deep")}
        spec = spec_of(source="t", quasi=quasi, rest="drop", k=5, method="sequential", hierarchies=files)
        found = memory_db.plan(spec).estimate
        assert found is not None
        return found.seconds

    assert seconds("two", "flat") < 0.5 * seconds("many", "deep")
    assert seconds("two", "flat") < seconds("two", "many") < seconds("many", "deep")
