"""Protections of counts on every engine: what each publishes, and what its verification refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.counted import Made, cells_of, key, stays

pytest.importorskip("highspy")

PROTECT = {
    "suppress": "{persons: 3, bounds: exact}",
    "cell_key": "{persons: 3, method: cell_key, deviation: 5, variance: 3, no_result: 2}",
    "additive": "{persons: 3, method: cell_key, deviation: 5, variance: 3, additive: true}",
    "rule": "{persons: 3, method: cell_key, rule: '10_5'}",
    "round": "{persons: 3, method: round, base: 3}",
}


@pytest.mark.every_engine
@pytest.mark.parametrize("method", PROTECT)
def test_every_cell_is_published_once_with_bounds_that_hold(method: str, shared_db: Any, tmp_path: Path) -> None:
    rows = stays("protected")
    made = Made(shared_db, tmp_path, rows, protect=PROTECT[method])
    made.run()
    truth, view = cells_of(rows), made.rows()
    assert sorted(map(repr, map(key, view))) == sorted(map(repr, truth))
    assert all(row["n_low"] <= truth[key(row)] <= row["n_high"] for row in view)
    assert shared_db.audit(f"release.{made.view}").satisfied
    answer = shared_db.query(f"SELECT sex, count(*) AS n FROM {made.source} WHERE age < 40 GROUP BY sex ORDER BY sex")
    print(answer)
    for row in answer.rows:
        n = sum(one[1] == row["sex"] and one[2] is not None and one[2] < 40 for one in rows)
        assert row["n"].low <= n <= row["n"].high
    report = shared_db.audit_statistics([f"release.{made.view}"])
    print(report.hidden, report.exact)
    print(shared_db.attack(made.name))
    shared_db.report(made.name)
