"""A requirement that counts persons, who have several rows each, from a policy to the history, on both engines."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sqlanon.declared import REQUIREMENTS
from sqlanon.errors import InfeasibleError, PolicyError, PrivacyViolation
from sqlanon.policy import release
from tests.contract.test_person_rows import classes
from tests.declared import declare
from tests.engines import create_table, read_table
from tests.extend.people import DECLARED
from tests.safety.bad import tampering


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension is there for a test."""
    monkeypatch.setitem(REQUIREMENTS._known, DECLARED.name, DECLARED)


COLUMNS = {"mark": "INTEGER", "q": "INTEGER", "w": "TEXT", "s": "TEXT", "zid": "TEXT", "fid": "INTEGER"}
"""Of a row: its number, two quasi columns, a sensitive one, whose it is, and of which family (NULL is one)."""


def visits(seed: int, count: int = 120) -> list[tuple[Any, ...]]:
    """Visits of some 20 persons and 8 families; few values, so that many rows differ in their persons alone."""
    drawn = random.Random(seed)
    return [
        (
            i,
            drawn.randrange(9),
            drawn.choice("pq"),
            drawn.choice("ab"),
            f"z{min(drawn.randrange(20), drawn.randrange(20))}",
            drawn.choice([None, *range(7)]),
        )
        for i in range(count)
    ]


ASKED: dict[str, Any] = {
    "quasi": ["q", "w"],
    "sensitive": "s",
    "insensitive": "mark",
    "accept_unique": "mark",
    "identifiers": ["zid", "fid"],
    "rows_are": "events",
    "persons": "ignored",
    "k": 2,
    "requirements": {"people": 4},
}


@pytest.fixture
def source(shared_db: Any) -> Iterator[str]:
    name = f"people_{uuid.uuid4().hex[:10]}"
    create_table(shared_db, name, COLUMNS, visits(1))
    yield name
    shared_db.engine.execute(f"DROP TABLE {name}")


def held(db: Any, table: str) -> dict[str, list[int]]:
    """Persons and families of every class as it was published, by brute force.

    The row numbers lead to the source's rows.
    """
    found = classes(db, table, visits(1), COLUMNS)
    return {name: [len({row[name] for row in rows}) for rows in found] for name in ("zid", "fid")}


WAYS = [
    ("tree", "kernel"),
    ("hilbert", "pushdown"),
    ("idistance", "kernel"),
    ("mondrian", "kernel"),
    ("mondrian", "pushdown"),
    ("mondrian:variant=relaxed", "kernel"),
    ("mondrian:variant=relaxed", "pushdown"),
    ("fulldomain", "kernel"),
    ("fulldomain:search=global", "pushdown"),
]


@pytest.mark.cover("engine execution")
@pytest.mark.parametrize(("method", "execution"), WAYS)
def test_every_class_has_so_many_persons(shared_db: Any, source: str, method: str, execution: str) -> None:
    asked = {**ASKED, "method": method}
    found = shared_db.anonymize(source, execution=execution, **asked)
    reached = held(shared_db, source)
    reported = {one.column: one for one in found.report.requirements if one.name == "people"}
    assert {name: one.reached for name, one in reported.items()} == {n: min(r) for n, r in reached.items()}
    assert all(one.asked == 4 <= one.reached and one.satisfied for one in reported.values())
    assert found.report.classes == len(reached["zid"]) > 1
    assert found.report.min_identifiers == {name: min(counts) for name, counts in reached.items()}
    rows = read_table(shared_db, ("release", source))
    without = {**asked, "requirements": None}
    shared_db.anonymize(source, execution=execution, allow_weaker=True, **without)
    assert min(held(shared_db, source)["zid"]) < 4
    if execution == "pushdown":
        shared_db.anonymize(source, execution="kernel", allow_weaker=True, **asked)
        assert sorted(map(str, read_table(shared_db, ("release", source)))) == sorted(map(str, rows))


def test_refine_keeps_it(shared_db: Any, source: str) -> None:
    found = shared_db.anonymize(source, **ASKED, method="hilbert", refine=True)
    reached = held(shared_db, source)
    assert min(min(counts) for counts in reached.values()) >= 4
    assert found.report.classes == len(reached["zid"]) > 1


def test_the_order_of_the_source_does_not_matter(shared_db: Any, source: str) -> None:
    """Rows that differ in their persons alone are not equal to the method."""
    asked = {**ASKED, "method": "tree", "seed": 1}
    shared_db.anonymize(source, **asked)
    rows = sorted(map(str, read_table(shared_db, ("release", source))))
    shared_db.engine.execute(f"CREATE TABLE other AS SELECT * FROM {source}")
    shared_db.engine.execute(f"DELETE FROM {source}")
    shared_db.engine.execute(f"INSERT INTO {source} SELECT * FROM other ORDER BY mark DESC")
    shared_db.engine.execute("DROP TABLE other")
    shared_db.anonymize(source, **asked)
    assert sorted(map(str, read_table(shared_db, ("release", source)))) == rows


def test_more_persons_than_there_are_is_refused_with_their_number(shared_db: Any, source: str) -> None:
    persons = len({row[4] for row in visits(1)})
    families = len({row[5] for row in visits(1)})
    with pytest.raises(InfeasibleError) as refused:
        shared_db.anonymize(source, **{**ASKED, "requirements": {"people": 99}})
    assert f"people = 99 of zid; the largest feasible value is {persons}" in str(refused.value)
    assert f"people = 99 of fid; the largest feasible value is {families}" in str(refused.value)


def test_verify_finds_a_class_of_few_persons(shared_db: Any, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, "careless", tampering(), "mondrian")
    with pytest.raises(PrivacyViolation, match=r"people of [zf]id: asked 4, reached [123]; [0-9]+ classes fail"):
        shared_db.anonymize(source, **{**ASKED, "k": 2}, method="careless")


def test_audits_count_over_the_private_link_table(shared_db: Any, source: str) -> None:
    made = shared_db.anonymize(source, **ASKED)
    reached = {name: min(counts) for name, counts in held(shared_db, source).items()}

    def audited(spec: Any) -> Any:
        report = shared_db.audit(f"release.{source}", spec=spec)
        found = {one.column: (one.reached, one.satisfied) for one in report.requirements if one.name == "people"}
        return found, report.not_measured

    assert audited(made.spec) == ({name: (number, True) for name, number in reached.items()}, ())
    over = replace(made.spec, privacy=replace(made.spec.privacy, more={"people": max(reached.values()) + 1}))
    assert audited(over) == ({name: (number, False) for name, number in reached.items()}, ())
    uncounted = [replace(one, accept_repeats=one.name == "fid") for one in made.spec.columns]
    shared_db.run(replace(made.spec, columns=tuple(uncounted)), allow_weaker=True)
    found, lacking = audited(made.spec)
    assert found == {}
    assert [text.partition(":")[0] for text in lacking] == ["people by fid", "people by zid"]


def test_the_history_counts_persons_of_newcomers(shared_db: Any, source: str) -> None:
    asked = {**ASKED, "key": "mark", "insensitive": None, "accept_unique": None}
    asked["identifiers"] = ["zid", "fid", "mark"]
    asked["accept_repeats"] = "mark"
    shared_db.anonymize(source, **asked)
    shared_db.engine.execute(
        f"INSERT INTO {source} VALUES " + ", ".join(f"({900 + i}, {i % 2}, 'p', 'a', 'new', {i % 7})" for i in range(8))
    )
    second = shared_db.anonymize(source, **asked)
    # Eight rows, enough for k and of seven families, but of one person.
    assert second.report.history[0].arrived.failing == 8


def test_policies_check_it() -> None:
    def read(**more: Any) -> Any:
        return release(source="t", quasi="q", k=2, requirements={"people": 3}, **more)

    assert read(identifiers="p", rows_are="events").privacy.value("people") == 3
    with pytest.raises(PolicyError, match=r"people\]: the rows are persons; people counts persons"):
        read(identifiers="p")
    with pytest.raises(PolicyError, match=r"people\]: 0 of 1 identifiers that count persons"):
        read(identifiers="p", accept_repeats="p", rows_are="events")
    with pytest.raises(PolicyError, match=r"people\]: 0 of 1 identifiers that count persons"):
        read(rows_are="events")


def test_suppress_refuses_what_it_cannot_count() -> None:
    """Its groups are kept by sensitive values; plan says so with the policy."""
    with pytest.raises(
        PolicyError, match=r"suppress is for k, l and distinct_l: .*; with people use tree, hilbert or mondrian"
    ):
        release(source="t", **ASKED, method="suppress", format="suppressed")
