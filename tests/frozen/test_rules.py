"""What a lineage refuses: policies that it cannot keep, limits, clocks, and lineages that somebody changed."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.release.frozen.next_version import Outlook, look
from sqlanon.spec import RefreshSpec
from tests.frozen.wards import FRESH, begun, classes, hashed, lineage_table, seen, spec_of, write

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


def later(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Set the clock of runs."""
    at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    for module in ("prepare.prepare", "frozen.choose_lineage"):
        monkeypatch.setattr(f"sqlanon.release.{module}.now", at.isoformat)


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


def test_what_needs_a_new_lineage(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    stronger = replace(spec, privacy=replace(spec.privacy, k=4))
    for changed in (stronger, replace(spec, format=replace(spec.format, kind="labels"))):
        with pytest.raises(GuardError, match="--new-lineage"):
            shared_db.run(changed)
    leaving = replace(spec, refresh=RefreshSpec())
    with pytest.raises(GuardError, match="--allow-weaker"):
        shared_db.run(leaving)
    with pytest.raises(PolicyError, match="--new-lineage is for"):
        shared_db.run(leaving, new_lineage=True, allow_weaker=True)
    other = replace(spec, method=replace(spec.method, name="mondrian"))
    assert shared_db.run(other).lineage.number == 1
    anew = shared_db.run(stronger, new_lineage=True)
    assert (anew.lineage.number, anew.why[-1]) == (2, "a new lineage begins")
    write(shared_db, table, source)
    shared_db.run(replace(leaving, privacy=stronger.privacy), allow_weaker=True)
    back = shared_db.run(stronger)
    assert (back.lineage.number, back.lineage.published) == (3, 20)


def test_a_key_that_does_not_identify_rows_publishes_nothing(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    rows = seen(shared_db, table)
    for more, said in (
        (f"SELECT * FROM {table} WHERE id = 3", "1 row repeats one"),
        ("VALUES (NULL, 1, 1, 'flu', 0)", "1 row has none"),
    ):
        write(shared_db, table, source)
        shared_db.engine.execute(f"INSERT INTO {table} {more}")
        with pytest.raises(GuardError, match=f"key id does not identify rows: {said}.*correct the source"):
            shared_db.run(spec)
    assert seen(shared_db, table) == rows


def test_repeated_keys_are_found_whatever_the_lineage_has_of_them(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    source |= {100: (1, 1, "flu", 0)}
    write(shared_db, table, source)
    assert shared_db.run(spec).lineage.waiting == 1
    held = set(classes(shared_db, table, [3]).values())
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    gone = next(n for n, of in classes(shared_db, table, source).items() if of in held and n != 3)
    shown = [n for n in source if n not in (3, gone, 100)]
    source.pop(3)
    write(shared_db, table, source)
    shared_db.run(spec)
    rows = seen(shared_db, table)
    cases = {
        "published": ([shown[0]], 1),
        "waiting": ([100], 1),
        "new": ([200] * 3, 2),
        "erased": ([3] * 2, 1),
        "its class left": ([gone], 1),
        "several": ([shown[0], shown[0], shown[1], 100, 3, 3, 200, 200], 6),
    }
    lineage, key = lineage_table(shared_db, table), hashed(shared_db, table, shown[2])
    twice = f"INSERT INTO {lineage} SELECT * FROM {lineage} WHERE _sqlanon_key = '{key}'"
    for lineage_too in (
        False,
        True,
    ):  # the lineage has a key of the source twice, and the source has others twice
        if lineage_too:
            shared_db.engine.execute(twice)
        for name, (more, repeats) in cases.items():
            write(shared_db, table, source)
            values = ", ".join(f"({number}, 1, 1, 'flu', 0)" for number in more)
            shared_db.engine.execute(f"INSERT INTO {table} VALUES {values}")
            with pytest.raises(GuardError, match=f": {repeats} rows? repeats? one"):
                pytest.fail(f"{name}: {shared_db.run(spec)}")
    assert seen(shared_db, table) == rows


def test_a_lineage_that_is_gone_is_not_made_up(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    shared_db.engine.execute(f"DROP TABLE {lineage_table(shared_db, table)}")
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    with pytest.raises(GuardError, match="is gone"):
        shared_db.run(spec)
    planned = shared_db.plan(spec, new_lineage=True)
    with pytest.raises(PrivacyViolation, match="cannot be compared: the lineage of version 1 is gone"):
        shared_db.run(replace(spec, refresh=replace(spec.refresh, max_failing=20)), new_lineage=True)
    anew = shared_db.run(spec, new_lineage=True)
    assert anew.lineage.number == 2
    for (found,) in (planned.history, anew.history, shared_db.history(table)):
        assert (found.old, found.new, found.failing) == (1, 2, 21)
        assert found.unknown == "the lineage of version 1 is gone"


TAMPERED = {
    "a row was moved to another class": "UPDATE {rows} SET _sqlanon_class = (SELECT MAX(_sqlanon_class) FROM {rows}) "
    "WHERE _sqlanon_key = '{key}'",
    "one row of a class left": "UPDATE {rows} SET _sqlanon_gone = 2 WHERE _sqlanon_key = '{key}'",
    "a box was widened": "UPDATE {classes} SET age_hi = age_hi + 1 WHERE _sqlanon_class = (SELECT _sqlanon_class FROM "
    "{rows} WHERE _sqlanon_key = '{key}')",
    "a cell was changed": "UPDATE {rows} SET cost = cost + 1 WHERE _sqlanon_key = '{key}'",
    "a key is published twice": "INSERT INTO {rows} SELECT * FROM {rows} WHERE _sqlanon_key = '{key}'",
    "a changed row is published in a class of its own version": (
        "INSERT INTO {rows} (_sqlanon_key, _sqlanon_class, _sqlanon_since, ill, cost) SELECT '{key}', "
        "MAX(_sqlanon_class), 1, 'flu', 1 FROM {rows}"
    ),
    "a cohort was mixed": "UPDATE {rows} SET _sqlanon_since = 0 WHERE _sqlanon_key = '{key}'",
}


SAYS = {
    "a row was moved to another class": "does not say what version 1 published",
    "one row of a class left": "classes have lost a part of their rows",
    "a box was widened": "does not say what version 1 published",
    "a cell was changed": "does not say what version 1 published",
    "a key is published twice": "of 21 rows of the source 21 are published and 1 are not",
    "a changed row is published in a class of its own version": "of 21 rows of the source 21 are published and 1 are "
    "not",
    "a cohort was mixed": "have no class of their own version",
}
"""What finds it."""


@pytest.mark.cover
@pytest.mark.parametrize("what", TAMPERED)
def test_verify_refuses_a_lineage_that_was_changed(shared_db: Any, what: str) -> None:
    table, spec, source = begun(shared_db)
    rows = lineage_table(shared_db, table)
    classes = f'{rows[:-1]}_classes"'
    least = min(
        source,
        key=lambda number: shared_db.engine.fetch(
            f"SELECT _sqlanon_class FROM {rows} WHERE _sqlanon_key = '{hashed(shared_db, table, number)}'"
        )[0][0],
    )
    before = seen(shared_db, table)
    shared_db.engine.execute(TAMPERED[what].format(rows=rows, classes=classes, key=hashed(shared_db, table, least)))
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    with pytest.raises(PrivacyViolation, match=f"{SAYS[what]}.*nothing was published"):
        shared_db.run(spec)
    assert seen(shared_db, table) == before


def test_releases_list_the_loss_of_all_that_is_published(shared_db: Any) -> None:
    """A mean over the view: of every row the widths of its intervals, as shares of what its own cohort has."""
    table, spec, source = begun(shared_db)
    new = {number: (number % 7, number % 3, ("flu", "hiv")[number % 2], 1) for number in range(100, 108)}
    shown = f"SELECT age_lo, age_hi, dose_lo, dose_hi, ill, cost FROM release.{table}"
    first = Counter(shared_db.engine.fetch(shown))
    write(shared_db, table, source | new)
    shared_db.run(spec)
    widths = 0.0
    for rows, found in ((source, first), (new, Counter(shared_db.engine.fetch(shown)) - first)):
        ages, doses = ([row[i] for row in rows.values()] for i in (0, 1))
        for (low, high, least, most, *_), n in found.items():
            age, dose = (high - low) / (max(ages) - min(ages)), (most - least) / (max(doses) - min(doses))
            widths += n * (age + dose) / 2
    listed = {row.version: row.gcp for row in shared_db.releases(table)}
    assert listed[2] == pytest.approx(widths / 28)
    del source[0]  # a version without a cohort
    write(shared_db, table, source | new)
    shared_db.run(spec)
    assert shared_db.releases(table)[-1].gcp == pytest.approx(widths / 28)


def test_rows_by_other_keys_are_not_published_a_second_time(shared_db: Any) -> None:
    """The source has none of the published keys: all classes would leave, and the same rows would enter."""
    table, spec, source = begun(shared_db)
    rows = seen(shared_db, table)
    anew = {number + 1000: row for number, row in source.items()}
    write(shared_db, table, anew)
    for does in (shared_db.plan, shared_db.run):
        with pytest.raises(PrivacyViolation, match=r"none of the 20 published rows would stay.*20 rows") as stopped:
            does(spec)
        assert stopped.value.options == ("--new-lineage",)
    assert seen(shared_db, table) == rows
    alike = {number: (*row[:2], "flu", row[3]) for number, row in anew.items()}
    write(shared_db, table, alike)  # which no class can hold: it is not tried
    with pytest.raises(PrivacyViolation, match="none of the 20 published rows would stay"):
        shared_db.run(spec)
    write(shared_db, table, anew | {0: source[0]})
    assert shared_db.run(spec).lineage.entered == 20
    write(shared_db, table, source)
    assert shared_db.run(spec, new_lineage=True).lineage.published == 20


@pytest.mark.thorough
def test_an_audit_says_that_lineages_of_two_secrets_are_not_compared(shared_db: Any) -> None:
    table, spec, _ = begun(shared_db)
    shared_db.engine.execute(f"DELETE FROM _sqlanon.secrets WHERE release = '{table}'")
    said = "the lineage of version 1 was made with another secret"
    planned = shared_db.plan(spec, new_lineage=True)
    anew = shared_db.run(spec, new_lineage=True)
    assert shared_db.run(spec, full=True).version == 3
    first, second = shared_db.history(table)
    for (found,) in (planned.history, anew.history, (first,)):
        assert (found.old, found.new, found.failing, found.unknown) == (1, 2, 20, said)
    assert (second.old, second.new, second.failing, second.unknown) == (2, 3, 0, "")


def test_verify_refuses_two_records_of_a_key_that_nothing_else_counts(shared_db: Any) -> None:
    """It waits for a new lineage, and the source has it no more."""
    table, spec, source = begun(shared_db)
    write(shared_db, table, source | {number: (number, 1, "flu", 1) for number in range(50, 60)})
    assert shared_db.run(spec).lineage.refused == 10
    rows, key = lineage_table(shared_db, table), hashed(shared_db, table, 50)
    shared_db.engine.execute(f"INSERT INTO {rows} SELECT * FROM {rows} WHERE _sqlanon_key = '{key}'")
    write(shared_db, table, source)
    with pytest.raises(PrivacyViolation, match="1 keys have more than one record in the lineage"):
        shared_db.run(spec)


def test_verify_refuses_a_class_that_leaves_too_early(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever decided which classes leave."""

    def leave(looked: Outlook) -> Outlook:
        assert looked.compared is not None
        rows, leaving = looked.compared.rows.name, looked.compared.leaving.name
        shared_db.engine.execute(f"INSERT INTO {leaving} SELECT MIN(class) FROM {rows}")
        return looked

    _refused(shared_db, monkeypatch, leave, r"[3-9] rows of the source are in classes that leave")


def test_verify_counts_the_published_rows_of_the_source_itself(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is published is counted as retained, and another one as waiting: the numbers add up."""

    def count(looked: Outlook) -> Outlook:
        stays = replace(looked.stays, retained=looked.stays.retained + 1)
        return replace(looked, stays=stays, after=replace(looked.after, refused=looked.after.refused + 1))

    _refused(shared_db, monkeypatch, count, "20 rows of the source are published, and 19 were counted")


def _refused(db: Any, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Outlook], Outlook], said: str) -> None:
    """A run whose outlook is wrong publishes nothing."""
    table, spec, source = begun(db)
    rows = seen(db, table)
    write(db, table, source | {99: (1, 1, "flu", 1)})
    with monkeypatch.context() as patch:
        patch.setattr("sqlanon.release.versions.lineage.look", lambda *given, **more: wrong(look(*given, **more)))
        with pytest.raises(PrivacyViolation, match=said):
            db.run(spec)
    assert seen(db, table) == rows
    assert db.run(spec).lineage.waiting == 1
