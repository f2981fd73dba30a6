"""Attacks on releases that leave rows out, or show no quasi value of them."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.contract import starring
from tests.contract.attacked import check_linkage
from tests.contract.test_unassigned import Leaving
from tests.declared import declare
from tests.engines import create_table, read_table
from tests.oracle import attacks
from tests.oracle.attacks import Column


def test_rows_left_out_have_no_success(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "leaving", Leaving, suppresses="rows")
    monkeypatch.setattr(Leaving, "out", (0, 11))
    name = f"attacked_{uuid.uuid4().hex[:10]}"
    rows = [(i, "abc"[i % 3]) for i in range(12)]
    create_table(shared_db, name, {"q": "INTEGER", "s": "TEXT"}, rows)
    shared_db.anonymize(
        name, quasi="q", sensitive="s", k=3, method="leaving", suppression={"limit": "2/12", "rows": "left_out"}
    )
    report = shared_db.attack(name)
    assert (report.victims, report.published, report.unmatched) == (12, 10, 0)
    published = read_table(shared_db, ("release", name))
    inside = [{"q": q} for q, _ in rows if q not in (0, 11)]
    check_linkage(report, attacks.linkage("ranges", [Column("q", "number")], published, inside, 2), 3)
    shared_db.engine.execute(f"INSERT INTO {name} VALUES (40, 'a')")
    assert (shared_db.attack(name).victims, shared_db.attack(name).unmatched) == (12, 1)


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["ranges", "labels", "suppressed"])
def test_starred_rows(shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str) -> None:
    made = starring.releaser(shared_db, monkeypatch, tmp_path)
    made(format=form)
    name = made.name  # type: ignore[attr-defined]
    below = {"*": frozenset(leaf for leaf, _ in starring.TREE)}
    for leaf, parent in starring.TREE:
        below[leaf] = frozenset([leaf])
        below[parent] = below.get(parent, frozenset()) | {leaf}
    columns = [Column("q", "number"), Column("h", "hierarchy", below), Column("n", "nominal")]
    rows = [dict(zip(starring.TYPES, row, strict=True)) for row in starring.ROWS]
    report = shared_db.attack(name)
    check_linkage(report, attacks.linkage(form, columns, read_table(shared_db, ("release", name)), rows), 3)
