"""`persons: whole` as verification, a reader of all events of a person, and audits see it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from sqlanon.errors import GuardError, PrivacyViolation
from sqlanon.release.divide import persons_whole
from tests.contract.test_person_rows import ASKED, classes, place, visits
from tests.contract.test_person_whole import WHOLE, source_of, split
from tests.declared import declare
from tests.safety.bad import tampering


def careless(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """Rows get the class of their person, and then somebody tampers with it."""
    right = persons_whole.assign

    def wrong(context: Any, method: Any) -> Any:
        made = right(context, method)
        table = f'"{made.table.name}"'
        context.scratch.engine.execute(statement.format(t=table))
        return made

    monkeypatch.setattr(persons_whole, "assign", wrong)


def test_verify_refuses_a_person_who_is_split(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two classes of 21 rows, of persons who have two each.

    Whichever rows these are, somebody is in both, and the boxes differ.
    """
    rows = [(i, i, "p", "abcd"[i % 4], f"z{i % 21}", 0) for i in range(42)]
    source = place(shared_db, rows)
    careless(monkeypatch, "UPDATE {t} SET class = rid % 2")
    with pytest.raises(PrivacyViolation, match=r"classes of a person of pid: asked 1, reached 2; 2 classes fail"):
        shared_db.anonymize(source, **{**WHOLE, "l": None})


def test_verify_refuses_rows_of_fewer_persons(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of one person with ten rows."""
    rows = [(i, 0, "p", "abcd"[i % 4], "z0", 0) for i in range(10)]
    rows += [(10 + i, 1 + i % 9, "q", "abcd"[i % 4], f"z{1 + i % 9}", 0) for i in range(36)]
    source = place(shared_db, rows)
    alone = "(SELECT rid FROM {t} ORDER BY rid LIMIT 1)"
    declare(monkeypatch, "careless", tampering(f"UPDATE {{t}} SET class = 99 WHERE rid = {alone}"), "mondrian")
    with pytest.raises(PrivacyViolation, match=r"persons of pid: asked 4, reached 1; [0-9]+ classes fail"):
        shared_db.anonymize(source, **{**WHOLE, "l": None, "method": "careless"})


def sure(found: Sequence[Sequence[dict[str, Any]]]) -> Fraction:
    """The most that a reader who knows all events of a victim believes of whose events they are.

    The reader knows the class of each event, and whichever rows are one person's, which no release shows. Names are
    given to the persons in every way; those are possible in which the person who is called as the victim has a row in
    every class that an event of the victim is in.
    """
    seen: dict[str, set[int]] = defaultdict(set)
    for at, members in enumerate(found):
        for row in members:
            seen[row["pid"]].add(at)
    names = sorted(seen)
    most = Fraction(0)
    for victim, known in enumerate(names):
        possible: Counter[int] = Counter(
            way[victim] for way in permutations(range(len(names))) if seen[known] <= seen[names[way[victim]]]
        )
        most = max(most, Fraction(max(possible.values()), sum(possible.values())))
    return most


@pytest.mark.parametrize("seed", range(2))
def test_who_knows_all_events_of_a_person_is_left_with_k(shared_db: Any, seed: int) -> None:
    drawn = random.Random(seed)
    rows = [(i, drawn.randrange(9), drawn.choice("pqr"), drawn.choice("abcd"), f"z{i % 6}", 0) for i in range(24)]
    source = place(shared_db, rows)
    asked = {"k": 2, "l": None, "method": "mondrian"}
    shared_db.anonymize(source, **{**WHOLE, **asked})
    assert sure(classes(shared_db, source, rows)) <= Fraction(1, 2)


def test_the_same_reader_of_persons_rows(shared_db: Any) -> None:
    """Every class has rows of two persons, and no two persons are in the same classes."""
    pairs = [("z0", "z1"), ("z1", "z2"), ("z2", "z0")]
    rows = [(2 * i + j, i, "p", "ab"[j], who, 0) for i, pair in enumerate(pairs) for j, who in enumerate(pair)]
    source = place(shared_db, rows)
    asked = {"k": 2, "l": None, "method": "mondrian"}
    shared_db.anonymize(source, **{**ASKED, **asked})
    assert sure(classes(shared_db, source, rows)) == 1
    shared_db.anonymize(source, **{**WHOLE, **asked})
    assert sure(classes(shared_db, source, rows)) == Fraction(1, 3)


def test_changes_of_the_policy_and_what_audits_find(shared_db: Any) -> None:
    """Whole is more than rows; a version that was made by rows does not pass the audit by a policy that says whole."""
    rows = visits(1)
    source = place(shared_db, rows)
    made = shared_db.anonymize(source, **{**ASKED, "l": None})
    assert split(classes(shared_db, source, rows)) > 0
    more = replace(made.spec, persons="whole", privacy=replace(made.spec.privacy, whole=True))
    failing = {one.name for one in shared_db.audit(f"release.{source}", spec=more).requirements if not one.satisfied}
    assert failing == {"classes of a person"}
    assert shared_db.plan(more).weaker == ()
    again = shared_db.run(more)
    assert again.outcome == "published"
    assert again.min_identifiers["pid"] >= 4
    assert shared_db.run(more).outcome == "unchanged"
    with pytest.raises(GuardError, match="persons whole -> rows"):
        shared_db.run(made.spec)
    none = {key: value for key, value in ASKED.items() if key not in ("person", "persons", "l")}
    with pytest.raises(GuardError, match="persons whole -> none"):
        shared_db.anonymize(source, **none, rows_are="events")
    found = shared_db.together(source, source_of(shared_db, source, more))
    assert found.min_identifiers["pid"] >= 1
