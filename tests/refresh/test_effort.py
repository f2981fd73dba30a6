"""A default changes nobody's classes: a release keeps its method until the policy changes, or new classes are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.declared import effort
from tests.refresh.test_version_010 import SPEC


@pytest.fixture(autouse=True)
def default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default of users, not that of tests."""
    monkeypatch.setattr(effort, "DEFAULT", "normal")


def ward(db: Any) -> Any:
    """A database as 0.1.0 left it, with a release by its default."""
    file = Path(__file__).parent / "fixtures" / f"catalog_010_{db.engine.dialect}.sql"
    for statement in filter(None, file.read_text(encoding="utf-8").split(";\n")):
        db.engine.execute(statement)
    return db


@pytest.mark.thorough
def test_a_release_of_010_keeps_its_method(db: Any) -> None:
    db, spec = ward(db), policy.release(**SPEC)
    plan = db.plan(spec)
    assert plan.method == "tree:minimize=gcp"
    assert any("--new-classes" in note for note in plan.notes)
    report = db.run(spec)
    assert (report.outcome, report.method) == ("published", "tree:minimize=gcp")
    assert any("--new-classes" in note for note in report.notes)
    assert db.run(spec).outcome == "unchanged"
    db.engine.execute("DELETE FROM ward WHERE id = (SELECT min(id) FROM ward)")
    assert db.run(spec).method == "tree:minimize=gcp"


def test_new_classes_are_asked_for_once(db: Any) -> None:
    db, spec = ward(db), policy.release(**SPEC)
    assert db.plan(spec, new_classes=True).method.startswith("best:of=tree; mondrian")
    report = db.run(spec, new_classes=True)
    assert report.method.startswith("best:of=tree; mondrian")
    assert report.search["trials"] > 0
    assert db.run(spec).outcome == "unchanged"
    db.engine.execute("DELETE FROM ward WHERE id = (SELECT min(id) FROM ward)")
    assert db.run(spec).method == report.method


def test_a_changed_policy_takes_the_default(db: Any) -> None:
    db = ward(db)
    spec = policy.release(**SPEC | {"k": 5})
    assert db.plan(spec).method.startswith("best:of=tree; mondrian")
    assert db.run(spec).method.startswith("best:of=tree; mondrian")


def test_later_defaults_change_nothing(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db = ward(db)
    first = db.run(policy.release(**SPEC), new_classes=True)
    with monkeypatch.context() as later:
        later.setattr(effort, "list_starts", lambda _: (policy.release(**SPEC, method="hilbert").method,))
        spec = policy.release(**SPEC)
        assert spec.method.name == "hilbert"
        assert db.run(spec).outcome == "unchanged"
        report = db.run(spec, full=True)
        assert report.method == first.method
        assert db.run(spec, new_classes=True).method.startswith("hilbert")


@pytest.mark.thorough
def test_a_named_method_and_a_written_effort_are_changes(db: Any) -> None:
    db = ward(db)
    db.run(policy.release(**SPEC))
    assert db.run(policy.release(**SPEC, effort="fast")).outcome == "unchanged"
    report = db.run(policy.release(**SPEC, effort="high"))
    assert "effort none -> high" in report.why
    assert db.run(policy.release(**SPEC, effort="high")).outcome == "unchanged"
    assert db.run(policy.release(**SPEC, method="mondrian")).method.startswith("mondrian")
    # The line is gone: nothing says which method readers may expect.
    assert db.run(policy.release(**SPEC)).method.startswith("best:of=tree; mondrian")


def shown(db: Any) -> list[Any]:
    return sorted(db.engine.fetch("SELECT * FROM release.ward"), key=str)


def test_the_same_policy_and_table_give_the_same_release(db: Any) -> None:
    db = ward(db)
    db.run(policy.release(**SPEC), new_classes=True)
    before = shown(db)
    db.run(policy.release(**SPEC), full=True)
    assert shown(db) == before


@pytest.mark.parametrize(
    ("asked", "method"),
    [
        ({"suppression": {"limit": "0.05"}}, "suppress:"),
        pytest.param(
            {"suppression": {"limit": "0.05", "rows": "left_out"}},
            "fulldomain:search=local",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            {"suppression": {"limit": "0.05"}, "t": "0.4"},
            "fulldomain:search=global",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_suppression_without_a_method_is_released(db: Any, asked: dict[str, Any], method: str) -> None:
    spec = policy.release(**SPEC | asked)
    report = ward(db).run(spec)
    assert report.method.startswith(method)
    assert report.verified
    assert any("is chosen, as it may suppress rows" in note for note in report.notes)
