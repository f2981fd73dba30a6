"""Lineages of counts that end: the next begins with numbers that are safe next to all that readers had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.versions import statistics
from tests.contract.tampering import tamper
from tests.contract.test_statistics_versions import FOLLOWED, Nights, compare

pytest.importorskip("highspy")

MORE = "    refresh: {mode: frozen, cohort: {persons: 8}, lineage: 90d}\n"
COME = ([("north", "F")] * 7 + [("south", "M")] * 2 + [("it's", "M")], [("south", "M")] * 9 + [("south", "F")] * 8)


class Ended(Nights):
    """Counts with lineages that end."""

    def __init__(self, db: Any, folder: Path, seed: object, persons: int = 60) -> None:
        super().__init__(db, folder, seed, persons)
        self.write(**{**FOLLOWED, "more": MORE})

    def wait(self) -> None:
        """The versions so far are old."""
        self.db.engine.execute(
            f"UPDATE _sqlanon.catalog SET published_at = '2020-01-01T00:00:00+00:00' WHERE release = '{self.name}'"
        )

    @property
    def satisfied(self) -> bool:
        return bool(self.db.audit(f"release.{self.view}").satisfied)


def test_a_lineage_ends_and_another_begins(shared_db: Any, tmp_path: Path) -> None:
    made = Ended(shared_db, tmp_path, "ends")
    seen = [made.publish()]
    made.come(*COME[0])
    seen.append(made.publish())
    assert made.satisfied
    made.wait()
    made.come(*COME[1])
    assert any("a new lineage begins, with 17 persons" in note for note in shared_db.plan(made.spec).notes)
    seen.append(made.publish())
    (*_, entry) = Catalog(shared_db.engine).entries(made.name)
    assert entry.report["statistics"]["batches"] == [3]
    assert entry.report["statistics"]["earlier"] == [1, 2]
    assert {row["as_of"] for row in seen[2]} == {3}
    compare(seen)
    assert made.satisfied
    assert made.run().outcome == "unchanged"
    made.come(*[("north", "M")] * 9)
    seen.append(made.publish())
    compare(seen)
    assert made.satisfied
    attacked = shared_db.attack(made.name)
    assert attacked.held
    assert attacked.versions == 4
    naive, versions, insiders = attacked.attacks
    assert naive.exact
    assert naive.cells == versions.cells
    assert insiders.readers


def test_a_lineage_after_versions_of_hidden_totals(shared_db: Any, tmp_path: Path) -> None:
    """Readers know by the rule how many persons each version has at least, and no witness has fewer."""
    made = Ended(shared_db, tmp_path, "hidden totals")
    more = "    refresh: {mode: frozen, cohort: {persons: 8, every: 1d}, lineage: 1d}\n"
    made.write(**{**FOLLOWED, "protect": "{persons: 5}", "more": more})
    made.publish()
    cells = sorted({row[:2] for row in made.made}, key=str)[:5]
    made.come(*cells, *cells[:3])
    made.publish()
    made.wait()
    made.come(*cells[:4], *cells[:2])
    made.publish()
    assert made.satisfied


def test_a_lineage_of_tables_without_all_columns(shared_db: Any, tmp_path: Path) -> None:
    """Who is alone in a combination that no table has is in no cell alone, and knows the number of none."""
    made = Ended(shared_db, tmp_path, "tables")
    made.write(**{**FOLLOWED, "tables": "[{name: a, by: [region]}, {name: b, by: [sex]}]", "more": MORE})
    made.publish()
    made.wait()
    made.come(*[("north", "F")] * 4, ("north", "M"), ("south", "F"), *[("it's", "M")] * 2)
    made.publish()
    assert made.satisfied
    assert shared_db.attack(made.name).held


def test_a_lineage_with_bounds(shared_db: Any, tmp_path: Path) -> None:
    """Bounds of a new lineage have every number of now, and the next version adds those of its new rows."""
    made = Ended(shared_db, tmp_path, "bounds")
    made.write(**{**FOLLOWED, "protect": "{persons: 3, bounds: exact}", "more": MORE})
    for rows in ([], *COME, [("north", "M")] * 9):
        made.come(*rows) if rows else None
        made.wait() if len(made.versions) == 2 else None
        for row in made.publish():
            number = made.count(made.made, row)
            assert row["n_low"] <= number
            assert row["n_high"] is None or number <= row["n_high"]
        assert made.satisfied
    assert Catalog(shared_db.engine).entries(made.name)[-1].report["statistics"]["earlier"] == [1, 2]
    assert shared_db.attack(made.name).held


@pytest.mark.thorough
def test_an_attack_finds_what_a_lineage_that_does_not_look_back_would_show(shared_db: Any, tmp_path: Path) -> None:
    made = Ended(shared_db, tmp_path, "ends")
    made.publish()
    made.come(*COME[0])
    made.publish()
    made.wait()
    made.come(*COME[1])
    made.publish()
    assert shared_db.attack(made.name).held
    cells = Catalog(shared_db.engine).entries(made.name)[-1].counts["cells"]
    shared_db.engine.execute(f'UPDATE "_sqlanon"."{cells.name}" SET hidden = 0 WHERE persons >= 3')
    attacked = shared_db.attack(made.name)
    assert attacked.attacks[1].exact
    assert not attacked.held


@pytest.mark.thorough
def test_three_lineages(shared_db: Any, tmp_path: Path) -> None:
    made = Ended(shared_db, tmp_path, "three", 90)
    seen = []
    for rows in ([], *COME, [("north", "M")] * 9 + [("south", "F")], [("north", "F")] * 10, [("south", "M")] * 8):
        made.come(*rows) if rows else None
        if len(seen) in (2, 4):
            made.wait()
        seen.append(made.publish())
        assert made.satisfied
    compare(seen)
    chains = [
        (entry.report["statistics"]["earlier"], entry.report["statistics"]["batches"])
        for entry in Catalog(shared_db.engine).entries(made.name)
    ]
    assert [earlier + batches for earlier, batches in chains] == [list(range(1, last + 1)) for last in range(1, 7)]
    assert [len(batches) for _, batches in chains] == [1, 2, 1, 2, 1, 2]


@pytest.mark.thorough
def test_a_version_of_the_last_lineage_returns(shared_db: Any, tmp_path: Path) -> None:
    made = Ended(shared_db, tmp_path, "ends")
    made.publish()
    made.come(*COME[0])
    before = made.publish()
    made.wait()
    made.come(*COME[1])
    after = made.publish()
    shared_db.rollback(made.name, 2)
    assert made.rows() == before
    assert made.satisfied
    made.come(*[("south", "M")] * 9)
    with pytest.raises(GuardError, match="readers had version 3 after it"):
        made.run()
    shared_db.rollback(made.name, 3)
    assert made.rows() == after
    made.publish()
    assert made.satisfied


@pytest.mark.thorough
def test_a_lineage_begins_with_nothing_of_who_left(shared_db: Any, tmp_path: Path) -> None:
    made = Ended(shared_db, tmp_path, "left")
    before = made.publish()
    made.come(*COME[1])
    shared_db.engine.execute(f"DELETE FROM {made.source} WHERE pid = 0")
    made.wait()
    with pytest.raises(GuardError, match="no longer in the source, or in another cell"):
        made.run()
    assert made.rows() == before


@pytest.mark.thorough
def test_margins_are_shown_where_a_lineage_begins(shared_db: Any, tmp_path: Path) -> None:
    made = Ended(shared_db, tmp_path, "shown")
    made.write(**{**FOLLOWED, "more": MORE, "protect": "{persons: 3, show: [total]}"})
    made.publish()
    made.come(*COME[0])
    made.publish()
    made.wait()
    made.come(*COME[1])
    view = made.publish()
    assert [row["n"] for row in view if (row["level_region"], row["level_sex"]) == (1, 1)] == [len(made.made)]
    assert made.satisfied


@pytest.mark.thorough
def test_what_a_lineage_of_counts_alone_would_show(shared_db: Any, tmp_path: Path) -> None:
    """A new lineage that does not look back: differences of shown cells are small numbers of newcomers."""
    made = Nights(shared_db, tmp_path, "ends")
    first = {cell_of(row): row for row in made.publish()}
    made.come(*COME[0])
    shared_db.unpublish(made.name)
    second = {cell_of(row): row for row in read_anew(made)}
    few = [
        cell
        for cell, row in second.items()
        if row["n"] is not None and cell in first and first[cell]["n"] is not None
        if row["n"] - first[cell]["n"] in (1, 2)
    ]
    assert few


def cell_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["level_region"], row["level_sex"], row["region"], row["sex"]


def read_anew(made: Nights) -> list[dict[str, Any]]:
    made.run(allow_weaker=True)
    return made.rows()


TAMPERED = {
    "a number of an earlier version": ("earlier lineages", "UPDATE {past_cells} SET n = n + 1 WHERE batch = 1"),
    "a number that readers had": ("witness changes", "UPDATE {past_cells} SET hidden = 0"),
    "a number that readers have not": ("earlier versions", "UPDATE {past_cells} SET hidden = 1"),
    "a cell of an earlier version": ("earlier lineages", "DELETE FROM {past_cells} WHERE batch = 1 AND l1 = 0"),
    "rows of another version": ("lineages", "UPDATE {past_atoms} SET batch = 2 WHERE batch = 1"),
    "rows of all versions": ("finest cells of all lineages", "UPDATE {past_atoms} SET n = n + 1 WHERE batch = 2"),
    "no witnesses": ("without witnesses", "DELETE FROM {past_witness}"),
    "a witness of fewer rows": ("changes", "UPDATE {past_witness} SET change = change - 99"),
    "a witness that changes a shown cell": (
        "shown cells that a witness changes",
        "INSERT INTO {past_witness} (witness, atom, change) SELECT 999, atom, 1 FROM {past_atoms} WHERE batch = 1",
    ),
    "bounds that are too narrow": (
        "(rows|bounds)",
        "UPDATE {cells} SET low = n, high = n WHERE hidden = 1 AND batch = 3",
    ),
    "a cell that is shown": ("(rows|shown)", "UPDATE {cells} SET hidden = 0"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_of_all_lineages_refuses(
    what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Ended(shared_db, tmp_path, "ends")
    made.write(**{**FOLLOWED, "protect": "{persons: 3, bounds: exact}", "more": MORE})
    made.publish()
    made.come(*COME[0])
    before = made.publish()
    made.wait()
    made.come(*COME[1])
    expected, text = TAMPERED[what]
    tamper(monkeypatch, statistics, "batch_of", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*{expected}"):
        made.run()
    assert made.rows() == before
