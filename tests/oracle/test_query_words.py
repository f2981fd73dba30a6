"""Random queries of the words in which answers were wrong, against every consistent source, by the engine itself."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import plain, publish, quasi
from tests.oracle.words import ask_random, check


@pytest.mark.parametrize("releases", [2, pytest.param(6, marks=pytest.mark.thorough)])
def test_answers_hold_for_every_source(shared_db: Any, releases: int) -> None:
    found = ask_random(check, shared_db, 11, releases, 4)
    assert found.wrong == []
    assert found.refused.total() < found.asked / 2


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12))
def test_more_answers_hold(shared_db: Any, seed: int) -> None:
    assert ask_random(check, shared_db, 100 + seed, 20, 12).wrong == []


@pytest.mark.parametrize(
    ("query", "low", "high"),
    [
        ("count(CASE WHEN a < 3 THEN 1 ELSE NULL END)", 4, 4),
        ("count(a + CAST(NULL AS INTEGER))", 0, 0),
        ("count(round(a, CAST(NULL AS INTEGER)))", 0, 0),
        ("sum(CASE WHEN a < 3 THEN a ELSE NULL END)", 6, 6),
        ("count(coalesce(CASE WHEN a < 3 THEN 1 END, NULL))", 4, 4),
        ("count(coalesce(a + nullif(1, 1), NULL))", 0, 0),
        ("sum(coalesce(a * CAST(NULL AS INTEGER), 2))", 16, 16),
    ],
)
def test_null_constants(shared_db: Any, query: str, low: int, high: int) -> None:
    """Values 1 to 4, twice each, of classes of two equal rows."""
    name = f"n{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, [quasi("a", "integer", "INTEGER")], [(str(1 + i // 2),) * 2 for i in range(8)])
    cell = shared_db.query(f"SELECT {query} AS n FROM {name}").rows[0]["n"]
    assert (cell.low, cell.high) == (low, high)


@pytest.mark.parametrize(
    "where",
    [
        "coalesce(a, 0) > 1",
        "a % 2 < 2",
        "a >= a",
        "abs(a) > 0",
        "a * a > 0",
        "CAST(a AS VARCHAR) LIKE '%'",
        "nullif(a, 99) > 0",
    ],
)
def test_steps_beside_a_test_of_single_values(shared_db: Any, where: str) -> None:
    name = f"n{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, [quasi("a", "integer", "INTEGER")], [(str(20 + i),) * 2 for i in range(20)])
    for form in (
        f"count(*) AS n FROM {name} WHERE {where}",
        f"count(*) FILTER (WHERE {where}) AS n FROM {name}",
    ):
        answer = shared_db.query(f"SELECT floor(a / 10.0) AS g, {form} GROUP BY 1")
        assert [(float(row["g"]), row["n"].low, row["n"].high) for row in answer.rows] == [
            (2, 10, 10),
            (3, 10, 10),
        ]


@pytest.mark.parametrize(
    "call",
    [
        "approx_quantile(c, 0.3)",
        "max(c, 2)",
        "min(c, 1)",
        "floor(c, 2)",
        "round(c, 1, 2)",
        "rank(c) OVER (ORDER BY count(*))",
        "quantile(c, 0.3, 2)",
    ],
)
def test_a_function_with_other_arguments_is_refused(shared_db: Any, call: str) -> None:
    name = f"n{uuid.uuid4().hex[:10]}"
    publish(
        shared_db,
        name,
        [quasi("a", "integer", "INTEGER"), plain("c", "integer", "INTEGER")],
        [("1", "2", "3")] * 3,
    )
    used = call if "OVER" in call or not call.startswith(("floor", "round")) else f"sum({call})"
    with pytest.raises(UnsupportedError):
        shared_db.query(f"SELECT {used} AS n FROM {name}")


@pytest.mark.parametrize(
    ("query", "low", "high", "undefined"),
    [
        ("CASE WHEN count(*) > 2 THEN NULL ELSE 1 END", None, None, True),
        ("CASE WHEN count(*) > 2 THEN sum(a) END", 20, 20, False),
        ("CASE WHEN count(*) < 2 THEN 1.5 ELSE NULL END", None, None, True),
        ("CASE WHEN count(*) > 2 THEN NULL ELSE count(*) END", None, None, True),
        ("CASE WHEN count(*) > 2 THEN NULL ELSE 'few' END", None, None, True),
        ("CASE WHEN count(*) > 2 THEN NULL END", None, None, True),
    ],
)
def test_null_among_the_values_of_case_around_aggregates(
    shared_db: Any, query: str, low: int | None, high: int | None, undefined: bool
) -> None:
    """Values 1 to 4, twice each, of classes of two equal rows."""
    name = f"n{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, [quasi("a", "integer", "INTEGER")], [(str(1 + i // 2),) * 2 for i in range(8)])
    cell = shared_db.query(f"SELECT {query} AS n FROM {name}").rows[0]["n"]
    assert (cell.low, cell.high, cell.undefined_possible) == (low, high, undefined)
