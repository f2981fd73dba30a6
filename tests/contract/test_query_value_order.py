"""Rows of several SELECTs and groupings, sorted and merged outside of the database: values with an order of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sqlanon
from sqlanon.errors import UnsupportedError
from sqlanon.query.answer import Bounded
from sqlanon.query.release import Field
from sqlanon.query.value_order import is_finer

TABLE = """CREATE TABLE people AS SELECT i // 4 AS a, i % 3 AS c, ['z', 'flu', 'b', 'A'][1 + i % 4]::own AS e,
[i % 2] AS li, make_timestamp_ns(1704103200000000000 + i % 3)::TIMESTAMP_NS AS n, i % 2 = 0 AS u,
['10:00:00+01', '09:00:00+00'][1 + i % 2]::TIMETZ AS z, ['10:00:00.000000001', '10:00:00'][1 + i % 2]::TIME_NS AS tn,
array_value(i % 2, 1) AS ar, CASE i % 2 WHEN 0 THEN 1::VARIANT ELSE 1.0::VARIANT END AS va, i::BIGNUM AS bn,
'101'::BIT AS bi
FROM range(12) AS r(i)"""
BOTH = "SELECT {x} AS x, count(*) AS y FROM people GROUP BY 1 UNION ALL SELECT {x}, count(*) FROM people GROUP BY 1"
ROLLED = "SELECT {x} AS x, count(*) AS y FROM people GROUP BY ROLLUP ({x})"
REFUSED = [
    *(
        f"{form} ORDER BY {order}".format(x=x)
        for x in ("e", "n", "li")
        for form in (BOTH, ROLLED)
        for order in ("1", "2, x")
    ),
    "SELECT u AS x, max(e) AS y FROM people GROUP BY u UNION ALL SELECT u, min(e) FROM people GROUP BY u ORDER BY 2",
    "SELECT t AS x, count(*) AS y FROM people GROUP BY ROLLUP (t) ORDER BY 1 LIMIT 1",
    "SELECT t AS x FROM people GROUP BY 1 UNION SELECT t FROM people GROUP BY 1",
    "SELECT t AS x FROM others GROUP BY 1 UNION SELECT t FROM people GROUP BY 1",
    "SELECT n AS x FROM people GROUP BY 1 UNION SELECT n FROM people GROUP BY 1",
    *(
        f"SELECT {x} AS x FROM people GROUP BY 1 UNION SELECT {x} FROM people GROUP BY 1"
        for x in ("li", "ar", "z", "tn")
    ),
    *(f"SELECT {x} AS x, count(*) FROM people GROUP BY ALL" for x in ("va", "coalesce(va, va)")),
    "SELECT DISTINCT va AS x FROM people",
    "SELECT DISTINCT c AS x FROM people QUALIFY row_number() OVER (ORDER BY c) <= 5",
    "SELECT c AS x FROM people QUALIFY rank() OVER (ORDER BY c) = 1 UNION SELECT 5",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY bi) AS x FROM people",
    "SELECT sum(bn) AS x FROM people",
    "SELECT (SELECT max(n) FROM people) = max(n) AS y FROM people WHERE c = 1",
    "SELECT count(*) AS y FROM people WHERE n = (SELECT max(n) FROM people)",
]
ANSWERED = [
    "SELECT CAST(va AS VARCHAR) AS x, count(*) AS y, count(DISTINCT va) AS z FROM people GROUP BY ALL",
    "SELECT CAST(e AS VARCHAR) AS x, count(*) AS y FROM people GROUP BY ROLLUP (e) ORDER BY x LIMIT 2",
    "SELECT e AS x, count(*) AS y FROM people GROUP BY ROLLUP (e) ORDER BY 2 DESC LIMIT 1",
    "SELECT e AS x FROM people GROUP BY 1 UNION SELECT e FROM people GROUP BY 1",
    "SELECT e AS x, count(*) AS y FROM people GROUP BY 1 ORDER BY 1 LIMIT 1",
]


@pytest.mark.parametrize(
    ("shown", "finer"),
    [
        ("TIMESTAMP_NS", True),
        ("TIME_NS", True),
        ("TIME WITH TIME ZONE", True),
        ("time with time zone", True),
        ("time(3) with time zone", True),
        ("interval", True),
        ("interval day to second", True),
        ("INTERVAL", False),
        ("TIME", False),
        ("time without time zone", False),
        ("timestamp with time zone", False),
    ],
)
def test_types_whose_values_may_be_equal_here_alone(shown: str, finer: bool) -> None:
    """PostgreSQL holds ``'1 year'`` and ``'365 days'`` apart, which are one timedelta."""
    assert is_finer(Field("x", "insensitive", "", "other", shown, ())) is finer


@pytest.fixture(scope="module")
def database() -> Iterator[sqlanon.Database]:
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TYPE own AS ENUM ('z', 'flu', 'b', 'A')")
        db.engine.execute(TABLE)
        db.engine.execute("ALTER TABLE people ADD COLUMN t VARCHAR COLLATE NOCASE")
        db.engine.execute("UPDATE people SET t = CASE c WHEN 0 THEN 'B' WHEN 1 THEN 'b' ELSE 'a' END")
        kept = ["c", "e", "li", "n", "u", "t", "z", "tn", "ar", "va", "bn", "bi"]
        db.anonymize("people", quasi=["a"], insensitive=kept, accept_unique=kept, k=3, effort="fast")
        db.engine.execute("CREATE TABLE others AS SELECT a, CAST(t AS VARCHAR) AS t FROM people")
        db.anonymize("others", quasi=["a"], insensitive=["t"], accept_unique=["t"], k=3, effort="fast")
        yield db


@pytest.mark.parametrize("text", REFUSED)
def test_values_with_an_order_or_equality_of_the_database_are_refused(database: sqlanon.Database, text: str) -> None:
    with pytest.raises(UnsupportedError):
        database.query(text)


@pytest.mark.parametrize("text", ANSWERED)
def test_others_are_those_of_the_database(database: sqlanon.Database, text: str) -> None:
    rows = [[row[name] for name in answer.columns] for answer in [database.query(text)] for row in answer.rows]
    given = [tuple(cell.low if isinstance(cell, Bounded) else cell for cell in row) for row in rows]
    assert sorted(given, key=str) == sorted(database.engine.fetch(text), key=str)
