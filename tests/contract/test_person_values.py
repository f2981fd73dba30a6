"""Models over persons that ask which values there are.

Audits have hashes of them, and find them in the published table.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import release
from tests.contract.test_person_rows import ASKED, classes, place, visits
from tests.engines import Enum, create_table, read_table
from tests.oracle import models as over_rows
from tests.oracle import person_models as over_persons

EVENTS = {key: value for key, value in ASKED.items() if key not in ("l", "persons")}
LISTED = {"alpha": {"max": "3/5", "values": ["b"]}}
KINDS: dict[str, tuple[str | Enum, list[Any]]] = {
    "integer": ("INTEGER", [1, 2, 3, None]),
    "double": ("DOUBLE PRECISION", [1.5, -0.0, 0.0, float("nan")]),
    "decimal": ("DECIMAL(9,3)", [Decimal("0.050"), Decimal(12), Decimal("-3.5")]),
    "timestamp": ("TIMESTAMP", [dt.datetime(1, 1, 1), dt.datetime(2024, 5, 1, 12), None]),
    "date": ("DATE", [dt.date(1970, 1, 1), dt.date(2024, 5, 1), dt.date(2025, 1, 1)]),
    "boolean": ("BOOLEAN", [True, False]),
    "text": ("TEXT", ["é", "", " ", None]),
    "enum": (Enum(("late", "early", "other")), ["late", "early", "other"]),
}


@pytest.mark.cover("kind")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strength", ["rows", "whole"])
def test_values_of_every_type_are_found_by_their_hashes(shared_db: Any, kind: str, strength: str) -> None:
    """What a run measured on values an audit measures again by hashes; both are the definition."""
    drawn = random.Random(kind)
    declared, pool = KINDS[kind]
    rows = [(i, drawn.randrange(12), drawn.choice(pool), f"z{drawn.randrange(25)}") for i in range(120)]
    source = f"kinds_{uuid4().hex[:10]}"
    create_table(shared_db, source, {"mark": "INTEGER", "q": "INTEGER", "s": declared, "pid": "TEXT"}, rows)
    shown = shared_db.engine.fetch(
        f"SELECT mark, CAST(s AS VARCHAR), DENSE_RANK() OVER (ORDER BY s NULLS FIRST) FROM {source}"
    )
    texts = {int(str(mark)): text for mark, text, _ in shown}
    ranks = {int(str(mark)): int(str(rank)) for mark, _, rank in shown}
    listed = next(row[0] for row in rows if row[2] == pool[0])
    asked: dict[str, Any] = {"alpha": {"max": "3/4", "values": [texts[listed]]}}
    if kind != "text":
        asked["t"] = "1 ordered"
    if kind == "enum":
        asked["ordered"] = {"s": "declared"}
    made = shared_db.anonymize(
        source,
        quasi="q",
        sensitive="s",
        identifiers="pid",
        insensitive="mark",
        accept_unique="mark",
        person="pid",
        persons=strength,
        k=3,
        **asked,
    )
    own = {row[0]: (row[3], ranks[row[0]], 1) for row in rows}
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in read_table(shared_db, ("release", source)):
        box = tuple(str(cell) for name, cell in row.items() if name not in ("mark", "s"))
        found[box].append(own[row["mark"]])
    wanted = {"alpha of persons": Fraction(0), "t of persons": Fraction(0)}
    everything = over_persons.shares(list(own.values()))
    distance = over_rows.ordered(list(everything))
    for members in found.values():
        shares = over_persons.shares(members)
        wanted["alpha of persons"] = max(wanted["alpha of persons"], shares.get(ranks[listed], Fraction(0)))
        wanted["t of persons"] = max(wanted["t of persons"], over_rows.moved(shares, everything, distance))
    audit = made.audit()
    assert (audit.satisfied, audit.not_measured) == (True, ())
    for report in (made.report, audit):
        reached = {one.name: one.reached for one in report.requirements}
        for name, value in wanted.items():
            assert (kind, name) == ("text", "t of persons") or reached[name] == pytest.approx(float(value), rel=1e-12)


def test_an_audit_says_where_values_are_not_those_of_the_version(shared_db: Any) -> None:
    """Somebody wrote another value into the published table: which value has the hash is not known any more."""
    source = place(shared_db, visits(1))
    made = shared_db.anonymize(source, **EVENTS, **LISTED, persons="rows")
    ((changed,),) = shared_db.engine.fetch(f"SELECT physical FROM _sqlanon.catalog WHERE release = '{source}'")
    shared_db.engine.execute(f"UPDATE _sqlanon.\"{changed}\" SET s = 'z' WHERE s = 'a'")
    audit = made.audit()
    assert not audit.satisfied
    assert "alpha of persons by s: the table has other values than version 1 was made with" in audit.not_measured
    assert {one.name for one in audit.requirements} >= {"persons", "alpha"}


def test_an_audit_by_a_stricter_policy_counts_them(shared_db: Any) -> None:
    """The published version asked for no values; its private tables have hashes since it asked for l."""
    rows = visits(1)
    source = place(shared_db, rows)
    made = shared_db.anonymize(source, **EVENTS, l=1, persons="rows")
    asked = release(source=source, **EVENTS, alpha={"max": "1/10", "values": ["b", "c"]}, persons="rows")
    audit = shared_db.audit(f"release.{source}", spec=replace(made.spec, privacy=asked.privacy))
    shares = [
        over_persons.shares([(row["pid"], row["s"], 1) for row in members])
        for members in classes(shared_db, source, rows)
    ]
    most = max(own.get(value, Fraction(0)) for own in shares for value in ("b", "c"))
    (found,) = (one for one in audit.requirements if one.name == "alpha of persons")
    assert (found.reached, found.satisfied) == (pytest.approx(float(most), rel=1e-12), False)
    assert audit.not_measured == ()


def test_listed_values_that_occur_in_no_row_are_refused_once(shared_db: Any) -> None:
    source = place(shared_db, visits(1))
    with pytest.raises(PolicyError, match="1 of the listed values occur in no row") as refused:
        shared_db.anonymize(source, **EVENTS, alpha={"max": "1/2", "values": ["B"]}, persons="whole")
    assert str(refused.value).count("listed values") == 1


@pytest.mark.cover("strength")
@pytest.mark.parametrize("strength", ["rows", "whole"])
def test_what_a_reader_of_small_classes_believes(shared_db: Any, strength: str) -> None:
    """Every assignment of a class's names to its persons is equally likely to a reader of one event of each.

    Then a listed value of that event is believed with at most alpha, and all that is believed of it is nearer than t to
    what is believed of everybody who knows the whole table.
    """
    rows = [row for row in visits(6, 60) if row[4] in {f"z{i}" for i in range(6)}]
    source = place(shared_db, rows)
    asked = {"alpha": {"max": "3/5", "values": ["a", "b"]}, "t": "3/10 ordered", "ordered": {"s": "alphabetical"}}
    made = shared_db.anonymize(source, **{**EVENTS, "k": 2}, **asked, persons=strength, method="mondrian")
    found = classes(shared_db, source, rows)
    assert made.report.classes == len(found) > 1
    distance = over_rows.ordered([row[3] for row in rows])
    (whole,) = {tuple(sorted(one.items())) for one in beliefs([row for members in found for row in members])}
    for members in found:
        for believed in beliefs(members):
            assert all(believed.get(value, 0) <= Fraction(3, 5) for value in "ab")
            assert over_rows.moved(believed, dict(whole), distance) <= Fraction(3, 10)


def beliefs(members: list[dict[str, Any]]) -> Iterator[dict[str, Fraction]]:
    """Of each person of a class how probable the values of the known event are."""
    own: dict[str, list[str]] = defaultdict(list)
    for row in members:
        own[row["pid"]].append(row["s"])
    ways = list(permutations(own.values()))
    for victim in range(len(own)):
        believed: dict[str, Fraction] = defaultdict(Fraction)
        for values, times in Counter(tuple(way[victim]) for way in ways).items():
            for value in values:
                believed[value] += Fraction(times, len(values) * len(ways))
        yield dict(believed)
