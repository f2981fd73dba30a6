"""Rows and persons where a person has several rows in several cells, published together."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics import foreseen
from sqlanon.statistics.protections import suppress
from tests.contract.counted import AGES, Made, Rows, key, stays
from tests.contract.tampering import tamper

pytest.importorskip("highspy")

BOTH = "{n: count, persons: persons}"
YEARS = "{sum: age, range: [0, 130], p_percent: 10, dominance: {n: 2, share: 0.85}}"


def numbers_of(rows: Rows) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Rows and persons of every cell by its levels and values, counted in Python."""
    found: dict[tuple[Any, ...], list[int]] = {}
    nodes = dict(AGES)
    for region, sex, age, person in rows:
        text = None if age is None else str(age)
        for r, s, a in itertools.product(
            ((0, region), (1, None)), ((0, sex), (1, None)), ((0, text), (1, nodes[age]), (2, None))
        ):
            found.setdefault((r, s, a), []).append(person)
    return {cell: (len(persons), len(set(persons))) for cell, persons in found.items()}


@pytest.mark.parametrize("measures", [BOTH, "{persons: persons}"])
def test_shown_cells_have_their_rows_and_their_persons(measures: str, shared_db: Any, tmp_path: Path) -> None:
    rows = stays("several", 150, 3)
    made = Made(shared_db, tmp_path, rows, measures=measures)
    report = made.run()
    assert report.statistics.patterns
    truth, names = numbers_of(rows), ["n", "persons"] if "n:" in measures else ["persons"]
    published = made.rows()
    assert {key(row) for row in published} == set(truth)
    hidden = 0
    for row in published:
        numbers = dict(zip(("n", "persons"), truth[key(row)], strict=True))
        assert row["status"] == "shown" or [row[name] for name in names] == [None] * len(names)
        hidden += row["status"] == "hidden"
        for name in names:
            if row["status"] == "shown":
                assert row[name] == row[f"{name}_low"] == row[f"{name}_high"] == numbers[name]
            else:
                assert 1 <= row[f"{name}_low"] <= numbers[name]
                assert row[f"{name}_high"] is None or row[f"{name}_high"] >= numbers[name]
        assert numbers["persons"] >= 3 or row["status"] == "hidden"
    assert 0 < hidden < len(published)
    assert shared_db.audit(f"release.{made.view}").satisfied


def test_readers_and_persons_alone_in_a_cell_find_nothing(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("attacked", 120, 3), measures=BOTH, protect="{persons: 4}")
    made.run()
    naive, outsider, insider = shared_db.attack(made.name).attacks
    assert naive.cells == outsider.cells > 0
    assert (outsider.exact, outsider.below, insider.exact, insider.below) == (0, 0, 0, 0)
    assert naive.exact > 0


def test_a_query_of_persons_has_those_of_all_its_rows_once(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("asked", 200, 3)
    made = Made(shared_db, tmp_path, rows, measures=BOTH)
    made.run()
    for sql, inside in {
        "sex = 'F'": lambda row: row[1] == "F",
        "region = 'north' AND age < 40": lambda row: row[0] == "north" and row[2] is not None and row[2] < 40,
        "region IN ('north', 'south') OR sex = 'M'": lambda row: row[0] in ("north", "south") or row[1] == "M",
        "age > 25": lambda row: row[2] is not None and row[2] > 25,
    }.items():
        asked_numbers = "sum(persons) as p, count(distinct pid) as d, count(*) as n"
        answer = shared_db.query(f"select {asked_numbers} from {made.source} where {sql}")
        asked = [row for row in rows if inside(row)]
        (found,) = answer.rows
        assert found["d"] == found["p"]
        for name, truth in (("p", len({row[3] for row in asked})), ("n", len(asked))):
            assert found[name].low <= truth <= (found[name].high if found[name].high is not None else truth)


TAMPERED: dict[str, tuple[str, str]] = {
    "a pattern of other persons": (
        "persons with the rows of a pattern",
        "UPDATE {patterns} SET persons = persons + 1 WHERE persons > 0",
    ),
    "a pattern of other rows": ("persons with the rows", "UPDATE {patterns} SET times = times + 1 WHERE persons > 0"),
    "a pattern of more rows than a person has": (
        "more rows than a person has|shown cells",
        "UPDATE {patterns} SET times = times + 90 WHERE persons = 0",
    ),
    "a pattern of several values": (
        "several values",
        "INSERT INTO {patterns} SELECT 99, atom, 1, 0 FROM {atoms} WHERE atom IN (1, (SELECT MAX(atom) FROM {atoms}))",
    ),
    "a witness of fewer than no persons": ("changes", "UPDATE {witness} SET change = change - 1000"),
    "no witness": ("without witnesses", "DELETE FROM {witness}"),
    "a witness of an unknown pattern": ("changes of no pattern", "UPDATE {witness} SET pattern = pattern + 100000"),
    "a witness twice": ("changes twice", "INSERT INTO {witness} SELECT * FROM {witness}"),
    "other shown cells": ("shown cells|without", "UPDATE {witness} SET change = change + 1 WHERE change > 0"),
    "shown persons": ("rows", "UPDATE {physical} SET persons = persons + 1 WHERE status = 'shown'"),
    "shown rows": ("rows", "UPDATE {physical} SET n = n + 1 WHERE status = 'shown'"),
    "narrow bounds": ("bounds|rows", "UPDATE {physical} SET persons_high = persons_low WHERE status = 'hidden'"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each person has one sex.
    rows = [(region, "F" if pid % 3 else "M", age, pid) for region, _, age, pid in stays("tampered", 60, 3)]
    asked = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]"}
    made = Made(shared_db, tmp_path, rows, measures=BOTH, protect="{persons: 8, bounds: exact}", **asked)
    expected, text = TAMPERED[what]
    tamper(monkeypatch, suppress, "verify_source", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        made.run()
    assert shared_db.releases(made.name) == ()


def test_sums_are_published_next_to_rows_and_persons(shared_db: Any, tmp_path: Path) -> None:
    draw = random.Random("sums")
    rows = [(*row[:2], 20 + draw.randrange(60), row[3]) for row in stays("sums", 150, 3)]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        columns="{region: {}, sex: {}}",
        tables="[{name: all, by: [region, sex]}]",
        measures=f"{{persons: persons, n: count, years: {YEARS}}}",
        protect="{persons: 18, bounds: exact}",
    )
    made.run()
    hidden = 0
    for row in made.rows():
        inside = [
            (age, pid)
            for region, sex, age, pid in rows
            if (row["level_region"] or row["region"] == region) and (row["level_sex"] or row["sex"] == sex)
        ]
        truth = {"n": len(inside), "persons": len({pid for _, pid in inside}), "years": sum(age for age, _ in inside)}
        hidden += row["status"] == "hidden"
        for name, number in truth.items():
            assert row[name] == (None if row["status"] == "hidden" else number)
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            assert low is None or low <= number
            assert high is None or number <= high
    assert hidden
    assert shared_db.audit(f"release.{made.view}").satisfied
    found = shared_db.attack(made.name)
    assert found.held
    assert found.sums
    (answer,) = shared_db.query(f"select sum(years) as y, sum(persons) as p from {made.source} where sex = 'F'").rows
    women = [(age, pid) for _, sex, age, pid in rows if sex == "F"]
    assert answer["y"].low <= sum(age for age, _ in women) <= answer["y"].high
    assert answer["p"].low <= len({pid for _, pid in women}) <= answer["p"].high


@pytest.mark.parametrize("measures", [BOTH, "{n: count}"])
def test_small_cells_of_the_same_rows_in_two_tables_are_published(
    measures: str, shared_db: Any, tmp_path: Path
) -> None:
    """One table has one finest cell of these persons, and the other one has three: nobody takes them for fewer."""
    rows = [(region, sex, age, pid) for region, sex, age, pid in stays("linked", 90, 2) if region == "north"]
    rows += [("south", "F" if pid % 2 else "M", AGES[pid % 3][0], 200 + pid) for pid in range(60)]
    rows += [("north", "X", age, 100 + at) for at, age in enumerate((20, 30, 45))]
    tables = "[{name: places, by: [region, sex]}, {name: ages, by: [sex, age]}]"
    made = Made(shared_db, tmp_path, rows, tables=tables, measures=measures, protect="{persons: 5}")
    assert made.run().statistics.hidden
    assert shared_db.audit(f"release.{made.view}").satisfied


WARDS = [(f"ward {pid % 7}", "FM"[pid % 2], 30 + 10 * (pid % 4), pid) for pid in range(60) for _ in range(1 + pid % 3)]
WARDS += [("ward 7", "F", 30, 100), ("ward 7", "F", 30, 101), ("ward 8", "F", 40, 102)]
SHARING = "[{name: places, by: [region, sex]}, {name: ages, by: [sex, age]}]"


def test_tables_that_share_columns_hide_what_is_few_and_no_more_is_known(shared_db: Any, tmp_path: Path) -> None:
    """A ward has one value of each column of another table: readers do not know it, and so the ward may be others."""
    made = Made(shared_db, tmp_path, WARDS, tables=SHARING, measures=BOTH, protect="{persons: 4}")
    assert made.run().statistics.hidden
    assert shared_db.audit(f"release.{made.view}").satisfied
    hidden = {key(row) for row in made.rows() if row["status"] == "hidden"}
    assert {row[0][1] for row in hidden} >= {"ward 7", "ward 8"}
    found = shared_db.attack(made.name)
    assert found.held


def test_sums_of_tables_that_share_columns_are_published(shared_db: Any, tmp_path: Path) -> None:
    draw = random.Random("sums of tables")
    rows = [(*row[:2], 20 + draw.randrange(60), row[3]) for row in stays("sums of tables", 120, 3)]
    rows = [row for row in rows if row[:2] != ("north", "F")]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        columns="{region: {}, sex: {}}",
        tables="[{name: places, by: [region]}, {name: sexes, by: [sex]}]",
        measures=f"{{persons: persons, n: count, years: {YEARS}}}",
        protect="{persons: 45, bounds: exact}",
    )
    assert made.run().statistics.hidden
    assert shared_db.audit(f"release.{made.view}").satisfied
    assert shared_db.attack(made.name).held


ELSEWHERE = """
INSERT INTO {able}
SELECT 1000, (SELECT MIN(a.atom) FROM {atoms} AS a WHERE a.v1_0 LIKE '%ward 8'),
    (SELECT MIN(b.atom) FROM {atoms} AS b WHERE b.v2_0 LIKE '%M'), 1
"""
EMPTY = {"a cell that no table lists": ELSEWHERE, "no such value": "INSERT INTO {able} SELECT 1000, 1, 2, 999"}


@pytest.mark.parametrize("what", EMPTY)
def test_a_witness_has_no_rows_in_a_cell_that_is_empty(
    what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, WARDS, tables=SHARING, measures=BOTH, protect="{persons: 4}")
    tamper(monkeypatch, suppress, "verify_source", EMPTY[what])
    with pytest.raises(PrivacyViolation, match=r"the certificate fails: .*cells that are empty"):
        made.run()
    assert shared_db.releases(made.name) == ()


def test_a_version_without_the_table_of_combinations_without_rows_is_audited(shared_db: Any, tmp_path: Path) -> None:
    """Older versions have no such table, nor such combinations; where witnesses have some the table must be there."""
    one = {"columns": "{region: {}, sex: {}}", "tables": "[{name: all, by: [region, sex]}]"}
    several = {"tables": SHARING, "protect": "{persons: 4}"}
    for rows, asked, missed in ((stays("older", 60, 2), one, False), (WARDS, several, True)):
        run = Made(shared_db, tmp_path, rows, measures=BOTH, **asked)
        run.run()
        (entry,) = Catalog(shared_db.engine).entries(run.name)
        able = f'"_sqlanon"."{entry.counts["able"].name}"'
        ((many,),) = shared_db.engine.fetch(f"SELECT COUNT(*) FROM {able}")
        assert bool(many) == missed
        shared_db.engine.execute(f"DROP TABLE {able}")
        if missed:
            with pytest.raises(PrivacyViolation, match="changes of no pattern"):
                shared_db.audit(f"release.{run.view}")
        else:
            assert shared_db.audit(f"release.{run.view}").satisfied


def test_what_would_take_too_long_is_refused_by_the_name_of_a_margin(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreseen, "MOST_FORESEEN", 1)
    made = Made(
        shared_db,
        tmp_path,
        [(*row[:2], row[2] + row[3] % 13, row[3]) for row in WARDS],
        columns="{region: {}, sex: {}}",
        tables="[{name: places, by: [region]}, {name: sexes, by: [sex]}]",
        measures=f"{{persons: persons, n: count, years: {YEARS}}}",
        protect="{persons: 4}",
    )
    with pytest.raises(InfeasibleError, match="would take longer than it may; of all margins region has most") as error:
        made.run()
    assert "nothing was published" in str(error.value)
    assert shared_db.releases(made.name) == ()
