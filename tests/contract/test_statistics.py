"""Releases of counts on every engine: what is published."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation
from sqlanon.release.catalog.catalog import Catalog
from tests.contract.counted import Made, cells_of, key, stays
from tests.engines import read_table
from tests.oracle.table_reader import ends, tables

pytest.importorskip("highspy")


@pytest.mark.every_engine
def test_every_cell_is_published_once_and_small_ones_are_hidden(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("published")
    made = Made(shared_db, tmp_path, rows)
    report = made.run()
    truth = cells_of(rows)
    view = made.rows()
    assert sorted(map(repr, map(key, view))) == sorted(map(repr, truth))
    for row in view:
        value = truth[key(row)]
        if row["status"] == "shown":
            assert row["n"] == row["n_low"] == row["n_high"] == value >= 3
        else:
            assert row["status"] == "hidden"
            assert row["n"] is None
            assert 1 <= row["n_low"] <= value <= row["n_high"]
        assert row["as_of"] == 1
    assert any(row["status"] == "hidden" for row in view)
    assert all(row["status"] == "hidden" for row in view if truth[key(row)] < 3)
    assert report.verified
    hidden = sum(row["status"] == "hidden" for row in view)
    assert (report.statistics.cells, report.statistics.hidden) == (len(view), hidden)


def test_a_reader_of_the_view_finds_no_small_cell(shared_db: Any, tmp_path: Path) -> None:
    rows = [(*row[:2], None, row[3]) for row in stays("read", 26)]
    made = Made(shared_db, tmp_path, rows, tables="[{name: a, by: [region, sex]}]", columns="{region: {}, sex: {}}")
    made.run()
    view = {(row["level_region"], row["region"], row["level_sex"], row["sex"]): row["n"] for row in made.rows()}
    leaves = [cell for cell in view if cell[0] == cell[2] == 0]
    within = {
        cell: [i for i, leaf in enumerate(leaves) if cell[0] or cell[1] == leaf[1] if cell[2] or cell[3] == leaf[3]]
        for cell in view
    }
    truth: dict[Any, int] = {}
    for region, sex, _, _ in rows:
        for r, s in itertools.product(((0, region), (1, None)), ((0, sex), (1, None))):
            truth[(*r, *s)] = truth.get((*r, *s), 0) + 1
    small = [cell for cell in view if truth[cell] < 3]
    assert small
    alone = [{}, *({leaves.index(cell): 1} for cell in leaves if truth[cell] == 1)]
    for known in alone:
        asked = [cell for cell in small if set(within[cell]) - set(known)]
        found = ends(tables(leaves, view, within, 12, known), within, asked)
        assert all(low <= len(within[cell]) and high >= 3 for cell, (low, high) in found.items())


@pytest.mark.every_engine
def test_cells_are_small_by_persons_where_these_have_several_rows(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("events", 60, 4)
    made = Made(shared_db, tmp_path, rows, columns="{region: {}, sex: {}}", tables="[{name: a, by: [region, sex]}]")
    made.run()
    persons: dict[Any, set[int]] = {}
    for region, sex, _, pid in rows:
        persons.setdefault((region, sex), set()).add(pid)
    for row in made.rows():
        if row["level_region"] == row["level_sex"] == 0 and row["status"] == "shown":
            assert len(persons[row["region"], row["sex"]]) >= 3


def test_linked_tables_are_one_system(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("linked")
    made = Made(
        shared_db,
        tmp_path,
        rows,
        tables="[{name: a, by: [region, sex]}, {name: b, by: [sex, age]}]",
        protect="{persons: 3}",
    )
    made.run()
    both = {(row["level_region"] == 0, row["level_age"] < 2) for row in made.rows()}
    assert both == {(True, False), (False, True), (False, False)}
    assert "n_low" not in made.rows()[0]


FEW = [("few", "F", 20, 0), ("few", "F", 21, 1), ("few", "M", 22, 2), ("few", "M", 23, 3)]


def test_linked_tables_with_combinations_that_no_table_rules_out(shared_db: Any, tmp_path: Path) -> None:
    """Two persons of one sex are the only ones of two ages: for readers they may be of two sexes."""
    rows = [*FEW, *(("many", "F", 20, 4 + pid) for pid in range(4))]
    tables = "[{name: a, by: [region, sex]}, {name: b, by: [region, age]}]"
    made = Made(shared_db, tmp_path, rows, columns="{region: {}, sex: {}, age: {}}", tables=tables)
    assert made.run().statistics.shown
    assert shared_db.audit(f"release.{made.view}").satisfied
    assert shared_db.attack(made.name).held
    (low,) = [row["n_low"] for row in made.rows() if (row["region"], row["sex"]) == ("few", "F")]
    assert low == 1
    (*_, entry) = Catalog(shared_db.engine).entries(made.name)
    atoms = f'"_sqlanon"."{entry.counts["atoms"].name}"'
    (empty,) = shared_db.engine.fetch(f"SELECT COUNT(*) FROM {atoms} WHERE n = 0")[0]
    assert empty
    shared_db.engine.execute(f"UPDATE {atoms} SET v2_0 = 'vX' WHERE n = 0")
    with pytest.raises(PrivacyViolation, match="the certificate fails: sums"):
        shared_db.audit(f"release.{made.view}")


def test_metadata_have_the_rules_and_no_number_of_small_cells(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("metadata"))
    report = made.run()
    (row,) = [one for one in read_table(shared_db, ("release", f"{made.view}_metadata")) if one["column_name"] == ""]
    said = json.loads(row["published"])["statistics"]
    assert said["persons"] == 3
    assert said["person"] == ["pid"]
    assert (said["shown"], said["hidden"]) == (report.statistics.shown, report.statistics.hidden)
    assert set(said) == {
        "person",
        "persons",
        "zeros",
        "interval",
        "insiders",
        "bounds",
        "method",
        "tables",
        "measures",
        "shown",
        "hidden",
    }


def test_persons_are_published_where_each_is_in_one_cell(shared_db: Any, tmp_path: Path) -> None:
    rows = [(region, "F", 20, pid) for pid, region in enumerate("aaaaaabbbbccccc") for _ in range(2)]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        columns="{region: {}}",
        tables="[{name: a, by: [region]}]",
        measures="{persons: persons}",
    )
    made.run()
    assert {row["region"]: row["persons"] for row in made.rows()} == {None: 15, "a": 6, "b": 4, "c": 5}
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    assert entry.report["rows"] == len(made.rows())  # and not the 30 of the source, which are not published
    assert "30" not in re.findall(r"\d+", json.dumps({**entry.report, "seconds": {}}))


@pytest.mark.every_engine
def test_odd_texts_and_null_are_values_of_their_own(shared_db: Any, tmp_path: Path) -> None:
    texts = ["", "n", "*", "v", "it's", 'a "b"', "NULL", "\u00e4\U0001f600", " x", None]
    rows = [(text, "F", 20, 100 * at + pid) for at, text in enumerate(texts) for pid in range(5 + at)]
    made = Made(shared_db, tmp_path, rows, columns="{region: {}}", tables="[{name: a, by: region}]")
    made.run()
    view = made.rows()
    assert {row["region"]: row["n"] for row in view if row["level_region"] == 0} == {
        text: 5 + at for at, text in enumerate(texts)
    }
    assert [row["n"] for row in view if row["level_region"] == 1] == [sum(range(5, 15))]
    shared_db.audit(f"release.{made.view}")


def test_plan_counts_small_cells_and_publishes_nothing(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("planned")
    made = Made(shared_db, tmp_path, rows)
    report = shared_db.plan(made.spec)
    truth = cells_of(rows)
    small = sum(n < 3 for n in truth.values())
    assert f"{len(truth)} cells of 12 margins; {small} of them" in report.notes[0]
    counts: dict[tuple[int, ...], list[int]] = {}
    for cell, n in truth.items():
        counts.setdefault(tuple(level for level, _ in cell), []).append(n)
    shares = {levels: sum(n < 3 for n in some) / len(some) for levels, some in counts.items()}
    assert shares[0, 0, 0] > 0.15
    better = max(len(counts[levels]) for levels, share in shares.items() if share <= 0.15)
    finest = next(note for note in report.notes if "region x sex x age (level 0) are small" in note)
    assert f"{shares[0, 0, 0]:.0%} of the {len(counts[0, 0, 0])} cells" in finest
    assert f"small; of the {better} of " in finest
    assert report.stages[1:] == (
        f"{made.name}: count the cells of 1 table and all margins",
        f"{made.name}: hide cells of fewer than 3 persons, and others that give them away",
        f"{made.name}: put together what is published",
        f"write, verify and publish version 1 of {made.name}",
    )
    assert shared_db.releases(made.name) == ()
