"""Versions of counts next to one version of rows, on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.versions import statistics
from tests.contract.tampering import tamper
from tests.contract.test_statistics_together import COUNTED, Pair

pytest.importorskip("highspy")

FOLLOWED = "    refresh: {mode: frozen, cohort: {persons: 8}}\n"
CELL = ("region", "sex", "level_region", "level_sex")


class Followed(Pair):
    """Counts with versions next to rows."""

    def __init__(self, db: Any, folder: Path, seed: object) -> None:
        super().__init__(db, folder, seed, of_counts=FOLLOWED)

    def come(self, *rows: tuple[str, str]) -> None:
        ((first,),) = self.db.engine.fetch(f"SELECT MAX(pid) FROM {self.source}")
        texts = [
            "'" + region.replace("'", "''") + f"', '{sex}', 30, {first + at}"
            for at, (region, sex) in enumerate(rows, 1)
        ]
        self.db.engine.execute(f"INSERT INTO {self.source} VALUES ({'), ('.join(texts)})")


def test_versions_follow_next_to_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = Followed(shared_db, tmp_path, "one system")
    pair.run()
    first = {tuple(row[key] for key in CELL): row for row in pair.rows()}
    pair.come(*[("north", "F")] * 7, *[("south", "M")] * 5, ("it's", "M"))
    report = pair.run()
    assert (report.statistics.neighbour.release, report.statistics.neighbour.version) == (pair.rows_name, 1)
    assert report.statistics.batches == (1, 2)
    for row in pair.rows():
        before = first.get(tuple(row[key] for key in CELL))
        if before is not None and before["n"] is not None:
            assert row["n"] - before["n"] not in (1, 2)
    assert shared_db.audit(f"release.{pair.view}").satisfied
    found = shared_db.attack(pair.name)
    assert [one.name for one in found.attacks] == ["naive", "versions", "rows", "insider"]
    assert found.held
    assert found.attacks[2].cells > 0
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(pair.rows_spec)
    (*_, entry) = Catalog(shared_db.engine).entries(pair.name)
    atoms = f'"_sqlanon"."{entry.statistics[1].name}"'
    ((rows, many),) = shared_db.engine.fetch(
        f"SELECT CAST(SUM(n) AS BIGINT), COUNT(DISTINCT class) FROM {atoms} WHERE batch = 1"
    )
    assert (rows, many > 1) == (80, True)
    assert shared_db.engine.fetch(f"SELECT CAST(SUM(n) AS BIGINT), COUNT(class) FROM {atoms} WHERE batch = 2") == [
        (13, 0)
    ]


ENDED = "    refresh: {mode: frozen, cohort: {persons: 8}, lineage: 90d}\n"


class Ended(Followed):
    """The same with lineages that end."""

    def __init__(self, db: Any, folder: Path, seed: object, **counted: str) -> None:
        super().__init__(db, folder, seed)
        self.write(**(COUNTED | counted), more=f"    together: ['{self.rows_name}']\n{ENDED}")

    def wait(self) -> None:
        self.db.engine.execute(
            f"UPDATE _sqlanon.catalog SET published_at = '2020-01-01T00:00:00+00:00' WHERE release = '{self.name}'"
        )

    def grow(self) -> None:
        """A version that follows, and one that begins a lineage."""
        self.run()
        self.come(*[("north", "F")] * 7, *[("south", "M")] * 5, ("it's", "M"))
        self.run()
        self.wait()
        self.come(*[("north", "M")] * 9, *[("south", "F")] * 5)


def test_a_lineage_begins_next_to_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = Ended(shared_db, tmp_path, "one system", protect="{persons: 3, bounds: exact}")
    pair.grow()
    report = pair.run()
    assert (report.statistics.earlier, report.statistics.batches) == ((1, 2), (3,))
    assert report.statistics.neighbour.release == pair.rows_name
    assert {row["as_of"] for row in pair.rows()} == {3}
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held
    (*_, entry) = Catalog(shared_db.engine).entries(pair.name)
    atoms = f'"_sqlanon"."{entry.past[0].name}"'
    ((rows, many),) = shared_db.engine.fetch(
        f"SELECT CAST(SUM(n) AS BIGINT), COUNT(DISTINCT class) FROM {atoms} WHERE batch = 1"
    )
    assert (rows, many > 1) == (80, True)
    pair.come(*[("north", "M")] * 9, *[("south", "F")] * 5)
    assert pair.run().statistics.batches == (3, 4)
    assert shared_db.audit(f"release.{pair.view}").satisfied
    with pytest.raises(GuardError, match="protected together with version 1"):
        shared_db.run(pair.rows_spec)


TAMPERED_LINEAGES = {
    "a class": ("(parts|numbers|kinds|values)", "UPDATE {past_atoms} SET class = class + 1 WHERE kind = 1"),
    "the rows of a class": ("(finest|lineages)", "UPDATE {past_atoms} SET n = n + 1 WHERE kind = 1"),
    "who is alone": ("lineages", "UPDATE {past_atoms} SET owner = -1"),
    "a witness of other classes": (
        "(numbers|changes|values)",
        """UPDATE {past_witness} SET change = change + 1 WHERE atom IN (
            SELECT atom FROM {past_atoms} WHERE kind = (
                SELECT MIN(a.kind) FROM {past_atoms} AS a JOIN {past_witness} AS w ON w.atom = a.atom))""",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED_LINEAGES)
def test_the_certificate_of_lineages_next_to_rows_refuses(
    what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Ended(shared_db, tmp_path, "one system")
    pair.grow()
    before = pair.rows()
    expected, text = TAMPERED_LINEAGES[what]
    tamper(monkeypatch, statistics, "batch_of", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*{expected}"):
        pair.run()
    assert pair.rows() == before


@pytest.mark.thorough
def test_versions_with_sums_follow_next_to_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = Pair(shared_db, tmp_path, "sums", roles="pid: {role: identifier}, region: {role: quasi}")
    measures = "{n: count, years: {sum: age, range: [0, 100], p_percent: 10}}"
    pair.write(**COUNTED, measures=measures, more=f"    together: ['{pair.rows_name}']\n{FOLLOWED}")
    pair.run()
    Followed.come(pair, *[("north", "F")] * 9, *[("south", "M")] * 9)
    assert pair.run().version == 2
    Followed.come(pair, *[("north", "M")] * 9, ("it's", "F"))
    assert pair.run().version == 3
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held


@pytest.mark.thorough
def test_bounds_of_versions_next_to_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = Followed(shared_db, tmp_path, "bounds")
    pair.write(
        **{**COUNTED, "protect": "{persons: 3, bounds: exact}"}, more=f"    together: ['{pair.rows_name}']\n{FOLLOWED}"
    )
    pair.run()
    pair.come(*[("north", "F")] * 7, *[("south", "M")] * 5, ("it's", "M"))
    pair.run()
    assert any(row["as_of"] == 1 for row in pair.rows())
    assert all(row["n_low"] is not None for row in pair.rows())
    assert shared_db.audit(f"release.{pair.view}").satisfied
    assert shared_db.attack(pair.name).held


@pytest.mark.thorough
def test_earlier_versions_return_next_to_the_same_rows(shared_db: Any, tmp_path: Path) -> None:
    pair = Followed(shared_db, tmp_path, "return")
    pair.run()
    first = pair.rows()
    pair.come(*[("north", "F")] * 9)
    pair.run()
    shared_db.rollback(pair.name)
    assert pair.rows() == first
    assert shared_db.audit(f"release.{pair.view}").satisfied
    shared_db.rollback(pair.name, 2)
    shared_db.unpublish(pair.name)
    shared_db.run(pair.rows_spec)
    with pytest.raises(GuardError, match="and version 2 is published: return to that version first"):
        shared_db.rollback(pair.name, allow_weaker=True)


LEAVES = """\
INSERT INTO {witness} (witness, atom, change, batch)
SELECT 99, q.atom, CASE WHEN q.atom = p.one THEN -1 ELSE 1 END, 1
FROM {atoms} AS q
JOIN (
    SELECT a.atom AS one, b.atom AS other
    FROM {atoms} AS a
    JOIN {atoms} AS b ON a.whole = b.whole AND a.class <> b.class
    WHERE a.batch = 1 AND b.batch = 1 AND a.class >= 0 AND b.class >= 0 AND a.n > 0
    ORDER BY a.atom, b.atom
    LIMIT 1
) AS p ON q.atom IN (p.one, p.other)
WHERE q.batch = 1
"""
"""A row of a cell is taken from a class, and put into another one."""
TAMPERED = {
    "rows of a class": (
        "kinds|numbers|parts|sums",
        "UPDATE {atoms} SET class = class + 1000 WHERE class >= 0 AND n = 0",
    ),
    "no class": ("of all versions", "UPDATE {atoms} SET n = n - 1 WHERE batch = 1 AND n > 0"),
    "old rows without witnesses": ("without witnesses", "DELETE FROM {witness} WHERE batch = 1"),
    "a witness that leaves its class": ("numbers of rows of", LEAVES),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Followed(shared_db, tmp_path, "one system")
    pair.run()
    before = pair.rows()
    pair.come(*[("north", "F")] * 9, *[("south", "M")] * 9)
    expected, text = TAMPERED[what]
    tamper(monkeypatch, statistics, "batch_of", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        pair.run()
    assert pair.rows() == before
