"""Approvals: a release that needs one is published under the policy that was approved, until the day that was named."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest

from sqlanon.database import Database
from sqlanon.decision_spec import ContextSpec, ThresholdSpec
from sqlanon.errors import GuardError, PolicyError, PrivacyViolation
from sqlanon.progress import SilentProgress
from sqlanon.release.catalog.approvals import Approvals, hold_approval, plain_policy, require_approval
from sqlanon.release.divide.classes import Machine
from sqlanon.release.stages import work as running
from sqlanon.results.measured_risk import read_measured_risk
from tests.refresh.approvals import (
    ALICE,
    NEVER,
    approve_spec,
    date_in_days,
    fast_spec,
    list_versions,
    spec_with_approval,
)
from tests.refresh.conftest import fill
from tests.weakest import weakest


@pytest.mark.every_engine
def test_nobody_approved_it(shared_db):
    fill(shared_db, "a1", 40)
    spec = spec_with_approval("a1")
    with pytest.raises(GuardError, match="nobody approved this release; nothing was published"):
        shared_db.run(spec)
    assert list_versions(shared_db, "a1") == []
    assert any("nobody approved" in one for one in shared_db.plan(spec).warnings)
    made = shared_db.approve("a1", planned=spec, **ALICE)
    assert (made.version, made.figures, made.policy) == (None, {}, plain_policy(spec))
    assert shared_db.run(spec).outcome == "published"
    assert shared_db.run(spec).outcome == "unchanged"
    fill(shared_db, "a1", 50)  # other rows under the same policy
    assert shared_db.run(spec).version == 2


def test_it_is_bound_to_the_policy(shared_db):
    spec = approve_spec(shared_db, "a2")
    shared_db.run(spec)
    other = replace(spec, privacy=replace(spec.privacy, k=4), context=ContextSpec(purpose="another one"))
    with pytest.raises(GuardError, match=r"not the one that Alice approved on .*k 3 -> 4.*context.*nothing was"):
        shared_db.run(other)
    assert list_versions(shared_db, "a2") == [(1, "published")]
    without = replace(spec, refresh=replace(spec.refresh, needs_approval=False))
    with pytest.raises(GuardError, match=r"not the one that Alice approved on .*refresh.needs_approval yes -> no"):
        shared_db.run(without, allow_weaker=True)
    shared_db.approve("a2", planned=without, **ALICE)
    with pytest.raises(GuardError, match=r"weaker.*refresh.needs_approval yes -> no"):
        shared_db.run(without)
    shared_db.approve("a2", planned=other, **ALICE)
    assert shared_db.run(other).version == 2


def test_the_figures_of_a_version(shared_db):
    spec = approve_spec(shared_db, "a3")
    report = shared_db.run(spec).to_dict()
    made = shared_db.approve("a3@1", condition="no linking", **ALICE)
    assert (made.version, made.terms) == (1, "no linking")
    assert made.figures["rows"] == pytest.approx(1 / report["min_class"])
    assert made.figures["marketer"] == pytest.approx(report["classes"] / 40)
    old, new = shared_db.approvals("a3")
    assert (old.state, new.state, new.signed) == ("replaced", "valid", "no")
    with pytest.raises(PolicyError, match="version 7"):
        shared_db.approve("a3@7", **ALICE)


@pytest.mark.thorough
def test_a_risk_that_has_grown_is_listed(shared_db):
    fill(shared_db, "a4", 40)
    shared_db.run(fast_spec("a4", k=6, l=None))
    shared_db.approve("a4", **ALICE)
    seen = shared_db.approvals("a4")[-1].approval
    Approvals(shared_db.engine).add(replace(seen, number=seen.number + 1000, figures={"rows": 0.01}))
    assert "1 % was approved" in shared_db.approvals("a4")[-1].grown[0]


def test_revoked(shared_db):
    spec = approve_spec(shared_db, "a5")
    shared_db.run(spec)
    shared_db.revoke("a5", by="Bob", reason="a complaint")
    with pytest.raises(GuardError, match="Bob revoked its approval"):
        shared_db.run(spec)
    assert list_versions(shared_db, "a5") == [(1, "published")]
    assert [one.state for one in shared_db.approvals("a5")] == ["revoked", "revoked"]
    with pytest.raises(PolicyError, match="revoked by Bob"):
        shared_db.revoke("a5", by="Bob")
    with pytest.raises(PolicyError, match="has no approval"):
        shared_db.revoke("nothing", by="Bob")


@pytest.mark.thorough
def test_revoking_ends_approvals_of_earlier_policies(shared_db):
    spec = approve_spec(shared_db, "a6")
    shared_db.approve("a6", planned=spec_with_approval("a6", k=5), **ALICE)
    shared_db.revoke("a6", by="Bob")
    shared_db.approve("a6", planned=spec_with_approval("a6", k=4), **ALICE)
    with pytest.raises(GuardError, match="not the one that Alice approved"):
        shared_db.run(spec)


def test_the_last_days(shared_db):
    fill(shared_db, "a7", 40)
    spec = spec_with_approval("a7")
    shared_db.approve("a7", by="Alice", until=date_in_days(20), planned=spec)
    (warning,) = [one for one in shared_db.run(spec).warnings if "approval" in one]
    assert warning.startswith("the approval by Alice ends with")
    assert "in 20 days" in warning or "in 19 days" in warning  # at midnight
    (warning,) = [one for one in shared_db.run(spec).warnings if "approval" in one]  # of a run that leaves it as it is
    assert "approval" not in str(shared_db.version("a7").report)
    last = datetime.datetime.combine(datetime.date.fromisoformat(date_in_days(20)), datetime.time.max, datetime.UTC)
    assert hold_approval(shared_db.engine, spec, last)
    after = last + datetime.timedelta(microseconds=1)
    with pytest.raises(GuardError, match=r"ended with .*, and it is .*nothing was published"):
        hold_approval(shared_db.engine, spec, after)
    with pytest.raises(PolicyError, match="would have ended already"):
        shared_db.approve("a7", by="Alice", until=date_in_days(-1))
    with pytest.raises(PolicyError, match="not a date"):
        shared_db.approve("a7", by="Alice", until="next year")


def test_a_clock_that_went_back(shared_db):
    spec = approve_spec(shared_db, "a8")
    yesterday = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    with pytest.raises(GuardError, match="set the clock"):
        hold_approval(shared_db.engine, spec, yesterday)


@pytest.mark.thorough
@pytest.mark.every_engine
def test_it_ends_while_a_run_is_under_way(shared_db, monkeypatch):
    spec = approve_spec(shared_db, "a9")
    shared_db.run(spec)
    fill(shared_db, "a9", 60)
    late = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=5)
    shared_db.approve("a9", by="Alice", until=date_in_days(1), planned=spec)
    calls = []

    def later(engine, spec, before):
        calls.append(spec.name)
        return hold_approval(engine, spec, late if len(calls) > 1 else None, before)

    monkeypatch.setattr(running, "hold_approval", later)
    with pytest.raises(GuardError, match="ended with"):
        shared_db.run(spec)
    monkeypatch.undo()
    assert [one for one in list_versions(shared_db, "a9") if one[1] in ("published", "replaced")] == [(1, "published")]
    assert shared_db.engine.fetch("SELECT count(*) FROM release.a9")[0][0] == 40
    assert shared_db.run(spec).outcome == "published"


def test_persons_are_erased_without_one(shared_db):
    """What is published stays published after a revocation, and a person can still leave it."""
    fill(shared_db, "a13", 40)
    spec = fast_spec("a13", key=["id"])
    spec = replace(spec, refresh=replace(spec.refresh, mode="frozen", needs_approval=True))
    shared_db.approve("a13", planned=spec, **ALICE)
    shared_db.run(spec)
    shared_db.revoke("a13", by="Bob")
    done = shared_db.erase(spec, [{"id": 7}], confirmed=True)
    assert (done.done, done.version) == (True, 2)
    with pytest.raises(GuardError, match="Bob revoked"):
        shared_db.run(spec, full=True)


@pytest.mark.thorough
def test_rollback_needs_it_too(shared_db):
    spec = approve_spec(shared_db, "a10")
    shared_db.run(spec)
    fill(shared_db, "a10", 50)
    shared_db.run(spec)
    shared_db.revoke("a10", by="Bob")
    with pytest.raises(GuardError, match="Bob revoked"):
        shared_db.rollback("a10")
    shared_db.approve("a10", planned=spec, **ALICE)
    assert shared_db.rollback("a10").version == 1


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 1001])
def test_names_of_one_line(shared_db, text):
    with pytest.raises(PolicyError, match="one line of printable text"):
        shared_db.approve("a1", by=text, until=NEVER)


def test_a_risk_above_the_threshold_publishes_nothing(shared_db):
    fill(shared_db, "t1", 40)
    spec = replace(fast_spec("t1"), threshold=ThresholdSpec(Fraction(1, 11), "a guideline"))
    with pytest.raises(PrivacyViolation, match=r"risk of prosecutor .* above the threshold 9.091 % \(1/11\); nothing"):
        shared_db.run(spec)
    assert [status for _, status in list_versions(shared_db, "t1")] in ([], ["abandoned"], ["discarded"])
    done = shared_db.run(replace(fast_spec("t1", k=11, l=None), threshold=spec.threshold))
    assert done.min_class >= 11
    assert any(note.startswith("threshold: 9.091 % (1/11) for prosecutor") for note in done.notes)


def test_a_threshold_that_is_lowered_is_measured(shared_db):
    fill(shared_db, "t2", 40)
    loose = replace(fast_spec("t2"), threshold=ThresholdSpec(Fraction(1, 3), "a start"))
    assert shared_db.run(loose).outcome == "published"
    with pytest.raises(PrivacyViolation, match="above the threshold"):
        shared_db.run(replace(loose, threshold=ThresholdSpec(Fraction(1, 30), "better")))
    with pytest.raises(GuardError, match=r"weaker.*threshold 1/3"):
        shared_db.run(replace(loose, threshold=None))


@pytest.mark.thorough
def test_other_columns_count_where_the_policy_says_so(shared_db):
    """Every row is alone in a column that is published as it is."""
    fill(shared_db, "t3", 40)
    spec = fast_spec("t3", identifiers=[], insensitive="id", accept_unique="id", rest="error")
    every = ThresholdSpec(Fraction(1, 3), "own", over="published")
    with pytest.raises(PrivacyViolation, match=r"every published column but the sensitive ones is 100 %"):
        shared_db.run(replace(spec, threshold=every))
    assert shared_db.run(replace(spec, threshold=replace(every, over="quasi"))).outcome == "published"


def test_persons_are_measured(shared_db):
    """Two rows a person: a class of 4 rows has 2 persons."""
    shared_db.engine.execute(
        "CREATE TABLE t4 AS SELECT i % 20 AS id, CAST(20 + i % 20 AS INTEGER) AS age, 'f' AS sex, 'flu' AS illness "
        "FROM generate_series(0, 39) AS g(i)"
    )
    spec = fast_spec("t4", k=4, l=None, rows_are="events", persons="ignored")
    with pytest.raises(PrivacyViolation, match="above the threshold 25 %"):
        shared_db.run(replace(spec, threshold=ThresholdSpec(Fraction(1, 4), "own")))
    done = shared_db.run(replace(spec, threshold=ThresholdSpec(Fraction(1, 2), "own")))
    risk = read_measured_risk(done)
    assert risk.persons == pytest.approx(1 / min(done.min_identifiers.values()))
    # No column is published as it is.
    assert (risk.published, risk.published_persons) == (risk.rows, risk.persons)
    assert risk.highest("published") == risk.persons > risk.rows


def test_a_clock_that_went_back_approves_nothing(shared_db):
    """The approval would be older than the last decision; a revocation is written all the same."""
    spec = approve_spec(shared_db, "a17")
    (one,) = shared_db.approvals("a17")
    ahead = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)).isoformat(timespec="seconds")
    Approvals(shared_db.engine).add(replace(one.approval, number=one.approval.number + 1000, given_at=ahead))
    with pytest.raises(PolicyError, match="set the clock"):
        shared_db.approve("a17", planned=spec, **ALICE)
    shared_db.revoke("a17", by="Bob")
    with pytest.raises(GuardError, match="Bob revoked"):
        shared_db.run(spec)


def test_revoked_while_a_run_is_under_way(shared_db, monkeypatch):
    spec = approve_spec(shared_db, "a15")
    made = shared_db.approvals("a15")[0].approval
    calls = []

    def revoking(engine, spec, before):
        calls.append(spec.name)
        if len(calls) > 1:
            Approvals(engine).add(
                replace(made, number=made.number + 1000, action="revoked", approver="Bob", until=None)
            )
        return hold_approval(engine, spec, None, before)

    monkeypatch.setattr(running, "hold_approval", revoking)
    with pytest.raises(GuardError, match="Bob revoked"):
        shared_db.run(spec)
    assert [one for one in list_versions(shared_db, "a15") if one[1] == "published"] == []


def test_a_stored_policy_that_is_not_approved(shared_db):
    spec = approve_spec(shared_db, "a12")
    with pytest.raises(GuardError, match="nobody approved"):
        require_approval(shared_db.engine, "a12_other", plain_policy(spec))


def test_an_engine_without_transactions_and_updates():
    """As Spark's: approvals are added, and a version above the threshold is never shown."""
    with Database(weakest(duckdb.connect()), SilentProgress(), Machine(1 << 28, 1)) as db:
        fill(db, "w1", 40)
        spec = spec_with_approval("w1")
        with pytest.raises(GuardError, match="nobody approved"):
            db.run(spec)
        db.approve("w1", planned=spec, **ALICE)
        assert db.run(spec).outcome == "published"
        strict = replace(spec, threshold=ThresholdSpec(Fraction(1, 11), "a guideline"))
        db.approve("w1", planned=strict, **ALICE)
        with pytest.raises(PrivacyViolation, match="above the threshold"):
            db.run(strict)
        assert [one for one in list_versions(db, "w1") if one[1] == "published"] == [(1, "published")]
        assert db.engine.fetch("SELECT count(*) FROM release.w1")[0][0] == 40
        db.revoke("w1", by="Bob")
        with pytest.raises(GuardError, match="Bob revoked"):
            db.run(spec, full=True)


@pytest.mark.every_engine
def test_another_name_in_the_same_place(shared_db):
    """Readers look where an approved release was: whatever is published there next is approved too."""
    shared_db.run(approve_spec(shared_db, "a22"))
    shared_db.unpublish("a22")
    other = fast_spec("a22", name="a22_again", publish="release.a22")
    assert any("a run would stop" in note for note in shared_db.plan(other).notes + shared_db.plan(other).warnings)
    for full in (False, True):
        with pytest.raises(GuardError, match=r"a22_again: .*nobody approved this release; nothing was published"):
            shared_db.run(other, allow_weaker=True, full=full)
    shared_db.approve("a22_again", planned=other, **ALICE)
    assert shared_db.run(other, allow_weaker=True).outcome == "published"


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "change",
    [
        {"given_at": "yesterday"},
        {"given_at": "2026-11-29 09:00:00"},  # of no zone
        {"until": "never"},
        {"policy": "["},
        {"policy": "[]"},
        {"figures": "null"},
    ],
)
def test_a_row_that_somebody_changed(shared_db, change):
    """Such a row stops the runs of its release, and keeps nobody from revoking another one."""
    table = Approvals(shared_db.engine).table
    spec, _ = approve_spec(shared_db, "a20"), approve_spec(shared_db, "a21")
    where = f"UPDATE {table.schema}.{table.name} SET {{}} = '{{}}' WHERE release = 'a20'"
    ((key, value),) = change.items()
    shared_db.engine.execute(where.format(key, value))
    try:
        with pytest.raises(PrivacyViolation, match="none that sqlanon wrote"):
            shared_db.run(spec)
        assert shared_db.revoke("a21", by="Ann").action == "revoked"
    finally:
        shared_db.engine.execute(f"DELETE FROM {table.schema}.{table.name} WHERE release IN ('a20', 'a21')")
