"""Releases of counts on every engine: what is published and what is refused, and what the certificate notices."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.engines.base import TableRef
from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation, UnsupportedError
from sqlanon.policy import load
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.versions import statistics
from sqlanon.spec import ReleaseSpec
from tests.engines import create_table, read_table
from tests.oracle.table_reader import ends, tables

pytest.importorskip("highspy")

Rows = list[tuple[Any, ...]]
COLUMNS = {"region": "TEXT", "sex": "TEXT", "age": "INTEGER", "pid": "INTEGER"}
AGES = ((20, "20..39"), (30, "20..39"), (45, "40..59"), (None, None))


def stays(seed: object, persons: int = 120, times: int = 1) -> Rows:
    """Rows of persons, with NULL as a region and an age."""
    draw = random.Random(str(seed))
    rows = []
    for pid in range(persons):
        for _ in range(1 + draw.randrange(times)):
            region = draw.choice(["north", "north", "south", "it's", None])
            rows.append((region, draw.choice("FFM"), draw.choice(AGES)[0], pid))
    return rows


class Made:
    """A table in a database, and the policy that publishes its counts."""

    def __init__(self, db: Any, folder: Path, rows: Rows, **more: Any) -> None:
        self.db, self.source = db, f"stays_{uuid4().hex[:10]}"
        create_table(db, self.source, COLUMNS, rows)
        self.name, self.file = f"counts of {self.source}", folder / "anon.yml"
        self.write(**more)

    def write(
        self,
        tables: str = "[{name: all, by: [region, sex, age]}]",
        columns: str = '{region: {}, sex: {}, age: {hierarchy: "steps:20"}}',
        measures: str = "{n: count}",
        protect: str = "{persons: 3, bounds: exact}",
        more: str = "",
    ) -> None:
        self.view = f"v_{self.source}"
        self.file.write_text(
            f"version: 1\nreleases:\n  - name: {self.name}\n    source: {self.source}\n    person: pid\n    publish: "
            f"release.{self.view}\n{more}    statistics:\n      columns: {columns}\n      tables: {tables}\n"
            f"      measures: {measures}\n      protect: {protect}\n"
        )

    @property
    def spec(self) -> ReleaseSpec:
        return load(self.file).releases[0]

    def run(self, **asked: Any) -> Any:
        return self.db.run(self.spec, **asked)

    def rows(self) -> list[dict[str, Any]]:
        return read_table(self.db, ("release", self.view))


def cells_of(rows: Rows) -> dict[tuple[Any, ...], int]:
    """Every cell by its levels and values, counted in Python."""
    counts: dict[tuple[Any, ...], int] = {}
    nodes = dict(AGES)
    for region, sex, age, _ in rows:
        text = None if age is None else str(age)
        for r, s, a in itertools.product(
            ((0, region), (1, None)), ((0, sex), (1, None)), ((0, text), (1, nodes[age]), (2, None))
        ):
            counts[r, s, a] = counts.get((r, s, a), 0) + 1
    return counts


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((row[f"level_{name}"], row[name]) for name in ("region", "sex", "age"))


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


def test_metadata_have_the_rules_and_no_number_of_small_cells(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("metadata"))
    report = made.run()
    (row,) = [one for one in read_table(shared_db, ("release", f"{made.view}_metadata")) if one["column_name"] == ""]
    said = json.loads(row["published"])["statistics"]
    assert said["persons"] == 3
    assert (said["shown"], said["hidden"]) == (report.statistics.shown, report.statistics.hidden)
    assert set(said) == {
        "persons", "zeros", "interval", "insiders", "bounds", "method", "tables", "measures", "shown", "hidden"
    }  # fmt: skip


@pytest.mark.every_engine
def test_one_version_is_published_and_no_other_beside_it(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("versions")
    made = Made(shared_db, tmp_path, rows)
    made.run()
    before = made.rows()
    assert made.run().outcome == "unchanged"
    made.write(protect="{persons: 4, bounds: exact}")
    with pytest.raises(GuardError, match="version 1 is published, and a run would publish other counts"):
        made.run(allow_weaker=True)
    made.write()
    with pytest.raises(GuardError, match="a new version is asked for"):
        made.run(full=True)
    shared_db.engine.execute(f"INSERT INTO {made.source} VALUES ('north', 'F', 20, 9999)")
    for asked in ({}, {"allow_weaker": True}):
        with pytest.raises(GuardError, match="the source's rows changed"):
            made.run(**asked)
    assert made.rows() == before
    shared_db.unpublish(made.name)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        made.run()
    assert made.run(allow_weaker=True).version == 2
    (*_, entry) = Catalog(shared_db.engine).entries(made.name)
    assert all(shared_db.engine.exists(table) for table in (entry.table, *entry.statistics))
    shared_db.unpublish(made.name, purge=True)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        made.run()
    for entry in Catalog(shared_db.engine).entries(made.name):
        assert not any(shared_db.engine.exists(table) for table in (entry.table, *entry.statistics))


def test_a_withdrawn_version_returns_as_it_was(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("returns"))
    made.run()
    before = made.rows()
    shared_db.unpublish(made.name)
    shared_db.rollback(made.name)
    assert made.rows() == before


def test_counts_of_one_source_are_one_release(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("others"))
    made.run()
    first, made.name = made.name, f"other {made.name}"
    made.write()
    made.file.write_text(made.file.read_text().replace(f"release.{made.view}", f"release.o_{made.view}"))
    with pytest.raises(GuardError, match="publishes counts of the same source"):
        made.run()
    shared_db.unpublish(first)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        made.run()
    made.run(allow_weaker=True)
    with pytest.raises(GuardError, match="publishes counts of the same source"):
        shared_db.rollback(first, allow_weaker=True)


Change = Callable[[Any, TableRef, Any], str]


def _execute(db: Any, text: str) -> None:
    db.engine.execute(text)


TAMPERED: dict[str, tuple[str, Sequence[str]]] = {
    "a witness that changes a shown cell": (
        "shown cells that a witness changes|without witnesses",
        ["UPDATE {witness} SET change = change + 1 WHERE change > 0"],
    ),
    "a witness of fewer than no persons": ("changes", ["UPDATE {witness} SET change = change - 1000"]),
    "no witness": ("without witnesses", ["DELETE FROM {witness}"]),
    "a witness of an unknown atom": ("changes of no cell", ["UPDATE {witness} SET atom = atom + 100000"]),
    "a witness that changes an atom twice": (
        "changes twice",
        ["INSERT INTO {witness} SELECT * FROM {witness}"],
    ),
    "a shown value": ("rows", ["UPDATE {physical} SET n = n + 1 WHERE status = 'shown'"]),
    "a hidden value that is shown": (
        "rows|small cells shown",
        ["UPDATE {physical} SET status = 'shown', n = n_high WHERE status = 'hidden'"],
    ),
    "a hidden cell that has its number": ("rows", ["UPDATE {physical} SET n = n_low WHERE status = 'hidden'"]),
    "a third status": ("rows", ["UPDATE {physical} SET status = 'primary' WHERE status = 'hidden'"]),
    "bounds that are too narrow": (
        "rows|bounds that a witness leaves",
        ["UPDATE {physical} SET n_high = n_low WHERE status = 'hidden'"],
    ),
    "an omitted margin": ("cells that are not published", ["DELETE FROM {physical} WHERE level_region = 1"]),
    "a cell twice": (
        "cells published twice",
        ["INSERT INTO {physical} SELECT * FROM {physical} WHERE level_region = 1 AND level_sex = 1"],
    ),
    "a cell that there is not": (
        "rows that are no cell",
        [
            (
                "INSERT INTO {physical} SELECT 'west', level_region, sex, level_sex, n, n_low, n_high, status, as_of "
                "FROM {physical} WHERE level_region = 0 AND region = 'north'"
            )
        ],
    ),
    "cells that are not the source's": ("cells", ["UPDATE {cells} SET persons = persons + 1 WHERE l1 = 0"]),
    "an omitted cell": ("cells", ["DELETE FROM {cells} WHERE l1 = 0 AND l2 = 0"]),
    "atoms that are not the source's": ("finest cells", ["UPDATE {atoms} SET n = n + 1"]),
    "a person who is nobody": ("finest cells", ["UPDATE {atoms} SET owner = -1"]),
    "persons who are one": ("owners of cells", ["UPDATE {atoms} SET owner = 1 WHERE owner > 0"]),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(
        shared_db,
        tmp_path,
        [*stays("tampered", 40), ("east", "F", 20, 40), ("east", "M", 20, 41)],
        columns="{region: {}, sex: {}}",
        tables="[{name: a, by: [region, sex]}]",
    )
    expected, texts = TAMPERED[what]
    verify = statistics.verify_source

    def tampered(scratch: Any, shape: Any, stage: Any, kept: Any, release: str) -> None:
        names = {part: f'"_sqlanon"."{getattr(kept, part).name}"' for part in ("cells", "atoms", "witness")}
        names["physical"] = names["cells"].removesuffix('_cells"') + '"'
        for text in texts:
            scratch.engine.execute(text.format(**names))
        verify(scratch, shape, stage, kept, release)

    monkeypatch.setattr(statistics, "verify_source", tampered)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        made.run()
    assert shared_db.releases(made.name) == ()


REFUSED = {
    "fewer persons than the threshold": (InfeasibleError, {"protect": "{persons: 500}"}, "fewer persons than 500"),
    "persons of several cells": (PolicyError, {"measures": "{p: persons}"}, "persons do not add up over cells"),
    "rows and persons": (PolicyError, {"measures": "{n: count, p: persons}"}, "persons do not add up|several rows"),
    "a column that is not there": (
        PolicyError,
        {"columns": "{region: {}, sexx: {}}", "tables": "[{name: a, by: [region, sexx]}]"},
        "has no column sexx",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_nothing_is_published_of(what: str, shared_db: Any, tmp_path: Path) -> None:
    error, asked, text = REFUSED[what]
    made = Made(shared_db, tmp_path, stays("refused", 60, 3), **asked)
    with pytest.raises(error, match=text) as raised:
        made.run()
    assert len(raised.value.problems) == 1
    assert shared_db.releases(made.name) == ()


def test_a_margin_that_cannot_be_protected_is_named_without_a_value(shared_db: Any, tmp_path: Path) -> None:
    # Of north there are 3 ages and 3 sexes, and no fewer than 4 of its combinations cover all of them.
    pairs = [("x", 20), ("x", 30), ("y", 45), ("z", 45)]
    rows = [("north", sex, age, pid) for pid, (sex, age) in enumerate(pairs)]
    rows += [("south", "x", 20, pid) for pid in range(10, 30)]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        columns="{region: {}, sex: {}, age: {}}",
        tables="[{name: a, by: [region, sex]}, {name: b, by: [region, age]}]",
        protect="{persons: 5, insiders: none}",
    )
    with pytest.raises(InfeasibleError, match=r"a small cell of region( x sex)? cannot be hidden") as raised:
        made.run()
    assert "north" not in str(raised.value)
    assert shared_db.releases(made.name) == ()


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


def test_rows_without_a_person_are_refused_or_declared(shared_db: Any, tmp_path: Path) -> None:
    rows = [("north", "F", 20, pid) for pid in range(9)] + [("north", "M", 20, None) for _ in range(4)]
    made = Made(shared_db, tmp_path, rows, columns="{sex: {}}", tables="[{name: a, by: sex}]")
    with pytest.raises(PolicyError, match="null_person"):
        made.run()
    made.write(columns="{sex: {}}", tables="[{name: a, by: sex}]", more="    null_person: one\n")
    made.run()
    assert {row["sex"]: row["status"] for row in made.rows()}["M"] == "hidden"  # they are one person
    made = Made(shared_db, tmp_path, rows)
    made.write(columns="{sex: {}}", tables="[{name: a, by: sex}]", more="    null_person: distinct\n")
    made.run()
    assert {row["sex"]: row["n"] for row in made.rows()} == {"F": 9, "M": 4, None: 13}


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


def test_an_audit_checks_the_certificate_again(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("audited"))
    made.run()
    report = shared_db.audit(f"release.{made.view}", spec=made.spec)
    assert report.satisfied
    hidden = sum(row["status"] == "hidden" for row in made.rows())
    assert (report.rows, report.hidden_cells) == (len(made.rows()), hidden)
    made.write(protect="{persons: 4, bounds: exact}")
    assert not shared_db.audit(f"release.{made.view}", spec=made.spec).satisfied
    with pytest.raises(PolicyError, match="name no columns"):
        shared_db.audit(f"release.{made.view}", quasi=["region"])
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    witness = entry.statistics[-1]
    shared_db.engine.execute(f'DELETE FROM "_sqlanon"."{witness.name}"')
    with pytest.raises(PrivacyViolation, match="without witnesses"):
        shared_db.audit(f"release.{made.view}")


ABOUT_ROWS: dict[str, Callable[[Any, Made], object]] = {
    "query": lambda db, made: db.query(f"SELECT count(*) AS n FROM release.{made.view}"),
    "query of the source": lambda db, made: db.query(f"SELECT count(*) AS n FROM {made.source}"),
    "evaluate": lambda db, made: db.evaluate(made.name),
    "attack": lambda db, made: db.attack(made.name),
    "report": lambda db, made: db.report(made.name),
    "report for readers": lambda db, made: db.report(f"release.{made.view}", audience="readers"),
    "preview": lambda db, made: db.preview(made.spec),
    "history": lambda db, made: db.history(made.name),
    "assess": lambda db, made: db.assess(f"release.{made.view}"),
}


def test_commands_about_rows_are_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("rows"))
    made.run()
    for call in ABOUT_ROWS.values():
        with pytest.raises(UnsupportedError, match="counts"):
            call(shared_db, made)
    with pytest.raises(PolicyError):
        shared_db.erase(made.spec, [{"pid": 1}])


def test_rows_of_the_same_source_are_warned_of(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("warned"))
    made.run()
    rows = shared_db.anonymize(
        made.source, name=f"rows of {made.source}", identifiers="pid", quasi=["region", "age"], rest="drop", k=3,
        publish=f"release.r_{made.view}",
    )  # fmt: skip
    assert any(f"release {made.name} publishes counts of the same source" in one for one in rows.report.warnings)
    with pytest.raises(UnsupportedError, match="is not measured"):
        shared_db.together(made.name, f"rows of {made.source}")
    assert any(
        f"release rows of {made.source} publishes rows of the same source" in one
        for one in shared_db.plan(made.spec).warnings
    )


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


def test_an_older_version_returns_only_where_nobody_has_kept_the_newer_one(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("older"))
    made.run()
    shared_db.unpublish(made.name)
    shared_db.engine.execute(f"INSERT INTO {made.source} VALUES ('north', 'F', 20, 9999)")
    made.run(allow_weaker=True)
    with pytest.raises(GuardError, match="readers had version 2 after version 1"):
        shared_db.rollback(made.name, 1)
    shared_db.rollback(made.name, 1, allow_weaker=True)
