"""Records of `person`.

It tests verification, audits, two releases, histories, NULLs, several columns, and changes of the policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from sqlanon.errors import GuardError, InfeasibleError, PrivacyViolation
from sqlanon.release.divide import merge_failing_groups
from tests.contract.test_person_rows import ASKED, classes, place, reached, visits
from tests.declared import declare
from tests.safety.bad import tampering


@pytest.fixture
def source(shared_db: Any) -> Iterator[str]:
    name = place(shared_db, visits(1))
    yield name
    shared_db.engine.execute(f"DROP TABLE {name}")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 6, "l": None}, r"persons of pid: asked 6, reached [1-5]; [0-9]+ classes fail"),
        (
            {"k": 1, "l": None, "person_share": 0.3},
            r"person_share of pid: asked 0.3, reached (1|0\.[3-9][0-9]*); [0-9]+ classes",
        ),
    ],
)
def test_verify_refuses_what_a_method_got_wrong(
    shared_db: Any, source: str, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], message: str
) -> None:
    declare(monkeypatch, "careless", tampering(), "mondrian")
    with pytest.raises(PrivacyViolation, match=message):
        shared_db.anonymize(source, **{**ASKED, **asked}, method="careless")


def test_verify_refuses_values_of_too_few_persons(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two classes: over rows both have l = 2; over persons the one has nine of ten persons with the same value."""
    rows = [(i, 1, "p", "a", f"z{i}", 0) for i in range(9)] + [(9 + i, 1, "p", "b", "z9", 0) for i in range(9)]
    rows += [(18 + i, 2, "p", "abcd"[i % 4], f"y{i}", 0) for i in range(20)]
    monkeypatch.setattr(merge_failing_groups, "not_monotone", lambda _: [])  # what unites groups that fail
    declare(
        monkeypatch,
        "careless",
        tampering("UPDATE {t} SET class = CASE WHEN rid < 18 THEN 0 ELSE 1 END", as_one=True),
        "mondrian",
    )
    with pytest.raises(PrivacyViolation, match=r"l of persons of s: asked 2, reached 1\.[0-9]+; 1 classes fail"):
        shared_db.anonymize(place(shared_db, rows), **ASKED, method="careless")


def test_audits_measure_it_over_the_private_tables(shared_db: Any, source: str) -> None:
    made = shared_db.anonymize(source, **ASKED)
    found = [reached(members) for members in classes(shared_db, source, visits(1))]
    report = made.audit()
    said = {(one.name, one.column): one for one in report.requirements}
    assert said["persons", "pid"].reached == min(one[0] for one in found)
    assert said["l of persons", "s"].reached == pytest.approx(float(min(one[1] for one in found)), rel=1e-4)
    assert report.satisfied
    assert not report.not_measured
    assert report.highest_risk == pytest.approx(1 / min(one[0] for one in found))
    more = replace(made.spec, privacy=replace(made.spec.privacy, l=Fraction(4), person_share=Fraction(1, 100)))
    again = shared_db.audit(f"release.{source}", spec=more)
    failing = {one.name for one in again.requirements if not one.satisfied}
    assert {"l of persons", "person_share"} <= failing
    none = {**ASKED, "person": None, "persons": "ignored"}
    shared_db.anonymize(source, **none, rows_are="events", allow_weaker=True)
    lacking = shared_db.audit(f"release.{source}", spec=made.spec).not_measured
    assert any("l of persons" in text for text in lacking)


@pytest.mark.thorough
def test_nulls_are_refused_or_one_or_each_another(shared_db: Any) -> None:
    """Twelve rows without a person: one person, or twelve."""
    rows = [(i, 0, "p", "ab"[i % 2], None if i < 12 else f"z{i % 3}", 0) for i in range(24)]
    source = place(shared_db, rows)
    with pytest.raises(GuardError, match=r"person pid is NULL in 12 of 24 rows.*null_person: one.*distinct"):
        shared_db.anonymize(source, **ASKED)
    one = shared_db.anonymize(source, **ASKED, null_person="one")
    assert one.report.min_identifiers == {"pid": 4}
    with pytest.raises(GuardError, match="null_person one -> distinct"):
        shared_db.anonymize(source, **ASKED, null_person="distinct")
    each = shared_db.anonymize(source, **ASKED, null_person="distinct", allow_weaker=True)
    assert each.report.min_identifiers == {"pid": 15}
    assert each.audit().satisfied
    # What is kept of that version has twelve persons where this policy has one.
    unknown = shared_db.audit(f"release.{source}", spec=one.spec)
    assert {text.partition(":")[0] for text in unknown.not_measured} == {"persons by pid", "l of persons by s"}
    assert not unknown.satisfied
    with pytest.raises(InfeasibleError, match="persons = 5 of pid; the largest feasible value is 4"):
        shared_db.anonymize(source, **{**ASKED, "k": 5}, null_person="one", allow_weaker=True)


@pytest.mark.thorough
def test_several_columns_together(shared_db: Any, source: str) -> None:
    """A patient's number means a person within a ward; NULL in either is no person."""
    asked = {**ASKED, "person": ["PID", "ward"], "k": 9}
    made = shared_db.anonymize(source, **asked)
    fewest = min(
        reached(members, lambda row: (row["pid"], row["ward"]))[0] for members in classes(shared_db, source, visits(1))
    )
    assert made.report.min_identifiers == {"pid, ward": fewest}
    assert fewest >= 9
    assert {one.column for one in made.audit().requirements if one.name == "persons"} == {"pid, ward"}
    assert made.audit().satisfied
    with pytest.raises(GuardError, match="person pid, ward -> pid"):
        shared_db.anonymize(source, **{**asked, "person": "pid", "k": 4})


@pytest.mark.thorough
def test_persons_of_two_releases_together(shared_db: Any) -> None:
    """Each class has four persons; in the intersections one is left."""
    rows = [(i, i // 4 % 4, "pqrs"[i % 4], "abcd"[(i + i // 4) % 4], f"z{i % 4}{i // 4 % 4}", 0) for i in range(64)]
    source = place(shared_db, rows)
    both = {"sensitive": "s", "identifiers": ["pid", "mark", "ward"], "person": "pid", "persons": "rows", "k": 4}
    for name, quasi, other in (("one", "q", "w"), ("two", "w", "q")):
        shared_db.anonymize(
            source, **both, name=f"{source}_{name}", publish=f"{source}_{name}", quasi=quasi, insensitive=other
        )
    report = shared_db.together(f"{source}_one", f"{source}_two")
    assert report.min_identifiers == {"pid": 1}
    assert not report.satisfied


@pytest.mark.thorough
def test_the_history_counts_persons_and_their_values(shared_db: Any, source: str) -> None:
    asked = {**ASKED, "key": "mark", "identifiers": ["pid", "ward", "mark"], "insensitive": None, "accept_unique": None}
    shared_db.anonymize(source, **asked)
    added = [(900 + i, 1, "p", "abcd"[i % 4], "new", 0) for i in range(8)]
    shared_db.engine.execute(f"INSERT INTO {source} VALUES " + ", ".join(map(str, added)))
    second = shared_db.anonymize(source, **asked)
    # Eight rows of four values, and of one person.
    assert second.report.history[0].arrived.failing == 8
    assert second.report.history[0].arrived.persons == 1


@pytest.mark.thorough
def test_policies_that_promise_less_are_weaker(shared_db: Any, source: str) -> None:
    made = shared_db.anonymize(source, **ASKED, person_share="1/2")
    less = replace(made.spec, privacy=replace(made.spec.privacy, person_share=Fraction(2, 3)))
    with pytest.raises(GuardError, match="person_share 1/2 -> 2/3"):
        shared_db.run(less)
    none = {**ASKED, "person": None, "persons": "ignored"}
    with pytest.raises(GuardError, match="k and l over persons yes -> no"):
        shared_db.anonymize(source, **none, rows_are="events")
    assert shared_db.run(made.spec).outcome == "unchanged"


def test_a_reader_who_knows_everybody_but_not_whose_rows_are_whose(shared_db: Any) -> None:
    """The promise, by enumeration.

    Names are given to the persons of a class in every way, and an event of each is drawn.

    The reader sees which rows are one person's, which no release shows. Each way is as likely as any other to a reader
    who knows one event of everybody. Then nobody's rows are found with more than 1 / k, and no value of a victim's
    event is believed with more than 1 / l.
    """
    rows = [row for row in visits(4, 60) if row[4] in {f"z{i}" for i in range(7)}]
    source = place(shared_db, rows)
    shared_db.anonymize(source, **{**ASKED, "k": 3, "l": "3/2"}, method="mondrian")
    for members in classes(shared_db, source, rows):
        own = [[row["s"] for row in members if row["pid"] == name] for name in sorted({row["pid"] for row in members})]
        ways = list(permutations(range(len(own))))
        for victim in range(len(own)):
            found: Counter[int] = Counter(way[victim] for way in ways)
            assert max(found.values()) * 3 <= len(ways)
            believed: Counter[str] = Counter()
            for way in ways:
                for value, times in Counter(own[way[victim]]).items():
                    believed[value] += Fraction(times, len(own[way[victim]]))
            assert max(believed.values()) / len(ways) <= Fraction(2, 3)
