"""Whatever an analyst writes is answered or refused with one error; ratios are rounded as the engine rounds them."""

from __future__ import annotations

import uuid
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import SqlanonError, UnsupportedError
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = [
    quasi("a", "integer", "INTEGER"),
    quasi("m", "decimal", "NUMERIC(5,2)"),
    plain("c", "integer", "INTEGER"),
    plain("d", "text", "TEXT"),
]


@pytest.fixture(scope="module")
def named(shared_db: Any) -> tuple[Any, str]:
    name = f"x{uuid.uuid4().hex[:10]}"
    publish(
        shared_db,
        name,
        COLUMNS,
        [("20", "29", "1.50", "2.50", "5", "'x'")] * 4 + [("30", "30", "0.05", "0.05", "7", "'y'")] * 3,
    )
    return shared_db, name


COUNT = "SELECT count(*) AS n FROM {t} WHERE "
REFUSED = {
    "200 ORs": COUNT + " OR ".join(f"a = {i}" for i in range(200)),
    "200 ORs of two": COUNT + " OR ".join(f"a > {i} AND c < {i}" for i in range(200)),
    "400 parentheses": COUNT + "(" * 400 + "a < 25" + ")" * 400,
    "400 parentheses around a count": f"SELECT {'(' * 400}count(*){')' * 400} AS n FROM {{t}}",
    "400 additions": f"SELECT sum({'+'.join(['a'] * 400)}) AS n FROM {{t}}",
    "300 NOT": COUNT + "NOT " * 300 + "a < 3",
    "150 CASE": COUNT + "CASE WHEN a < 3 THEN TRUE ELSE " * 150 + "FALSE " + "END " * 150,
    "150 subqueries": f"SELECT count(*) AS n FROM {'(SELECT * FROM ' * 150}{{t}}{') AS q' * 150}",
    "NUL in an alias": 'SELECT count(*) AS "a\0b" FROM {t}',
    "NUL in a text": COUNT + "d = 'a\0b'",
    "half a character": COUNT + "d = '\ud800'",
    "5,000 digits": "SELECT count(*) AS n FROM {t} LIMIT " + "9" * 5000,
    "a key of 5,000 digits": "SELECT count(*) AS n FROM {t} GROUP BY " + "9" * 5000,
    "a million characters": COUNT + "d = '" + "x" * 1_000_000 + "'",
    "an open text": COUNT + "d = 'x",
    "an open comment": "/*",
    "nothing": "",
    "a semicolon": ";",
}


@pytest.mark.parametrize("what", REFUSED)
def test_one_error(named: tuple[Any, str], what: str) -> None:
    db, name = named
    with pytest.raises(UnsupportedError) as found:
        db.query(REFUSED[what].format(t=name), seconds=60)
    assert str(found.value).strip()
    assert "defect" not in str(found.value)


@pytest.mark.parametrize(
    "item",
    [
        "count(*) + power(10::numeric, 100000)",
        "count(*) * power(10::numeric, 5000)",
        "max(c * power(10::numeric, 5000))",
        "-sum(c * power(10::numeric, 400))",
        "min(c * power(10::numeric, 400) + 0.5)",
    ],
)
@pytest.mark.every_engine
def test_numbers_that_no_double_holds_are_refused_in_the_answer(named: tuple[Any, str], item: str) -> None:
    """On a server whose numbers are that large: Python prints no whole number of more than 4,300 digits."""
    db, name = named
    if db.engine.dialect != "postgres":
        pytest.skip("DuckDB has no such type")
    for text in (f"SELECT {item} AS n FROM {name}", f"SELECT {item} AS n, c FROM {name} GROUP BY c"):
        with pytest.raises(SqlanonError, match=r"a number of more than 308 digits|leaves the range of its type"):
            db.query(text, seconds=60)


@pytest.mark.parametrize(
    "predicate",
    [
        "c > power(10::numeric, 100000)",
        "a > power(10::numeric, 100000)",
        "a > 1e400",
        "a > 1e40",
        "m > 1e-400",
        "a > 0." + "9" * 4000,
        "a / 1e-400 > 3",
        "a::numeric(5,-2) > 100",
        "CAST(a AS DECIMAL(99999, 3)) > 1",
        "d ~ '" + "(" * 2000 + "'",
        "lpad(d, 3000000000) = 'x'",
        "substring(d, 99999999999999999999) = 'x'",
    ],
)
def test_numbers_beyond_all_types_end_in_no_raw_error(named: tuple[Any, str], predicate: str) -> None:
    db, name = named
    try:
        answer = db.query((COUNT + predicate).replace("{t}", name))
    except SqlanonError:
        return
    assert 0 <= answer.rows[0]["n"].low <= answer.rows[0]["n"].high <= 7


@pytest.mark.thorough
def test_rounded_ratios(shared_db: Any) -> None:
    """100 n / d for small n and d, among them ties.

    As exact decimals are rounded, half up, which PostgreSQL does and DuckDB does for doubles.
    """
    db = shared_db
    for top, whole in ((1, 8), (1, 3), (3, 7), (7, 8), (5, 16), (1, 40), (9, 16), (0, 5)):
        name = f"x{uuid.uuid4().hex[:10]}"
        publish(db, name, [plain("c", "integer", "INTEGER")], [("1",)] * top + [("0",)] * (whole - top))
        for text in (
            "round(100.0 * count(*) FILTER (WHERE c = 1) / count(*), 1)",
            "round(100.0 * sum(c) / count(*), 1)",
        ):
            cell = db.query(f"SELECT {text} AS n FROM {name}").rows[0]["n"]
            exact = (Decimal(100) * top / whole).quantize(Decimal("0.1"), ROUND_HALF_UP)
            assert (cell.exact, Decimal(str(cell.low))) == (
                True,
                exact.normalize() if exact == 0 else Decimal(str(float(exact))),
            ), (text, top, whole)


def test_a_ratio_of_ranges_is_rounded(named: tuple[Any, str]) -> None:
    db, name = named
    cell = db.query(f"SELECT round(100.0 * count(*) FILTER (WHERE a < 25) / count(*), 1) AS n FROM {name}").rows[0]["n"]
    assert (cell.low, cell.high) == (0, 57.1)


def test_decimals_of_negative_scale(shared_db: Any) -> None:
    if shared_db.engine.dialect != "postgres":
        pytest.skip("DuckDB has no such type")
    name = f"x{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, [quasi("m", "decimal", "numeric(5,-2)")], [("100", "300")] * 3 + [("500", "500")] * 2)
    cell = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE m < 250").rows[0]["n"]
    assert (cell.low, cell.high, cell.estimate) == (0, 3, 2)  # 100 and 200 of 100, 200 and 300


def test_text_with_the_equality_of_another_database_is_asked_for_null_alone() -> None:
    """PostgreSQL's ``char(n)`` and ``citext`` are texts on DuckDB, where a release was sent."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        run = db.engine.execute
        run("CREATE TABLE x AS FROM (VALUES (20, 'ab'), (25, 'b'), (31, 'ab'), (35, NULL)) AS v(age, ch)")
        db.anonymize("x", quasi=["age"], insensitive=["ch"], k=4, accept_unique=["ch"])
        run("CREATE TABLE release.y AS FROM release.x")
        types = "if(column_name = 'ch', 'character(4)', source_type) AS source_type"
        run(f"CREATE TABLE release.y_metadata AS SELECT * REPLACE ({types}) FROM release.x_metadata")
        (row,) = db.query("SELECT count(ch) AS n FROM release.y WHERE ch IS NOT NULL").rows
        assert (row["n"].low, row["n"].high) == (3, 3)
        for asked in ("count(*) FROM release.y WHERE ch = 'ab  '", "count(DISTINCT ch) FROM release.y"):
            with pytest.raises(UnsupportedError, match="equal in the source though their texts differ"):
                db.query(f"SELECT {asked}")
