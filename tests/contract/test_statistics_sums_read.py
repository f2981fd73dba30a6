"""Sums are asked in SQL, and attacked: bounds hold, and nothing is found that is promised to be hidden."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from tests.contract.summed import Summed, stays

pytest.importorskip("highspy")


@pytest.fixture
def made(shared_db: Any, tmp_path: Path) -> Summed:
    release = Summed(shared_db, tmp_path, stays("asked"))
    release.run()
    return release


def ask(made: Summed, text: str) -> list[dict[str, Any]]:
    return list(made.db.query(text.format(made.source)).rows)


@pytest.mark.every_engine
def test_sums_and_averages_have_the_truth_between_their_bounds(made: Summed) -> None:
    groups: dict[Any, list[Decimal]] = {}
    for region, sex, _, cost in stays("asked"):
        groups.setdefault((region, sex), []).append(cost)
    asked = "SELECT region, sex, count(*) AS n, sum(cost) AS s, avg(cost) AS a FROM {} GROUP BY region, sex"
    rows = ask(made, asked)
    assert len(rows) == len(groups)
    inexact = 0
    for row in rows:
        costs = groups[row["region"], row["sex"]]
        n, s, a = row["n"], row["s"], row["a"]
        assert s.low <= sum(costs) <= s.high
        assert a.low <= float(sum(costs) / len(costs)) * (1 + 1e-12)
        assert float(sum(costs) / len(costs)) * (1 - 1e-12) <= a.high
        assert n.exact == s.exact == a.exact
        inexact += not s.exact
    assert inexact > 0


@pytest.mark.thorough
def test_a_condition_takes_part_of_the_cells(made: Summed) -> None:
    (row,) = ask(made, "SELECT sum(cost) FILTER (WHERE sex = 'F') AS f, sum(cost) AS s, avg(cost) AS a FROM {}")
    costs = [(sex, cost) for _, sex, _, cost in stays("asked")]
    assert row["s"].exact
    assert row["s"].estimate == sum(cost for _, cost in costs)
    assert row["f"].low <= sum(cost for sex, cost in costs if sex == "F") <= row["f"].high


def test_other_aggregates_are_refused(made: Summed) -> None:
    for what in ("min(cost)", "sum(cost + 1)", "count(cost)", "sum(distinct cost)", "avg(n)"):
        with pytest.raises(UnsupportedError):
            ask(made, f"SELECT {what} FROM {{}}")


@pytest.mark.thorough
def test_readers_and_contributors_find_nothing(made: Summed) -> None:
    found = made.db.attack(made.name)
    assert found.held
    naive, outsider, contributor = found.sums
    assert [one.name for one in found.sums] == ["naive", "outsider", "contributor"]
    assert naive.sought == outsider.sought > 0
    assert naive.near > 0
    assert not naive.promised
    assert (outsider.near, contributor.near) == (0, 0)
    assert contributor.sought > 0


@pytest.mark.thorough
def test_a_witness_less_is_noticed_by_an_audit(made: Summed) -> None:
    (entry,) = Catalog(made.db.engine).entries(made.name)
    witness = entry.statistics[2]
    made.db.engine.execute(f'UPDATE "_sqlanon"."{witness.name}" SET s1 = 0')
    with pytest.raises(PrivacyViolation, match="without witnesses"):
        made.db.audit(f"release.{made.view}")
