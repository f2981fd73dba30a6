"""`role: pseudonym`.

Tokens are the HMAC of Python's library, and linked rows keep k, recounted in Python from what is published.
"""

from __future__ import annotations

import hmac
import json
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from sqlanon.errors import GuardError, PolicyError
from sqlanon.policy import release
from sqlanon.query.refusal import RefusedQueryError
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
from tests.engines import read_table


@pytest.mark.parametrize("kind", ["INTEGER", "BIGINT", "TEXT", "UUID"])
def test_tokens_are_those_of_the_library_on_every_engine(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("TOKENS", SECRET)
    written = {"INTEGER": [7, -1, 0], "BIGINT": [2**40, -5, 12], "TEXT": ["Zoë", "", "0' 7"]}
    values = written.get(kind, ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "00000000-0000-0000-0000-00000000000a"])
    source = place(shared_db, {"pid": kind, "age": "INTEGER"}, [(value, 1) for value in values])
    asked = {"quasi": "age", "pseudonyms": "pid", "person": "pid", "k": 2, "secrets": {"pid": "${TOKENS}"}}
    shared_db.anonymize(source, **asked, scopes={"pid": "all"}, name=f"{source} a")
    assert {row["pid"] for row in read_table(shared_db, ("release", source))} == {
        token(["person", "all"], value) for value in values
    }


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.thorough), pytest.param(3, marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("l", [pytest.param(None, marks=pytest.mark.thorough), 2])
def test_tokens_that_are_alike(shared_db: Any, seed: int, l: int | None) -> None:  # noqa: E741 - the papers' symbol
    """k of every signature, whatever the number of rows; l among the rows of each, over rows and over persons."""
    rows = stays(seed)
    source = place(shared_db, STAYS, rows)
    made = shared_db.anonymize(source, **ASKED, l=l)
    shown = cells(shared_db, source)
    own = signatures(shown)
    assert fewest(shown) >= 3
    assert all(len(each[0]) == 1 for each in own.values())  # persons: whole
    assert {one.name: one.reached for one in made.report.requirements}["tokens alike"] == fewest(shown)
    assert len(shown) == len(rows) - made.report.left_out > len(rows) / 2
    assert made.audit().satisfied
    groups: dict[Any, list[tuple[str, str]]] = defaultdict(list)
    for who, _, value in shown:
        groups[own[who]].append((who, value))
    for members in groups.values():
        rows_of = Counter(who for who, _ in members)
        assert len(set(rows_of.values())) == 1
        weights: dict[str, Fraction] = defaultdict(Fraction)
        for who, value in members:
            weights[value] += Fraction(1, rows_of[who])
        assert max(weights.values()) * (l or 1) <= len(rows_of)
        assert max(Counter(value for _, value in members).values()) * (l or 1) <= len(members)
    visits = {row["visit"] for row in read_table(shared_db, ("release", source))}
    assert len(visits) == len(shown)
    assert not visits & set(own)


@pytest.mark.parametrize("seed", [3, pytest.param(5, marks=pytest.mark.thorough)])
def test_a_reader_who_knows_all_rows(shared_db: Any, seed: int) -> None:
    """Names are given to tokens in every way.

    Each is right with at most 1/k; without the check somebody is found by the number of rows.
    """
    drawn = random.Random(seed)
    truth = {
        person: [[drawn.randrange(8) for _ in range(1 + (person in (1, 4)) + (person == 2) * 2)]] for person in range(6)
    }
    rows = [(i, *pair) for i, pair in enumerate((p, value) for p, held in truth.items() for value in held[0])]
    source = place(shared_db, {"row": "INTEGER", "pid": "INTEGER", "age": "INTEGER"}, rows)
    asked = {"quasi": "age", "person": "pid", "k": 2}
    shared_db.anonymize(
        source,
        **asked,
        pseudonyms="pid",
        suppression={"limit": 0.7, "rows": "left_out"},
        identifiers="row",
        name=f"{source} a",
    )
    assert surest(truth, boxes_of(aged(shared_db, source))) <= Fraction(1, 2)
    shared_db.anonymize(
        source,
        **asked,
        identifiers="pid",
        insensitive="row",
        accept_unique="row",
        name=f"{source} b",
        publish=f"release.{source}_b",
    )
    without = aged(shared_db, f"{source}_b", lambda row: f"t{rows[row['row']][1]}")
    assert surest(truth, boxes_of(without)) == 1


def test_k_persons_of_equally_many_rows() -> None:
    """Against every table of at most six persons of one kind.

    Blocks of k, no row too many, and persons are left out only where fewer than k remain.
    """
    for k, persons in product((1, 2, 3), range(1, 7)):
        for rows in product((1, 2, 3), repeat=persons):
            take, block = token_blocks.choose_row_counts(np.array(rows, np.int32), np.zeros(persons, np.int32), {}, k)
            sizes = Counter(take[take > 0].tolist())
            assert all(size >= k for size in sizes.values())
            assert all(0 <= n <= own for n, own in zip(take.tolist(), rows, strict=True))
            assert int((take == 0).sum()) < k
            assert all(len({int(n) for n in take[block == number]}) == 1 for number in set(block[take > 0].tolist()))
            if persons >= k and all(own == rows[0] for own in rows):
                assert take.tolist() == list(rows)


@pytest.mark.parametrize("seed", range(20))
def test_kinds_that_are_published_elsewhere(seed: int) -> None:
    """Of each kind, those without a row here are none or k, and so are those with equally many rows."""
    drawn = random.Random(seed)
    k, persons = drawn.randrange(2, 5), drawn.randrange(1, 40)
    rows = np.array([drawn.randrange(1, 5) for _ in range(persons)], np.int32)
    like = np.array([drawn.randrange(0, 4) for _ in range(persons)], np.int32)
    absent = {kind: drawn.randrange(0, 4) for kind in range(1, 4)}
    for kind, n in list(absent.items()):  # elsewhere there are k of each
        absent[kind] = max(n, k - int((like == kind).sum()))
    take, _ = token_blocks.choose_row_counts(rows, like, absent, k)
    for kind in range(4):
        own = Counter(take[like == kind].tolist())
        gone = own.pop(0, 0) + absent.get(kind, 0)
        assert all(size >= k for size in own.values())
        assert kind == 0 or gone == 0 or gone >= k


def test_events_that_are_of_several_persons(shared_db: Any) -> None:
    rows = [(i // 2, i, 1, "p", "a") for i in range(12)]
    source = place(shared_db, STAYS, rows)
    with pytest.raises(GuardError, match="pseudonym visit is the same, or NULL, in 6 of 12 rows"):
        shared_db.anonymize(source, **ASKED)


def test_types_and_missing_persons(shared_db: Any) -> None:
    source = place(shared_db, {"pid": "DOUBLE PRECISION", "age": "INTEGER"}, [(1.5, 1), (2.5, 2)])
    asked = {"quasi": "age", "pseudonyms": "pid", "person": "pid", "k": 1}
    with pytest.raises(PolicyError, match="whose equal values may have different texts"):
        shared_db.anonymize(source, **asked)
    source = place(shared_db, {"pid": "INTEGER", "age": "INTEGER"}, [(1, 1), (None, 2)])
    with pytest.raises(GuardError, match="person pid is NULL in 1 of 2 rows"):
        shared_db.anonymize(source, **asked)


def test_the_secret_is_nowhere(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the catalog nor in errors.

    Another one makes a new version with other tokens, and one that is missing stops the run.
    """
    source = place(shared_db, STAYS, stays(11))
    monkeypatch.setenv("TOKENS", SECRET)
    asked = {**ASKED, "secrets": {"pid": "${TOKENS}"}, "name": f"hidden {source}"}
    made = shared_db.anonymize(source, **asked)
    first = {row["pid"] for row in read_table(shared_db, ("release", source))}
    assert first <= {token(["person", f"hidden {source}"], who) for who in range(40)}
    held = json.dumps([dict(row) for row in read_table(shared_db, ("_sqlanon", "catalog"))], default=str)
    held += json.dumps([dict(row) for row in read_table(shared_db, ("_sqlanon", "secrets"))], default=str)
    key = hmac.digest(SECRET.encode(), b"person\0" + f"hidden {source}".encode(), "sha256")
    assert "TOKENS" in held
    assert not [text for text in (SECRET, key.hex(), key.hex()[:16]) if text in held or text in repr(made.report)]
    monkeypatch.setenv("TOKENS", SECRET[::-1])
    again = shared_db.anonymize(source, **asked)
    assert not first & {row["pid"] for row in read_table(shared_db, ("release", source))}
    assert again.report.version == made.report.version + 1
    for wrong, what in (("short", "fewer than 16 bytes"), ("", "is not set")):
        monkeypatch.setenv("TOKENS", wrong)
        with pytest.raises(PolicyError, match=what) as error:
            shared_db.anonymize(source, **asked)
        assert wrong not in str(error.value).split() or not wrong


def test_queries_do_not_take_tokens_for_values(shared_db: Any) -> None:
    source = place(shared_db, STAYS, stays(15))
    shared_db.anonymize(source, **ASKED)
    assert shared_db.query(f"SELECT count(*) FROM release.{source}").rows
    with pytest.raises(RefusedQueryError, match="pid is a pseudonym"):
        shared_db.query(f"SELECT count(*) FROM release.{source} WHERE pid = '7'")


def test_plan_and_preview(shared_db: Any) -> None:
    """Both stage tokens, and publish nothing."""
    source = place(shared_db, STAYS, stays(17))
    spec = release(source=source, **ASKED)
    assert {(one.name, one.treatment) for one in shared_db.plan(spec).columns} >= {("pid", "as a token")}
    found = shared_db.preview(spec)
    assert len(next(after for _, after in found.pairs if after)["pid"]) == 32
    assert not [one for one in shared_db.releases() if one.release == spec.name]
