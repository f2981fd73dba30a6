"""Comparisons of sums and differences of columns with ranges.

Bounds against every value of every box, in ranges and in points.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.oracle.handmade import Given, plain, publish, quasi

DAY = dt.date(2024, 3, 1)
BOXES = [((20, 22), (0, 3)), ((25, 25), (5, 6)), ((30, 33), (9, 9)), ((18, 40), (0, 12)), ((26, 27), (2, 4))]
"""Of every row: a range of ages, and one of days after `DAY`."""

Where = Callable[[int, dt.date], bool]
TESTS: list[tuple[str, Where]] = [
    ("seen - DATE '2024-03-01' > 5", lambda _, d: (d - DAY).days > 5),
    ("DATE '2024-03-10' - seen <= 4", lambda _, d: (dt.date(2024, 3, 10) - d).days <= 4),
    (
        "seen - DATE '2024-03-01' BETWEEN 2 AND 4 OR seen - DATE '2024-03-01' = 9",
        lambda _, d: 2 <= (d - DAY).days <= 4 or (d - DAY).days == 9,
    ),
    ("seen - 3 > DATE '2024-03-01'", lambda _, d: d - dt.timedelta(3) > DAY),
    ("age - (5 - 3) > 20", lambda a, _: a - (5 - 3) > 20),
    ("-(age - 3) < -20", lambda a, _: -(a - 3) < -20),
    ("30 - (age - 4) >= 8", lambda a, _: 30 - (a - 4) >= 8),
    ("(seen - DATE '2024-03-01') - (age - 20) > 0", lambda a, d: (d - DAY).days - (a - 20) > 0),
    ("age + (seen - DATE '2024-03-01') <> 30", lambda a, d: a + (d - DAY).days != 30),
    ("NOT (age - (2 - 1) < 25)", lambda a, _: not a - 1 < 25),
]


def days(span: tuple[int, int]) -> list[dt.date]:
    return [DAY + dt.timedelta(i) for i in range(span[0], span[1] + 1)]


@pytest.fixture(scope="module")
def ranges(shared_db: Any) -> tuple[Any, str]:
    name = f"a{uuid.uuid4().hex[:10]}"
    columns = [
        quasi("age", "integer", "INTEGER"),
        quasi("seen", "date", "DATE"),
        plain("d", "text", "TEXT", "sensitive"),
    ]
    rows = [
        [
            str(ages[0]),
            str(ages[1]),
            f"DATE '{days(span)[0]}'",
            f"DATE '{days(span)[-1]}'",
            "'x'",
        ]
        for ages, span in BOXES
    ]
    publish(shared_db, name, columns, rows)
    return shared_db, name


@pytest.fixture(scope="module")
def points(shared_db: Any) -> tuple[Any, str]:
    name = f"a{uuid.uuid4().hex[:10]}"
    columns = [
        Given(own, "quasi", kind, kind.upper(), ((own, kind.upper()),), "ordered")
        for own, kind in (("age", "integer"), ("seen", "date"))
    ]
    rows = [[str(ages[0]), f"DATE '{days(span)[0]}'", "'x'"] for ages, span in BOXES]
    publish(shared_db, name, [*columns, plain("d", "text", "TEXT", "sensitive")], rows, "points")
    return shared_db, name


@pytest.mark.parametrize(("where", "holds"), TESTS, ids=[text for text, _ in TESTS])
def test_bounds_hold_every_value_of_every_box(ranges: tuple[Any, str], where: str, holds: Where) -> None:
    db, name = ranges
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    ways = [{holds(a, d) for a, d in product(range(ages[0], ages[1] + 1), days(span))} for ages, span in BOXES]
    certain, possible = sum(way == {True} for way in ways), sum(True in way for way in ways)
    assert cell.low <= certain <= possible <= cell.high
    assert cell.low <= cell.estimate <= cell.high
    if " OR " not in where and "age" not in where:  # one column, once: the ends decide
        assert (cell.low, cell.high) == (certain, possible)


@pytest.mark.parametrize(("where", "holds"), TESTS, ids=[text for text, _ in TESTS])
def test_points_bound_nothing_and_are_the_estimate(points: tuple[Any, str], where: str, holds: Where) -> None:
    db, name = points
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    shown = sum(holds(ages[0], days(span)[0]) for ages, span in BOXES)
    assert (cell.low, cell.high) == (0, len(BOXES))
    assert cell.estimate == shown or " OR " in where
