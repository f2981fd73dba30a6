"""Counts that are protected together with a release of rows, on every engine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon
from sqlanon.errors import GuardError, InfeasibleError, LockedError, PolicyError, PrivacyViolation, UnsupportedError
from sqlanon.policy import load
from sqlanon.release.audit.of_counts import shape_of_entry
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.versions import begin
from sqlanon.statistics.protections import suppress
from sqlanon.table.scratch import Scratch
from tests.contract.counted import Made
from tests.contract.tampering import tamper

pytest.importorskip("highspy")

COUNTED = {"columns": "{region: {}, sex: {}}", "tables": "[{name: all, by: [region, sex]}]", "protect": "{persons: 3}"}
ALONE = "alone 5"
"""Rows of which a class gives a small cell away that is hidden in the counts alone."""
ROLES = "pid: {role: identifier}, region: {role: quasi}, age: {role: quasi}"


def persons(seed: object, many: int = 80) -> list[tuple[Any, ...]]:
    """Rows of which the smallest cells are of regions that are few, NULL one of them."""
    draw = random.Random(str(seed))
    regions = ["north"] * 4 + ["south"] * 4 + ["it's", None]
    return [(draw.choice(regions), draw.choice("FFM"), draw.randrange(20, 60), pid) for pid in range(many)]


@contextmanager
def held(db: Any, lock: str) -> Iterator[None]:
    """A lock that another session holds; on DuckDB the same one, which cannot take it again."""
    with ExitStack() as stack:
        holder = db
        if db.engine.dialect == "postgres":
            info = db.engine._connection.info
            url = f"postgresql://{info.user}@/{info.dbname}?host={info.host}&port={info.port}"
            holder = stack.enter_context(sqlanon.connect(url))
        stack.enter_context(holder.engine.lock(lock))
        yield


class Pair(Made):
    """A table, a release of its rows, and one of its counts that is protected together with it."""

    def __init__(self, db: Any, folder: Path, seed: object, of_counts: str = "", **more: Any) -> None:
        super().__init__(db, folder, persons(seed))
        self.rows_name = f"rows of {self.source}"
        self.write(**COUNTED, more=f"    together: ['{self.rows_name}']\n{of_counts}")
        self.write_rows(**more)
        db.run(self.rows_spec)

    def write_rows(self, roles: str = ROLES, privacy: str = "{k: 8}", more: str = "") -> None:
        self.rows_file = self.file.with_name("rows.yml")
        self.rows_file.write_text(
            f"version: 1\nreleases:\n  - name: {self.rows_name}\n    source: {self.source}\n    publish: release.r_"
            f"{self.source}\n    rest: drop\n    columns: {{{roles}}}\n    privacy: {privacy}\n{more}"
        )

    @property
    def rows_spec(self) -> Any:
        return load(self.rows_file).releases[0]


def test_counts_and_rows_are_one_system(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "one system")
    report = pair.run()
    assert report.warnings == ()
    assert (report.statistics.neighbour.release, report.statistics.neighbour.version) == (pair.rows_name, 1)
    assert any(row["status"] == "hidden" for row in pair.rows())
    found = shared_db.attack(pair.name)
    assert found.held
    assert [one.name for one in found.attacks] == ["naive", "outsider", "rows", "insider"]
    _, outsider, reader, _ = found.attacks
    assert reader.cells == outsider.cells == found.small > 0
    assert reader.guess >= outsider.guess
    assert shared_db.audit(f"release.{pair.view}").satisfied
    (entry,) = Catalog(shared_db.engine).entries(pair.name)
    atoms = f'"_sqlanon"."{entry.statistics[1].name}"'
    ((many, rows),) = shared_db.engine.fetch(f"SELECT COUNT(DISTINCT class), CAST(SUM(n) AS BIGINT) FROM {atoms}")
    (rows_entry,) = Catalog(shared_db.engine).entries(pair.rows_name)
    ((classes,),) = shared_db.engine.fetch(f'SELECT COUNT(DISTINCT class) FROM "_sqlanon"."{rows_entry.link.name}"')
    assert (many, rows) == (classes, 80)
    assert not [text for text in shared_db.plan(pair.rows_spec).warnings if "hidden cells" in text]
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(pair.rows_spec, full=True)


@pytest.mark.thorough
def test_neither_changes_while_readers_have_both(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "one system")
    assert shared_db.plan(pair.spec).warnings == ()
    pair.run()
    assert pair.run().outcome == "unchanged"
    frame = shared_db.report(pair.name, frame="sdc", form="md")
    assert "version 1: its classes and the cells are one system" in frame
    assert "published of the same source" not in frame
    assert shared_db.run(pair.rows_spec).outcome == "unchanged"
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(pair.rows_spec, full=True)
    shared_db.engine.execute(f"INSERT INTO {pair.source} VALUES ('north', 'F', 20, 9999)")
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(pair.rows_spec)
    shared_db.engine.execute(f"CREATE VIEW other_{pair.source} AS SELECT * FROM {pair.source}")
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(replace(pair.rows_spec, source=f"other_{pair.source}"))
    shared_db.unpublish(pair.name)
    assert shared_db.run(pair.rows_spec).version == 2
    for confirmed in (False, True):
        with pytest.raises(GuardError, match="and version 2 is published: return to that version first"):
            shared_db.rollback(pair.name, allow_weaker=confirmed)
    shared_db.rollback(pair.rows_name, 1)
    with pytest.raises(GuardError, match="readers had others as well"):
        shared_db.rollback(pair.name)
    shared_db.rollback(pair.name, allow_weaker=True)
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(pair.rows_spec, full=True)


@pytest.mark.thorough
def test_counts_do_not_return_next_to_an_earlier_version_of_the_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "one system")
    shared_db.run(pair.rows_spec, full=True)
    pair.run(allow_weaker=True)
    shared_db.unpublish(pair.name)
    shared_db.rollback(pair.rows_name, 1)
    for confirmed in (False, True):
        with pytest.raises(GuardError, match="and version 1 is published: return to that version first"):
            shared_db.rollback(pair.name, allow_weaker=confirmed)
    shared_db.rollback(pair.rows_name, 2)
    with pytest.raises(GuardError, match="readers had others as well"):
        shared_db.rollback(pair.name)


@pytest.mark.thorough
def test_rows_get_no_version_while_counts_are_made(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "one at a time")
    with held(shared_db, f"release {pair.rows_name}"), pytest.raises(LockedError):
        pair.run()
    pair.run()
    shared_db.unpublish(pair.name)
    with held(shared_db, f"release {pair.rows_name}"), pytest.raises(LockedError):
        shared_db.rollback(pair.name)
    shared_db.rollback(pair.name)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("roles", "more"),
    [
        ("pid: {role: identifier}, region: {role: quasi}, sex: {role: quasi}, age: {role: quasi}", ""),
        ("pid: {role: identifier}, region: {role: quasi, hierarchy: region.csv}, age: {role: quasi}", ""),
        ("pid: {role: identifier}, region: {role: quasi}, age: {role: quasi}", "    format: labels\n"),
        ("pid: {role: identifier}, region: {role: quasi}, age: {role: quasi}", "    format: suppressed\n"),
        ("pid: {role: identifier}, age: {role: quasi}", ""),
    ],
    ids=["sets", "nodes", "labels", "suppressed", "nothing counted"],
)
def test_what_classes_show(roles: str, more: str, shared_db: Any, tmp_path: Path) -> None:
    (tmp_path / "region.csv").write_text("north;a;*\nsouth;a;*\nit's;b;*\n")
    pair = Pair(shared_db, tmp_path, "shown", roles=roles, privacy="{k: 20}", more=more)
    pair.run()
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held


@pytest.mark.thorough
def test_counts_that_are_protected_by_themselves_are_found(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells are shown that a release shows which does not know of the rows: readers of both find small ones."""
    monkeypatch.setattr(begin, "secret_of", lambda _: "0" * 64)  # the same cells are hidden each time
    pair = Pair(shared_db, tmp_path, ALONE, privacy="{k: 2}")
    pair.write(**COUNTED)
    pair.run()
    keys = ("region", "sex", "level_region", "level_sex")
    shown = {tuple(row[key] for key in keys): row["n"] for row in pair.rows() if row["status"] == "shown"}
    shared_db.unpublish(pair.name)
    pair.write(**COUNTED, more=f"    together: ['{pair.rows_name}']\n")
    pair.run(allow_weaker=True)
    assert shared_db.attack(pair.name).held
    (*_, entry) = Catalog(shared_db.engine).entries(pair.name)
    for row in pair.rows():
        cell = tuple(row[key] for key in keys)
        texts = ["IS NULL" if own is None else "= '{}'".format(own.replace("'", "''")) for own in cell[:2]]
        where = f"region {texts[0]} AND sex {texts[1]} AND level_region = {cell[2]} AND level_sex = {cell[3]}"
        number = shown.get(cell, "NULL")
        shared_db.engine.execute(f'UPDATE "_sqlanon"."{entry.table.name}" SET n = {number} WHERE {where}')
    _, outsider, reader, _ = shared_db.attack(pair.name).attacks
    assert outsider.held
    assert not reader.held


@pytest.mark.thorough
def test_rows_that_show_a_small_cell_by_themselves_are_refused(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(
        shared_db,
        tmp_path,
        "shown alone",
        roles="pid: {role: identifier}, region: {role: sensitive}, age: {role: quasi}",
    )
    shared_db.engine.execute(f"UPDATE {pair.source} SET region = 'rare' WHERE pid < 2")
    shared_db.run(pair.rows_spec, allow_weaker=True)
    with pytest.raises(InfeasibleError, match=r"as they have rows of .*@2 as well"):
        pair.run(allow_weaker=True)
    assert shared_db.releases(pair.name) == ()


@pytest.mark.thorough
def test_counts_are_of_the_rows_that_readers_have(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "changed")
    shared_db.engine.execute(f"UPDATE {pair.source} SET region = 'south' WHERE pid = 7")
    with pytest.raises(GuardError, match="the source's rows are not those of"):
        pair.run()
    shared_db.run(pair.rows_spec)
    with pytest.raises(GuardError, match=r"readers had other versions of .* as well \(1\)"):
        pair.run()
    pair.run(allow_weaker=True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("roles", "more", "text"),
    [
        (ROLES, "    format: anatomy\n", "anatomy"),
        (ROLES, "    format: points\n", "has format points"),
        (ROLES, "    format: {kind: ranges, mean: [age]}\n", "means of classes"),
        (ROLES.replace("pid: {role: identifier}", "pid: {role: pseudonym}"), "    person: pid\n", "pseudonyms"),
        (ROLES.replace("region: {role: quasi}", "region: {role: quasi, ordered: alphabetical}"), "", "not supported"),
    ],
    ids=["anatomy", "points", "means", "pseudonyms", "order of texts"],
)
def test_what_is_not_built_is_refused_by_name(roles: str, more: str, text: str, shared_db: Any, tmp_path: Path) -> None:
    privacy = "{k: 5}"
    if "anatomy" in more:
        roles, privacy = roles + ", sex: {role: sensitive}", "{l: 1.2}"
    pair = Pair(shared_db, tmp_path, "refused", roles=roles, privacy=privacy, more=more)
    with pytest.raises(UnsupportedError, match=text):
        pair.run()


def test_the_policy_refuses_what_is_not_built(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "policy")
    for together, text in (("[a, b]", "several releases"), (f"['{pair.name}']", "the release itself")):
        pair.write(**COUNTED, more=f"    together: {together}\n")
        with pytest.raises(PolicyError, match=text):
            pair.run()
    pair.write(**COUNTED, more="    together: nobody\n")
    with pytest.raises(PolicyError, match="nobody is not a published release"):
        pair.run()


TAMPERED = {
    "a class without a row": ("rows of classes", "UPDATE {atoms} SET class = class + 1000 WHERE class >= 0"),
    "parts of less than none": (
        "rows of classes",
        (
            "INSERT INTO {atoms} (atom, whole, class, kind, v1_0, v2_0, r1, n, persons, owner) SELECT a.atom + s.more, "
            "a.whole, a.class, a.kind, a.v1_0, a.v2_0, a.r1, s.n, 0, a.owner FROM {atoms} AS a CROSS JOIN "
            "(SELECT 1000 AS more, 1 AS n UNION ALL SELECT 2000 AS more, -1 AS n) AS s"
        ),
    ),
    "ranks in another order": ("ranks", "UPDATE {atoms} SET r1 = 5 - r1 WHERE r1 > 0"),
    "parts that the class does not have": (
        "parts that a class",
        "UPDATE {atoms} SET class = (SELECT MAX(o.class) FROM {atoms} AS o WHERE o.class >= 0) WHERE n = 0",
    ),
    "kinds of two classes": ("mixed kinds", "UPDATE {atoms} SET kind = 0 WHERE kind >= 0"),
    "a kind divided": ("kinds of .* apart", "UPDATE {atoms} SET kind = kind + 1000 * r1 WHERE kind >= 0"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(shared_db, tmp_path, "tampered")
    expected, text = TAMPERED[what]
    tamper(monkeypatch, suppress, "verify_source", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        pair.run()
    assert shared_db.releases(pair.name) == ()


def test_witnesses_keep_what_classes_show(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "one system")
    pair.run()
    (entry,) = Catalog(shared_db.engine).entries(pair.name)
    engine, shape = shared_db.engine, shape_of_entry(entry)
    parts = engine.fetch(f'SELECT atom, class, kind, r1, n FROM "_sqlanon"."{entry.statistics[1].name}" AS a')
    alone = next(
        (one, other)
        for one in parts
        for other in parts
        if one[4] > 0
        and one[2] == other[2] >= 0
        and one[3] != other[3]
        and sum(row[4] for row in parts if row[1] == one[1] and row[3] == one[3]) == one[4]
    )
    two_classes = next((one, other) for one in parts for other in parts if one[4] > 0 and one[2] != other[2] >= 0)
    for (one, other), expected in ((alone, (False, True)), (two_classes, (True, False))):
        with Scratch(engine) as scratch:
            witness, needs = scratch.table("witness"), scratch.table("needs")
            # The whole of one part; of two classes one row, so that no value is lost.
            many = one[4] if expected[1] else 1
            changes = {"witness": [1, 1], "atom": [one[0], other[0]], "change": [-many, many]}
            engine.load_arrays(witness, {name: np.array(some, np.int64) for name, some in changes.items()})
            tables = {"atoms": entry.statistics[1], "needs": needs}
            scratch.execute("statistics/needs", **tables, **shape.neighbour.context())
            found = scratch.numbers("statistics/verify_classes", witness=witness, **tables, **shape.neighbour.context())
            assert found[0 if expected[0] else 1] > 0
            assert expected[0] or found[0] == 0


@pytest.mark.thorough
def test_the_certificate_refuses_branches_of_another_node(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "region.csv").write_text("north;a;*\nsouth;a;*\nit's;b;*\n")
    roles = "pid: {role: identifier}, region: {role: quasi, hierarchy: region.csv}, age: {role: quasi}"
    pair = Pair(shared_db, tmp_path, "branches", roles=roles, privacy="{k: 20}")
    tamper(
        monkeypatch,
        suppress,
        "verify_source",
        "UPDATE {atoms} SET r1 = r1 + 1 WHERE class >= 0",
    )
    with pytest.raises(PrivacyViolation, match="the certificate fails: ranks"):
        pair.run()
