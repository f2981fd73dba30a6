"""Models over persons that ask which values there are: audits have hashes of them, and find them in the published table."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.errors import PolicyError
from sqlanon.policy import release
from tests.contract.test_person_rows import ASKED, classes, place, visits
from tests.engines import Enum, create_table, read_table
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
    "text": ("TEXT", ["", " ", "é", None]),
    "enum": (Enum(("late", "early", "other")), ["late", "early", "other"]),
}


def plain(value: Any) -> str:
    """A value as Python shows it; -0.0 is 0.0."""
    return repr(value + 0.0 if isinstance(value, float) else value)


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
    shown = shared_db.engine.fetch(f"SELECT mark, CAST(s AS VARCHAR) FROM {source}")
    texts = {int(str(mark)): text for mark, text in shown}
    value = next(texts[row[0]] for row in rows if row[2] == pool[0])
    made = shared_db.anonymize(
        source, quasi="q", sensitive="s", identifiers="pid", insensitive="mark", accept_unique="mark", person="pid",
        persons=strength, k=3, alpha={"max": "3/4", "values": [value]},
    )  # fmt: skip
    own = {row[0]: row for row in rows}
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in read_table(shared_db, ("release", source)):
        box = tuple(str(cell) for name, cell in row.items() if name not in ("mark", "s"))
        found[box].append(own[row["mark"]])
    asked = {plain(row[2]) for row in rows if texts[row[0]] == value}
    most = Fraction(0)
    for members in found.values():
        shares = over_persons.shares([(row[3], plain(row[2]), 1) for row in members])
        most = max(most, *(shares.get(one, Fraction(0)) for one in asked))
    audit = made.audit()
    assert (audit.satisfied, audit.not_measured) == (True, ())
    for report in (made.report, audit):
        (one,) = (one for one in report.requirements if one.name == "alpha of persons")
        assert one.reached == pytest.approx(float(most), rel=1e-12)


def test_an_audit_says_where_values_are_not_those_of_the_version(shared_db: Any) -> None:
    """Somebody wrote another value into the published table: which value has the hash is not known any more."""
    source = place(shared_db, visits(1))
    made = shared_db.anonymize(source, **EVENTS, **LISTED, persons="rows")
    ((changed,),) = shared_db.engine.fetch(
        f"SELECT physical FROM _sqlanon.catalog WHERE release = '{source}'"
    )
    shared_db.engine.execute(f"UPDATE _sqlanon.\"{changed}\" SET s = 'z' WHERE s = 'a'")
    audit = made.audit()
    assert not audit.satisfied
    assert (
        "alpha of persons by s: the table has other values than version 1 was made with" in audit.not_measured
    )
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
