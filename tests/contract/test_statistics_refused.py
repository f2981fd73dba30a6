"""Releases of counts: what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PolicyError, UnsupportedError
from tests.contract.counted import Made, stays

pytest.importorskip("highspy")

REFUSED = {
    "fewer persons than the threshold": (InfeasibleError, {"protect": "{persons: 500}"}, "fewer persons than 500"),
    "noise for persons of several cells": (
        PolicyError,
        {"measures": "{p: persons}", "protect": "{persons: 3, method: round, base: 3}"},
        "persons do not add up over cells",
    ),
    "versions of persons of several cells": (
        PolicyError,
        {
            "measures": "{p: persons}",
            "protect": "{persons: 3}",
            "more": "    refresh: {mode: frozen, cohort: {persons: 20, every: 90d}}\n",
        },
        "leave refresh out",
    ),
    "a column that is not there": (
        PolicyError,
        {"columns": "{region: {}, sexx: {}}", "tables": "[{name: a, by: [region, sexx]}]"},
        "has no column sexx",
    ),
    "a measure with the name of another column": (PolicyError, {"measures": "{PID: count}"}, "measure PID"),
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
    # The only x of north knows that nobody else is 20, and so that the two others are both y.
    pairs = [("x", 20), ("y", 30), ("y", 45)]
    rows = [("north", sex, age, pid) for pid, (sex, age) in enumerate(pairs)]
    rows += [("south", "x", 20 + 10 * (pid % 2), pid) for pid in range(10, 16)]
    made = Made(
        shared_db,
        tmp_path,
        rows,
        columns="{region: {}, sex: {}, age: {}}",
        tables="[{name: a, by: [region, sex]}, {name: b, by: [region, age]}]",
        protect="{persons: 3}",
    )
    with pytest.raises(InfeasibleError, match=r"a small cell of region( x sex)? cannot be hidden") as raised:
        made.run()
    assert "north" not in str(raised.value)
    assert shared_db.releases(made.name) == ()


def test_where_persons_have_several_rows_the_error_is_of_the_patterns_that_were_searched(
    shared_db: Any, tmp_path: Path
) -> None:
    rows = [(region, "F", 20, pid) for region, pid in [("north", 1), ("south", 1), ("west", 2), ("south", 3)]]
    columns, tables, measures = "{region: {}}", "[{name: a, by: region}]", "{n: count, persons: persons}"
    # Of three persons the only one of north knows that the others alone can be in the west.
    protect = "{persons: 3, show: [total]}"
    made = Made(shared_db, tmp_path, rows, columns=columns, tables=tables, measures=measures, protect=protect)
    text = "the patterns of rows that are searched do not hide a small cell of .*, whatever else is hidden"
    with pytest.raises(InfeasibleError, match=text):
        made.run()
    assert shared_db.releases(made.name) == ()


@pytest.mark.thorough
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


ABOUT_ROWS: dict[str, Callable[[Any, Made], object]] = {
    "evaluate": lambda db, made: db.evaluate(made.name),
    "preview": lambda db, made: db.preview(made.spec),
    "history": lambda db, made: db.history(made.name),
    "assess": lambda db, made: db.assess(f"release.{made.view}"),
}


@pytest.mark.thorough
def test_commands_about_rows_are_refused(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("rows"))
    made.run()
    for call in ABOUT_ROWS.values():
        with pytest.raises(UnsupportedError, match="counts"):
            call(shared_db, made)
    with pytest.raises(UnsupportedError, match="erase"):
        shared_db.erase(made.spec, [{"pid": 1}])


@pytest.mark.thorough
def test_rows_of_the_same_source_are_warned_of(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("warned"))
    made.run()
    rows = shared_db.anonymize(
        made.source,
        name=f"rows of {made.source}",
        identifiers="pid",
        quasi=["region", "age"],
        rest="drop",
        k=3,
        publish=f"release.r_{made.view}",
    )
    assert any(f"release {made.name} publishes counts of the same source" in one for one in rows.report.warnings)
    with pytest.raises(UnsupportedError, match="is not measured"):
        shared_db.together(made.name, f"rows of {made.source}")
    assert any(
        f"release rows of {made.source} publishes rows of the same source" in one
        for one in shared_db.plan(made.spec).warnings
    )
