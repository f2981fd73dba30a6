"""A query means what the source's engine means.

Functions and types that it does not take are refused, the rest is answered.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = [
    quasi("age", "integer", "INTEGER"),
    quasi("seen", "date", "DATE"),
    plain("d", "text", "TEXT", "sensitive"),
    plain("c", "integer", "INTEGER"),
    plain("Site", "text", "TEXT"),
]
ROWS = [
    ("20", "29", "DATE '2024-01-01'", "DATE '2024-01-31'", "'flu'", "1", "'a;b'"),
    ("30", "39", "DATE '2024-02-01'", "DATE '2024-02-20'", "'hiv'", "NULL", "'b'"),
]


@pytest.fixture(scope="module")
def named(shared_db: Any) -> tuple[Any, str]:
    name = f"f{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, COLUMNS, ROWS)
    return shared_db, name


@pytest.mark.parametrize(
    ("piece", "known"),
    [
        ("to_char(c, '9')", "postgres"),
        ("iif(c > 1, 1, 2)", ""),
        ("nvl(c, 3)", ""),
        ("ifnull(c, 3)", "duckdb"),
        ("year(seen)", "duckdb"),
        ("strftime(seen, '%Y')", "duckdb"),
        ("CEILING(c)", "duckdb postgres"),
        ("coalesce(c, 3)", "duckdb postgres"),
        ('Substr("Site", 1, 2)', "duckdb postgres"),
    ],
)
def test_a_function_that_the_source_lacks_is_refused(named: tuple[Any, str], piece: str, known: str) -> None:
    db, name = named
    exact = piece.replace("seen", "DATE '2024-01-01'")
    text = f"SELECT {exact} AS x, count(*) AS n FROM {name} GROUP BY 1"
    where = f"SELECT count(*) AS n FROM {name} WHERE {exact} IS NULL"
    if db.engine.dialect in known.split():
        assert db.query(text).rows
        assert db.query(where).rows
        return
    for query in (text, where):
        with pytest.raises(UnsupportedError, match=f"no function {piece.partition('(')[0].lower()}") as error:
            db.query(query)
        lines = str(error.value).splitlines()
        start = lines[-1].index("^")
        assert lines[-2][start : start + lines[-1].count("^")] == exact


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("SELECT count(*) AS n FROM {t} -- a comment; DROP TABLE x", 2),
        ("SELECT count(*) AS n FROM {t} AS p WHERE p.site = $$a;b$$;", 1),
        ("SELECT count(*) AS n FROM {t} WHERE SITE IN ('a;b', 'it''s') /* more */", 1),
        ("SELECT count(*) AS n FROM release.{t} WHERE {t}.\"SITE\" = 'b'", 1),
        (
            (
                'WITH w AS (SELECT "Site" AS place, c*.5 AS h FROM {t}) SELECT count(*) AS n FROM w WHERE Place = '
                "'b' OR h=.5"
            ),
            2,
        ),
        (
            "SELECT count(*) AS n FROM (SELECT * FROM {t} WHERE c::INT = 1) AS q WHERE seen - DATE '2024-01-01' > -5",
            1,
        ),
    ],
)
def test_what_is_bound_is_what_was_written(named: tuple[Any, str], query: str, count: int) -> None:
    db, name = named
    cell = db.query(query.format(t=name)).rows[0]["n"]
    assert (cell.low, cell.high) == (count, count)


def test_nothing_is_run_to_see_whether_a_query_is_valid(named: tuple[Any, str]) -> None:
    db, _ = named
    db.engine.execute("CREATE SEQUENCE IF NOT EXISTS release.counted")
    ref = db.engine.target("release.counted")
    name = ".".join(part for part in (ref.database, ref.schema, ref.name) if part)
    assert [kind.lower() for kind in db.engine.describe(f"SELECT nextval('{name}') AS a")] == ["bigint"]
    assert db.engine.fetch("SELECT nextval('release.counted')") == [(1,)]


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("SELECT x, count(*) AS n FROM (SELECT coalesce(c, 4) * 2 AS x FROM {t}) AS s GROUP BY x", {2, 8}),
        ("SELECT x + 1 AS y, count(*) AS n FROM (SELECT coalesce(c, 4) * 2 AS x FROM {t}) AS s GROUP BY x", {3, 9}),
        ("SELECT (coalesce(c, 4)) AS x, count(*) AS n FROM {t} GROUP BY ((coalesce(c, 4)))", {1, 4}),
        (
            (
                "WITH a AS (SELECT c + 1 AS c FROM {t}), b AS (SELECT c * 2 AS c FROM a) SELECT c, count(*) AS n FROM "
                "b GROUP BY c"
            ),
            {4, None},
        ),
    ],
)
def test_groups_of_what_a_subquery_calculates(named: tuple[Any, str], query: str, groups: set[int]) -> None:
    db, name = named
    assert {next(iter(row.values())) for row in db.query(query.format(t=name)).rows} == groups
