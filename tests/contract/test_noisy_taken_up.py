"""Noisy statistics of runs that stop: what is charged, and what a later run takes up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import GuardError, InfeasibleError, PrivacyViolation
from sqlanon.noisy import answers as answering
from sqlanon.release.budget.ledger import Ledger
from sqlanon.release.stages.stage import PublishStage
from sqlanon.release.versions import noisy
from tests.contract.noisy_releases import Made, stays
from tests.contract.test_noisy import ADVERSARIAL
from tests.engines import read_table

pytest.importorskip("opendp")


def test_a_budget_that_does_not_suffice_stops_the_run_before_the_source_is_read(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, stays("spent"), budget="epsilon: 1.5")
    made.run()
    monkeypatch.setattr(noisy, "code_rows", lambda *_: pytest.fail("the source was read"))
    with pytest.raises(InfeasibleError, match=r"spent, and with this version it would be .* Nothing was read or spent"):
        made.run(spend=True)
    shared_db.unpublish(made.name, purge=True)
    with pytest.raises(InfeasibleError):  # nothing is given back
        made.run(spend=True)
    assert made.states() == ["published"]


@pytest.mark.every_engine
def test_a_run_that_ended_before_it_published_is_taken_up_as_it_was_drawn(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, stays("taken"))
    with monkeypatch.context() as patched:
        patched.setattr(PublishStage, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            made.run()
    assert made.states() == ["drawn"]
    event = Ledger(shared_db.engine).read()[made.budget][-1]
    stored = read_table(shared_db, ("_sqlanon", event.body["table"]))
    monkeypatch.setattr(noisy, "add_noise", lambda *_: pytest.fail("noise was drawn again"))
    made.run()
    assert [row["n"] for row in made.rows()] == [
        row["n"] for row in sorted(stored, key=lambda row: row["_sqlanon_order"])
    ]
    assert made.states() == ["published"]


@pytest.mark.thorough
def test_a_version_that_was_drawn_by_another_policy_is_not_published(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, stays("other policy"))
    with monkeypatch.context() as patched:
        patched.setattr(PublishStage, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            made.run()
    made.write(measures="{m: rows}")
    with pytest.raises(GuardError, match="drew a version by another policy or sqlanon"):
        made.run()
    made.run(spend=True)
    assert made.states() == ["withheld", "published"]


def test_a_run_that_failed_before_it_drew_is_charged_and_not_repeated_by_itself(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, stays("lost"))
    with monkeypatch.context() as patched:
        patched.setattr(noisy, "read_answers", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            made.run()
    with pytest.raises(GuardError, match="charged and never published"):
        made.run()
    assert made.run(spend=True).noisy.spent == pytest.approx(2, rel=1e-2)
    assert made.states() == ["lost", "published"]


def test_wrong_bounding_is_withheld_and_charged(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(shared_db, tmp_path, ADVERSARIAL["many rows of every group"])
    context = answering._context

    def unbounded(*given: Any) -> dict[str, Any]:
        return context(*given) | {"groups": 8}

    monkeypatch.setattr(answering, "_context", unbounded)
    with pytest.raises(PrivacyViolation, match="a person contributes more than the noise is drawn for"):
        made.run()
    assert made.states() == ["withheld"]
    assert shared_db.releases(made.name) == ()
