"""Small runs without optimized plans.

They give the same release, with figures equal to the last digit, and leave the session unchanged.
"""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon
from benchmarks.release import fill
from sqlanon.errors import PrivacyViolation
from sqlanon.release.divide import classes
from sqlanon.release.prepare import prepare
from sqlanon.release.verify.verify import verify_staged
from sqlanon.table import scratch
from sqlanon.table.stage import take_stage

OPTIMIZES = "SELECT current_setting('enable_optimizer')"
ASKED = [
    {},
    {"method": "mondrian", "l": 2, "format": "labels"},
    {"method": "mondrian", "execution": "pushdown", "format": "points"},
    {"method": "topdown", "format": "suppressed"},
    {"method": "fulldomain"},
    {"method": "anatomy", "format": "anatomy", "k": 1, "l": 2},
]


def made(options: dict[str, Any]) -> tuple[object, object]:
    """A release, and everything that its report says of rows and losses, but not of time and bytes."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        fill(db)
        asked = {"quasi": ["age", "zip"], "sensitive": "disease", "k": 4, "seed": 3, **options}
        report = db.anonymize("patients", **asked).report.to_dict()
        rows = sorted(db.engine.fetch("SELECT * FROM release.patients"), key=repr)
        assert db.engine.fetch(OPTIMIZES) == [(True,)]
    del report["seconds"], report["cost"]
    return rows, report


@pytest.mark.parametrize("options", ASKED, ids=lambda one: "-".join(map(str, one.values())) or "default")
def test_the_same_release(monkeypatch, options):
    few = made(options)
    monkeypatch.setattr(scratch, "FEW_ROWS", 0)
    assert made(options) == few


def test_only_small_runs_and_until_their_end(monkeypatch):
    """Also one that fails."""
    seen = []

    def fails(scratch: Any, *_: object) -> None:
        seen.append(scratch.engine.fetch(OPTIMIZES)[0][0])
        raise PrivacyViolation("not now")

    monkeypatch.setattr(classes, "verify_staged", fails)
    with sqlanon.connect("duckdb:///:memory:") as db:
        fill(db)
        for most in (scratch.FEW_ROWS, 39):
            monkeypatch.setattr(scratch, "FEW_ROWS", most)
            with pytest.raises(PrivacyViolation):
                db.anonymize("patients", quasi=["age", "zip"], sensitive="disease", k=4)
            assert db.engine.fetch(OPTIMIZES) == [(True,)]
    assert seen == [False, True]


def test_a_session_that_does_not_optimize_stays_so():
    with sqlanon.connect("duckdb:///:memory:") as db:
        fill(db)
        db.engine.execute("PRAGMA disable_optimizer")
        db.anonymize("patients", quasi=["age", "zip"], sensitive="disease", k=4)
        assert db.engine.fetch(OPTIMIZES) == [(False,)]


def test_a_session_whose_configuration_is_locked():
    with sqlanon.connect("duckdb:///:memory:") as db:
        fill(db)
        db.engine.execute("SET lock_configuration = true")
        assert db.anonymize("patients", quasi=["age", "zip"], sensitive="disease", k=4).report.verified
        assert db.engine.fetch(OPTIMIZES) == [(True,)]


def test_a_view_is_read_by_an_optimized_plan(monkeypatch):
    """However few rows it has, its tables may be large."""
    seen = []

    def taking(scratch: Any, *args: Any, **options: Any) -> Any:
        seen.append(scratch.engine.fetch(OPTIMIZES)[0][0])
        return take_stage(scratch, *args, **options)

    def verifying(scratch: Any, *args: Any) -> Any:
        seen.append(scratch.engine.fetch(OPTIMIZES)[0][0])
        return verify_staged(scratch, *args)

    monkeypatch.setattr(prepare, "take_stage", taking)
    monkeypatch.setattr(classes, "verify_staged", verifying)
    with sqlanon.connect("duckdb:///:memory:") as db:
        fill(db)
        db.engine.execute("CREATE VIEW shown AS SELECT * FROM patients")
        for source in ("patients", "shown"):
            db.anonymize(source, quasi=["age", "zip"], sensitive="disease", k=4)
    assert seen == [False, False, True, False]
