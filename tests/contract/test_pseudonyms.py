"""`role: pseudonym`.

Tokens are the HMAC of Python's library, and linked rows keep k, recounted in Python from what is published.
"""

from __future__ import annotations

import hmac
import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from sqlanon.errors import GuardError, InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.policy import release
from sqlanon.query.refusal import Refused
from sqlanon.release.divide import token_blocks
from tests.engines import create_table, read_table

SECRET = "a key that only the owner has"
STAYS = {"visit": "INTEGER", "pid": "INTEGER", "age": "INTEGER", "ward": "TEXT", "dx": "TEXT"}
ASKED: dict[str, Any] = {
    "quasi": ["age", "ward"],
    "sensitive": "dx",
    "pseudonyms": ["pid", "visit"],
    "person": "pid",
    "k": 3,
    "suppression": {"limit": "1/2", "rows": "left_out"},
}


def token(what: Sequence[str], value: object, secret: str = SECRET) -> str:
    """As docs/pseudonyms.md defines it."""
    key = hmac.digest(secret.encode(), "\0".join(what).encode(), "sha256")
    return hmac.new(key, str(value).encode(), "sha256").hexdigest()[:32]


def place(db: Any, columns: dict[str, str], rows: Sequence[Sequence[Any]]) -> str:
    name = f"linked_{uuid4().hex[:10]}"
    create_table(db, name, columns, rows)
    return name


def stays(seed: object, persons: int = 40, most: int = 4) -> list[tuple[Any, ...]]:
    """Some persons have many stays and most have few."""
    drawn = random.Random(str(seed))
    rows = []
    for person in range(persons):
        age = drawn.randrange(20, 60)
        for _ in range(1 + min(drawn.randrange(most), drawn.randrange(most))):
            rows.append((len(rows), person, age, drawn.choice("pqrs"), drawn.choice("abcd")))
    drawn.shuffle(rows)
    return rows


def cells(db: Any, view: str) -> list[tuple[str, str, str]]:
    """Token, published quasi cell and sensitive value of each row."""
    return [
        (
            row["pid"],
            str([value for name, value in row.items() if name not in ("pid", "visit", "dx")]),
            row.get("dx"),
        )
        for row in read_table(db, ("release", view))
    ]


def signatures(*tables: Sequence[tuple[str, str, str]]) -> dict[str, tuple[Any, ...]]:
    """Of each token in any of them its cells and rows in each: the definition, written out."""
    found: dict[str, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in tables])
    for at, rows in enumerate(tables):
        for who, cell, _ in rows:
            found[who][at][cell] += 1
    return {who: tuple(tuple(sorted(each.items())) for each in counts) for who, counts in found.items()}


def fewest(*tables: Sequence[tuple[str, str, str]]) -> int:
    return min(Counter(signatures(*tables).values()).values())


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


Truth = dict[int, list[list[int]]]
"""Of each person its values in each table."""
Boxes = dict[str, list[list[tuple[int, int]]]]
"""Of each token its cells in each table, one a row."""


def covered(values: list[int], boxes: list[tuple[int, int]]) -> bool:
    """Whether each box can be a row of its own."""
    return any(
        all(low <= value <= high for value, (low, high) in zip(order, boxes, strict=True))
        for order in set(permutations(values, len(boxes)))
    )


def surest(truth: Truth, boxes: Boxes) -> Fraction:
    """Tokens are given to persons in every way that the tables allow.

    The largest share of ways in which one is a certain person's.
    """
    who, shown = list(truth), list(boxes)
    fits = {
        (person, name): all(covered(*each) for each in zip(truth[person], boxes[name], strict=True))
        for person, name in product(who, shown)
    }
    ways = [
        tuple(zip(order, shown, strict=True))
        for order in permutations(who, len(shown))
        if all(fits[pair] for pair in zip(order, shown, strict=True))
    ]
    assert ways
    return Fraction(max(Counter(pair for way in ways for pair in way).values()), len(ways))


def boxes_of(*tables: Sequence[tuple[str, tuple[int, int]]]) -> Boxes:
    found: Boxes = {who: [[] for _ in tables] for rows in tables for who, _ in rows}
    for at, rows in enumerate(tables):
        for who, box in rows:
            found[who][at].append(box)
    return found


def aged(db: Any, view: str, who: Any = lambda row: row["pid"]) -> list[tuple[str, tuple[int, int]]]:
    return [(who(row), (row["age_lo"], row["age_hi"])) for row in read_table(db, ("release", view))]


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
        own = {
            "scopes": {"pid": table},
            "secrets": {"pid": "${TOKENS}"},
            "pseudonyms": "pid",
            "name": f"apart {table}",
        }
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


def test_queries_do_not_take_tokens_for_values(shared_db: Any) -> None:
    source = place(shared_db, STAYS, stays(15))
    shared_db.anonymize(source, **ASKED)
    assert shared_db.query(f"SELECT count(*) FROM release.{source}").rows
    with pytest.raises(Refused, match="pid is a pseudonym"):
        shared_db.query(f"SELECT count(*) FROM release.{source} WHERE pid = '7'")


def test_plan_and_preview(shared_db: Any) -> None:
    """Both stage tokens, and publish nothing."""
    source = place(shared_db, STAYS, stays(17))
    spec = release(source=source, **ASKED)
    assert {(one.name, one.treatment) for one in shared_db.plan(spec).columns} >= {("pid", "as a token")}
    found = shared_db.preview(spec)
    assert len(next(after for _, after in found.pairs if after)["pid"]) == 32
    assert not [one for one in shared_db.releases() if one.release == spec.name]


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
