"""What plan estimates: options that say how many rows are looked at together, how often, and by what."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import sqlanon
from sqlanon.database import Database
from sqlanon.declared.cost import COLUMNS, Cost, K, TableSize
from sqlanon.methods.base import Problem
from sqlanon.methods.method import make_method
from sqlanon.policy import release as spec_of
from sqlanon.release.plans.rows import estimate
from sqlanon.spec import MethodSpec

COST = Cost(1.0, 8.0, rows=2.0, block="block", times="runs", slower=(("way", "far", 3.0), ("way", "near", 2.0)))


@pytest.fixture
def memory_db() -> Iterator[Database]:
    with sqlanon.connect("duckdb:///:memory:") as db:
        yield db


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
        chosen = make_method(MethodSpec(name, options))
        return estimate(chosen, TableSize(rows, 8, 10)).seconds - chosen.cost.start

    block = {"block": "4096"}
    assert seconds(5_000_000, block) == pytest.approx(5 * seconds(1_000_000, block))
    assert seconds(40_000, {}) > 2 * seconds(20_000, {})
    assert seconds(40_000, {}) > 3 * seconds(40_000, block)


@pytest.mark.parametrize(
    ("objective", "rows", "block", "seconds"),
    [
        ("mi", 2_000, 50_000, 1.9),
        ("mi", 4_000, 50_000, 7.5),
        ("pmi", 4_000, 512, 0.72),
        ("pmi", 4_000, 50_000, 6.4),
        ("mixed", 4_000, 256, 0.9),
        ("mixed", 2_000, 50_000, 4.4),
        ("mixed", 4_000, 50_000, 19.2),
    ],
)
def test_objectives_of_sequential_that_count_values(objective: str, rows: int, block: int, seconds: float) -> None:
    """Processor seconds of 8 columns of uniform integers with l = 3 and 20 sensitive values, measured."""
    chosen = make_method(MethodSpec("sequential", {"objective": objective, "block": str(block)}))
    found = estimate(chosen, TableSize(rows, 8, 10, beyond=True))
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
    ],
)
def test_freeform_by_its_blocks_and_passes(options: dict[str, str], rows: int, k: int, seconds: float) -> None:
    """Processor seconds of 8 columns of uniform integers, measured."""
    found = estimate(make_method(MethodSpec("freeform", options)), TableSize(rows, 8, k))
    assert 0.5 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


@pytest.mark.parametrize(
    ("solver", "rows", "seconds"), [("greedy", 4_000, 3.6), ("flow", 1_000, 2.5), ("ring", 40_000, 0.5)]
)
def test_matchings_by_their_solver(solver: str, rows: int, seconds: float) -> None:
    """Processor seconds of 8 columns of uniform integers, measured."""
    found = estimate(make_method(MethodSpec("matchings", {"solver": solver})), TableSize(rows, 8, 10))
    assert 0.5 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


def test_freeform_needs_memory_by_k_and_block() -> None:
    """By the arrays of the kernels: 48 bytes for each of k, and costs of every two rows of a block."""

    def memory(k: int, **options: str) -> int:
        return estimate(make_method(MethodSpec("freeform", options)), TableSize(100_000, 8, k)).memory

    assert memory(50) - memory(10) == 100_000 * 48 * 40
    assert memory(10, block="4096") - memory(10) == 16 * (4096**2 - 512**2)


@pytest.mark.parametrize(("k", "block"), [(2, "0"), (2, "4096"), (50, "0")])
def test_freeform_refuses_what_plan_says_does_not_fit(k: int, block: str) -> None:
    chosen = make_method(MethodSpec("freeform", {"block": block}))
    needed = estimate(chosen, TableSize(200_000, 8, k)).memory
    problem = Problem([SimpleNamespace(name="k", asked=k)], None, range(8), (), 200_000, memory=needed)  # type: ignore[list-item, arg-type]
    assert chosen.refusal(problem) is None
    refused = chosen.refusal(replace(problem, memory=needed - 1))
    assert refused is not None
    assert f"raise memory to {(needed >> 20) + 1}MiB" in refused


@pytest.mark.parametrize(
    ("rows", "k", "beyond", "seconds"),
    [
        (4_000, 10, False, 3.8),
        (8_000, 10, False, 15.0),
        (8_000, 50, False, 3.3),
        (4_000, 10, True, 6.7),
        (8_000, 10, True, 26.5),
        (8_000, 10, True, 31.7),
        (8_000, 50, True, 6.5),
        (8_000, 50, True, 4.6),
    ],
)
def test_sequential_takes_longer_where_rows_change_places(rows: int, k: int, beyond: bool, seconds: float) -> None:
    """Processor seconds of 8 columns of uniform integers with 2 to 20 sensitive values and l = 1.5 to 4, measured."""
    found = estimate(make_method(MethodSpec("sequential", {})), TableSize(rows, 8, k, beyond=beyond))
    assert 0.6 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


@pytest.mark.thorough
def test_plan_counts_requirements_beyond_k(memory_db: Database) -> None:
    """Of the method itself, and of one among those of `best`."""
    memory_db.engine.execute("CREATE TABLE t AS SELECT i % 97 AS q, i % 5 AS s FROM range(2000) AS r(i)")

    def seconds(method: str, **asked: object) -> float:
        spec = spec_of(source="t", quasi="q", sensitive="s", k=5, method=method, **asked)
        found = memory_db.plan(spec).estimate
        assert found is not None
        return found.seconds

    alone = seconds("sequential")
    assert seconds("sequential", distinct_l=2) > 1.3 * alone
    assert seconds("sequential", l=1) == alone
    assert seconds("best:of=tree;sequential", l=2) > 1.3 * alone


def test_best_takes_as_long_as_its_methods() -> None:
    """And as much memory as the one that needs most."""

    def of(*names: str) -> tuple[float, float, int]:
        chosen = MethodSpec("best", {"of": ";".join(names)})
        found = estimate(make_method(chosen), TableSize(40_000, 8, 10))
        return found.seconds, found.most_seconds, found.memory

    slow = estimate(make_method(MethodSpec("sequential", {"objective": "mi"})), TableSize(40_000, 8, 10))
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
def test_columns_of_a_value_or_nothing_take_less_or_longer(name: str, rows: int, k: int, seconds: float) -> None:
    """Processor seconds of Adult with 14 suppressed columns (benchmarks/results/goldberger_*.json)."""
    found = estimate(make_method(MethodSpec(name, {})), TableSize(rows, 14, k, flat=1.0))
    assert 0.4 * seconds < found.seconds < 2 * seconds
    assert seconds < found.most_seconds


@pytest.mark.thorough
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


@pytest.mark.parametrize(
    ("options", "seconds", "most"), [({}, 16.0, 48.0), ({"sets": 5}, 16.0, 48.0), ({"sets": 0}, 10.0, 10.0)]
)
def test_a_budget_is_the_most_that_a_method_takes(options: dict[str, object], seconds: float, most: float) -> None:
    cost = Cost(0.0, 8.0, budget=("sets", 10.0))
    found = cost.time(20_000, COLUMNS, K, options)
    assert (found, cost.worst_time(found, options)) == (seconds, most)
