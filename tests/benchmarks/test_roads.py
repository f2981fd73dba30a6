"""A fixed cost and a cost for each row of the roads, and where two roads cross."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.report_roads import _range
from benchmarks.roads import crossing, fit


def road(fixed: float, each: float, *sizes: int) -> dict[str, Any]:
    measured = [{"rows": rows, "cpu_seconds": fixed + each * rows / 1e6} for rows in sizes]
    return {**fit(measured), "sizes": measured}


def test_costs_on_a_line_are_found():
    found = road(2.5, 7.0, 10_000, 300_000, 3_000_000)
    assert (found["fixed_seconds"], found["seconds_per_million"]) == pytest.approx((2.5, 7.0))
    assert road(2.5, 7.0, 10_000)["fixed_seconds"] is None


def test_no_cost_is_below_nothing():
    falling = [{"rows": 10_000, "cpu_seconds": 2.0}, {"rows": 1_000_000, "cpu_seconds": 1.0}]
    assert fit(falling)["seconds_per_million"] == 0.0
    assert 1.0 <= fit(falling)["fixed_seconds"] <= 2.0
    bent = [{"rows": 10_000, "cpu_seconds": 0.001}, {"rows": 1_000_000, "cpu_seconds": 1.0}]
    assert fit(bent)["fixed_seconds"] == 0.0


def test_where_two_roads_cross():
    small, large = road(1.0, 10.0, 10_000, 100_000), road(5.0, 2.0, 10_000, 1_000_000)
    assert crossing(small, large) == pytest.approx(500_000)
    assert _range(small, large) == "up to 500,000 rows, computed: 100,000 were measured"
    assert _range(large, small) == "from 500,000 rows, computed: 100,000 were measured"
    assert _range(road(1.0, 1.0, 10, 20), large) == "any number of rows"
    assert _range(large, road(1.0, 1.0, 10, 20)) == "no number of rows"
