"""Rows and persons where a person has several rows, protected together with a release of rows, on every engine."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.policy import load
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics import foreseen
from sqlanon.statistics.protections import suppress
from tests.contract.counted import Made, Rows
from tests.contract.tampering import tamper

pytest.importorskip("highspy")

BOTH = "{n: count, persons: persons}"
YEARS = "{sum: age, range: [0, 130], p_percent: 10, dominance: {n: 2, share: 0.85}}"
ROLES = "pid: {role: identifier}, region: {role: quasi}, age: {role: quasi}"
COUNTED = {"columns": "{region: {}, sex: {}}", "tables": "[{name: all, by: [region, sex]}]"}


def persons(seed: object, many: int = 80, times: int = 3) -> Rows:
    """Rows of which the smallest cells are of regions that are few, NULL one of them; each person has one sex."""
    draw = random.Random(str(seed))
    regions = ["north"] * 4 + ["south"] * 4 + ["it's", None]
    rows = []
    for pid in range(many):
        sex, age = draw.choice("FFM"), draw.randrange(20, 60)
        rows += [(draw.choice(regions), sex, age, pid) for _ in range(1 + draw.randrange(times))]
    return rows


class PersonsPair(Made):
    """A table, a release of its rows, and one of its rows and persons that is protected together with it."""

    def __init__(
        self,
        db: Any,
        folder: Path,
        rows: Rows,
        *,
        measures: str = BOTH,
        protect: str = "{persons: 3, bounds: exact}",
        of_rows: str = "    person: pid\n",
        privacy: str = "{k: 8}",
        roles: str = ROLES,
        counted: Mapping[str, str] = COUNTED,
    ) -> None:
        super().__init__(db, folder, rows)
        self.rows_name = f"rows of {self.source}"
        more = f"    together: ['{self.rows_name}']\n"
        self.write(**counted, measures=measures, protect=protect, more=more)
        self.rows_file = self.file.with_name("rows.yml")
        self.rows_file.write_text(
            f"version: 1\nreleases:\n  - name: {self.rows_name}\n    source: {self.source}\n    publish: release.r_"
            f"{self.source}\n    rest: drop\n    columns: {{{roles}}}\n    privacy: {privacy}\n{of_rows}"
        )
        db.run(self.rows_spec)

    @property
    def rows_spec(self) -> Any:
        return load(self.rows_file).releases[0]


def numbers_of(rows: Rows) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Rows and persons of every cell by its levels and values, counted in Python."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for region, sex, _, person in rows:
        for r in ((0, region), (1, None)):
            for s in ((0, sex), (1, None)):
                found.setdefault((r, s), []).append(person)
    return {cell: (len(own), len(set(own))) for cell, own in found.items()}


@pytest.mark.parametrize("measures", [BOTH, pytest.param("{persons: persons}", marks=pytest.mark.thorough)])
def test_rows_persons_and_classes_are_one_system(measures: str, shared_db: Any, tmp_path: Path) -> None:
    rows = persons("one system")
    pair = PersonsPair(shared_db, tmp_path, rows, measures=measures)
    report = pair.run()
    assert report.warnings == ()
    assert report.statistics.patterns
    assert (report.statistics.neighbour.persons, report.statistics.neighbour.share) == (8, (1, 1))
    truth, hidden = numbers_of(rows), 0
    names = ["n", "persons"] if "n:" in measures else ["persons"]
    for row in pair.rows():
        cell = ((row["level_region"], row["region"]), (row["level_sex"], row["sex"]))
        numbers = dict(zip(("n", "persons"), truth.pop(cell), strict=True))
        assert numbers["persons"] >= 3 or row["status"] == "hidden"
        hidden += row["status"] == "hidden"
        for name in names:
            assert row[name] == (numbers[name] if row["status"] == "shown" else None)
            assert 1 <= row[f"{name}_low"] <= numbers[name]
            assert row[f"{name}_high"] is None or row[f"{name}_high"] >= numbers[name]
    assert not truth
    assert hidden
    assert shared_db.audit(f"release.{pair.view}").satisfied
    found = shared_db.attack(pair.name)
    assert found.held
    assert [one.name for one in found.attacks] == ["naive", "outsider", "rows", "insider"]
    _, outsider, reader, _ = found.attacks
    assert reader.cells == outsider.cells == found.small > 0
    assert reader.guess >= outsider.guess


def test_levels_that_are_proposed_where_it_would_take_too_long_are_protected(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreseen, "MOST_FORESEEN", 1)
    rows = persons("one system")
    pair = PersonsPair(shared_db, tmp_path, rows)
    with pytest.raises(InfeasibleError, match="of all margins region x sex has most small cells") as error:
        pair.run()
    assert shared_db.releases(pair.name) == ()
    assert "few cells of region are small" in str(error.value)
    taken = {"columns": "{region: {}}", "tables": "[{name: all, by: [region]}]"}
    coarse = PersonsPair(shared_db, tmp_path, rows, counted=taken)
    assert coarse.run().statistics.patterns
    assert shared_db.audit(f"release.{coarse.view}").satisfied


@pytest.mark.thorough
def test_a_person_may_have_rows_in_several_classes(shared_db: Any, tmp_path: Path) -> None:
    of_rows = "    person: pid\n    persons: rows\n    person_share: 0.5\n"
    pair = PersonsPair(shared_db, tmp_path, persons("several classes"), of_rows=of_rows)
    report = pair.run()
    assert report.statistics.neighbour.share == (1, 2)
    (entry,) = Catalog(shared_db.engine).entries(pair.name)
    atoms = f'"_sqlanon"."{entry.statistics[1].name}"'
    ((few,),) = shared_db.engine.fetch(f"SELECT MIN(class_persons) FROM {atoms}")
    assert few >= 8
    assert shared_db.audit(f"release.{pair.view}").satisfied


@pytest.mark.thorough
def test_rows_alone_of_persons_with_several_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = PersonsPair(shared_db, tmp_path, persons("rows alone"), measures="{n: count}")
    assert not pair.run().statistics.patterns
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held


@pytest.mark.thorough
@pytest.mark.parametrize("measures", [BOTH, "{persons: persons}"])
def test_persons_of_one_row_each(measures: str, shared_db: Any, tmp_path: Path) -> None:
    rows = persons("one row", times=1)
    pair = PersonsPair(shared_db, tmp_path, rows, measures=measures)
    assert not pair.run().statistics.patterns
    truth = numbers_of(rows)
    for row in pair.rows():
        number = truth[(row["level_region"], row["region"]), (row["level_sex"], row["sex"])][1]
        assert row["persons"] == (number if row["status"] == "shown" else None)
        assert row["persons_low"] <= number <= row["persons_high"]
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held


TAMPERED: dict[str, tuple[str, str]] = {
    "other persons of a class": ("persons of classes", "UPDATE {atoms} SET class_persons = class_persons + 1"),
    "a pattern of other persons": (
        "persons with the rows of a pattern",
        "UPDATE {patterns} SET persons = persons + 1 WHERE persons > 0",
    ),
    "a pattern of several classes": (
        "several values",
        "INSERT INTO {patterns} SELECT 999, atom, 1, 0 FROM {atoms} WHERE atom IN (1, (SELECT MAX(atom) FROM {atoms}))",
    ),
    "a witness that changes the rows of a class": (
        "numbers of rows|shown cells|too few persons|makes empty|bounds|loses|without",
        "UPDATE {witness} SET change = change + 1 WHERE change > 0",
    ),
    "a witness of fewer than no persons": ("changes", "UPDATE {witness} SET change = change - 1000"),
    "no witness": ("without witnesses", "DELETE FROM {witness}"),
    "parts of another class": ("rows of classes|persons of classes", "UPDATE {atoms} SET class = class + 1"),
    "shown persons": ("rows", "UPDATE {physical} SET persons = persons + 1 WHERE status = 'shown'"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, text = TAMPERED[what]
    pair = PersonsPair(shared_db, tmp_path, persons("one system"))
    tamper(monkeypatch, suppress, "verify_source", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        pair.run()
    assert shared_db.releases(pair.name) == ()


@pytest.mark.thorough
@pytest.mark.parametrize("bounds", ["exact", "none"])
def test_sums_are_published_next_to_rows_persons_and_classes(bounds: str, shared_db: Any, tmp_path: Path) -> None:
    rows = persons("sums", 100)
    draw = random.Random("sums")
    pair = PersonsPair(
        shared_db,
        tmp_path,
        [(region, sex, 20 + draw.randrange(60), pid) for region, sex, _, pid in rows],
        measures=f"{{n: count, persons: persons, years: {YEARS}}}",
        protect=f"{{persons: 4, bounds: {bounds}}}",
        roles="pid: {role: identifier}, region: {role: quasi}, sex: {role: quasi}",
    )
    pair.run()
    assert {"shown", "hidden"} == {row["status"] for row in pair.rows()}
    assert shared_db.audit(f"release.{pair.view}").satisfied
    found = shared_db.attack(pair.name)
    assert found.held
    assert all(one.held for one in found.sums)


@pytest.mark.thorough
@pytest.mark.parametrize("measures", [BOTH, f"{{n: count, persons: persons, years: {YEARS}}}"])
def test_combinations_that_no_table_rules_out_are_looked_at(measures: str, shared_db: Any, tmp_path: Path) -> None:
    """Two tables, neither of which has all columns: rows of a class may have combinations that do not occur."""
    draw = random.Random("linked")
    rows = []
    for pid in range(120):
        region, sex = draw.choice(["north", "north", "south", "south", "it's"]), draw.choice("FFM")
        rows += [(region, sex, draw.randrange(20, 28), pid) for _ in range(1 + draw.randrange(3))]
    pair = PersonsPair(
        shared_db,
        tmp_path,
        rows,
        measures=measures,
        protect="{persons: 4}",
        roles="pid: {role: identifier}, region: {role: quasi}",
        privacy="{k: 30}",
        counted={
            "columns": "{region: {}, sex: {}}" if "years" in measures else "{region: {}, sex: {}, age: {}}",
            "tables": "[{name: a, by: [region]}, {name: b, by: [sex]}]"
            if "years" in measures
            else "[{name: a, by: [region, sex]}, {name: b, by: [age, sex]}]",
        },
    )
    pair.run()
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held
