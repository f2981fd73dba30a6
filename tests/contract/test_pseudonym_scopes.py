"""Tokens of several tables and versions: what links them, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.release.divide import token_blocks
from tests.contract.tokens import (
    ASKED,
    SECRET,
    STAYS,
    aged,
    boxes_of,
    cells,
    fewest,
    place,
    signatures,
    stays,
    surest,
    token,
)


def scoped(source: str, **more: Any) -> dict[str, Any]:
    return {
        "scopes": {"pid": f"scope {source}"},
        "pseudonyms": "pid",
        "name": f"{more.pop('name', 'stays')} {source}",
        **more,
    }


def test_two_tables_of_a_scope(shared_db: Any) -> None:
    """Persons' table first.

    Stays of few persons of a class are left out, and the join of both has k of every signature.
    """
    rows = stays(7, 60, 3)
    ages = {row[1]: row[2] for row in rows}
    people = place(shared_db, {"pid": "TEXT", "age": "INTEGER"}, [(str(who), age) for who, age in ages.items()])
    source = place(shared_db, STAYS, rows)
    base = {"quasi": "age", "person": "pid", "k": 3}
    shared_db.anonymize(people, **scoped(source, **{**base, "k": 6}, name="people"))
    asked = {**base, "sensitive": "dx", "rest": "drop", "suppression": {"limit": 1, "rows": "left_out"}}
    made = shared_db.anonymize(source, **scoped(source, **asked))
    here, there = cells(shared_db, source), cells(shared_db, people)
    assert {who for who, *_ in here} <= {who for who, *_ in there}
    assert len(here) > len(rows) / 2
    assert fewest(there, here) >= 3
    assert made.audit().satisfied
    with pytest.raises(InfeasibleError, match="suppression allows 0"):
        shared_db.anonymize(
            source,
            **scoped(source, **{**asked, "suppression": {"limit": 0, "rows": "left_out"}, "k": 2}),
            allow_weaker=True,
        )
    assert cells(shared_db, source) == here


def test_a_reader_who_joins_two_tables(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, with a row in one table and one or two in the other.

    By themselves, in scopes of their own, both keep 1/2, and a join of them would not.
    """
    monkeypatch.setenv("TOKENS", SECRET)
    drawn = random.Random(2)
    truth = {person: [[drawn.randrange(9)], [drawn.randrange(9) for _ in range(1 + person % 2)]] for person in range(7)}
    tables = [
        place(
            shared_db,
            {"pid": "INTEGER", "age": "INTEGER"},
            [(p, value) for p, held in truth.items() for value in held[at]],
        )
        for at in (0, 1)
    ]
    asked = {"quasi": "age", "person": "pid", "suppression": {"limit": 1, "rows": "left_out"}}
    shared_db.anonymize(tables[0], **scoped(tables[0], **asked, k=4, name="one"))
    shared_db.anonymize(tables[1], **scoped(tables[0], **asked, k=2, name="two"))
    joined = boxes_of(*(aged(shared_db, table) for table in tables))
    assert any(each[1] for each in joined.values())
    assert surest(truth, joined) <= Fraction(1, 2)
    apart = []
    for at, table in enumerate(tables):
        own = {"scopes": {"pid": table}, "secrets": {"pid": "${TOKENS}"}, "pseudonyms": "pid", "name": f"apart {table}"}
        shared_db.anonymize(table, **asked, **own, k=2, publish=f"release.{table}_apart")
        named = {token(["person", table], person): str(person) for person in truth}
        apart.append([(named[who], box) for who, box in aged(shared_db, f"{table}_apart")])
        only = {person: [held[at]] for person, held in truth.items()}
        assert surest(only, boxes_of(apart[-1])) <= Fraction(1, 2)
    assert surest(truth, boxes_of(*apart)) > Fraction(1, 2)


@pytest.mark.parametrize("what", ["one table", "two tables"])
def test_verify_refuses_what_breaks_k(shared_db: Any, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """The method is made to forget the numbers of rows, or the other table; nothing is published."""
    rows = stays(9)
    source = place(shared_db, STAYS, rows)
    asked = {"quasi": "age", "person": "pid", "k": 3, "rest": "drop"}
    if what == "two tables":
        people = place(
            shared_db,
            {"pid": "INTEGER", "age": "INTEGER"},
            [(who, random.Random(who).randrange(90)) for who in range(40)],
        )
        shared_db.anonymize(people, **scoped(source, **asked, name="people"))
        rows = [(who, who, who, "p", "a") for who in range(40)]
        source_two = place(shared_db, STAYS, rows)
    right = token_blocks.choose_row_counts

    def careless(n: Any, like: Any, _: Any, k: int) -> Any:
        if what == "two tables":
            return right(n, np.zeros_like(like), {}, k)
        return n.copy(), np.zeros_like(n)

    monkeypatch.setattr(token_blocks, "choose_row_counts", careless)
    with pytest.raises(PrivacyViolation, match=r"tokens alike.* of pid: asked 3, reached 1"):
        shared_db.anonymize(source if what == "one table" else source_two, **scoped(source, **asked))
    assert f"stays {source}" not in {one.release for one in shared_db.releases() if one.status == "published"}


@pytest.mark.thorough
def test_what_an_earlier_table_promises_of_values_holds_in_the_join(shared_db: Any) -> None:
    """Six persons are alike and l is 2; a second table would divide them by what half of them have."""
    people = place(
        shared_db, {"pid": "INTEGER", "age": "INTEGER", "dx": "TEXT"}, [(i, 1, "ab"[i % 2]) for i in range(6)]
    )
    source = place(shared_db, {"pid": "INTEGER", "age": "INTEGER"}, [(i, i % 2) for i in range(6)])
    base = {"quasi": "age", "person": "pid", "k": 3}
    shared_db.anonymize(people, **scoped(source, **base, sensitive="dx", l=2, name="people"))
    with pytest.raises(PrivacyViolation, match="l, tokens alike of dx: asked 2, reached 1"):
        shared_db.anonymize(source, **scoped(source, **base))


def test_versions_that_tokens_link(shared_db: Any) -> None:
    """A reader who kept a version has the same tokens.

    What both reveal is counted, and bounded where the policy says so; a rollback is a version that was checked.
    """
    rows = stays(13)
    source = place(shared_db, STAYS, rows)
    made = shared_db.anonymize(source, **ASKED)
    assert not made.report.warnings
    before = cells(shared_db, source)
    shared_db.engine.execute(f"UPDATE {source} SET age = 80 - age, ward = 'p'")
    with pytest.raises(PrivacyViolation, match=r"history\.max_failing allows 0"):
        shared_db.anonymize(source, **ASKED, max_failing=0)
    assert cells(shared_db, source) == before
    made = shared_db.anonymize(source, **ASKED, allow_weaker=True)
    together = Counter(signatures(cells(shared_db, source), before).values())
    failing = sum(n for n in together.values() if n < 3)
    assert failing
    assert f"a reader of both finds {failing} tokens among fewer than 3" in " ".join(made.report.warnings)


def test_a_version_that_breaks_the_scope_does_not_return(shared_db: Any) -> None:
    rows = [(i, i, i, "p", "a") for i in range(24)]
    source = place(shared_db, STAYS, rows)
    people = place(shared_db, {"pid": "INTEGER", "age": "INTEGER"}, [(i, i * 7 % 24) for i in range(24)])
    asked = {"quasi": "age", "person": "pid", "k": 3, "rest": "drop"}
    shared_db.anonymize(source, **scoped(source, **asked))
    shared_db.anonymize(source, **scoped(source, **{**asked, "k": 24}))
    shared_db.anonymize(people, **scoped(source, **asked, name="people"))
    with pytest.raises(PrivacyViolation, match="version 1 would not hold together"):
        shared_db.rollback(f"stays {source}", to=1, allow_weaker=True)
    shown = [
        one.version for one in shared_db.releases() if (one.release, one.status) == (f"stays {source}", "published")
    ]
    assert shown == [2]


@pytest.mark.thorough
def test_a_reader_who_kept_the_version_before(shared_db: Any) -> None:
    """With max_failing: 0 both versions together leave everybody with 1/k at most, or the second is refused.

    Both occur.
    """
    outcomes = Counter()
    asked = {"quasi": "age", "person": "pid", "pseudonyms": "pid", "k": 2, "max_failing": 0}
    for seed in range(6):
        drawn = random.Random(seed)
        truth = {who: [[drawn.randrange(9)], []] for who in range(6)}
        for held in truth.values():
            held[1] = [held[0][0] + 10 if seed % 2 else drawn.randrange(9)]
        source = place(shared_db, {"pid": "INTEGER", "age": "INTEGER"}, [(p, held[0][0]) for p, held in truth.items()])
        shared_db.anonymize(source, **asked)
        before = aged(shared_db, source)
        values = " ".join(f"WHEN {who} THEN {held[1][0]}" for who, held in truth.items())
        shared_db.engine.execute(f"UPDATE {source} SET age = CASE pid {values} END")
        try:
            shared_db.anonymize(source, **asked)
        except PrivacyViolation:
            outcomes["refused"] += 1
            continue
        outcomes["published"] += 1
        assert surest(truth, boxes_of(before, aged(shared_db, source))) <= Fraction(1, 2)
    assert len(outcomes) == 2
