"""Releases of sums on every engine: what is published, what is demanded, and what the certificate notices."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics import foreseen
from sqlanon.statistics.protections import suppress as statistics
from tests.contract.summed import COST, RULES, Summed, given, stays
from tests.contract.tampering import tamper
from tests.engines import read_table
from tests.unit.cells.sums_made import Rules

pytest.importorskip("highspy")


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((row[f"level_{name}"], row[name]) for name in ("region", "sex"))


def cells_of(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], tuple[int, Decimal]]:
    """Rows and costs of every cell, added up in Python."""
    found: dict[tuple[Any, ...], tuple[int, Decimal]] = {}
    for region, sex, _, cost in rows:
        for cell in itertools.product(((0, region), (1, None)), ((0, sex), (1, None))):
            n, total = found.get(cell, (0, Decimal(0)))
            found[cell] = n + 1, total + cost
    return found


@pytest.mark.every_engine
def test_a_cell_has_all_its_numbers_or_none(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("published")
    made = Summed(shared_db, tmp_path, rows)
    made.run()
    truth, view = cells_of(rows), made.rows()
    assert sorted(map(repr, map(place, view))) == sorted(map(repr, truth))
    for row in view:
        n, cost = truth[place(row)]
        if row["status"] == "shown":
            assert row["n"] == n
            assert row["cost"] == row["cost_low"] == row["cost_high"] == cost
        else:
            assert row["n"] is row["cost"] is None
            assert 0 <= row["cost_low"] <= cost <= row["cost_high"]
    assert {"shown", "hidden"} == {row["status"] for row in view}
    assert shared_db.audit(f"release.{made.view}").satisfied


@pytest.mark.every_engine
def test_demands_are_those_of_the_definitions(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("demanded", 40)
    made = Summed(shared_db, tmp_path, rows)
    made.run()
    check_demands(made, rows, RULES)


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("low", [-5000, 10])
def test_demands_are_those_of_the_definitions_in_other_ranges(low: int, shared_db: Any, tmp_path: Path) -> None:
    rows = [
        (*row[:3], max(row[3], Decimal(low)) if low > 0 else row[3] * (-1) ** at)
        for at, row in enumerate(stays(f"from {low}", 40))
    ]
    rules = replace(RULES, low=100 * low)
    asked = f"{{n: count, cost: {COST.replace('[0,', f'[{low},')[:-1]}{', absolute: true' if low < 0 else ''}}}}}"
    made = Summed(shared_db, tmp_path, rows, measures=asked)
    made.run()
    check_demands(made, rows, rules)
    truth = cells_of(rows)
    for row in made.rows():
        cost = truth[place(row)][1]
        if row["status"] == "hidden":
            assert row["cost_low"] is None or row["cost_low"] <= cost
            assert row["cost_high"] is None or row["cost_high"] >= cost
        else:
            assert row["cost"] == cost


def check_demands(made: Summed, rows: list[tuple[Any, ...]], rules: Rules) -> None:
    """The private tables have what the definitions say."""
    shared_db = made.db
    case, named = given(rows, rules)
    system = case.system()
    amounts = case.amounts(system)
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    kept = {
        part: read_table(shared_db, ("_sqlanon", ref.name))
        for part, ref in zip(
            ("cells", "atoms", "witness", "limits", "needs", "people", "bounds"), entry.statistics, strict=True
        )
    }

    def label(name: Any) -> str:
        return "n" if name is None else f"v{name}"

    codes = [{label(pair[at]): code[at] for pair, code in named.items()} | {"*": None} for at in (0, 1)]
    atoms = {row["atom"]: (codes[0][row["v1_0"]], codes[1][row["v2_0"]]) for row in kept["atoms"]}
    places = {at: place for place, at in enumerate(case.rows)}
    assert {places[atoms[row["atom"]]]: (row["low"], row["high"]) for row in kept["limits"]} == dict(
        enumerate(zip(amounts.low.tolist(), amounts.high.tolist(), strict=True))
    )
    cells = {row["cell"]: (codes[0][row["k1"]], codes[1][row["k2"]]) for row in kept["cells"]}
    of_cell = dict(zip(case.counts.cells, system.listed.tolist(), strict=True))
    needs = {cells[row["cell"]]: (row["up"], row["down"], row["sensitive"] == 1) for row in kept["needs"]}
    expected = {
        cell: (int(amounts.up[of]), int(amounts.down[of]), bool(amounts.sensitive[of])) for cell, of in of_cell.items()
    }
    assert needs == {cell: need for cell, need in expected.items() if need != (0, 0, False)}
    people: dict[int, list[tuple[int, ...]]] = {}
    for row in kept["people"]:
        box = (row["more_low"], row["more_high"], row["less_low"], row["less_high"])
        people.setdefault(row["person"], []).append((places[atoms[row["atom"]]], *box))
    defined = [
        sorted(zip(one.atoms.tolist(), *one.more.tolist(), *one.less.tolist(), strict=True))
        for one in amounts.contributors
    ]
    assert Counter(map(repr, map(sorted, people.values()))) == Counter(map(repr, defined))


TAMPERED: dict[str, tuple[str, Sequence[str]]] = {
    "no witness of a sum": ("without witnesses", ["UPDATE {witness} SET s1 = 0"]),
    "a witness that changes a shown sum": (
        "shown cells that a witness changes|changes",
        ["UPDATE {witness} SET s1 = s1 + 1"],
    ),
    "a witness beyond the range": ("changes", ["UPDATE {witness} SET s1 = s1 + 1000000000"]),
    "a shown sum": ("rows", ["UPDATE {physical} SET cost = cost + 1 WHERE status = 'shown'"]),
    "a sum that is shown alone": ("rows", ["UPDATE {physical} SET cost = cost_high WHERE status = 'hidden'"]),
    "bounds of a sum that are too narrow": (
        "rows|bounds that a witness leaves",
        ["UPDATE {physical} SET cost_high = cost_low WHERE status = 'hidden'"],
    ),
    "sums of cells that are not the source's": ("cells", ["UPDATE {cells} SET s1 = s1 + 1 WHERE l1 = 0"]),
    "sums of finest cells that are not": ("finest cells", ["UPDATE {atoms} SET s1 = s1 + 1"]),
    "wider limits": ("limits of sums", ["UPDATE {limits1} SET low = low - 1"]),
    "smaller demands": ("needs of sums", ["UPDATE {needs1} SET up = 1"]),
    "a demand left out": ("needs of sums", ["DELETE FROM {needs1}"]),
    "contributors left out": ("contributors of sums", ["DELETE FROM {contributors1}"]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Summed(shared_db, tmp_path, stays("tampered", 40))
    expected, texts = TAMPERED[what]
    tamper(monkeypatch, statistics, "verify_source", *texts)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        made.run()
    assert shared_db.releases(made.name) == ()


@pytest.mark.every_engine
def test_contributors_who_need_too_many_tables_are_refused_and_proposed_levels_are_published(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreseen, "MOST_CHANGED", 300)
    rows = stays("too many", 90)
    made = Summed(shared_db, tmp_path, rows)
    with pytest.raises(InfeasibleError, match="contributions to sums, would take longer than it may") as error:
        made.run()
    assert "of all margins region x sex has most small cells" in str(error.value)
    assert "few cells of region are small" in str(error.value)
    assert shared_db.releases(made.name) == ()
    coarse = Summed(shared_db, tmp_path, rows)
    asked = {"columns": "{region: {}}", "tables": "[{name: all, by: [region]}]"}
    coarse.write(measures=f"{{n: count, cost: {COST}}}", **asked)
    coarse.run()
    assert shared_db.audit(f"release.{coarse.view}").satisfied


REFUSED = {
    "values beyond the range": (
        {"measures": "{n: count, cost: {sum: cost, range: [0, 1], p_percent: 10}}"},
        "out of the",
    ),
    "a range finer than the column": (
        {"measures": "{n: count, cost: {sum: cost, range: [0, 5000.001], p_percent: 10}}"},
        "more digits after the point",
    ),
    "floating-point numbers": ({"columns": {"cost": "DOUBLE PRECISION"}}, "add up exactly"),
    "text": ({"columns": {"cost": "TEXT"}}, "add up exactly"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", REFUSED)
def test_sums_that_are_refused(what: str, shared_db: Any, tmp_path: Path) -> None:
    asked, text = REFUSED[what]
    columns = {"region": "TEXT", "sex": "TEXT", "pid": "INTEGER", "cost": "DECIMAL(9, 2)", **asked.get("columns", {})}
    rows = [(*row[:3], str(row[3]) if columns["cost"] == "TEXT" else row[3]) for row in stays("refused", 20)]
    more = {key: value for key, value in asked.items() if key != "columns"}
    made = Summed(shared_db, tmp_path, rows, columns, **more)
    with pytest.raises(PolicyError, match=text):
        made.run()


def test_a_counted_column_with_one_amount_a_value_is_refused(shared_db: Any, tmp_path: Path) -> None:
    """By region and sex 2 and 35 of the north and south are hidden: 37 rows of 1,070 together, at 10 and at 30 each."""
    numbers = {("north", "F"): 2, ("north", "M"): 30, ("south", "F"): 35, ("south", "M"): 41}
    regions = [key for key, n in numbers.items() for _ in range(n)]
    rows = [(*key, pid, Decimal(10 if key[0] == "north" else 30)) for pid, key in enumerate(regions)]
    made = Summed(shared_db, tmp_path, rows)
    for found in (made.run, lambda: shared_db.plan(made.spec)):
        with pytest.raises(UnsupportedError, match="the counted column region says what cost is"):
            found()
    assert shared_db.releases(made.name) == ()
    shared_db.engine.execute(f"UPDATE {made.source} SET cost = cost + MOD(pid, 7) * 3")
    assert made.run().outcome == "published"


def test_sums_of_null_are_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Summed(shared_db, tmp_path, [*stays("null", 20), ("north", "F", 77, None)])
    with pytest.raises(PolicyError, match="NULL in 1 rows"):
        made.run()
