"""What plan estimates: options that say how many rows are looked at together, how often, and by what."""

import pytest

from sqlanon.declared.cost import COLUMNS, Cost, K
from sqlanon.methods import method
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
