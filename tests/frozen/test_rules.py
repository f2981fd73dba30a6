"""What a lineage refuses: policies that it cannot keep, limits, and clocks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation
from tests.frozen.changes import later
from tests.frozen.wards import FRESH, begun, seen, spec_of, write

TEXT = """
version: 1
releases:
  - name: r
    source: t
    publish: release.r
    columns: {{id: identifier, a: quasi, s: sensitive}}
    {key}
    privacy: {privacy}
    {more}
    refresh: {refresh}
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"key": ""}, "without key nobody knows which rows were published before"),
        ({"refresh": "{mode: full, max_stale: 0.1}"}, "max_stale goes with mode: frozen"),
        ({"refresh": "{mode: frozen, cohort: {rows: 2}}"}, "fewer than k, which is 5"),
        ({"refresh": "{mode: frozen, max_age: soon}"}, "max_age"),
        ({"more": "method: freeform", "privacy": "{k: 5, boxes: own}"}, "no classes that could stay"),
        ({"privacy": "{k: 5, t: 0.3}"}, "compared with a table that changes"),
        (
            {"more": "method: fulldomain:search=global", "privacy": "{k: 1, k_map: {k: 2, population: p}}"},
            "k_map: classes are compared with a table that changes",
        ),
        ({"more": "format: anatomy", "privacy": "{l: 2}"}, "numbers its groups"),
        ({"more": "rows_are: events"}, "in several cohorts"),
        ({"more": "method: sequential:objective=pmi", "privacy": "{k: 5, l: 2}"}, "refused by their values"),
        (
            {"more": "method: sequential:objective=mixed", "privacy": "{k: 5, l: 2}"},
            "refused by their values",
        ),
        ({"more": "method: suppress:solver=optimal", "privacy": "{k: 2, l: 2}"}, "refused by their values"),
    ],
)
def test_policies_that_no_lineage_keeps(words: dict[str, str], said: str) -> None:
    given = {"key": "key: [id]", "privacy": "{k: 5}", "more": "", "refresh": "{mode: frozen}"} | words
    with pytest.raises(PolicyError) as refused:
        policy.loads(TEXT.format(**given), {})
    assert said in str(refused.value)


@pytest.mark.cover
@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("max_stale", Fraction(1, 20), "max_stale"),
        ("max_retained", Fraction(1, 20), "max_retained"),
        ("max_waiting", Fraction(1, 20), "max_waiting"),
    ],
)
def test_limits_stop_a_run_and_the_version_stays(shared_db: Any, limit: str, most: Fraction, said: str) -> None:
    table, spec, source = begun(shared_db, **{limit: most})
    rows = seen(shared_db, table)
    changes = {
        "max_stale": dict.fromkeys(range(2), (90, 5, "none", 99)),
        "max_retained": {},
        "max_waiting": dict.fromkeys(range(50, 52), (9, 1, "flu", 1)),
    }
    changed = source | changes[limit]
    if limit == "max_retained":
        del changed[0], changed[1]
    write(shared_db, table, changed)
    with pytest.raises(PrivacyViolation, match=said) as stopped:
        shared_db.run(spec)
    assert "run --new-lineage" in str(stopped.value)
    assert seen(shared_db, table) == rows
    one = dict(changed)
    if limit == "max_retained":
        one[0] = source[0]
    else:
        one[next(iter(changes[limit]))] = source.get(next(iter(changes[limit])), (9, 1, "flu", 1))
        if limit == "max_waiting":
            del one[51]
    write(shared_db, table, one)
    assert shared_db.run(spec).outcome == "published"


def test_the_clock_decides_when_a_cohort_is_due(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of an unchanged source; and a clock that goes backwards stops the run."""
    table, spec, source = begun(shared_db, rows=100, every=86400, max_age=7 * 86400)
    day = "2030-01-{:02d}T00:00:00+00:00".format

    def at(number: int) -> None:
        for module in ("prepare.prepare", "frozen.choose_lineage"):
            monkeypatch.setattr(f"sqlanon.release.{module}.now", lambda: day(number))

    at(5)
    more = {number: (number, 1, ("flu", "hiv")[number % 2], 1) for number in range(50, 54)}
    write(shared_db, table, source | more)
    waiting = shared_db.run(spec).lineage
    assert (waiting.waiting, waiting.entered, waiting.waits_since) == (4, 0, day(5))
    assert shared_db.run(spec).outcome == "unchanged"
    at(4)
    with pytest.raises(GuardError, match="clock"):
        shared_db.run(spec)
    at(6)
    entered = shared_db.run(spec)
    assert (entered.lineage.entered, entered.lineage.waiting) == (4, 0)
    write(shared_db, table, source | more | {60: (1, 1, "flu", 1)})
    assert shared_db.run(spec).lineage.waiting == 1
    at(14)
    with pytest.raises(PrivacyViolation, match="max_age allows 7d, and a row waits since 2030-01-06"):
        shared_db.run(spec)


def test_a_cohort_that_cannot_be_published_waits_whole_for_a_new_lineage(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    alike = {number: (number, 1, "flu", 1) for number in range(50, 60)}
    write(shared_db, table, source | alike)
    report = shared_db.run(spec)
    assert (report.lineage.refused, report.lineage.cohort_refused, report.lineage.entered) == (10, 10, 0)
    later = {number: (number, 1, "hiv", 1) for number in range(60, 70)}
    write(shared_db, table, source | alike | later)
    report = shared_db.run(spec)  # together with the others they could be published
    assert (report.lineage.refused, report.lineage.entered) == (20, 0)
    anew = shared_db.run(spec, new_lineage=True)
    assert (anew.lineage.number, anew.lineage.published, anew.lineage.refused) == (2, 40, 0)
    assert anew.history
    assert shared_db.run(spec).outcome == "unchanged"


def test_the_first_cohort_is_published_or_nothing_is(shared_db: Any) -> None:
    table = f"rule_{next(FRESH)}"
    write(shared_db, table, {number: (number, 1, "flu", 1) for number in range(20)})
    with pytest.raises(InfeasibleError):
        shared_db.run(spec_of(table))
    assert shared_db.releases(table) == ()


def test_what_a_cohort_lacks_does_not_decide_when_it_is_published(shared_db: Any) -> None:
    """A listed value that no row of the cohort has: to wait for one would say that none has it."""
    table, spec, source = begun(shared_db, l=None, alpha={"max": 0.5, "values": ["hiv"]})
    more = {number: (number, 1, "flu", 1) for number in range(50, 60)}
    write(shared_db, table, source | more)
    assert shared_db.run(spec).lineage.entered == 10


@pytest.mark.thorough
@pytest.mark.parametrize("alike", [True, False])
def test_a_run_that_a_limit_stops_has_not_tried_the_cohort(shared_db: Any, alike: bool) -> None:
    """Or who sees the rows published with later ones would know that they could be published alone."""
    table, spec, source = begun(shared_db, max_stale=Fraction(1, 20))
    more = {number: (number, 1, "flu" if alike else ("flu", "hiv")[number % 2], 1) for number in range(50, 60)}
    stale = dict.fromkeys(range(3), (90, 5, "none", 99))
    write(shared_db, table, source | more | stale)
    with pytest.raises(PrivacyViolation, match="max_stale"):
        shared_db.run(spec)
    more |= {number: (number, 1, "hiv" if alike else ("flu", "hiv")[number % 2], 1) for number in range(60, 70)}
    write(shared_db, table, source | more)
    assert shared_db.run(spec).lineage.entered == 20


def test_rows_that_were_refused_wait_and_their_age_counts(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, spec, source = begun(shared_db, max_age=86400)
    alike = {number: (number, 1, "flu", 1) for number in range(50, 60)}
    write(shared_db, table, source | alike)
    report = shared_db.run(spec).lineage
    assert (report.refused, report.waits_since) == (10, None)
    assert report.refused_since is not None
    assert shared_db.run(spec).outcome == "unchanged"
    later(monkeypatch, 2)
    with pytest.raises(PrivacyViolation, match="max_age"):
        shared_db.run(spec)


def test_a_clock_that_goes_backwards_stops_a_run_in_which_nothing_waits(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, spec, source = begun(shared_db)
    rows = seen(shared_db, table)
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    later(monkeypatch, -1)
    with pytest.raises(GuardError, match="clock"):
        shared_db.run(spec)
    assert seen(shared_db, table) == rows


@pytest.mark.thorough
def test_a_clock_that_was_too_late_once_stops_no_new_lineage(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, spec, source = begun(shared_db)
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    with monkeypatch.context() as patch:
        later(patch, 3650)
        shared_db.run(spec)
    with pytest.raises(GuardError, match=r"clock.*run --new-lineage"):
        shared_db.run(spec)
    assert shared_db.run(spec, new_lineage=True).lineage.published == 21
    write(shared_db, table, source)
    assert shared_db.run(spec).lineage.retained == 1


def test_plan_shows_what_a_new_lineage_would_reveal(shared_db: Any) -> None:
    _, spec, _ = begun(shared_db)
    planned = shared_db.plan(spec, new_lineage=True)
    assert planned.why[-1] == "a new lineage begins"
    assert [(one.old, one.new) for one in planned.history] == [(1, 2)]


@pytest.mark.thorough
def test_plan_is_about_the_rows_that_the_next_run_tries(shared_db: Any) -> None:
    """And a run then does what the plan says: they wait, are published, or wait whole for a new lineage."""
    table, spec, source = begun(shared_db, max_retained=Fraction(1, 5))
    few = {90: (90, 1, "flu", 1), 91: (91, 1, "cold", 1), 92: (92, 1, "hiv", 1)}
    write(shared_db, table, source | few)
    planned = shared_db.plan(spec)
    assert any(note.startswith("3 rows of the source wait: a cohort has 8") for note in planned.notes)
    assert (planned.rows, planned.feasible, planned.estimate) == (23, (), None)
    assert shared_db.run(spec).lineage.waiting == 3
    some = {number: (number, 1, ("flu", "hiv")[number % 2], 1) for number in range(100, 106)}
    write(shared_db, table, source | few | some)
    planned = shared_db.plan(spec)
    assert any(note.startswith("9 rows of the source are tried now") for note in planned.notes)
    assert {one.name: (one.largest, one.met) for one in planned.feasible} == {
        "k": (9, True),
        "l": (2.25, True),
    }
    write(shared_db, table, source | few | dict.fromkeys(range(100, 106), (1, 1, "flu", 1)))
    planned = shared_db.plan(spec)
    assert any("9 rows of the source are due and cannot be published" in note for note in planned.notes)
    found = shared_db.run(spec).lineage
    assert (found.refused, found.entered) == (9, 0)
    write(shared_db, table, {number: row for number, row in source.items() if number > 9})
    with pytest.raises(PrivacyViolation, match="max_retained") as stopped:
        shared_db.plan(spec)
    assert stopped.value.options == ("--new-lineage",)
