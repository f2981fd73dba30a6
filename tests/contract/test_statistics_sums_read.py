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


MEASURES = "{n: count, paid: {sum: cost, range: [0, 5000], p_percent: 12.5}}"


def test_sums_are_asked_by_their_column_as_by_their_measure(shared_db: Any, tmp_path: Path) -> None:
    made = Summed(shared_db, tmp_path, stays("asked"), measures=MEASURES)
    made.run()
    asked = (
        "SELECT sex, sum({0}) AS s, avg({0}) AS a, sum({0}) FILTER (WHERE region = 'north') AS f FROM {{}} GROUP BY sex"
    )
    by_column, by_measure, by_alias = (ask(made, asked.format(name)) for name in ("cost", "paid", '"cost"'))
    assert by_column == by_measure == by_alias
    assert len(by_column) == 2
    for row in by_column:
        costs = [(region, cost) for region, sex, _, cost in stays("asked") if sex == row["sex"]]
        assert row["s"].low <= sum(cost for _, cost in costs) <= row["s"].high
        assert row["f"].low <= sum(cost for region, cost in costs if region == "north") <= row["f"].high
    for text in ("SELECT count(*) AS n FROM {} WHERE cost > 5", "SELECT cost, count(*) AS n FROM {} GROUP BY cost"):
        with pytest.raises(UnsupportedError, match="cost is published in sums of cells alone"):
            ask(made, text)


def test_a_name_of_a_measure_and_of_the_column_of_another_is_refused(shared_db: Any, tmp_path: Path) -> None:
    measures = MEASURES.replace("n: count", "cost: count")
    made = Summed(shared_db, tmp_path, stays("asked"), measures=measures)
    made.run()
    with pytest.raises(UnsupportedError, match="several columns are called cost"):
        ask(made, "SELECT sum(cost) AS s FROM {}")
    assert ask(made, "SELECT sum(paid) AS s FROM {}")


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
