"""Published bounds of hidden cells: of several tables, of sums, and next to a release of rows, on every engine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sqlanon.query.counts.published_tables import CountsSpelling, read_tables
from tests.contract.counted import Made
from tests.contract.test_statistics_together import Pair
from tests.oracle.sum_reader import tables as sum_tables
from tests.oracle.table_reader import tables

pytest.importorskip("highspy")

LINKED = {
    "columns": "{region: {}, sex: {}, age: {}}",
    "tables": "[{name: by_region, by: [region, sex]}, {name: by_age, by: [sex, age]}]",
    "protect": "{persons: 3, bounds: exact}",
}
NAMES = ("region", "sex", "age")
COUNTS = {("north", "F", 20): 1, ("north", "M", 20): 2, (None, "F", 30): 2, (None, "M", 30): 1, ("it's", "M", 20): 2}
"""Rows of each combination; few, so that every table is tried."""
ROWS = [(*key, 100 * place + at) for place, (key, n) in enumerate(COUNTS.items()) for at in range(n)]


def cell_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of a cell; a total has none, and NULL is a text of its own."""
    return tuple(
        None if row[f"level_{name}"] == 1 else "NULL" if row[name] is None else str(row[name]) for name in NAMES
    )


def every_table(rows: list[dict[str, Any]], by: list[tuple[str, ...]]) -> Iterator[dict[Any, int]]:
    """The number of each cell in every table that the view does not rule out."""
    cells = {cell_of(row): row["n"] for row in rows}
    values = [sorted({cell[at] for cell in cells} - {None}) for at in range(len(NAMES))]
    leaves = [
        leaf
        for leaf in itertools.product(*values)
        if all(
            tuple(own if name in some else None for name, own in zip(NAMES, leaf, strict=True)) in cells for some in by
        )
    ]
    within = {
        cell: [at for at, leaf in enumerate(leaves) if all(a in (None, b) for a, b in zip(cell, leaf, strict=True))]
        for cell in cells
    }
    most = max(row["n"] for row in rows if row["n"] is not None)
    for table in tables(leaves, cells, within, most):
        yield {cell: sum(table[at] for at in places) for cell, places in within.items()}


def test_tables_without_all_columns(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, ROWS, **LINKED)
    made.run()
    rows = made.rows()
    assert cell_total(rows) == sum(COUNTS.values())
    hidden = [row for row in rows if row["status"] == "hidden"]
    assert hidden
    able = list(every_table(rows, [("region", "sex"), ("sex", "age")]))
    for row in rows:
        numbers = [one[cell_of(row)] for one in able]
        assert (row["n_low"], row["n_high"]) == (min(numbers), max(numbers))
        assert row["n_tight"]
    assert shared_db.audit(f"release.{made.view}").satisfied
    assert shared_db.attack(made.name).held


def cell_total(rows: list[dict[str, Any]]) -> int:
    (total,) = (row["n"] for row in rows if cell_of(row) == (None, None, None))
    return int(total)


SUMMED = {
    "columns": "{region: {}, sex: {}}",
    "tables": "[{name: all, by: [region, sex]}]",
    "measures": "{n: count, years: {sum: age, range: [20, 60], p_percent: 10}}",
    "protect": "{persons: 3, bounds: exact}",
}


@pytest.mark.parametrize("summed", [False, True], ids=["rows", "sums"])
def test_next_to_a_release_of_rows(summed: bool, shared_db: Any, tmp_path: Path) -> None:
    """The bounds of readers of both are within those of readers of the counts alone, and contain the truth."""
    roles = "pid: {role: identifier}, region: {role: quasi}"
    pair = Pair(shared_db, tmp_path, "bounds beside", roles=roles, privacy="{k: 20}")
    asked = SUMMED if summed else {**SUMMED, "measures": "{n: count}"}
    pair.write(**asked, more=f"    together: ['{pair.rows_name}']\n")
    pair.run()
    assert shared_db.audit(f"release.{pair.view}").satisfied
    truth = shared_db.engine.fetch(
        "SELECT CASE WHEN region IS NULL THEN 'NULL' ELSE region END, sex, COUNT(*), CAST(SUM(age) AS BIGINT) "
        f"FROM {pair.source} GROUP BY region, sex"
    )
    hidden = 0
    for row in pair.rows():
        cell = tuple(None if row[f"level_{name}"] == 1 else row[name] or "NULL" for name in ("region", "sex"))
        inside = [one for one in truth if all(a in (None, b) for a, b in zip(cell, one[:2], strict=True))]
        hidden += row["status"] == "hidden"
        for name, place in (("n", 2), ("years", 3))[: 1 + summed]:
            number = sum(int(one[place]) for one in inside)
            assert row[f"{name}_low"] <= number <= row[f"{name}_high"]
            assert row[f"{name}_tight"] is not None
            assert row["status"] == "hidden" or (row[f"{name}_low"] == number and row[f"{name}_tight"])
    assert hidden
    assert shared_db.attack(pair.name).held
    ends = {(row["region"], row["sex"]): row for row in pair.rows() if not row["level_region"] + row["level_sex"]}
    for cell in shared_db.audit_statistics([f"release.{pair.view}"], persons=3).found:
        if len(cell.values) == 2:
            row = ends[cell.values["region"], cell.values["sex"]]
            assert (cell.low, cell.high) == (row["n_low"], row["n_high"])
    (read,) = read_tables(shared_db.engine, {"counts": f"release.{pair.view}"}, CountsSpelling()).tables
    published_ends = [(row["n_low"], row["n_high"]) for row in pair.rows() if row["status"] == "hidden"]
    assert sorted(read.ends.values()) == sorted(published_ends)
    answers = shared_db.query(
        f"SELECT region, sex, count(*) AS n FROM {pair.source} GROUP BY region, sex", release=pair.name
    )
    for row in answers.rows:
        published = ends[row["region"], row["sex"]]
        assert (row["n"].low, row["n"].high) == (published["n_low"], published["n_high"])
        assert row["n"].tight == row["n"].exact


def test_queries_next_to_a_release_of_rows_without_bounds(shared_db: Any, tmp_path: Path) -> None:
    """Answers are made of the view of the counts: who has the rows as well may bound numbers more closely."""
    roles = "pid: {role: identifier}, region: {role: quasi}"
    pair = Pair(shared_db, tmp_path, "bounds beside", roles=roles, privacy="{k: 20}")
    asked = {**SUMMED, "measures": "{n: count}", "protect": "{persons: 3}"}
    pair.write(**asked, more=f"    together: ['{pair.rows_name}']\n")
    pair.run()
    answers = shared_db.query(
        f"SELECT region, sex, count(*) AS n FROM {pair.source} GROUP BY region, sex", release=pair.name
    )
    assert any(not row["n"].exact for row in answers.rows)
    for row in answers.rows:
        assert row["n"].tight == row["n"].exact


def test_queries_over_tables_without_all_columns(shared_db: Any, tmp_path: Path) -> None:
    """Bounds of a query are those of all tables together, and tight."""
    made = Made(shared_db, tmp_path, ROWS, **{**LINKED, "protect": "{persons: 3}"})
    made.run()
    able = list(every_table(made.rows(), [("region", "sex"), ("sex", "age")]))
    answers = shared_db.query(
        f"SELECT region, count(*) FILTER (WHERE sex = 'M') AS m FROM {made.source} GROUP BY region", release=made.name
    )
    inexact = 0
    for row in answers.rows:
        cell = ("NULL" if row["region"] is None else row["region"], "M", None)
        numbers = [one.get(cell, 0) for one in able]
        assert (row["m"].low, row["m"].high) == (min(numbers), max(numbers))
        assert row["m"].tight
        inexact += not row["m"].exact
    assert inexact


AMOUNTS = {
    "columns": "{region: {}, sex: {}}",
    "tables": "[{name: all, by: [region, sex]}]",
    "measures": "{n: count, years: {sum: age, range: [20, 22], p_percent: 1}}",
    "protect": "{persons: 3, insiders: none}",
}


def test_averages_of_rows_and_sums_together(shared_db: Any, tmp_path: Path) -> None:
    """Ends of averages are those of every table of rows and of sums in their range."""
    ages = {
        ("north", "F"): [20],
        ("north", "M"): [22, 21, 20, 22],
        ("south", "F"): [20, 22, 21],
        ("south", "M"): [21, 20],
    }
    rows = [
        (*key, age, 10 * place + at) for place, (key, some) in enumerate(ages.items()) for at, age in enumerate(some)
    ]
    made = Made(shared_db, tmp_path, rows, **AMOUNTS)
    made.run()
    leaves = list(ages)
    cells = {(row["region"], row["sex"]): (row["n"], row["years"]) for row in made.rows()}
    within = {
        cell: [at for at, leaf in enumerate(leaves) if all(a in (None, b) for a, b in zip(cell, leaf, strict=True))]
        for cell in cells
    }
    shown = [{cell: pair[place] for cell, pair in cells.items()} for place in (0, 1)]
    able = [
        (counts, sums)
        for counts in tables(leaves, shown[0], within, 10)
        for sums in sum_tables(shown[1], within, [(20 * n, 22 * n) for n in counts])
    ]
    answers = shared_db.query(
        f"SELECT region, sex, count(*) AS n, sum(age) AS s, avg(age) AS a FROM {made.source} GROUP BY region, sex",
        release=made.name,
    )
    inexact = 0
    for row in answers.rows:
        at = leaves.index((row["region"], row["sex"]))
        counts, sums = ([one[kind][at] for one in able] for kind in (0, 1))
        assert (row["n"].low, row["n"].high) == (min(counts), max(counts))
        assert (row["s"].low, row["s"].high) == (min(sums), max(sums))
        averages = [s / n for n, s in zip(counts, sums, strict=True)]
        assert row["a"].low == pytest.approx(min(averages), abs=1e-9)
        assert row["a"].high == pytest.approx(max(averages), abs=1e-9)
        assert row["n"].tight
        assert row["s"].tight
        assert row["a"].tight
        inexact += not row["a"].exact
    assert inexact
