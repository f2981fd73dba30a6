"""Releases of counts with margins that must be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PolicyError
from tests.contract.counted import Made

pytest.importorskip("highspy")

Counts = dict[tuple[str, str], int]
# Of north few are M, whom the rows of both sexes hide; of the margin of regions every cell is large.
COUNTS: Counts = {("north", "F"): 20, ("north", "M"): 2, ("south", "F"): 40, ("south", "M"): 48, ("west", "F"): 9}
PLAIN = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]"}


def made_of(db: Any, folder: Path, counts: Counts, protect: str, **more: str) -> Made:
    cells = [cell for cell, number in counts.items() for _ in range(number)]
    rows = [(*cell, 20, pid) for pid, cell in enumerate(cells)]
    return Made(db, folder, rows, **{**PLAIN, **more}, protect=protect)


def test_margins_are_shown(shared_db: Any, tmp_path: Path) -> None:
    made = made_of(shared_db, tmp_path, COUNTS, "{persons: 5, show: [{region: 0}, {sex: 0}, total]}")
    made.run()
    status = {(row["region"], row["sex"]): row["status"] for row in made.rows()}
    assert status["north", "M"] == status["north", "F"] == "hidden"
    assert {status[key] for key in status if None in key} == {"shown"}
    assert shared_db.attack(made.name).held


REFUSED = {
    "a small cell": ("{persons: 10, show: [{region: 0}]}", r"a cell of region must be hidden"),
    "nothing else to hide": (
        "{persons: 5, show: [{sex: 0}, {region: 0, sex: 0}]}",
        r"a cell of region x sex must be hidden",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_margin_that_cannot_be_shown_is_named_without_a_value(what: str, shared_db: Any, tmp_path: Path) -> None:
    protect, text = REFUSED[what]
    made = made_of(shared_db, tmp_path, COUNTS, protect)
    with pytest.raises(InfeasibleError, match=text) as raised:
        made.run()
    assert "north" not in str(raised.value)
    assert "west" not in str(raised.value)
    assert shared_db.releases(made.name) == ()
    assert any("protect: show cannot be met" in note for note in shared_db.plan(made.spec).notes)


def test_a_cell_that_nothing_else_can_hide_names_the_margins(shared_db: Any, tmp_path: Path) -> None:
    """South has women alone: with both margins shown those of north are a difference, and so are its men."""
    counts = {("north", "F"): 20, ("north", "M"): 2, ("south", "F"): 40, ("west", "M"): 9}
    made = made_of(shared_db, tmp_path, counts, "{persons: 5, show: [{region: 0}, {sex: 0}]}")
    with pytest.raises(InfeasibleError, match=r"where all cells of region, sex are shown") as raised:
        made.run()
    assert "north" not in str(raised.value)
    assert shared_db.releases(made.name) == ()


@pytest.mark.thorough
def test_margins_are_shown_with_sums(shared_db: Any, tmp_path: Path) -> None:
    measures = "{n: count, years: {sum: age, range: [0, 100], p_percent: 10}}"
    made = made_of(shared_db, tmp_path, COUNTS, "{persons: 5, show: [{region: 0}, total]}", measures=measures)
    made.run()
    shown = {row["region"]: row["years"] for row in made.rows() if (row["level_region"], row["level_sex"]) == (0, 1)}
    assert shown == {"north": 440, "south": 1760, "west": 180}


@pytest.mark.thorough
def test_a_level_that_a_rule_has_not_is_a_mistake(shared_db: Any, tmp_path: Path) -> None:
    more = {"columns": '{sex: {}, age: {hierarchy: "steps:20"}}', "tables": "[{name: a, by: [sex, age]}]"}
    made = made_of(shared_db, tmp_path, COUNTS, "{persons: 5, show: [{age: 2}]}", **more)
    with pytest.raises(PolicyError, match="column age has levels 0 to 1 below its total"):
        made.run()
    made.write(**more, protect="{persons: 5, show: [{age: 1}]}")
    made.run()
    assert {row["status"] for row in made.rows() if (row["level_age"], row["level_sex"]) == (1, 1)} == {"shown"}


@pytest.mark.thorough
def test_another_margin_is_another_policy(shared_db: Any, tmp_path: Path) -> None:
    made = made_of(shared_db, tmp_path, COUNTS, "{persons: 5}")
    made.run()
    made.write(**PLAIN, protect="{persons: 5, show: [total]}")
    with pytest.raises(Exception, match="unpublish"):
        made.run()
    assert len(shared_db.releases(made.name)) == 1
