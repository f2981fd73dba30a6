"""The risk with every published column.

A run, a preview and the owner's report warn of columns that are published as they are.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.decision_spec import ThresholdSpec
from sqlanon.errors import PrivacyViolation
from sqlanon.release.verify import exposure
from sqlanon.results import Exposure
from sqlanon.results.measured_risk import exact_risk, read_measured_risk
from sqlanon.table import class_rows
from tests.contract.own_boxes import fetch, version_of
from tests.engines import create_table, read_table


def people(db: Any, rows: int = 60) -> str:
    name = f"exposed_{uuid.uuid4().hex[:10]}"
    draw = random.Random(4)
    drawn = [(20 + i // 4, draw.choice("fm"), draw.choice("uvw"), draw.randint(0, 30), i % 2) for i in range(rows)]
    kinds = {"age": "INTEGER", "sex": "TEXT", "ill": "TEXT", "cost": "INTEGER", "flag": "INTEGER"}
    create_table(db, name, kinds, drawn)
    return name


def spec(name: str, **changes: Any) -> Any:
    asked: dict[str, Any] = {
        "quasi": ["age", "sex"],
        "sensitive": "ill",
        "insensitive": ["cost", "flag"],
        "accept_unique": ["cost"],
        "k": 4,
        "name": name,
        "publish": f"release.{name}",
    }
    return policy.release(source=name, **(asked | changes))


@pytest.mark.parametrize("form", ["ranges", "labels", "suppressed"])
def test_a_run_counts_who_is_alone(shared_db: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if form == "ranges":  # as many rows: in the order of their classes, and counted in parts
        monkeypatch.setattr(class_rows, "MANY_ROWS", 0)
        monkeypatch.setattr(exposure, "PART", 7)
    name = people(shared_db)
    report = shared_db.run(spec(name, format=form))
    groups = Counter(
        repr([value for column, value in row.items() if column != "ill"])
        for row in read_table(shared_db, ("release", name))
    )
    alone = sum(n == 1 for n in groups.values())
    assert alone > 10
    assert report.exposed == Exposure(1, alone, 60, ("cost", "flag"), len(groups))
    assert read_measured_risk(report).published_marketer == len(groups) / 60
    assert f"{alone} of 60 rows are alone (k 1, not 4)" in report.exposed.warning(4)
    page = shared_db.report(name, form="md")
    before = page.partition("Every requirement of the policy is met")[0]
    assert "without what is published as it is" in page
    assert f"{alone} of 60 rows are alone" in before.replace("\\", "")
    first = page.partition("\n- ")[2].splitlines()[0]
    assert first == "highest risk of being found, with every published column: 100 %"
    assert shared_db.preview(spec(name, format=form)).exposed.columns == ("cost", "flag")


def test_nothing_is_said_where_classes_hide_all(shared_db: Any) -> None:
    name = people(shared_db)
    report = shared_db.run(spec(name, insensitive=[], accept_unique=[], rest="drop"))
    assert report.exposed is None
    assert "without what is published as it is" not in shared_db.report(name, form="md")
    same = people(shared_db)
    shared_db.engine.execute(f"UPDATE {same} SET flag = 1")
    report = shared_db.run(spec(same, insensitive=["flag"], accept_unique=[], rest="drop"))
    assert report.exposed.k >= 4
    assert report.exposed.warning(4) is None


def test_a_pair_of_tables_has_no_such_figure(shared_db: Any) -> None:
    name = people(shared_db)
    assert shared_db.run(spec(name, format="anatomy", k=1, l="1.5")).exposed is None


def groups_of(db: Any, name: str) -> Counter[tuple[Any, ...]]:
    """Rows of each group that is equal in every published column but the sensitive one."""
    return Counter(
        tuple(value for column, value in row.items() if column != "ill") for row in read_table(db, ("release", name))
    )


def test_persons_of_such_groups(shared_db: Any) -> None:
    """Both rows of a group are of one person: k of its rows is 2, and of its persons 1."""
    name = f"exposed_{uuid.uuid4().hex[:10]}"
    # Of each four rows with one age, two are of one person, with a flag that the others do not have.
    drawn = [(i // 2 if i % 4 < 2 else 100 + i, 20 + i // 4, "uv"[i % 2], i % 4 // 2) for i in range(48)]
    create_table(shared_db, name, {"id": "INTEGER", "age": "INTEGER", "ill": "TEXT", "flag": "INTEGER"}, drawn)
    asked = spec(
        name,
        quasi=["age"],
        insensitive=["flag"],
        accept_unique=[],
        identifiers=["id"],
        rows_are="events",
        persons="ignored",
    )
    report = shared_db.run(asked)
    rows, persons = Counter[Any](), defaultdict[Any, set[int]](set)
    published = {(row["age_lo"], row["age_hi"]) for row in read_table(shared_db, ("release", name))}
    for one, age, _, flag in drawn:
        (box,) = [ends for ends in published if ends[0] <= age <= ends[1]]
        rows[box, flag] += 1
        persons[box, flag].add(one)
    fewest = min(map(len, persons.values()))
    assert (report.exposed.k, report.exposed.persons) == (min(rows.values()), fewest)
    assert fewest < report.exposed.k
    assert exact_risk(report, "prosecutor", "published") == Fraction(1, fewest)
    assert exact_risk(report, "marketer", "published") == Fraction(len(rows), len(drawn))
    assert exact_risk(report, "marketer") == Fraction(len(published), len(drawn))
    assert read_measured_risk(report).published_persons == 1 / fewest > read_measured_risk(report).published
    most = ThresholdSpec(Fraction(1, report.exposed.k), "rows alone would be within it")
    with pytest.raises(PrivacyViolation, match="every published column"):
        shared_db.run(replace(asked, threshold=most))


@pytest.mark.parametrize("kept", ["flag", None])
def test_a_lineage(shared_db: Any, kept: str | None) -> None:
    """It is counted also where nothing is published as it is: older versions were not, and have no figure."""
    name = f"exposed_{uuid.uuid4().hex[:10]}"
    drawn = [(i, 20 + i // 4, "uv"[i % 2], i % 4 // 2) for i in range(48)]
    create_table(shared_db, name, {"id": "INTEGER", "age": "INTEGER", "ill": "TEXT", "flag": "INTEGER"}, drawn)
    asked = spec(name, quasi=["age"], insensitive=kept or [], accept_unique=[], identifiers=["id"], key=["id"])
    asked = replace(asked, rest="drop", refresh=replace(asked.refresh, mode="frozen"))
    report = shared_db.run(asked)
    groups = groups_of(shared_db, name)
    risk = read_measured_risk(report)
    assert risk.published == 1 / min(groups.values()) >= risk.rows
    assert risk.published_marketer == len(groups) / 48 >= risk.marketer
    old = replace(report, exposed=None)
    assert (read_measured_risk(old).published, read_measured_risk(old).rows) == (None, risk.rows)
    least = min(groups.values())
    within, above = (ThresholdSpec(Fraction(1, rows), "own") for rows in (least, least + 1))
    with pytest.raises(PrivacyViolation, match="every published column"):
        shared_db.run(replace(asked, threshold=above))
    assert shared_db.run(replace(asked, threshold=within)).version


def test_boxes_of_their_own(shared_db: Any) -> None:
    """A row cannot be distinguished from those whose boxes it fits and that show its values."""
    name = f"exposed_{uuid.uuid4().hex[:10]}"
    drawn = [(i * 17 % 101, f"s{i}", i % 2) for i in range(40)]
    create_table(shared_db, name, {"age": "INTEGER", "ill": "TEXT", "flag": "INTEGER"}, drawn)
    asked = spec(
        name,
        quasi=["age"],
        insensitive=["flag"],
        accept_unique=["ill"],
        sensitive="ill",
        method="freeform",
        boxes="own",
    )
    report = shared_db.run(asked)
    edges, boxes = version_of(shared_db, report).certificate
    published = dict(fetch(shared_db.engine, boxes, "box", "slot"))
    flags = [flag for _, _, flag in sorted(drawn)]  # rows are numbered by their quasi values
    fits = Counter(
        slot for slot, box in fetch(shared_db.engine, edges, "slot", "box") if flags[slot] == flags[published[box]]
    )
    assert len(fits) == 40
    alone = sum(n == 1 for n in fits.values())
    assert report.exposed == Exposure(min(fits.values()), alone, 40, ("flag",))
    risk = read_measured_risk(report)
    assert (risk.rows, risk.published) == (1 / 4, 1 / report.exposed.k)
    assert (risk.marketer, risk.published_marketer) == (None, None)
    without = shared_db.run(
        replace(asked, columns=tuple(one for one in asked.columns if one.name != "flag"), rest="drop"),
        allow_weaker=True,
    )
    assert (without.exposed.k, read_measured_risk(without).published) == (4, 1 / 4)
