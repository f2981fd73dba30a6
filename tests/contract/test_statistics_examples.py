"""Worked examples of other tools, released as counts and audited: what their users found is not found."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.policy import load
from tests.contract.test_statistics_audit import REGIONS
from tests.engines import create_table, read_table

pytest.importorskip("highspy")

LINKED = [
    ("young", "Spain", "EU", "2014", 6),
    ("young", "Iceland", "nonEU", "2014", 8),
    ("old", "Spain", "EU", "2014", 9),
    ("old", "Portugal", "EU", "2014", 1),
    ("young", "Iceland", "nonEU", "2015", 2),
    ("old", "Spain", "EU", "2015", 4),
    ("old", "Portugal", "EU", "2015", 3),
    ("young", "Spain", "EU", "2016", 7),
    ("young", "Iceland", "nonEU", "2016", 2),
    ("young", "Portugal", "EU", "2016", 2),
]
"""The ten rows of "Linked table suppression", a vignette of GaussSuppression (statisticsnorway, MIT)."""


def released(db: Any, folder: Path, columns: list[str], rows: list[tuple[Any, ...]], tables: str, persons: int) -> str:
    """Counts of so many persons each, released; the name of the view."""
    source = f"example_{uuid4().hex[:10]}"
    each = [(*row[:-1], f"{place}-{one}") for place, row in enumerate(rows) for one in range(row[-1])]
    create_table(db, source, dict.fromkeys([*columns, "pid"], "TEXT"), each)
    file = folder / "anon.yml"
    file.write_text(
        f"version: 1\nreleases:\n  - name: {source}\n    source: {source}\n    person: pid\n"
        f"    publish: release.v_{source}\n    statistics:\n      tables: {tables}\n"
        f"      columns: {{{', '.join(f'{name}: {{}}' for name in columns)}}}\n"
        f"      measures: {{n: count}}\n      protect: {{persons: {persons}}}\n"
    )
    db.run(load(file).releases[0])
    return f"v_{source}"


def hidden(db: Any, view: str, columns: list[str]) -> set[tuple[Any, ...]]:
    """Cells that are hidden: of each column the value, or "Total"."""
    return {
        tuple("Total" if row[f"level_{name}"] else row[name] for name in columns)
        for row in read_table(db, ("release", view))
        if row["status"] == "hidden"
    }


@pytest.mark.thorough
def test_linked_regions_are_protected_together(shared_db: Any, tmp_path: Path) -> None:
    """UserSupport 136 and sdcTable's test of it: besides A, B, K, L and M the region N is hidden, in both tables."""
    columns = ["region", "county", "size"]
    rows = [(region, *facts) for region, facts in REGIONS.items()]
    tables = "[{name: a, by: [region, county]}, {name: b, by: [region, size]}]"
    view = released(shared_db, tmp_path, columns, rows, tables, 4)
    found = hidden(shared_db, view, columns)
    assert {cell[0] for cell in found if cell[0] != "Total"} >= set("ABKLMN")
    audited = shared_db.audit_statistics([f"release.{view}"], persons=4)
    assert (audited.exact, audited.small, audited.undecided) == (0, 0, 0)


@pytest.mark.thorough
def test_single_persons_in_a_row_are_not_found(shared_db: Any, tmp_path: Path) -> None:
    """UserSupport 135: three numbers of one in a row, and a column of one."""
    numbers = [(1, 1, 7, 1, 0), (1, 0, 0, 2, 8)]
    rows = [
        (str(row), label, n) for row, some in enumerate(numbers, 1) for label, n in zip("ABHMW", some, strict=True) if n
    ]
    view = released(shared_db, tmp_path, ["one", "two"], rows, "[{name: a, by: [one, two]}]", 3)
    small = {row[:2] for row in rows if row[2] < 3} | {("Total", "B"), ("Total", "A")}
    assert hidden(shared_db, view, ["one", "two"]) >= small
    attacked = shared_db.attack(f"release.{view}")
    assert attacked.held
    assert attacked.attacks[2].possible == 4


@pytest.mark.thorough
def test_what_follows_from_linked_tables_is_not_found(shared_db: Any, tmp_path: Path) -> None:
    """The vignette: protected "consistently", Spain 2015 follows from EU 2015 and Portugal 2015."""
    columns = ["age", "geo", "eu", "year"]
    tables = "[{name: a, by: [age, eu, year]}, {name: b, by: [geo, year]}]"
    view = released(shared_db, tmp_path, columns, list(LINKED), tables, 3)
    audited = shared_db.audit_statistics([f"release.{view}"], persons=3)
    assert (audited.exact, audited.small, audited.undecided) == (0, 0, 0)
    small = {
        ("Total", "Portugal", "Total", "2014"),
        ("Total", "Iceland", "Total", "2015"),
        ("Total", "Iceland", "Total", "2016"),
        ("Total", "Portugal", "Total", "2016"),
        ("young", "Total", "nonEU", "2015"),
        ("young", "Total", "nonEU", "2016"),
    }
    assert hidden(shared_db, view, columns) >= small


def test_a_country_follows_from_its_group_and_the_other_one(shared_db: Any) -> None:
    """The same example as readers have it, where Portugal 2015 and EU 2015 are shown and Spain 2015 is not."""
    countries = [
        ("Spain", "EU", "2015", None),
        ("Portugal", "EU", "2015", 3),
        ("Iceland", "nonEU", "2015", None),
        ("Total", "EU", "2015", 7),
    ]
    name = f"published_{uuid4().hex[:10]}"
    create_table(shared_db, name, {"geo": "TEXT", "eu": "TEXT", "year": "TEXT", "n": "INTEGER"}, countries)
    found = shared_db.audit_statistics([name])
    assert [(one.values["geo"], one.low) for one in found.found if one.exact] == [("Spain", 4)]
