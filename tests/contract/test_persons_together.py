"""Persons left to a reader of two releases, or of two versions.

They are compared with a reader who tries every possible source.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pytest

import sqlanon
from sqlanon.cli.show.run import history_tables
from tests.engines import create_table, read_table
from tests.invoked import invoke


def matchings(fits: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give each person of the first kind another place of those that fit."""

    def fill(at: int, taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if at == len(fits):
            yield taken
            return
        for place in fits[at]:
            if place not in taken:
                yield from fill(at + 1, (*taken, place))

    yield from fill(0, ())


def fewest_owners(fits: Sequence[Sequence[int]], owner: Callable[[int], Hashable]) -> int:
    """The fewest owners that a published row may have, over all the sources that agree with what is published."""
    owners: dict[int, set[Hashable]] = defaultdict(set)
    for world in matchings(fits):
        for row, place in enumerate(world):
            owners[place].add(owner(row))
    return min(map(len, owners.values()))


VISIT = {"vid": "INTEGER", "pid": "INTEGER", "x": "INTEGER", "y": "INTEGER", "mark": "INTEGER"}


def pair_of(db: Any, rows: Sequence[Sequence[Any]], **more: Any) -> tuple[str, sqlanon.TogetherReport]:
    """Two releases of events, of x and of y, held together."""
    name = f"held_{uuid4().hex[:8]}"
    create_table(db, name, VISIT, rows)
    for column in "xy":
        db.anonymize(
            name,
            quasi=column,
            identifiers=["vid", "pid"],
            insensitive="mark",
            accept_unique="mark",
            rest="drop",
            k=3,
            rows_are="events",
            name=f"{name}_{column}",
            publish=f"release.{name}_{column}",
            **more,
        )
    return name, db.together(f"{name}_x", f"{name}_y")


def shown_as(db: Any, name: str, column: str) -> dict[int, tuple[int, int]]:
    """mark -> the published range."""
    read = read_table(db, ("release", f"{name}_{column}"))
    return {row["mark"]: (row[f"{column}_lo"], row[f"{column}_hi"]) for row in read}


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(4))
def test_no_reader_of_both_is_left_with_fewer_persons(shared_db: Any, seed: int) -> None:
    """The reader knows every visit's patient, x and y, and which rows of the two releases are one: by mark."""
    drawn = random.Random(seed)
    rows = [(i, i // 3, drawn.randrange(4), drawn.randrange(4), 100 - i) for i in range(9)]
    name, reported = pair_of(shared_db, rows, persons="ignored")
    boxes = [shown_as(shared_db, name, column) for column in "xy"]
    marks = sorted(boxes[0])
    fits = [
        [
            at
            for at, mark in enumerate(marks)
            if all(box[mark][0] <= value <= box[mark][1] for box, value in zip(boxes, row[2:4], strict=True))
        ]
        for row in rows
    ]
    left = {"vid": fewest_owners(fits, lambda row: rows[row][0]), "pid": fewest_owners(fits, lambda row: rows[row][1])}
    assert all(reported.min_identifiers[column] <= persons for column, persons in left.items())
    apart = [sorted(set(box.values())) for box in boxes]
    if all(low[1] < high[0] for box in apart for low, high in pairwise(box)):
        assert reported.min_identifiers == left
    assert reported.min_identifiers["vid"] == reported.k


def one_patient_in_a_corner() -> list[tuple[int, ...]]:
    """Both releases have classes of 3 patients; where x and y are both 1 there are 3 visits of one."""
    visits = [(1, 1, 1)] * 3
    visits += [
        (patient, x, y) for x, y, first in ((1, 0, 2), (0, 1, 5), (0, 0, 8)) for patient in range(first, first + 3)
    ]
    return [(at, patient, x, y, 50 - at) for at, (patient, x, y) in enumerate(visits)]


def test_visits_of_one_patient_are_one_person(shared_db: Any) -> None:
    """A cell of three rows, and of one person: what is promised is violated, as a single release's audit says."""
    _, reported = pair_of(shared_db, one_patient_in_a_corner())
    assert (reported.k, reported.min_identifiers) == (3, {"pid": 1, "vid": 3})
    assert {item.column: (item.asked, item.reached, item.satisfied) for item in reported.requirements} == {
        "pid": (3, 1, False),
        "vid": (3, 3, True),
    }
    assert not reported.satisfied


def test_persons_ignored_by_both(shared_db: Any) -> None:
    _, reported = pair_of(shared_db, one_patient_in_a_corner(), persons="ignored")
    assert (reported.min_identifiers, reported.requirements, reported.satisfied) == ({"pid": 1, "vid": 3}, (), True)


def test_persons_on_the_screen(tmp_path: Path) -> None:
    """The command fails as an audit of one release does, and names the identifier."""
    duckdb.connect(f"{tmp_path}/held.duckdb").close()
    url = f"duckdb:///{tmp_path}/held.duckdb"
    with sqlanon.connect(url) as db:
        name, _ = pair_of(db, one_patient_in_a_corner())
    ended = invoke("audit", "--together", f"{name}_x", f"{name}_y", "--db", url)
    assert ended.exit_code == 1, ended.output
    assert "fewest distinct pid of both together" in ended.stdout
    assert "A requirement is VIOLATED." in ended.stdout


# --- versions --------------------------------------------------------------------------------------------------------

WARD = {"vid": "INTEGER", "pid": "INTEGER", "age": "INTEGER", "dx": "TEXT"}
Visit = tuple[int, int, int, str]


def night(db: Any, name: str, rows: Sequence[Visit], **more: Any) -> tuple[Any, list[str]]:
    """A version of the ward, and the illnesses that it shows of those who are 30."""
    db.engine.execute(f"DROP TABLE IF EXISTS {name}")
    create_table(db, name, WARD, rows)
    spec = sqlanon.policy.release(
        source=name,
        quasi="age",
        sensitive="dx",
        identifiers=["vid", "pid"],
        key="vid",
        k=2,
        rows_are="events",
        publish=f"release.{name}",
        name=name,
        **more,
    )
    report = db.run(spec)
    read = read_table(db, ("release", name))
    return report, sorted(row["dx"] for row in read if row["age_lo"] == 30)


def readers_fewest(versions: Sequence[Sequence[Visit]], shown: Sequence[Sequence[str]], at: int) -> int:
    """The fewest owners of a row that one of two versions shows, by ``at``.

    It is known who was 30 in each version, and who changed.
    """
    ward = [[row for row in rows if row[2] == 30] for rows in versions]
    same = [(i, ward[1].index(row)) for i, row in enumerate(ward[0]) if row in ward[1]]
    owners: dict[tuple[int, int], set[Hashable]] = defaultdict(set)
    for old in permutations(range(len(ward[0]))):
        for new in permutations(range(len(ward[1]))):
            if all(shown[0][old[i]] == shown[1][new[j]] for i, j in same):
                for version, world in enumerate((old, new)):
                    for row, place in enumerate(world):
                        owners[version, place].add(ward[version][row][at])
    return min(map(len, owners.values()))


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(6))
def test_no_reader_of_two_versions_is_left_with_fewer_persons(shared_db: Any, seed: int) -> None:
    """Classes are ages: a component is one old and one new class, and any illness may be anybody's of a group."""
    drawn = random.Random(seed)
    name = f"nights_{uuid4().hex[:8]}"
    beside: list[Visit] = [(90 + i, 90 + i, 60, "flu") for i in range(4)]
    first: list[Visit] = [(i, drawn.randrange(3), 30, drawn.choice("abc")) for i in range(4)]
    stay = drawn.sample(first, drawn.randrange(2, 5))
    second = [*stay, *((10 + i, drawn.randrange(3, 5), 30, drawn.choice("abc")) for i in range(5 - len(stay)))]
    versions = ([*first, *beside], [*second, *beside])
    shown = [night(shared_db, name, rows, persons="ignored")[1] for rows in versions]
    (one,) = shared_db.history(name)
    reported = [sets.persons for sets in (one.arrived, one.left, one.common) if sets.rows]
    assert min(reported) <= readers_fewest(versions, shown, 1)
    rows = [sets.smallest for sets in (one.arrived, one.left, one.common) if sets.rows]
    assert min(rows) <= readers_fewest(versions, shown, 0)


BEFORE: list[Visit] = [*((i, i, 30, "abc"[i % 3]) for i in range(3)), *((90 + i, 90 + i, 60, "a") for i in range(4))]
AFTER: list[Visit] = [*BEFORE, *((10 + i, 7, 30, "d") for i in range(3))]


def test_newcomers_of_one_person(shared_db: Any) -> None:
    """Three visits arrive, and all are of patient 7: rows say 3, and 7 is given away."""
    name = f"one_{uuid4().hex[:8]}"
    shown = [night(shared_db, name, rows, persons=None)[1] for rows in (BEFORE, AFTER)]
    assert readers_fewest((BEFORE, AFTER), shown, 1) == 1
    (one,) = shared_db.history(name)
    assert (one.arrived.smallest, one.arrived.persons, one.arrived.failing, one.failing) == (3, 1, 3, 3)
    assert (one.common.persons, one.common.failing, one.not_measured) == (3, 0, "")
    strict = {"max_failing": 0}
    night(shared_db, f"{name}s", BEFORE, **strict)
    with pytest.raises(sqlanon.PrivacyViolation, match=r"would leave 3 rows .*fewest persons 1"):
        night(shared_db, f"{name}s", AFTER, **strict)


def test_newcomers_where_persons_are_ignored(shared_db: Any) -> None:
    name = f"ignored_{uuid4().hex[:8]}"
    more = {"persons": "ignored", "max_failing": 0}
    night(shared_db, name, BEFORE, **more)
    report, _ = night(shared_db, name, AFTER, **more)
    assert (report.history[0].arrived.persons, report.history[0].failing) == (1, 0)


def test_a_history_of_an_older_sqlanon(shared_db: Any) -> None:
    """It holds no persons: those who left cannot be counted, and that is said."""
    name = f"older_{uuid4().hex[:8]}"
    night(shared_db, name, AFTER)
    ((physical,),) = shared_db.engine.fetch(f"SELECT physical FROM _sqlanon.catalog WHERE release = '{name}'")
    for column in ("p1", "p2"):
        shared_db.engine.execute(f'ALTER TABLE _sqlanon."{physical}_history" DROP COLUMN {column}')
    report, _ = night(shared_db, name, BEFORE)
    (one,) = report.history
    assert (one.left.rows, one.left.persons, one.common.persons) == (3, None, 3)
    assert "persons of version 1" in one.not_measured
    shown = "".join(str(line) for line in history_tables(report.history))
    assert "NOT MEASURED: persons of version 1" in shown
