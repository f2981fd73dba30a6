"""Limits of a query: a deadline over the work in Python and in the engine, memory, lengths of texts and of lists."""

from __future__ import annotations

import time
import uuid
from typing import Any

import pytest

from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from sqlanon.query.ask import ask
from sqlanon.query.functions import evaluate
from sqlanon.query.limits import limit_query
from tests.oracle.handmade import members, plain, publish, quasi

COLUMNS = [
    quasi("age", "integer", "INTEGER"),
    quasi("x", "integer", "INTEGER", nulls=True),
    members("sex"),
    plain("d", "text", "TEXT"),
]
RANGES = [(20, 29), (22, 22), (30, 49), (0, 99)]
ROWS = [
    (str(low), str(high), str(low), str(high), "'none'", "ARRAY['null', 'F']", "'flu'") for low, high in RANGES[:3]
] + [("0", "99", "NULL", "NULL", "'all'", "ARRAY['M', 'N']", "NULL")]
pytestmark = pytest.mark.filterwarnings(
    # An interruption that comes within a callback of the collector (Hypothesis has one) is reported, and made again.
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
LONG = "*".join(["age"] * 9)
"""A product whose bounds take minutes to write."""


@pytest.fixture(scope="module")
def named(shared_db: Any) -> tuple[Any, str]:
    name = f"l{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, COLUMNS, ROWS)
    return shared_db, name


def _bounds(db: Any, query: str) -> tuple[int, int]:
    cell = db.query(query).rows[0]["n"]
    return cell.low, cell.high


@pytest.mark.thorough
def test_a_rewriting_ends_at_the_deadline_and_the_connection_lives_on(
    named: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db, name = named
    monkeypatch.setattr(evaluate, "MOST_NODES", 10**12)
    for query in (
        f"SELECT sum({LONG}) AS n FROM {name}",
        f"SELECT 1 AS n, sum({LONG}) FROM {name} UNION ALL SELECT 1, sum(age) FROM {name}",
    ):
        with pytest.raises(DatabaseError, match=r"took longer than 0.5 seconds \(--timeout"):
            db.query(query, seconds=0.5)
        assert db.query(f"SELECT count(*) AS n FROM {name}").rows[0]["n"].exact


def test_an_expression_whose_bounds_would_take_minutes_is_refused_at_once(named: tuple[Any, str]) -> None:
    db, name = named
    with pytest.raises(UnsupportedError, match="would be too long here; write a shorter expression"):
        db.query(f"SELECT sum({LONG}) AS n FROM {name}")


def test_no_more_rows_are_sent_for_than_an_answer_may_have(
    named: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver holds a whole result before its first row is read."""
    db, name = named
    sent: list[str] = []
    fetch = type(db.engine).fetch

    def note(engine: Any, statement: Any, **options: Any) -> Any:
        if getattr(statement, "name", "") == "query":
            sent.append(statement.text.split()[-1])
        return fetch(engine, statement, **options)

    monkeypatch.setattr(type(db.engine), "fetch", note)
    text = f"SELECT age, count(*) AS n FROM {name} GROUP BY age ORDER BY age"
    assert len(db.query(text).rows) > 3
    for more in ("", " LIMIT 1000"):
        with pytest.raises(DatabaseError, match="more than 3 rows"):
            ask(db.engine, text + more, rows=3)
    assert len(ask(db.engine, f"{text} LIMIT 2", rows=3).rows) == 2
    assert sent[1:] == ["4", "4", "2"]


def test_a_statement_of_the_engine_ends_at_the_deadline(named: tuple[Any, str]) -> None:
    db, _ = named
    endless = {
        "duckdb": "SELECT max(a.i * b.i) FROM range(10000000) AS a(i), range(10000000) AS b(i)",
        "postgres": "SELECT pg_catalog.pg_sleep(3600)",
    }
    with (
        pytest.raises(DatabaseError, match=r"took longer than 0\.2 seconds"),
        limit_query(db.engine.cancel, 0.2),
    ):
        db.engine.fetch(Statement("endless", endless[db.engine.dialect]))
    assert db.engine.fetch("SELECT 1") == [(1,)]


def test_a_rewriting_has_a_bound_of_memory() -> None:
    kept: list[bytes] = []

    def fill() -> None:
        with limit_query(lambda: None, 600, memory=64 << 20) as limits, limits.rewriting():
            while len(kept) < 2000:
                kept.append(b"x" * (1 << 20))
                time.sleep(0.001)

    with pytest.raises(DatabaseError, match="more than 64 MiB of memory"):
        fill()
    assert 50 < len(kept) < 2000


def test_nothing_is_interrupted_outside_a_rewriting() -> None:
    done = []

    def work() -> None:
        with limit_query(lambda: None, 0.05) as limits:
            time.sleep(0.3)  # beyond the deadline, in a place that holds resources
            done.append(1)
            with limits.rewriting():
                for _ in range(10_000):
                    time.sleep(0.001)

    with pytest.raises(DatabaseError, match="took longer"):
        work()
    assert done == [1]
    for _ in range(1000):  # an interruption that was still to come would come here
        time.sleep(0.0001)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_deadline_is_a_number_above_0(named: tuple[Any, str], seconds: float) -> None:
    db, name = named
    with pytest.raises(PolicyError, match="seconds above 0"):
        db.query(f"SELECT count(*) AS n FROM {name}", seconds=seconds)


@pytest.mark.parametrize(
    "long",
    [
        "replace(lpad(d, 1000, 'a'), 'a', lpad(d, 1000, 'a'))",
        "replace(replace(lpad('a', 1000, 'a'), 'a', 'bbbbbbbbbb'), 'b', 'cccccccccc')",
        "concat(" + ", ".join(["lpad(d, 1000, 'a')"] * 25) + ")",
        " || ".join(["lpad(d, 1000, 'a')"] * 25),
        "concat_ws(lpad('', 1000, 'a'), " + ", ".join(["d"] * 30) + ")",
        "upper(CASE WHEN d = 'a' THEN concat(" + ", ".join(["lpad(d, 1000, 'a')"] * 12) + ") END)",
    ],
)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) AS n FROM {t} WHERE length({f}) > 3",
        "SELECT {f} AS f, count(*) AS n FROM {t} GROUP BY 1",
        "SELECT max({f}) AS n FROM {t}",
        "WITH q AS (SELECT {f} AS f FROM {t}) SELECT count(*) AS n FROM q WHERE f = 'x'",
    ],
)
def test_a_text_that_may_be_long_is_refused(named: tuple[Any, str], query: str, long: str) -> None:
    db, name = named
    with pytest.raises(UnsupportedError, match="may have more than 20,000 characters"):
        db.query(query.format(t=name, f=long))


def test_lengths_are_those_of_merged_subqueries(named: tuple[Any, str]) -> None:
    db, name = named
    once = "SELECT replace(f, 'a', 'bbbbbbbbbb') AS f FROM ({q}) AS s"
    query = f"SELECT lpad(d, 1000, 'a') AS f FROM {name}"
    short = once.format(q=query)
    assert db.query(f"SELECT count(*) AS n FROM ({short}) AS s WHERE f = 'x'").rows[0]["n"].high == 0
    with pytest.raises(UnsupportedError, match="may have more than 20,000 characters"):
        db.query(f"SELECT count(*) AS n FROM ({once.format(q=once.format(q=short))}) AS s WHERE f = 'x'")


LISTS = [
    [20, 21, 22, 23, 24, 25, 26, 27, 28],
    [20, 22, 24, 26, 28, 30, 32, 34, 36, 38],
    list(range(0, 99, 3)),
    [*range(100), 7],
    [22, *range(200, 220)],
]


@pytest.mark.parametrize("values", LISTS, ids=range(len(LISTS)))
@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("negated", [False, True])
def test_a_long_list_is_decided_for_every_range(
    named: tuple[Any, str], values: list[int], null: bool, negated: bool
) -> None:
    """By the ranges alone: a row qualifies in some source if one of its values does, and in all if all do."""
    db, name = named
    words = f"{'NOT ' if negated else ''}IN ({', '.join(map(str, values))}{', NULL' if null else ''})"

    def truth(value: int | None) -> bool | None:
        if value is None or (null and value not in values):
            return None
        return (value in values) is not negated

    rows: dict[str, list[list[int | None]]] = {
        "age": [list(range(low, high + 1)) for low, high in RANGES],
        "x": [*(list(range(low, high + 1)) for low, high in RANGES[:3]), [None]],
    }
    for column, boxes in rows.items():
        for query, wanted, least in (("{w}", True, -1), ("NOT ({w}) AND {c} > 25", False, 25)):
            where = query.format(w=f"{column} {words}", c=column)
            holds = [[truth(v) is wanted and (v is None or v > least) for v in box] for box in boxes]
            found = _bounds(db, f"SELECT count(*) AS n FROM {name} WHERE {where}")
            assert found == (sum(map(all, holds)), sum(map(any, holds))), where


@pytest.mark.thorough
def test_a_list_of_many_runs_is_refused(named: tuple[Any, str]) -> None:
    db, name = named
    neighbours = ", ".join(map(str, range(3000)))
    assert _bounds(db, f"SELECT count(*) AS n FROM {name} WHERE age IN ({neighbours})") == (4, 4)
    for column, values in (("age", range(0, 900, 3)), ("sex", (f"'v{i}'" for i in range(300)))):
        with pytest.raises(UnsupportedError, match="at most 200 values"):
            db.query(f"SELECT count(*) AS n FROM {name} WHERE {column} IN ({', '.join(map(str, values))})")


@pytest.mark.parametrize("word", ["null", "F", "N"])
def test_a_constant_null_in_quotes_is_a_text(named: tuple[Any, str], word: str) -> None:
    db, name = named
    member = sum(word in ("null", "F") for _ in range(3)) + (word == "N")
    for query in (
        "sex = '{w}' AND sex LIKE '%'",
        "sex IN ('{w}', 'q', 'r', 's', 't', 'u', 'v', 'w', 'z') AND lower(sex) <> 'a'",
    ):
        assert _bounds(db, f"SELECT count(*) AS n FROM {name} WHERE {query.format(w=word)}") == (0, member)


def test_a_list_that_the_engine_casts_to_one_type_is_refused(shared_db: Any) -> None:
    """1 BETWEEN a REAL and 0.9999999999 is TRUE in DuckDB, where all three are REAL, and 1 <= 0.9999999999 is not."""
    name = f"m{uuid.uuid4().hex[:10]}"
    columns = [quasi("age", "integer", "INTEGER"), plain("r", "float", "REAL"), plain("e", "decimal", "DECIMAL(18,10)")]
    publish(shared_db, name, columns, [("1", "3", "0.5", "0.9999999999"), ("2", "2", "1", "2")])
    for condition in ("age BETWEEN r AND e", "age IN (1, r, e)", "NOT age IN (e, CAST(2 AS REAL))"):
        with pytest.raises(UnsupportedError, match="write the comparisons one by one"):
            shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {condition}")
    assert _bounds(shared_db, f"SELECT count(*) AS n FROM {name} WHERE age IN (2, 3) AND age BETWEEN 1 AND e") == (1, 1)


def test_a_statement_that_would_be_planned_beyond_the_deadline_is_not_sent() -> None:
    with limit_query(lambda: None, 5) as limits:
        limits.check_planning(300_000)
    with pytest.raises(DatabaseError, match="could not plan within 5 seconds"), limit_query(lambda: None, 5) as limits:
        limits.check_planning(3_000_000)
