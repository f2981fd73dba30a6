"""Aggregates that are computed from separate rows, beside those that are not."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.oracle.handmade import plain, publish, quasi

COSTS = [1, 2, 4]
AGES = (10, 12)


@pytest.mark.parametrize("keys", ["", "age"])
def test_a_quotient_of_a_calculation_and_an_exact_sum_beside_a_count_and_an_average(shared_db: Any, keys: str) -> None:
    """Every source: a class of three rows, of which at least one has each end of the range."""
    name = f"quotients_{keys or 'all'}"
    rows = [["10", "12", str(cost)] for cost in COSTS]
    columns = [quasi("age", "integer", "INTEGER"), plain("cost", "integer", "INTEGER")]
    publish(shared_db, name, columns, rows, attained=["age"])
    items = "count(*) AS n, avg(cost) AS a, 1.0 * sum(age * 2) / nullif(sum(cost + 3), 0) AS x"
    group = f"{keys} AS k, {items} FROM {name} WHERE age <> 11 GROUP BY 1" if keys else f"{items} FROM {name}"
    found = {row.get("k"): row for row in shared_db.query(f"SELECT {group}").rows}
    sources = [ages for ages in itertools.product(range(10, 13), repeat=3) if {10, 12} <= {*ages}]
    for key in AGES if keys else [None]:
        truth = []
        for ages in sources:
            own = [(age, cost) for age, cost in zip(ages, COSTS, strict=True) if key is None or age == key]
            truth.append(sum(age * 2 for age, _ in own) / sum(cost + 3 for _, cost in own))
        assert float(found[key]["x"].low) <= min(truth) + 1e-9
        assert float(found[key]["x"].high) >= max(truth) - 1e-9
        assert (found[key]["n"].low, found[key]["n"].high) == ((1, 2) if keys else (3, 3))
