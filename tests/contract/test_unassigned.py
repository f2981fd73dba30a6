"""Rows that a method leaves out by declaration: counted everywhere, and only where the policy allows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from tests.contract.leaving import ALONE, Leaving
from tests.engines import create_table, quote, read_table


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["ranges", "labels", "points", "suppressed", "anatomy"])
def test_rows_in_are_rows_published_and_rows_left_out(shared_db: Any, leaving: Any, kind: str) -> None:
    report = leaving(format=kind, l=2, presence="disclosed" if kind == "anatomy" else None).report
    assert (report.rows, report.suppressed, report.verified) == (12, 1, True)
    assert any("1 of 12 rows" in note for note in report.notes)
    published = read_table(shared_db, ("release", leaving.name))
    assert len(published) == 11
    assert all(row.get("q", row.get("q_hi")) != 11 for row in published)
    (row,) = shared_db.releases(leaving.name)
    assert (row.rows, row.suppressed) == (12, 1)
    assert json.loads(json.dumps(report.to_dict()))["suppressed"] == 1
    audited = shared_db.audit(f"release.{leaving.name}")
    assert (audited.rows, audited.suppressed, audited.satisfied) == (11, 1, True)
    counted = {one.name: (one.asked, one.reached) for one in audited.requirements}
    assert counted["rows, with those left out"] == (12, 12)
    if kind == "anatomy":
        values = read_table(shared_db, ("release", f"{leaving.name}_sensitive"))
        assert sum(row["count"] for row in values) == 11


def test_the_method_is_given_how_many_it_may_leave_out(leaving: Any) -> None:
    for suppression, most in (("1/6", 2), (0.24, 2), (0.1, 1)):
        leaving(suppression={"limit": suppression, "rows": "left_out"})
        assert Leaving.asked[-1] == most


@pytest.mark.parametrize(
    ("out", "suppression", "said"),
    [
        pytest.param((11,), None, "leaves 1 of 12 rows out, and the policy allows none", id="none allowed"),
        pytest.param((9, 10, 11), "1/6", "3 of 12 rows out, and suppression allows 2", id="too many"),
        pytest.param((10, 11), 0.1, "2 of 12 rows out, and suppression allows 1", id="too large a share"),
        pytest.param(range(12), 1, "none would be published", id="all"),
    ],
)
def test_more_than_the_policy_allows_is_refused(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch, out: Sequence[int], suppression: Any, said: str
) -> None:
    monkeypatch.setattr(Leaving, "out", out)
    given = suppression and {"limit": suppression, "rows": "left_out"}
    with pytest.raises(InfeasibleError, match=said):
        leaving(suppression=given)
    assert shared_db.releases(leaving.name) == ()


def test_which_of_equal_rows_is_left_out_does_not_follow_the_source(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The method leaves out the first of six rows that differ in an insensitive column alone.

    A keyed hash picks another.
    """
    monkeypatch.setattr(Leaving, "out", ())
    monkeypatch.setattr(Leaving, "first", 1)
    published = []
    for order in (1, -1):
        rows = [(i // 6, "abc"[i % 3], i) for i in range(12)][::order]
        shared_db.engine.execute(f"DROP TABLE {quote(leaving.name)}")
        create_table(shared_db, leaving.name, {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}, rows)
        leaving(sensitive=(), insensitive=["s", "c"], accept_unique=["s", "c"])
        published.append({row["c"] for row in read_table(shared_db, ("release", leaving.name))})
    assert published[0] == published[1]
    assert len(published[0]) == 11


def test_rows_that_nobody_declares_are_lost(leaving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Leaving, "declares", False)
    with pytest.raises(PrivacyViolation, match="of 12 rows 11 have a class"):
        leaving()


@pytest.mark.thorough
def test_refine_leaves_them_out(shared_db: Any, leaving: Any) -> None:
    report = leaving(refine=True).report
    assert (report.rows, report.suppressed) == (12, 1)
    published = read_table(shared_db, ("release", leaving.name))
    assert len(published) == 11
    assert max(row["q_hi"] for row in published) == 10


def test_a_row_more_or_less_than_said_fails_an_audit(shared_db: Any, leaving: Any) -> None:
    leaving()
    spec = shared_db.engine.relation(f"release.{leaving.name}_metadata").ref
    (entry,) = shared_db.engine.fetch(f"SELECT physical FROM _sqlanon.catalog WHERE release = '{leaving.name}'")
    shared_db.engine.execute(f"DELETE FROM _sqlanon.\"{entry[0]}\" WHERE q_lo = 0 AND s = 'a' AND c = 0")
    audited = shared_db.audit(f"release.{spec.name.removesuffix('_metadata')}")
    assert not audited.satisfied


def test_a_row_left_out_counts_as_all_lost(leaving: Any) -> None:
    """By hand: classes of q from 0 to 3 and from 4 to 10, over a range of 11; and one row that has lost all."""
    loss = leaving().report.loss
    assert loss.ncp == pytest.approx((4 * 3 / 11 + 7 * 6 / 11 + 1) / 12)
    assert loss.gcp == pytest.approx(loss.ncp)
    assert loss.dm == 4**2 + 7**2 + 12
    # Of classes: what is left out is one more, of the widest extent.
    widths = (3 / 11, 6 / 11, 1)
    assert [loss.il1, loss.avg_ncp, loss.il_sum] == pytest.approx([sum(widths) / 3, sum(widths) / 3, sum(widths)])
    assert [loss.il_inf, loss.weighted_max_ncp] == pytest.approx([1, 7 * 6 / 11])


def test_versions_and_rollback_keep_the_number(shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leaving()
    monkeypatch.setattr(Leaving, "out", ())
    assert leaving(suppression=None).report.suppressed == 0
    assert shared_db.query(f"SELECT count(*) AS n FROM {leaving.name}").rows[0]["n"].exact
    shared_db.rollback(leaving.name)
    cell = shared_db.query(f"SELECT count(*) AS n FROM {leaving.name}").rows[0]["n"]
    assert (cell.low, cell.high, cell.exact) == (11, 12, False)
    assert {row.version: row.suppressed for row in shared_db.releases(leaving.name)} == {1: 1, 2: 0}


def test_histories_hold_what_was_published(shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row that the first version leaves out arrives with the second for readers; the source has not changed."""
    shared_db.engine.execute(f"ALTER TABLE {quote(leaving.name)} ADD COLUMN id INTEGER")
    shared_db.engine.execute(f"UPDATE {quote(leaving.name)} SET id = q")
    options = {"identifiers": "id", "key": "id"}
    leaving(**options)
    monkeypatch.setattr(Leaving, "out", ())
    report = leaving(**options).report
    assert (report.data.before, report.data.after, report.data.added, report.data.removed) == (12, 12, 0, 0)
    (compared,) = report.history
    assert (compared.arrived.rows, compared.left.rows, compared.common.rows) == (1, 0, 11)
    (again,) = shared_db.history(leaving.name)
    assert (again.arrived.rows, again.common.rows) == (1, 11)


def test_links_hold_rows_that_are_left_out(shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They count for what changed in the source, and for nothing that readers of one release see.

    Readers of two can subtract them.
    """
    shared_db.engine.execute(f"ALTER TABLE {quote(leaving.name)} ADD COLUMN id INTEGER")
    shared_db.engine.execute(f"UPDATE {quote(leaving.name)} SET id = q")
    events = {"identifiers": "id", "rows_are": "events", "k": 4}
    report = leaving(**events).report
    assert report.min_identifiers == {"id": 4}
    audited = shared_db.audit(f"release.{leaving.name}")
    assert audited.min_identifiers == {"id": 4}
    assert audited.highest_risk == 1 / 4
    shared_db.engine.execute(f"INSERT INTO {quote(leaving.name)} VALUES (3, 'a', 0, 12)")
    monkeypatch.setattr(Leaving, "out", (10, 11))
    data = leaving(**events).report.data
    assert (data.before, data.after, data.added, data.removed) == (12, 13, 1, 0)
    other = {**events, "name": f"{leaving.name}_other", "publish": f"release.{leaving.name}_other"}
    monkeypatch.setattr(Leaving, "out", ALONE)
    leaving(**other)
    together = shared_db.together(leaving.name, f"{leaving.name}_other")
    assert (together.matched, together.unmatched) == (11, 2)


def test_diversity_may_be_reached_without_the_rows_that_are_left_out(
    shared_db: Any, leaving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five of eight rows have one value, so that not all of them are 2-diverse; without two of these they are."""
    rows = [(i, "a" if i in (0, 2, 4, 6, 7) else "b", i % 2) for i in range(8)]
    shared_db.engine.execute(f"DROP TABLE {quote(leaving.name)}")
    create_table(shared_db, leaving.name, {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}, rows)
    monkeypatch.setattr(Leaving, "out", (6, 7))
    report = leaving(l=2, suppression={"limit": "2/8", "rows": "left_out"}).report
    assert (report.suppressed, report.pm) == (2, {"s": 2})
    with pytest.raises(
        InfeasibleError, match=r"no release of .* reaches l = 2 of s; the largest feasible value is 1\.6"
    ):
        leaving(l=2, suppression={"limit": "2/8"})
