"""Lineages of tables of events.

Classes have rows of k persons, and with `persons: whole` a person is in one class of a lineage.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.errors import GuardError
from sqlanon.spec import CohortSpec, RefreshSpec, ReleaseSpec
from tests.covering import seeds
from tests.engines import create_table
from tests.frozen.changes import later as days_later
from tests.frozen.wards import classes

FRESH = count()
COLUMNS = {"id": "INTEGER", "who": "TEXT", "age": "INTEGER", "ill": "TEXT"}
K, L, COHORT = 3, 2, 12


def events(table: str, cohort: CohortSpec, **asked: Any) -> ReleaseSpec:
    """A lineage of a table of events."""
    made = policy.release(
        source=table,
        name=table,
        publish=f"release.{table}",
        quasi=["age"],
        sensitive="ill",
        identifiers=["id", "who"],
        key=["id"],
        person=["who"],
        **asked,
    )
    return replace(made, refresh=RefreshSpec("frozen", cohort=cohort))


@pytest.mark.cover
@pytest.mark.parametrize("persons", ["rows", "whole"])
@pytest.mark.parametrize("seed", seeds(6, 1))
def test_nights_of_events(shared_db: Any, persons: str, seed: int) -> None:
    """Rows come, also of persons who are published, and go.

    Who is in which class is counted by the rows of the source.
    """
    draw, table, number = random.Random(seed), f"events_{next(FRESH)}", count()
    spec = events(table, CohortSpec(COHORT), persons=persons, k=K, l=L)
    source: dict[int, tuple[str, int, str]] = {}
    owner: dict[int, str] = {}

    def come(rows: int, first: int, last: int) -> None:
        for _ in range(rows):
            new = next(number)
            source[new] = (f"p{draw.randrange(first, last)}", draw.randrange(90), draw.choice(("flu", "cold", "hiv")))
            owner[new] = source[new][0]

    come(40, 0, 20)
    before: dict[int, int] = {}
    for night in range(5):
        shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        create_table(shared_db, table, COLUMNS, [(key, *row) for key, row in source.items()])
        report = shared_db.run(spec)
        found = classes(shared_db, table, owner)
        assert before.items() <= found.items()
        where, holds = defaultdict(set), defaultdict(set)
        for key, number_of in found.items():
            where[owner[key]].add(number_of)
            holds[number_of].add(owner[key])
        assert min(map(len, holds.values())) >= K
        later = [key for key in source if key not in found and owner[key] in where]
        if persons == "whole":
            assert max(map(len, where.values())) == 1
            assert len(later) == report.lineage.later
        else:
            assert report.lineage.later == 0
        reached = {one.name: one.reached for one in report.requirements}
        assert reached["persons"] == min(map(len, holds.values()))
        before = found
        for key in draw.sample(sorted(source), 4):
            del source[key]
        come(8, night * 5, 40)
    assert all(one.failing == 0 and not one.unknown for one in shared_db.history(table))
    audit = shared_db.audit(f"release.{table}", spec=spec)
    assert audit.not_measured == ()
    measured = {one.name: one.reached for one in audit.requirements}
    assert measured["persons"] == min(map(len, holds.values()))
    assert all(one.satisfied for one in audit.requirements)


def test_later_rows_wait_also_where_no_row_of_the_person_is_left(shared_db: Any) -> None:
    table = f"events_{next(FRESH)}"
    spec = events(table, CohortSpec(2), k=2)
    rows = [(number, f"p{number // 2}", number, "flu") for number in range(8)]
    nights = (
        rows,
        [*rows[2:], (90, "p0", 1, "flu"), (91, "p9", 1, "flu"), (92, "p8", 1, "flu")],
        [(93, "p0", 1, "flu"), *rows[4:]],
    )
    counts = []
    for night in nights:
        shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        create_table(shared_db, table, COLUMNS, night)
        report = shared_db.run(spec).lineage
        counts.append((report.entered, report.later))
    assert counts == [(8, 0), (2, 1), (0, 1)]


def test_later_rows_wait_by_the_person_of_then_and_of_now(shared_db: Any) -> None:
    """A published row of p0 turns out to be p9's: later rows of both wait, and those of others are published."""
    table = f"events_{next(FRESH)}"
    spec = events(table, CohortSpec(3), k=2)
    rows = [(number, f"p{number // 2}", number, "flu") for number in range(8)]
    now = [(0, "p9", 0, "flu"), *rows[1:]]
    more = [(90, "p9", 1, "flu"), (91, "p0", 1, "flu"), (92, "p7", 1, "flu"), (93, "p8", 1, "flu")]
    counts = []
    for night in (rows, [*now, *more], [*now, *more, (94, "p6", 1, "flu")]):
        shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        create_table(shared_db, table, COLUMNS, night)
        report = shared_db.run(spec).lineage
        counts.append((report.entered, report.waiting, report.later))
    assert counts == [(8, 0, 0), (0, 2, 2), (3, 0, 2)]


def test_histories_count_persons_of_each_class_by_itself(shared_db: Any) -> None:
    """Classes of two cohorts publish the same.

    Together two of three persons have one illness, which is promised of no union.
    """
    table, ill = f"events_{next(FRESH)}", ("flu", "cold")
    spec = events(table, CohortSpec(2), persons="rows", k=2, l=2, accept_unique=["ill"])
    persons = ("p", "q", "p", "r", "y", "z")
    for rows in (2, 4, 6):
        shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        source = [(key, persons[key], 30, ill[key % 2]) for key in range(rows)]
        create_table(shared_db, table, COLUMNS, source)
        assert shared_db.run(spec).lineage.entered == 2
    found = shared_db.history(table)
    assert [(one.common.groups, one.common.rows, one.failing) for one in found] == [(1, 2, 0), (2, 4, 0)]


def test_a_person_of_another_type_needs_a_new_lineage(shared_db: Any) -> None:
    """Later rows of a published person whose other rows are gone would not be recognized.

    Its hash is of another text.
    """
    table = f"events_{next(FRESH)}"
    spec = events(table, CohortSpec(2), k=2, l=2, accept_unique=["ill"])
    first = [(1, 10, 30, "flu"), (2, 11, 30, "cold"), (3, 12, 30, "flu"), (4, 13, 30, "cold")]
    create_table(shared_db, table, COLUMNS | {"who": "INTEGER"}, first)
    shared_db.run(spec)
    shared_db.engine.execute(f"DROP TABLE {table}")
    later = [(5, 10, 30, "cold"), (6, 20, 30, "flu")]
    create_table(shared_db, table, COLUMNS | {"who": "DECIMAL(9, 2)"}, [*first[1:], *later])
    with pytest.raises(GuardError, match="column who: type"):
        shared_db.run(spec)


def test_rows_of_a_person_who_turned_out_to_be_published_are_never_due(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for a new lineage, so that a run of an unchanged source makes no version for them."""
    table = f"events_{next(FRESH)}"
    spec = events(table, CohortSpec(100, 86400), k=2)
    rows = [(number, f"p{number // 2}", number, "flu") for number in range(8)]
    more, now = [(90, "x", 1, "flu"), (91, "y", 1, "flu")], [(0, "x", 0, "flu"), (2, "y", 2, "flu")]
    counts = []
    for night in (rows, [*rows, *more], [*now, *rows[3:], *more]):
        shared_db.engine.execute(f"DROP TABLE IF EXISTS {table}")
        create_table(shared_db, table, COLUMNS, night)
        report = shared_db.run(spec).lineage
        counts.append((report.waiting, report.later))
    assert counts == [(0, 0), (2, 0), (0, 2)]
    days_later(monkeypatch, 2)
    assert shared_db.run(spec).outcome == "unchanged"
