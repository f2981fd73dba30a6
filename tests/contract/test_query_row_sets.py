"""The rows that a query over a release is answered from: classes apart, settled classes together, values alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

from tests.oracle.handmade import members, plain, publish, quasi

COLUMNS = [
    quasi("a", "integer", "INTEGER"),
    members("s"),
    plain("c", "integer", "INTEGER"),
    plain("d", "text", "TEXT", "sensitive"),
]


@contextmanager
def released(db: Any, name: str, classes: list[tuple[int, int, str, list[tuple[int, str]]]]) -> Iterator[str]:
    """A release of classes: the ends of a, the members of s, and c and d of each row."""
    rows = [
        [str(low), str(high), "ARRAY[" + ", ".join(f"'{one}'" for one in listed) + "]", str(c), f"'{d}'"]
        for low, high, listed, exact in classes
        for c, d in exact
    ]
    publish(db, name, COLUMNS, rows, attained=["a", "s"])
    try:
        yield name
    finally:
        db.engine.execute(f"DROP TABLE release.{name}; DROP TABLE release.{name}_metadata")


def ends(db: Any, text: str) -> list[tuple[Any, Any]]:
    return [(cell.low, cell.high) for row in db.query(text).rows for cell in row.values() if hasattr(cell, "low")]


@pytest.mark.every_engine
def test_classes_with_the_same_ranges_and_other_sets_are_two(shared_db: Any) -> None:
    """By hand: of two rows of 0..2 one is 0 and one is 2, in each class; of four in one class 1 to 3 would be 0."""
    exact = [(1, "x"), (2, "y")]
    with released(shared_db, "two_sets", [(0, 2, "pq", exact), (0, 2, "p", exact)]) as name:
        assert ends(shared_db, f"SELECT count(*) AS n FROM {name} WHERE a = 0") == [(2, 2)]
        assert ends(shared_db, f"SELECT count(*) AS n FROM {name} WHERE a = 0 AND s = 'q'") == [(0, 1)]
        assert ends(shared_db, f"SELECT count(*) AS n FROM {name} WHERE a = 0 AND c = 1") == [(0, 2)]


@pytest.mark.every_engine
def test_settled_classes_count_whole_and_cut_ones_by_what_they_attain(shared_db: Any) -> None:
    """By hand: of a < 4 the first class has all rows, the second none, the third one or two of three."""
    exact = [(1, "x"), (1, "y"), (2, "x")]
    classes = [(0, 2, "p", exact), (5, 6, "p", exact[:2]), (2, 5, "p", exact)]
    with released(shared_db, "settled", classes) as name:
        assert ends(shared_db, f"SELECT count(*) AS n FROM {name} WHERE a < 4") == [(4, 5)]
        # Of the cut class two rows have c = 1: none of them is below 4 if the third is, or both are.
        assert ends(shared_db, f"SELECT count(*) AS n FROM {name} WHERE a < 4 AND c = 1") == [(2, 4)]
        assert ends(shared_db, f"SELECT count(*) AS n FROM {name} WHERE a < 4 OR c = 1") == [(7, 8)]
        assert ends(shared_db, f"SELECT d, count(*) AS n FROM {name} WHERE a < 4 GROUP BY d") == [(2, 4), (1, 2)]


WHERE = ("WHERE a < 4", "WHERE a < 4 OR c = 9", "WHERE s = 'p'")
KEYS = ("d", "s", "floor(a / 3.0)")


@pytest.mark.parametrize(
    "pairs",
    [list(zip(WHERE, KEYS, strict=True))[::2], pytest.param(list(product(WHERE, KEYS)), marks=pytest.mark.thorough)],
    ids=["some", "every pair"],
)
def test_aggregates_that_are_asked_together_are_those_that_are_asked_alone(
    shared_db: Any, pairs: list[tuple[str, str]]
) -> None:
    """Values that one of them holds do not divide the classes of the others."""
    exact = [(1, "x"), (5, "y"), (9, "x"), (9, "y")]
    classes = [(0, 2, "p", exact), (5, 6, "pq", exact[:2]), (2, 5, "q", exact[1:])]
    listed = [
        "count(*)",
        "avg(c)",
        "median(c)",
        "sum(c)",
        "count(DISTINCT c)",
        "min(a)",
        "count(*) FILTER (WHERE a > 5)",
    ]
    if shared_db.engine.dialect != "duckdb":
        listed[2] = "percentile_cont(0.5) WITHIN GROUP (ORDER BY c)"
    with released(shared_db, "together", classes) as name:
        for rest, key in pairs:
            asked = f"FROM {name} {rest} GROUP BY {key} ORDER BY {key}"
            every = ", ".join(f"{one} AS n{i}" for i, one in enumerate(listed))
            together = shared_db.query(f"SELECT {every} {asked}").rows
            for i, one in enumerate(listed):
                alone = shared_db.query(f"SELECT {one} AS n{i} {asked}").rows
                assert [row[f"n{i}"].low for row in together] == [row[f"n{i}"].low for row in alone], (one, asked)
                assert [row[f"n{i}"].high for row in together] == [row[f"n{i}"].high for row in alone], (one, asked)
