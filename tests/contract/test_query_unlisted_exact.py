"""Whether there may be groups beside the listed ones, against every value that a hidden cell may have."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import pytest

from tests.oracle.handmade import Given, plain, publish


class Cells(NamedTuple):
    """A row of the source."""

    x: int | None
    y: int | None
    s: str | None
    c: int


Pred = Callable[[Cells], bool]
Asked = Sequence[tuple[str, Pred]]
NUMBERS = [None, *range(-2, 14)]
TEXTS = [None, "a", "b", "c", "d"]
WHERE: Asked = [
    ("TRUE", lambda _: True),
    ("x = 5", lambda r: r.x == 5),
    ("x = 3", lambda r: r.x == 3),
    ("x IN (3, 7)", lambda r: r.x in (3, 7)),
    ("x IN (3, 8)", lambda r: r.x in (3, 8)),
    ("x BETWEEN 3 AND 4", lambda r: r.x is not None and 3 <= r.x <= 4),
    ("x > 2 AND x < 6", lambda r: r.x is not None and 2 < r.x < 6),
    ("x > 3 AND x < 4", lambda _: False),
    ("x <> 3", lambda r: r.x is not None and r.x != 3),
    ("x IS NULL", lambda r: r.x is None),
    ("x IS NULL OR x = 4", lambda r: r.x is None or r.x == 4),
    ("c = 1", lambda r: r.c == 1),
    ("c = 2", lambda r: r.c == 2),
    ("x = 9 AND c = 1", lambda r: r.x == 9 and r.c == 1),
    ("x = 9 AND c = 2", lambda r: r.x == 9 and r.c == 2),
    ("x = 3 OR y = 2", lambda r: r.x == 3 or r.y == 2),
    ("x = 3 AND y = 2", lambda r: r.x == 3 and r.y == 2),
    ("x = 4 AND s = 'c'", lambda r: r.x == 4 and r.s == "c"),
    (
        "x < 9 AND s = 'b' AND y > 1",
        lambda r: r.x is not None and r.x < 9 and r.s == "b" and r.y is not None and r.y > 1,
    ),
    ("s = 'a'", lambda r: r.s == "a"),
    ("s = 'c' AND c = 1", lambda r: r.s == "c" and r.c == 1),
    ("s IN ('a', 'b') AND x = 3", lambda r: r.s in ("a", "b") and r.x == 3),
    ("s <> 'a'", lambda r: r.s is not None and r.s != "a"),
]
ROWS: list[tuple[Any, ...]] = [
    (3, 1, "a", 1),
    (4, "?", "b", 2),
    ("?", 2, "a", 1),
    (7, 7, "?", 2),
    ("?", 5, "b", 1),
    (3, 3, "a", 2),
]
"""x, y, s and c; "?" is hidden."""


def suppressed(db: Any) -> str:
    name = f"u{uuid.uuid4().hex[:10]}"
    columns = [
        Given(own, "quasi", kind, type_, ((own, type_), (f"{own}_suppressed", "BOOLEAN")), treatment)
        for own, kind, type_, treatment in (
            ("x", "integer", "INTEGER", "ordered"),
            ("y", "integer", "INTEGER", "ordered"),
            ("s", "text", "TEXT", "nominal"),
        )
    ]
    cells = [
        [part for value in row[:3] for part in ("NULL" if value == "?" else repr(value), str(value == "?"))]
        + [str(row[3])]
        for row in ROWS
    ]
    publish(db, name, [*columns, plain("c", "integer", "INTEGER")], cells, "suppressed")
    return name


def points(db: Any) -> str:
    name = f"u{uuid.uuid4().hex[:10]}"
    columns = [
        Given("x", "quasi", "integer", "INTEGER", (("x", "INTEGER"),), "ordered"),
        Given("y", "quasi", "integer", "INTEGER", (("y", "INTEGER"),), "ordered"),
        Given("s", "quasi", "text", "TEXT", (("s", "TEXT"),), "nominal"),
    ]
    cells = [[str(i % 2 + 3), "1", f"'{'ab'[i % 2]}'", str(row[3])] for i, row in enumerate(ROWS)]
    publish(db, name, [*columns, plain("c", "integer", "INTEGER")], cells, "points")
    return name


def values(row: tuple[Any, ...], *, everything: bool) -> Iterator[Cells]:
    """All that a row may be."""
    ways = [listed if everything or row[i] == "?" else [row[i]] for i, listed in enumerate((NUMBERS, NUMBERS, TEXTS))]
    yield from (Cells(*way, row[3]) for way in product(*ways))


def wrong_groups(db: Any, make: Callable[[Any], str], keys: Sequence[tuple[str, int]], asked: Asked) -> list[Any]:
    """Queries by each key, under each condition, whose unlisted groups are not those that there may be."""
    name, wrong = make(db), []
    for key, place in keys:
        for where, holds in asked:
            answer = db.query(f"SELECT {key} AS k, count(*) AS n FROM {name} WHERE {where} GROUP BY 1")
            listed = {row["k"] for row in answer.rows}
            possible = {way[place] for row in ROWS for way in values(row, everything=make is points) if holds(way)}
            if answer.unlisted_groups is not (not possible <= listed):
                wrong.append((key, where, answer.unlisted_groups, sorted(map(str, possible - listed))[:5]))
    return wrong


def test_groups_beside_the_listed_ones_are_known_exactly_under_some_conditions(shared_db: Any) -> None:
    assert wrong_groups(shared_db, suppressed, [("x", 0)], WHERE[1::3]) == []


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("make", [suppressed, points])
def test_groups_beside_the_listed_ones_are_known_exactly(shared_db: Any, make: Callable[[Any], str]) -> None:
    assert wrong_groups(shared_db, make, [("x", 0), ("s", 2)], WHERE) == []
