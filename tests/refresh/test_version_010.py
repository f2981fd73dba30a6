"""A catalog that sqlanon 0.1.0 made is read, refreshed and rolled back: `fixtures/README.md` says how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon import policy

FIXTURES = Path(__file__).parent / "fixtures"
SPEC: dict[str, Any] = {
    "source": "ward",
    "name": "ward",
    "publish": "release.ward",
    "quasi": ["age", "sex"],
    "sensitive": "illness",
    "identifiers": ["id"],
    "k": 4,
    "l": 2,
    "key": ["id"],
}


@pytest.fixture
def ward(db: Any) -> Any:
    """A database as 0.1.0 left it."""
    text = (FIXTURES / f"catalog_010_{db.engine.dialect}.sql").read_text(encoding="utf-8")
    for statement in text.split(";\n"):
        if statement:
            db.engine.execute(statement)
    return db


def shown(db: Any) -> list[Any]:
    """What readers see."""
    return sorted(db.engine.fetch("SELECT * FROM release.ward"), key=str)


def test_it_is_read(ward: Any) -> None:
    rows = ward.releases()
    assert [(row.version, row.status, row.sqlanon) for row in rows] == [
        (1, "replaced", "0.1.0"),
        (2, "published", "0.1.0"),
    ]
    audit = ward.audit("release.ward", spec=policy.release(**SPEC))
    assert audit.rows == 40
    assert audit.k >= 4
    assert ward.version("ward").report["verified"]
    assert ward.diff("ward@1", "ward@2").weaker == ()
    (line,) = ward.query("SELECT count(*) AS n FROM ward WHERE age < 30").rows
    (true,) = ward.engine.fetch("SELECT count(*) FROM ward WHERE age < 30")[0]
    assert line["n"].low <= true <= line["n"].high


def test_it_is_refreshed(ward: Any) -> None:
    spec = policy.release(**SPEC)
    before = shown(ward)
    plan = ward.plan(spec)
    assert plan.weaker == ()
    ward.engine.execute("INSERT INTO ward VALUES (41, 33, 'f', 'cold')")
    report = ward.run(spec, allow_weaker=False)
    assert (report.outcome, report.version, report.replaces, report.verified) == ("published", 3, 2, True)
    assert report.data is not None
    assert (report.data.added, report.data.removed) == (1, 0)
    assert report.history  # compared with version 2 of 0.1.0, by its key
    assert len(shown(ward)) == len(before) + 1
    assert ward.run(spec).outcome == "unchanged"


def test_it_is_rolled_back(ward: Any) -> None:
    second = shown(ward)
    report = ward.rollback("ward")
    assert (report.withdrawn, report.version) == (2, 1)
    assert len(shown(ward)) == 40
    ward.rollback("ward", to=2)
    assert shown(ward) == second
    assert ward.engine.fetch("SELECT status FROM _sqlanon.catalog ORDER BY version") == [("withdrawn",), ("published",)]
