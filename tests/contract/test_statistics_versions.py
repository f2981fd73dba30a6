"""Versions of counts: one is published and no other beside it, or versions follow one another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, PolicyError, PrivacyViolation, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.versions import statistics
from tests.contract.counted import Made, Rows, stays
from tests.contract.tampering import tamper

pytest.importorskip("highspy")


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
    with pytest.raises(GuardError, match="the source's rows changed"):
        made.run(allow_weaker=True)
    assert made.rows() == before


@pytest.mark.thorough
def test_a_version_follows_a_withdrawn_one_where_nobody_has_kept_it(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("versions"))
    made.run()
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


@pytest.mark.thorough
def test_a_withdrawn_version_returns_as_it_was(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("returns"))
    made.run()
    before = made.rows()
    shared_db.unpublish(made.name)
    shared_db.rollback(made.name)
    assert made.rows() == before


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_an_older_version_returns_only_where_nobody_has_kept_the_newer_one(shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, stays("older"))
    made.run()
    shared_db.unpublish(made.name)
    shared_db.engine.execute(f"INSERT INTO {made.source} VALUES ('north', 'F', 20, 9999)")
    made.run(allow_weaker=True)
    with pytest.raises(GuardError, match="readers had version 2 after version 1"):
        shared_db.rollback(made.name, 1)
    shared_db.rollback(made.name, 1, allow_weaker=True)


FOLLOWED = {
    "columns": "{region: {}, sex: {}}",
    "tables": "[{name: all, by: [region, sex]}]",
    "protect": "{persons: 3}",
    "more": "    refresh: {mode: frozen, cohort: {persons: 8}}\n",
}


class Nights(Made):
    """A table to which rows come, and the counts that follow it."""

    def __init__(self, db: Any, folder: Path, seed: object, persons: int = 60) -> None:
        self.made: Rows = [(*row[:2], 20, row[3]) for row in stays(seed, persons)]
        self.versions: list[Rows] = []
        super().__init__(db, folder, self.made)
        self.write(**FOLLOWED)

    def come(self, *rows: tuple[Any, Any]) -> None:
        for region, sex in rows:
            row = (region, sex, 20, len(self.made))
            self.made.append(row)
            texts = ["NULL" if value is None else "'" + str(value).replace("'", "''") + "'" for value in row[:2]]
            self.db.engine.execute(f"INSERT INTO {self.source} VALUES ({', '.join(texts)}, 20, {row[3]})")

    def publish(self) -> list[dict[str, Any]]:
        report = self.run()
        assert report.outcome == "published"
        self.versions.append(list(self.made))
        view = self.rows()
        assert (report.statistics.cells, report.statistics.hidden) == (
            len(view),
            sum(row["status"] == "hidden" for row in view),
        )
        for row in view:  # a number is that of its version, and no version has it otherwise
            if row["status"] == "shown":
                assert row["n"] == self.count(self.versions[row["as_of"] - 1], row)
            else:
                assert row["n"] is None
        return view

    def count(self, rows: Rows, cell: dict[str, Any]) -> int:
        return sum(
            (cell["level_region"] == 1 or cell["region"] == region) and (cell["level_sex"] == 1 or cell["sex"] == sex)
            for region, sex, *_ in rows
        )


def test_versions_that_follow_show_no_few_newcomers(shared_db: Any, tmp_path: Path) -> None:
    nights = Nights(shared_db, tmp_path, "follow")
    seen = [nights.publish()]
    nights.come(*[("north", "F")] * 3)
    report = nights.run()
    assert (report.outcome, report.version) == ("unchanged", 1)
    assert report.why == ("fewer than 8 persons are new: they wait",)
    nights.come(*[("north", "F")] * 4, *[("south", "M")] * 5, ("it's", "M"), (None, "F"), ("far", "M"))
    new, goes_on, *_ = [note for note in shared_db.plan(nights.spec).notes if "version 1" in note]
    assert "15 persons are new since version 1" in new
    seen.append(nights.publish())
    assert [int(word) for word in goes_on.replace(";", "").split() if word.isdigit()] == going_on(nights, seen[0])
    assert shared_db.audit(f"release.{nights.view}").satisfied
    assert any(row["as_of"] == 1 and row["n"] is not None for row in seen[1])
    assert any(row["as_of"] == 2 and row["n"] is not None for row in seen[1])
    compare(seen)
    assert ask(nights, seen[1]) == (True, True)
    report = shared_db.audit_statistics([f"release.{nights.view}"], persons=3)
    older = [row for row in seen[1] if row["as_of"] == 1]
    since = [one for one in report.found if "since version 1" in one.tables[0]]
    assert report.satisfied
    found = shared_db.attack(nights.name)
    assert found.held
    assert (found.versions, found.hidden) == (2, sum(row["status"] == "hidden" for row in seen[1]))
    naive, readers, _ = found.attacks
    assert [one.name for one in found.attacks] == ["naive", "versions", "insider"]
    assert naive.cells == readers.cells == found.small > 0
    assert naive.exact > 0 == readers.exact
    assert len(since) == len(older) == report.hidden - sum(row["status"] == "hidden" for row in seen[1])


@pytest.mark.thorough
def test_three_versions_show_no_few_newcomers(shared_db: Any, tmp_path: Path) -> None:
    nights = Nights(shared_db, tmp_path, "three")
    seen = [nights.publish()]
    for rows in ([("north", "F")] * 7 + [("south", "M")] * 2, [("north", "M")] * 9 + [("far", "F")] * 9):
        nights.come(*rows)
        seen.append(nights.publish())
        assert shared_db.audit(f"release.{nights.view}").satisfied
    assert nights.run().outcome == "unchanged"
    compare(seen)


def going_on(nights: Nights, first: list[dict[str, Any]]) -> list[int]:
    """The numbers of the note of a plan of the second version, by counting rows here."""
    came = [nights.count(nights.versions[1], row) - nights.count(nights.versions[0], row) for row in first]
    goes = [n for n, row in zip(came, first, strict=True) if row["status"] == "shown"]
    few, many = sum(0 < n < 3 for n in goes), sum(n >= 3 for n in goes)
    return [len(first), 1, many, few, 3, len(first) - len(goes), len(goes) - few - many]


def ask(nights: Nights, view: list[dict[str, Any]]) -> tuple[bool, bool]:
    """Ask for each cell, and whether some have an answer that is exact, and some an older number and bounds."""
    exact = bounded = False
    for keys in (("region", "sex"), ("region",), ("sex",), ()):
        levels = {name: 0 if name in keys else 1 for name in ("region", "sex")}
        cells = [row for row in view if all(row[f"level_{name}"] == levels[name] for name in levels)]
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        text = f"SELECT {', '.join([*keys, 'count(*) AS c'])} FROM {nights.source}{by}"
        answer = nights.db.query(text, release=nights.name)
        found = {tuple(row[key] for key in keys): row["c"] for row in answer.rows}
        assert len(found) == len(cells)
        for row in cells:
            one, own = found[tuple(row[key] for key in keys)], nights.count(nights.made, row)
            assert one.low <= own
            assert one.high is None or own <= one.high
            if row["status"] == "shown" and row["as_of"] == max(other["as_of"] for other in view):
                assert one.exact
                exact = True
            elif row["status"] == "shown":
                assert row["n"] < one.low
                assert not one.tight
                bounded = True
    return exact, bounded


def compare(seen: list[list[dict[str, Any]]]) -> None:
    """No two versions show a difference of few persons."""
    for start in range(len(seen)):
        for end in range(start + 1, len(seen)):
            before = {(row["region"], row["sex"], row["level_region"], row["level_sex"]): row for row in seen[start]}
            for row in seen[end]:
                old = before.get((row["region"], row["sex"], row["level_region"], row["level_sex"]))
                if old is not None and row["n"] is not None and old["n"] is not None:
                    assert row["n"] - old["n"] not in (1, 2)


@pytest.mark.thorough
def test_who_left_or_moved_stops_the_versions(shared_db: Any, tmp_path: Path) -> None:
    nights = Nights(shared_db, tmp_path, "left")
    before = nights.publish()
    nights.come(*[("north", "F")] * 20)
    engine = shared_db.engine
    for change in ("DELETE FROM {} WHERE pid = 0", "UPDATE {} SET region = 'far' WHERE pid = 1"):
        engine.execute(change.format(nights.source))
        for ask in ({}, {"allow_weaker": True}):
            with pytest.raises(GuardError, match="no longer in the source, or in another cell"):
                nights.run(**ask)
        assert nights.rows() == before
    shared_db.unpublish(nights.name)
    with pytest.raises(GuardError, match="If nobody has kept them"):
        nights.run()
    assert nights.run(allow_weaker=True).statistics.batches == (2,)


@pytest.mark.thorough
def test_earlier_versions_return_and_are_followed_from_the_last(shared_db: Any, tmp_path: Path) -> None:
    nights = Nights(shared_db, tmp_path, "return")
    first = nights.publish()
    nights.come(*[("north", "F")] * 9)
    second = nights.publish()
    shared_db.rollback(nights.name)
    assert nights.rows() == first
    nights.come(*[("north", "M")] * 9)
    with pytest.raises(GuardError, match="readers had version 2 after it"):
        nights.run()
    shared_db.rollback(nights.name, 2)
    assert nights.rows() == second
    nights.publish()
    for changed in ({"protect": "{persons: 4}"}, {"more": "    refresh: {mode: frozen, cohort: {persons: 9}}\n"}):
        nights.write(**{**FOLLOWED, **changed})
        with pytest.raises(GuardError, match="a run would publish other counts"):
            nights.run(allow_weaker=True)
    nights.write(**FOLLOWED)
    with pytest.raises(GuardError, match="a new version is asked for"):
        nights.run(full=True)


@pytest.mark.thorough
def test_what_is_not_built_for_several_versions(shared_db: Any, tmp_path: Path) -> None:
    nights = Nights(shared_db, tmp_path, "refused")
    nights.publish()
    assert "there are none" in shared_db.report(nights.name, frame="sdc", form="md")
    nights.come(*[("north", "F")] * 9)
    nights.publish()
    with pytest.raises(UnsupportedError, match="no key can be erased"):
        shared_db.erase(nights.spec, [{"pid": 3}], confirmed=True)
    assert "2 versions were shown: small numbers of newcomers" in shared_db.report(nights.name, frame="sdc", form="md")
    shared_db.engine.execute(f"INSERT INTO {nights.source} SELECT * FROM {nights.source} WHERE pid = 3")
    with pytest.raises(PolicyError, match="a person has several rows, and refresh"):
        nights.run()
    for changed, text in (
        ({"more": "    refresh: {mode: frozen, cohort: {persons: 2}}\n"}, "while no version follows"),
    ):
        nights.write(**{**FOLLOWED, **changed})
        with pytest.raises(PolicyError, match=text):
            nights.run()


TAMPERED = {
    "a number of another version": ("follow from", "UPDATE {physical} SET n = n + 1 WHERE status = 'shown'"),
    "another version of a number": ("follow from", "UPDATE {physical} SET as_of = 3 - as_of WHERE status = 'shown'"),
    "a cell that is left out": ("follow from", "DELETE FROM {physical} WHERE level_region = 1"),
    "a cell twice": ("follow from", "INSERT INTO {physical} SELECT * FROM {physical} WHERE level_region = 1"),
    "a hidden cell that is shown": ("follow from", "UPDATE {physical} SET status = 'shown', n = 5 WHERE n IS NULL"),
    "new rows that are shown": ("(rows|small cells shown)", "UPDATE {cells} SET hidden = 0 WHERE batch = 2"),
    "old rows without witnesses": ("without witnesses", "DELETE FROM {witness} WHERE batch = 1"),
    "new rows that are not the source's": ("finest cells", "UPDATE {atoms} SET n = n + 1 WHERE batch = 2"),
    "old rows that are not the source's": ("of all versions", "UPDATE {atoms} SET n = n + 1 WHERE batch = 1"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_of_all_versions_refuses(
    what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights = Nights(shared_db, tmp_path, "tampered", 30)
    before = nights.publish()
    assert any(row["status"] == "hidden" for row in before)
    nights.come(*[("north", "F")] * 9, *[("south", "M")] * 9, ("it's", "M"))
    expected, text = TAMPERED[what]
    tamper(monkeypatch, statistics, "batch_of", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*{expected}"):
        nights.run()
    assert nights.rows() == before


@pytest.mark.thorough
def test_a_cell_that_goes_on_with_few_newcomers_is_found(shared_db: Any, tmp_path: Path) -> None:
    """Every cell that keeps its number is shown as the source has it: that is one version after another by itself."""
    nights = Nights(shared_db, tmp_path, "follow")
    nights.publish()
    nights.come(*[("north", "F")] * 7, *[("south", "M")] * 5, ("north", "M"), ("south", "F"))
    view = nights.publish()
    assert shared_db.attack(nights.name).held
    (*_, entry) = Catalog(shared_db.engine).entries(nights.name)
    older = [row for row in view if row["as_of"] == 1]
    for row in older:
        where = [
            f"level_{name} = {row[f'level_{name}']} AND "
            + (f"{name} IS NULL" if row[name] is None else "{} = '{}'".format(name, row[name].replace("'", "''")))
            for name in ("region", "sex")
        ]
        shared_db.engine.execute(
            f'UPDATE "_sqlanon"."{entry.table.name}" SET as_of = 2, n = {nights.count(nights.made, row)} '
            f"WHERE {' AND '.join(where)}"
        )
    found = shared_db.attack(nights.name)
    assert older
    assert not found.held
    assert found.attacks[1].exact > 0


@pytest.mark.thorough
def test_reports_of_versions(shared_db: Any, tmp_path: Path) -> None:
    nights = Nights(shared_db, tmp_path, "reports")
    nights.publish()
    nights.come(*[("north", "F")] * 7, *[("south", "M")] * 5, ("north", "M"), ("south", "F"))
    nights.publish()
    owner = shared_db.report(nights.name, form="md", attack=True)
    assert "readers of all versions" in owner
    assert "new in one of 2 versions" in owner
    assert "FOUND" not in owner
    assert "What readers find" in shared_db.report(f"release.{nights.view}", audience="readers", form="md")
    frame = shared_db.report(nights.name, form="md", frame="sdc", attack=True)
    assert "2 versions were shown: small numbers of newcomers" in frame
    assert "what they say together is not measured" not in frame
