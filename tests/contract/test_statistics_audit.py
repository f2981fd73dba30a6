"""Audits of published tables of counts, of ours and of others: worked examples, and what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.column_spec import Hierarchy
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.query.counts.published_tables import CountsSpelling
from tests.contract.counted import Made, stays
from tests.contract.summed import Summed
from tests.contract.summed import stays as sums
from tests.engines import create_table

pytest.importorskip("highspy")

REGIONS = {
    "A": ("county-1", "small", 2),
    "B": ("county-1", "small", 2),
    "I": ("county-1", "small", 8),
    "J": ("county-1", "small", 8),
    "K": ("county-2", "small", 3),
    "L": ("county-2", "BIG", 3),
    "M": ("county-2", "BIG", 3),
    "N": ("county-2", "small", 7),
}
"""The regions of github.com/sdcTools/UserSupport/issues/136: county, group, and number; small are those up to 3."""


def linked(hidden: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The regions by county, and by group, each with the totals of the others."""
    made: list[list[tuple[Any, ...]]] = []
    for place in range(2):
        sums: dict[str, int] = {}
        rows: list[tuple[Any, ...]] = []
        for region, facts in REGIONS.items():
            sums[facts[place]] = sums.get(facts[place], 0) + facts[2]
            rows.append((region, facts[place], None if region in hidden else facts[2]))
        rows += [("Total", name, number) for name, number in sums.items()]
        made.append([*rows, ("Total", "Total", sum(sums.values()))])
    return made[0], made[1]


def created(db: Any, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> str:
    name = f"published_{uuid4().hex[:10]}"
    create_table(db, name, columns, rows)
    return name


def counties(db: Any, hidden: str) -> tuple[str, str]:
    first, second = linked(hidden)
    return (
        created(db, {"region": "TEXT", "county": "TEXT", "n": "INTEGER"}, first),
        created(db, {"region": "TEXT", "groups": "TEXT", "n": "INTEGER"}, second),
    )


def test_linked_tables_that_are_each_safe_give_a_cell_away(shared_db: Any) -> None:
    """UserSupport 136: K = 3, the difference of a county and a group."""
    by_county, by_group = counties(shared_db, "ABKLM")
    for one in (by_county, by_group):
        assert shared_db.audit_statistics([one]).exact == 0
    found = shared_db.audit_statistics([by_county, by_group], persons=4)
    assert [(dict(one.values)["region"], one.low) for one in found.found if one.exact] == [("K", 3), ("K", 3)]
    assert not found.satisfied
    assert found.undecided == 0


def test_with_the_cell_that_sdctable_hides_nothing_is_found(shared_db: Any) -> None:
    """The expected result of sdcTable's test of linked tables: N is hidden in both; K is 0 to 10."""
    found = shared_db.audit_statistics(counties(shared_db, "ABKLMN"), persons=4)
    assert (found.exact, found.small, found.undecided) == (0, 0, 0)
    assert {(one.low, one.high) for one in found.found if one.values["region"] == "K"} == {(0, 10)}


@pytest.mark.thorough
def test_a_release_of_counts_gives_no_small_cell_away(shared_db: Any, tmp_path: Path) -> None:
    """The same system as of the certificate, read from the view alone."""
    made = Made(shared_db, tmp_path, stays("audited"))
    made.run()
    found = shared_db.audit_statistics([f"release.{made.view}"], persons=3)
    ends = {
        tuple((row[f"level_{name}"], row[name]) for name in ("region", "sex", "age")): (row["n_low"], row["n_high"])
        for row in made.rows()
        if row["status"] == "hidden"
    }
    assert found.hidden == len(ends) > 0
    assert (found.exact, found.small, found.undecided) == (0, 0, 0)
    assert sorted((one.low, one.high) for one in found.found) == sorted(ends.values())


@pytest.mark.thorough
def test_a_table_of_others_next_to_a_release_gives_cells_away(shared_db: Any, tmp_path: Path) -> None:
    men = ("it's", "M")
    rows = stays("beside")
    few = [row for row in rows if row[:2] == men][:2]
    rows = [row for row in rows if row[:2] != men] + few
    made = Made(shared_db, tmp_path, rows)
    made.run()
    regions = sorted({row[0] for row in rows if row[0] is not None})
    beside = [(region, sex, sum(row[:2] == (region, sex) for row in rows)) for region in regions for sex in "FM"]
    other = created(shared_db, {"region": "TEXT", "sex": "TEXT", "n": "INTEGER"}, beside)
    alone = shared_db.audit_statistics([f"release.{made.view}"])
    both = shared_db.audit_statistics([f"release.{made.view}", other], CountsSpelling(whole=False))
    assert alone.exact == 0
    shown = {(row["region"], row["sex"]) for row in made.rows() if row["status"] == "hidden" and row["level_age"] == 2}
    exact = {
        (one.values["region"], one.values["sex"]): one.low
        for one in both.found
        if one.exact and {"region", "sex"} == set(one.values)
    }
    assert exact == {cell: sum(row[:2] == cell for row in rows) for cell in exact}
    assert {cell for cell in shown if None not in cell} <= set(exact)
    assert men in shown


def test_texts_in_place_of_numbers_are_hidden_cells(shared_db: Any) -> None:
    rows = [("north", "F", "<5"), ("north", "M", "x"), ("south", "F", "40"), ("south", "M", "48.0")]
    rows += [
        ("north", "all", "32"),
        ("south", "all", "88"),
        ("all", "F", "42"),
        ("all", "M", "78"),
        ("all", "all", "120"),
    ]
    table = created(shared_db, {"region": "TEXT", "sex": "TEXT", "n": "TEXT"}, rows)
    found = shared_db.audit_statistics([table], CountsSpelling(value="n", total="all", hidden=("<5", "x")), persons=5)
    assert [(one.values, one.low, one.high) for one in found.found] == [
        ({"region": "north", "sex": "F"}, 2, 2),
        ({"region": "north", "sex": "M"}, 30, 30),
    ]
    assert (found.exact, found.small) == (2, 1)
    with pytest.raises(PolicyError, match="2 of column n are no whole numbers") as raised:
        shared_db.audit_statistics([table], CountsSpelling(value="n", total="all"))
    assert "<5" not in str(raised.value)
    with pytest.raises(PolicyError, match="which column has the numbers"):
        shared_db.audit_statistics([table])


def test_labels_of_all_levels_of_a_hierarchy_are_read(shared_db: Any) -> None:
    """UserSupport 136 by county alone, as one column with all of its levels."""
    paths = tuple((region, county, "Total") for region, (county, _, _) in REGIONS.items())
    sums = {county: sum(n for own, _, n in REGIONS.values() if own == county) for _, (county, _, _) in REGIONS.items()}
    rows: list[tuple[Any, ...]] = [(region, None if region in "AB" else n) for region, (_, _, n) in REGIONS.items()]
    rows += [*sums.items(), ("Total", sum(sums.values()))]
    table = created(shared_db, {"region": "TEXT", "n": "INTEGER"}, rows)
    found = shared_db.audit_statistics([table], CountsSpelling(hierarchies={"region": Hierarchy("regions", paths)}))
    assert [(one.values["region"], one.low, one.high) for one in found.found] == [("A", 0, 4), ("B", 0, 4)]
    wrong = created(shared_db, {"region": "TEXT", "n": "INTEGER"}, [*rows, ("elsewhere", 3)])
    with pytest.raises(PolicyError, match="column region has values that are not in its hierarchy"):
        shared_db.audit_statistics([wrong], CountsSpelling(hierarchies={"region": Hierarchy("regions", paths)}))


def test_numbers_that_no_table_has_are_named(shared_db: Any) -> None:
    rows = [("a", "p", 3), ("a", "q", None), ("a", "Total", 2), ("Total", "Total", 9)]
    table = created(shared_db, {"x": "TEXT", "y": "TEXT", "n": "INTEGER"}, rows)
    found = shared_db.audit_statistics([table])
    assert not found.satisfied
    assert {"x": "a"} in [dict(one.values) for one in found.contradictions]


def test_numbers_beyond_those_of_any_table_are_refused(shared_db: Any) -> None:
    table = created(shared_db, {"region": "TEXT", "n": "TEXT"}, [("north", "9" * 20), ("Total", "x")])
    with pytest.raises(UnsupportedError, match="numbers of cells are at most"):
        shared_db.audit_statistics([table], CountsSpelling(value="n", hidden=("x",)))


def test_null_may_be_the_text_of_totals(shared_db: Any) -> None:
    """The rows of GROUP BY ROLLUP."""
    rows = [("north", None), ("south", 40), (None, 42)]
    table = created(shared_db, {"region": "TEXT", "n": "INTEGER"}, rows)
    assert [one.low for one in shared_db.audit_statistics([table], CountsSpelling(total="")).found] == [2]
    with pytest.raises(PolicyError, match="lists a cell twice"):
        shared_db.audit_statistics([created(shared_db, {"a": "TEXT", "n": "INTEGER"}, [("x", 1), ("x", 2)])])


@pytest.mark.thorough
def test_labels_of_a_release_s_hierarchy_mean_the_same_in_a_table_without_one(shared_db: Any, tmp_path: Path) -> None:
    """Ages in twenties, published by somebody else: levels are those of the release."""
    rows = stays("levels")
    made = Made(shared_db, tmp_path, rows, protect="{persons: 3}")
    made.run()
    (cell,) = [row for row in made.rows() if row["age"] == "20..39" and row["level_sex"] == row["level_region"] == 1]
    number = sum(row[2] in (20, 30) for row in rows)
    wrong = created(shared_db, {"age": "TEXT", "n": "INTEGER"}, [("20..39", number + 1)])
    found = shared_db.audit_statistics([f"release.{made.view}", wrong], CountsSpelling(whole=False))
    assert (cell["n"] is None) or {"age": "20..39"} in [dict(one.values) for one in found.contradictions]
    strange = created(shared_db, {"age": "TEXT", "n": "INTEGER"}, [("20 to 39", number)])
    with pytest.raises(PolicyError, match="column age has values that are not in its hierarchy"):
        shared_db.audit_statistics([f"release.{made.view}", strange], CountsSpelling(whole=False))


def test_sums_have_digits_after_the_point(shared_db: Any) -> None:
    cells = {("a", "F"): None, ("a", "M"): None, ("a", "Total"): "30.50", ("b", "F"): "4.25", ("b", "M"): None}
    cells |= {("b", "Total"): "12.00", ("Total", "F"): "14.50", ("Total", "M"): "28.00", ("Total", "Total"): "42.50"}
    name = f"foreign_{uuid4().hex[:8]}"
    rows = [(*cell, value) for cell, value in cells.items()]
    create_table(shared_db, name, {"region": "TEXT", "sex": "TEXT", "cost": "TEXT"}, rows)
    found = shared_db.audit_statistics([name], CountsSpelling(value="cost", decimals=2))
    numbers = {tuple(one.values.items()): (one.low, one.high) for one in found.found}
    assert numbers == {
        (("region", "a"), ("sex", "F")): (1025, 1025),
        (("region", "a"), ("sex", "M")): (2025, 2025),
        (("region", "b"), ("sex", "M")): (775, 775),
    }
    with pytest.raises(PolicyError, match="no whole numbers of 0 or more"):
        shared_db.audit_statistics([name], CountsSpelling(value="cost", decimals=1))


@pytest.mark.thorough
def test_sums_of_a_release_are_audited_by_name(shared_db: Any, tmp_path: Path) -> None:
    made = Summed(shared_db, tmp_path, sums("audited"))
    made.run()
    found = shared_db.audit_statistics([f"release.{made.view}"], CountsSpelling(value="cost", decimals=2))
    assert found.satisfied
    assert found.hidden == sum(row["status"] == "hidden" for row in made.rows())
    with pytest.raises(PolicyError, match="--decimals 2"):
        shared_db.audit_statistics([f"release.{made.view}"], CountsSpelling(value="cost"))
