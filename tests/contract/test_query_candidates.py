"""Counts over boxes of their own against every source and every graph of candidates of tiny releases."""

from __future__ import annotations

import itertools
import math
import random
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from sqlanon.query.rewrite import solve_matchings
from tests.covering import seeds
from tests.oracle.candidates import Box, Point, cover, graphs, sources
from tests.oracle.handmade import members, plain, publish, quasi

CONDITIONS = [
    ("x < 2", lambda x, _: x < 2),
    ("x = 3", lambda x, _: x == 3),
    ("x IN (1, 4)", lambda x, _: x in (1, 4)),
    ("y = 1", lambda _, y: y == 1),
    ("x > 1 AND y > 0", lambda x, y: x > 1 and y > 0),
    ("x > 2 OR y < 1", lambda x, y: x > 2 or y < 1),
    ("(x < 2 AND y = 0) OR (x > 2 AND y = 2)", lambda x, y: (x < 2 and y == 0) or (x > 2 and y == 2)),
]


def drawn(rng: random.Random, columns: int) -> tuple[int, list[Box], list[tuple[Point, ...]]]:
    """k, the boxes of a random release, and its sources."""
    while True:
        rows, k = rng.choice([(4, 2), (4, 3), (5, 2)] if columns == 1 else [(4, 2), (4, 3)])
        every = graphs(rows, k)
        points = [(rng.randrange(5), rng.randrange(3) if columns == 2 else 1) for _ in range(rows)]
        boxes = [cover(points, rows) for rows in rng.choice(every)]
        size = 1
        for box in boxes:
            for low, high in box:
                size *= high - low + 1
        if size <= 1500:
            return k, boxes, list(sources(boxes, every))


@dataclass
class Widths:
    """Counts, those whose ends both are reached by a source, and sums of widths.

    They are of the answers, of all sources, and of boxes alone.
    """

    counts: int = 0
    reached: int = 0
    answered: int = 0
    least: int = 0
    alone: int = 0


def check(db: Any, seed: str, releases: int, each: int = 1) -> Widths:
    """Ask every ``each``-th condition of random releases, and groups of one column unless all are asked."""
    rng, widths = random.Random(seed), Widths()
    for number in range(releases):
        k, boxes, found = drawn(rng, 1 + number % 2)
        name = f"c{uuid.UUID(int=rng.getrandbits(128)).hex[:10]}"
        cells = [[*(str(end) for ends in box for end in ends), "'s'"] for box in boxes]
        given = [quasi("x", "integer", "INTEGER"), quasi("y", "integer", "INTEGER"), plain("s", "text", "TEXT")]
        publish(db, name, given, cells, facts={"boxes": "own", "k": k})
        publish(db, f"{name}_plain", given, cells)
        for text, holds in CONDITIONS[::each]:
            counts = [sum(holds(*point) for point in points) for points in found]
            asked = f"SELECT count(*) AS n FROM {{}} WHERE {text}"
            cell = db.query(asked.format(name)).rows[0]["n"]
            alone = db.query(asked.format(f"{name}_plain")).rows[0]["n"]
            assert cell.low <= min(counts), (text, boxes, k)
            assert cell.high >= max(counts), (text, boxes, k)
            assert alone.low <= cell.low
            assert cell.high <= alone.high
            assert not cell.tight or (cell.low, cell.high) == (min(counts), max(counts))
            widths.counts += 1
            widths.reached += (cell.low, cell.high) == (min(counts), max(counts))
            widths.answered += cell.high - cell.low
            widths.least += max(counts) - min(counts)
            widths.alone += alone.high - alone.low
            share = db.query(f"SELECT 1.0 * count(*) FILTER (WHERE {text}) / count(*) AS s FROM {name}").rows[0]["s"]
            assert share.low - 1e-9 <= min(counts) / len(boxes)
            assert share.high + 1e-9 >= max(counts) / len(boxes)
        for key, at in (("x", 0), ("y", 1))[: 2 if each == 1 else 1]:
            answer = db.query(f"SELECT {key}, count(*) AS n FROM {name} WHERE x < 4 GROUP BY {key}")
            groups = {row[key]: row["n"] for row in answer.rows}
            for points in found:
                for value in {point[at] for point in points if point[0] < 4}:
                    count = sum(point[at] == value and point[0] < 4 for point in points)
                    assert groups[value].low <= count <= groups[value].high
            for row, certain in zip(answer.rows, answer.certain, strict=True):
                assert not certain or all(any(p[at] == row[key] and p[0] < 4 for p in points) for points in found)
        for end in ("", "_plain"):
            db.engine.execute(f"DROP TABLE release.{name}{end}; DROP TABLE release.{name}{end}_metadata")
    return widths


@pytest.mark.parametrize("seed", seeds(1))
def test_counts_hold_over_all_graphs_of_candidates(shared_db: Any, seed: int) -> None:
    widths = check(shared_db, f"candidates {seed}", 2, each=5)
    assert widths.reached == widths.counts
    assert widths.answered < widths.alone


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(1, 3))
def test_more_counts_hold_over_all_graphs_of_candidates(shared_db: Any, seed: int) -> None:
    """Of two columns, a condition on one alone does not know the graphs that the other one excludes."""
    widths = check(shared_db, f"candidates {seed}", 60)
    assert widths.reached > 0.99 * widths.counts, widths
    assert widths.answered - widths.least < 0.005 * (widths.alone - widths.least), widths


MIXED = [
    ("s = 'a'", lambda _, s: s == "a"),
    ("s <> 'b'", lambda _, s: s != "b"),
    ("d IS NULL", lambda d, _: d is None),
    ("d > DATE '2020-01-01' AND s IN ('a', 'c')", lambda d, s: d is not None and d > 1 and s in "ac"),
    ("d <= DATE '2020-01-02' OR s = 'b'", lambda d, s: (d is not None and d <= 2) or s == "b"),
    ("NOT (d = DATE '2020-01-01' AND s = 'a')", lambda d, s: s != "a" if d is None else not (d == 1 and s == "a")),
]
"""Conditions on a date and a set, with days as numbers."""


def test_counts_of_dates_sets_and_null_are_as_narrow_as_the_graphs_allow(shared_db: Any) -> None:
    check_mixed(shared_db, "mixed", ["ends"])


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("seed", range(3))
def test_more_counts_of_dates_sets_and_null_are_as_narrow_as_the_graphs_allow(shared_db: Any, seed: int) -> None:
    check_mixed(shared_db, f"mixed {seed}", ["none", "all", "some", "ends"])


def check_mixed(db: Any, seed: str, states: list[str]) -> None:
    """Ask a release of each state of NULL, where the bounds must be reached."""
    rng, reached = random.Random(seed), 0
    every = graphs(4, 2)
    given = [quasi("d", "date", "DATE", nulls=True), members("s"), plain("p", "text", "TEXT")]
    for state in states:
        boxes: list[tuple[Any, ...]] = []
        while not boxes or state not in map(_state, boxes) or _size(boxes) > 1_000:
            points = [(None if rng.random() < 0.4 else rng.choice([1, 2, 3]), rng.choice("abc")) for _ in range(4)]
            boxes = [_mixed_box([points[row] for row in rows], state) for rows in rng.choice(every)]
        choices = [list(itertools.product(*box)) for box in boxes]
        found = [
            one
            for one in itertools.product(*choices)
            if any(
                all(_mixed_box([one[row] for row in rows], state) == boxes[b] for b, rows in enumerate(g))
                for g in every
            )
        ]
        name = f"m{uuid.UUID(int=rng.getrandbits(128)).hex[:10]}"
        publish(db, name, given, [_mixed_cells(*box) for box in boxes], facts={"boxes": "own", "k": 2})
        for text, holds in MIXED:
            counts = [sum(holds(*point) for point in one) for one in found]
            cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE {text}").rows[0]["n"]
            assert cell.low <= min(counts), (text, boxes)
            assert cell.high >= max(counts), (text, boxes)
            reached += (cell.low, cell.high) == (min(counts), max(counts))
    assert reached == len(states) * len(MIXED)


def _mixed_box(points: list[tuple[int | None, str]], state: str) -> tuple[Any, ...]:
    """The days and the letters that a box of these points has; 0 is any day before those of the conditions.

    Next to NULL the other days are ``some``, any, or between ``ends``.
    """
    days, letters = {day for day, _ in points}, sorted({letter for _, letter in points})
    known = [day for day in days if day is not None]
    if not known:
        return [None], letters
    between = list(range(min(known), max(known) + 1))
    return ([None, *(between if state == "ends" else range(4))] if None in days else between), letters


def _state(box: tuple[Any, ...]) -> str:
    if None not in box[0]:
        return "none"
    return "all" if box[0] == [None] else "some" if 0 in box[0] else "ends"


def _size(boxes: list[tuple[Any, ...]]) -> int:
    return math.prod(len(days) * len(letters) for days, letters in boxes)


def _mixed_cells(days: list[int | None], letters: list[str]) -> list[str]:
    state, known = _state((days, letters)), [day for day in days if day is not None]
    ends = [f"DATE '2020-01-0{day}'" for day in (known[0], known[-1])] if state in ("none", "ends") else ["NULL"] * 2
    array = ", ".join(f"'{letter}'" for letter in letters)
    return [*ends, f"'{state if state != 'ends' else 'some'}'", f"ARRAY[{array}]", "'p'"]


def test_an_answer_says_that_all_matchings_were_not_asked(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [quasi("x", "integer", "INTEGER"), plain("s", "text", "TEXT")]
    publish(shared_db, "three", given, [["0", "4", "'s'"]] * 3, facts={"boxes": "own", "k": 2})
    monkeypatch.setattr(solve_matchings, "MOST_ROWS", 2)
    answer = shared_db.query("SELECT count(*) AS n FROM three WHERE x < 2")
    assert answer.sql.startswith("-- bounds by closed forms, not by the exact solver: the release has more than 2 rows")
    monkeypatch.setattr(solve_matchings, "MOST_ROWS", 3)
    answer = shared_db.query("SELECT count(*) AS n FROM three WHERE x < 3 AND sqrt(x) < 1.5")
    assert "more than comparisons with constants" in answer.sql


def test_private_columns_say_nothing_of_other_candidates(shared_db: Any) -> None:
    """The row that is published in [0, 4] has one of its ends, and which one nobody knows."""
    given = [quasi("x", "integer", "INTEGER"), plain("s", "text", "TEXT")]
    cells = [["0", "4", f"'{letter}'"] for letter in "ab"]
    publish(shared_db, "two", given, cells, facts={"boxes": "own", "k": 2})
    for where, low, high in (("x < 2", 1, 1), ("x < 2 AND s = 'a'", 0, 1), ("x < 2 OR s = 'a'", 1, 2), ("x = 2", 0, 0)):
        cell = shared_db.query(f"SELECT count(*) AS n FROM two WHERE {where}").rows[0]["n"]
        assert (cell.low, cell.high) == (low, high), where
    sums = shared_db.query("SELECT sum(x) AS s, count(DISTINCT x) AS d FROM two").rows[0]
    assert sums["s"].low <= 4 <= sums["s"].high
    assert sums["d"].low <= 2 <= sums["d"].high
