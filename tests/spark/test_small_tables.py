"""Scratch tables of few rows: the driver holds them, and a table of more rows is one of the private schema."""

from __future__ import annotations

import datetime
from decimal import Decimal
from unittest.mock import patch

import pytest

import sqlanon
from sqlanon.engines.base import Statement
from sqlanon.engines.spark import small_tables
from sqlanon.table.scratch import Scratch
from tests.spark.conftest import run_apart

TYPED = (
    "1 AS a, CAST(NULL AS SMALLINT) AS b, 'x' AS c, CAST('2.50' AS DECIMAL(10, 2)) AS d, DATE '2020-02-29' AS e, "
    "TIMESTAMP_NTZ '2020-02-29 12:00:00' AS f, TIMESTAMP '2020-02-29 12:00:00' AS g, CAST('NaN' AS DOUBLE) AS h"
)


def _make(scratch, step, query):
    table = scratch.small(step)
    scratch.execute_all([Statement(f"test/{step}", f"CREATE TEMPORARY TABLE `{table.name}` AS {query}")])
    assert scratch.engine.exists(table)  # it is there now
    return table


@pytest.mark.parametrize("most", [0, 1])
def test_rows_and_types_are_those_of_the_query(session, monkeypatch, most):
    """Held, or written as there are more rows than may be held."""
    monkeypatch.setattr(small_tables, "MOST", most)
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db, Scratch(db.engine) as scratch:
        table = _make(scratch, "typed", f"SELECT {TYPED}")
        (row,) = db.engine.fetch(f"SELECT * FROM `{table.name}`")
        zoned = datetime.datetime(2020, 2, 29, 12, tzinfo=datetime.UTC)
        expected = (1, None, "x", Decimal("2.50"), zoned.date(), zoned.replace(tzinfo=None))
        assert row[:6] == expected
        assert row[6].astimezone(datetime.UTC) == zoned
        assert row[7] != row[7]
        types = [column.type for column in db.engine.look_up([table]).columns(table)]
        assert types == [*db.engine.describe(f"SELECT {TYPED}")]
        private = db.engine.target(f"_sqlanon.{table.name}")
        assert db.engine.exists(private) is (most == 0)
        scratch.drop(table)
        assert not db.engine.exists(table)
        assert not db.engine.exists(private)


def test_all_held_tables_have_one_bound(session, monkeypatch):
    """A table for which there is no room is written, until another one is dropped."""
    monkeypatch.setattr(small_tables, "MOST_TOGETHER", 1000)
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db, Scratch(db.engine) as scratch:

        def is_written(table):
            return db.engine.exists(db.engine.target(f"_sqlanon.{table.name}"))

        tables = [_make(scratch, f"n{i}", "SELECT id AS n FROM RANGE(50)") for i in range(3)]
        assert [is_written(table) for table in tables] == [False, False, True]
        scratch.drop(tables[0])
        tables.append(_make(scratch, "n3", "SELECT id AS n FROM RANGE(50)"))
        assert not is_written(tables[3])
        counts = [db.engine.fetch(f"SELECT COUNT(*) FROM `{table.name}`") for table in tables[1:]]
        assert counts == [[(50,)]] * 3


BOUNDS = {
    "SELECT REPEAT('x', 1000) AS c, id FROM RANGE(5000)": 21_000,
    "SELECT ARRAY_REPEAT('abc', 500) AS c FROM RANGE(5000)": 21_000,
    "SELECT id, id AS b, id AS c FROM RANGE(5000)": 20_024,
    "SELECT CAST(REPEAT('x', 1000) AS BINARY) AS c FROM RANGE(5000)": 21_000,
}
"""Queries of 5,000 rows, and the bytes that may reach the driver where there is room for 20,000, and a row."""


def check_bytes(db, query):
    """Of a result of too many bytes no more than its room is fetched, and a row; it is written as a table."""
    fetched = []
    frame = type(db.engine._session.range(1))
    to_arrow = frame.toArrow

    def watched(self):
        rows = to_arrow(self)
        fetched.append(rows.nbytes)
        return rows

    with (
        patch.object(frame, "toArrow", watched),
        patch.object(small_tables, "MOST_BYTES", 20_000),
        Scratch(db.engine) as scratch,
    ):
        table = _make(scratch, "bytes", query)
        assert fetched
        assert max(fetched) <= BOUNDS[query] + len(fetched) * 400  # offsets and the sums of bytes
        assert db.engine.exists(db.engine.target(f"_sqlanon.{table.name}"))
        assert db.engine.fetch(f"SELECT COUNT(*) FROM `{table.name}`") == [(5000,)]
        few = _make(scratch, "few", f"SELECT * FROM ({query}) LIMIT 2")
        assert not db.engine.exists(db.engine.target(f"_sqlanon.{few.name}"))
        assert db.engine.fetch(f"SELECT COUNT(*) FROM `{few.name}`") == [(2,)]


@pytest.mark.parametrize("query", BOUNDS)
def test_so_many_bytes_reach_the_driver_at_most(session, query):
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        check_bytes(db, query)


def test_so_many_bytes_reach_a_client_of_connect_at_most(connect_url):
    code = (
        "import sys, sqlanon; from tests.spark.test_small_tables import BOUNDS, check_bytes\n"
        "with sqlanon.connect(sys.argv[1]) as db:\n"
        "    for query in BOUNDS: check_bytes(db, query)"
    )
    ended = run_apart(code, connect_url)
    assert ended.returncode == 0, ended.stderr


def test_no_rows(session):
    """A table of no rows has its columns."""
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db, Scratch(db.engine) as scratch:
        table = _make(scratch, "none", f"SELECT {TYPED} WHERE FALSE")
        assert db.engine.fetch(f"SELECT COUNT(*) FROM `{table.name}`") == [(0,)]
        types = [column.type for column in db.engine.look_up([table]).columns(table)]
        assert types == [*db.engine.describe(f"SELECT {TYPED}")]


def test_what_it_was_made_of_may_be_dropped(session):
    """It is read once, when it is made; a run that ends drops what is left."""
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        with Scratch(db.engine) as scratch:
            first = _make(scratch, "first", "SELECT EXPLODE(ARRAY(1, 2)) AS n")
            second = _make(scratch, "second", f"SELECT SUM(n) AS n FROM `{first.name}`")
            scratch.drop(first)
            assert db.engine.fetch(f"SELECT n FROM `{second.name}`") == [(3,)]
        assert not db.engine.exists(second)


def test_a_release_of_columns_of_many_values(session, monkeypatch):
    """Domains that are too large to be held: the same rows, and nothing is left."""
    session.range(400).selectExpr("id % 37 AS a", "CAST(id % 11 AS INT) AS b", "id % 5 AS s").write.saveAsTable("wide")
    published = []
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        db.engine.above = 0
        for most in (small_tables.MOST, 3):
            monkeypatch.setattr(small_tables, "MOST", most)
            db.anonymize("wide", quasi=["a", "b"], sensitive="s", k=5, method="tree", seed=1)
            published.append(sorted(db.engine.fetch("SELECT * FROM release.wide")))
            names = db.engine.look_up([], schema=db.engine.target("_sqlanon.x")).tables
            assert not [name for name in names if "_small_" in name]
            db.unpublish("wide")
    assert len(published[0]) == 400
    assert published[0] == published[1]


def test_tables_made_at_the_same_time_have_one_bound(session, monkeypatch):
    """However many fit when they are begun."""
    monkeypatch.setattr(small_tables, "MOST_TOGETHER", 1000)
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db, Scratch(db.engine) as scratch:
        tables = [scratch.small(f"n{place}") for place in range(4)]
        query = "SELECT id AS n FROM RANGE(50)"
        scratch.execute_all(
            [Statement(table.name, f"CREATE TEMPORARY TABLE `{table.name}` AS {query}") for table in tables]
        )
        written = [db.engine.target(f"_sqlanon.{table.name}") for table in tables if db.engine.exists(table)]
        assert sum(db.engine.exists(table) for table in written) == 2
