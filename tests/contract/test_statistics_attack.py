"""Attacks on releases of counts: nothing is found in a release, and all of it where one hides small cells alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from tests.contract.counted import Made, stays

pytest.importorskip("highspy")


def made_of(db: Any, folder: Path, seed: str, **more: Any) -> Made:
    made = Made(db, folder, stays(seed), **more)
    made.run()
    return made


TWO = {"columns": "{region: {}, sex: {}}", "tables": "[{name: a, by: [region, sex]}]", "protect": "{persons: 12}"}


def test_readers_and_insiders_find_no_small_cell(shared_db: Any, tmp_path: Path) -> None:
    made = made_of(shared_db, tmp_path, "undone counts", **TWO)
    found = shared_db.attack(made.name)
    assert found.held
    naive, outsider, insider = found.attacks
    assert [one.name for one in found.attacks] == ["naive", "outsider", "insider"]
    assert naive.cells == outsider.cells == found.small > 0
    assert (outsider.exact, outsider.below, outsider.undecided) == (0, 0, 0)
    assert (insider.exact, insider.below) == (0, 0)
    assert not naive.promised
    # A row of a margin of which one cell is small gives that cell away.
    assert naive.exact > 0
    with pytest.raises(PolicyError, match="--known"):
        shared_db.attack(made.name, known=["sex"])
    with pytest.raises(UnsupportedError, match="are not kept"):
        shared_db.keep_attacks(found)


def test_a_hidden_cell_that_is_shown_gives_small_ones_away(shared_db: Any, tmp_path: Path) -> None:
    """Each cell that hides a small one is shown again in the table of the release: its readers find small ones."""
    made = made_of(shared_db, tmp_path, "undone counts", **TWO)
    cells: dict[tuple[Any, ...], int] = {}
    for region, sex, _, _ in stays("undone counts"):
        for key in ((region, sex), (region, "*"), ("*", sex), ("*", "*")):
            cells[key] = cells.get(key, 0) + 1
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    for (region, sex), number in cells.items():
        if number >= 12:
            where = [
                f"level_{name} = {int(value == '*')} AND "
                + (f"{name} IS NULL" if value in (None, "*") else "{} = '{}'".format(name, value.replace("'", "''")))
                for name, value in (("region", region), ("sex", sex))
            ]
            shared_db.engine.execute(f"UPDATE _sqlanon.{entry.physical} SET n = {number} WHERE {' AND '.join(where)}")
    found = shared_db.attack(made.name)
    assert not found.held
    naive, outsider, _ = found.attacks
    assert outsider.exact == naive.exact > 0
    assert outsider.below == naive.below >= outsider.exact


def test_the_order_of_cells_changes_nothing(shared_db: Any, tmp_path: Path) -> None:
    """Engines list cells in any order: each number of the report is the same to the last digit."""
    ages = {"columns": "{region: {}, age: {}}", "tables": "[{name: a, by: [region, age]}]"}
    made = made_of(shared_db, tmp_path, "undone counts", protect="{persons: 14}", **ages)
    (entry,) = Catalog(shared_db.engine).entries(made.name)
    found, place, held = shared_db.attack(made.name), f"_sqlanon.{entry.physical}", f"held_{made.source}"
    shared_db.engine.execute(f"CREATE TABLE {held} AS SELECT * FROM {place}")
    shared_db.engine.execute(f"DELETE FROM {place}")
    shared_db.engine.execute(f"INSERT INTO {place} SELECT * FROM {held} ORDER BY region DESC, age DESC")
    assert shared_db.attack(made.name) == found


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_found_with_hierarchies_and_insiders(seed: int, shared_db: Any, tmp_path: Path) -> None:
    made = made_of(shared_db, tmp_path, f"attacked {seed}")
    found = shared_db.attack(f"release.{made.view}", victims=6)
    assert found.held
    assert found.attacks[2].readers == min(6, found.attacks[2].possible)
    assert found.attacks[0].exact > 0


@pytest.mark.thorough
def test_linked_tables_are_attacked_together(shared_db: Any, tmp_path: Path) -> None:
    linked = "[{name: a, by: [region, sex]}, {name: b, by: [sex, age]}]"
    made = made_of(shared_db, tmp_path, "attacked linked", tables=linked, protect="{persons: 3}")
    found = shared_db.attack(made.name)
    assert found.held
    assert found.attacks[1].undecided == 0
