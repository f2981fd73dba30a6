"""Sums of a release of counts that is protected together with a release of rows, on every engine."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation, UnsupportedError
from sqlanon.policy import load
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.statistics.protections import suppress
from tests.contract.summed import COLUMNS, Rows, Summed
from tests.contract.tampering import tamper
from tests.engines import read_table

pytest.importorskip("highspy")

ROLES = "pid: {role: identifier}, region: {role: quasi}, age: {role: quasi}"


def stays(seed: object, persons: int = 80) -> Rows:
    """A row of each person; the column age is in none of the counts."""
    draw = random.Random(str(seed))
    regions = ["north"] * 4 + ["south"] * 4 + ["it's", None]
    return [
        (
            draw.choice(regions),
            draw.choice("FFM"),
            pid,
            Decimal(min(int(draw.paretovariate(0.6) * 2000), 500_000)).scaleb(-2),
            draw.randrange(20, 60),
        )
        for pid in range(persons)
    ]


class SummedPair(Summed):
    """A table, a release of its rows, and one of its counts and sums."""

    def __init__(self, db: Any, folder: Path, seed: object, roles: str = ROLES) -> None:
        rows_name = f"rows {folder.name}"
        super().__init__(
            db,
            folder,
            stays(seed),
            COLUMNS | {"age": "INTEGER"},
            protect="{persons: 3}",
            more=f"    together: ['{rows_name}']\n",
        )
        self.rows_file = folder / "rows.yml"
        self.rows_file.write_text(
            f"version: 1\nreleases:\n  - name: {rows_name}\n    source: {self.source}\n    publish: release.r_"
            f"{self.source}\n    rest: drop\n    columns: {{{roles}}}\n    privacy: {{k: 8}}\n"
        )
        self.rows_spec = load(self.rows_file).releases[0]


def test_sums_counts_and_rows_are_one_system(shared_db: Any, tmp_path: Path) -> None:
    pair = SummedPair(shared_db, tmp_path, "one system")
    shared_db.run(pair.rows_spec)
    assert pair.run().warnings == ()
    rows = stays("one system")
    view = pair.rows()
    assert {"shown", "hidden"} == {row["status"] for row in view}
    for row in view:
        inside = [
            own
            for own in rows
            if (row["level_region"] or own[0] == row["region"]) and (row["level_sex"] or own[1] == row["sex"])
        ]
        shown = row["status"] == "shown"
        assert (row["n"], row["cost"]) == ((len(inside), sum(own[3] for own in inside)) if shown else (None, None))
    assert shared_db.audit(f"release.{pair.view}").satisfied


@pytest.mark.thorough
def test_readers_of_both(shared_db: Any, tmp_path: Path) -> None:
    pair = SummedPair(shared_db, tmp_path, "one system")
    shared_db.run(pair.rows_spec)
    pair.run()
    found = shared_db.attack(pair.name)
    assert found.held
    assert [one.name for one in found.attacks] == ["naive", "outsider", "rows", "insider"]
    assert {one.name for one in found.sums} == {"naive", "outsider", "rows", "contributor"}
    assert all(one.held for one in found.sums)
    assert any(one.sought for one in found.sums if one.name == "contributor")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("also", "column"),
    [
        ("cost: {role: quasi}", "cost"),
        ("cost: {role: sensitive}", "cost"),
        ("tariff: {role: sensitive}", "tariff"),
        ("gross: {role: quasi}", "gross"),
    ],
)
def test_rows_that_say_what_is_summed_are_refused(also: str, column: str, shared_db: Any, tmp_path: Path) -> None:
    pair = SummedPair(shared_db, tmp_path, "said")
    execute = shared_db.engine.execute
    execute(f"UPDATE {pair.source} SET cost = CAST(cost / 100 AS INTEGER) * 100 + pid % 2")
    for name, value in (("tariff", "cost / 100"), ("gross", "cost * 1.19 + 3"), ("other", "pid % 7")):
        execute(f"ALTER TABLE {pair.source} ADD COLUMN {name} DOUBLE PRECISION")
        execute(f"UPDATE {pair.source} SET {name} = {value}")
    text = pair.rows_file.read_text().replace("columns: {", f"columns: {{other: {{role: sensitive}}, {also}, ")
    pair.rows_file.write_text(text)
    shared_db.run(load(pair.rows_file).releases[0])
    with pytest.raises(UnsupportedError, match=f"publishes column {column}, which says what cost is"):
        pair.run()
    assert shared_db.releases(pair.name) == ()


TAMPERED = {
    "a witness that changes a sum of the shown": (
        "shown cells that a witness changes|changes",
        "UPDATE {witness} SET s1 = s1 + 1",
    ),
    "no witness of a sum": ("without witnesses", "UPDATE {witness} SET s1 = 0"),
    "a witness beyond the range": ("changes", "UPDATE {witness} SET s1 = s1 + 1000000000"),
    "parts of unlike sums": ("finest cells|limits of sums", "UPDATE {atoms} SET s1 = s1 + 1 WHERE n = 0"),
    "parts of unlike numbers": ("finest cells|limits of sums", "UPDATE {atoms} SET whole = whole + 1 WHERE n = 0"),
    "smaller demands": ("needs of sums", "UPDATE {needs1} SET up = 1"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", TAMPERED)
def test_the_certificate_refuses(what: str, shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, text = TAMPERED[what]
    pair = SummedPair(shared_db, tmp_path, "tampered")
    shared_db.run(pair.rows_spec)
    tamper(monkeypatch, suppress, "verify_source", text)
    with pytest.raises(PrivacyViolation, match=f"the certificate fails: .*({expected})"):
        pair.run()
    assert shared_db.releases(pair.name) == ()


@pytest.mark.thorough
def test_sums_of_finest_cells_are_kept_once(shared_db: Any, tmp_path: Path) -> None:
    pair = SummedPair(shared_db, tmp_path, "kept")
    shared_db.run(pair.rows_spec)
    pair.run()
    (entry,) = Catalog(shared_db.engine).entries(pair.name)
    parts = read_table(shared_db, ("_sqlanon", entry.statistics[1].name))
    sums = {(row["v1_0"], row["v2_0"]): row["s1"] for row in parts}
    assert len({(row["v1_0"], row["v2_0"], row["s1"]) for row in parts}) == len(sums) < len(parts)
    truth: dict[tuple[str, str], int] = {}
    for region, sex, _, cost, _ in stays("kept"):
        key = ("n" if region is None else f"v{region}", f"v{sex}")
        truth[key] = truth.get(key, 0) + int(cost * 100)
    assert sums == truth
