"""Arrays that come out of an engine a block at a time: in order, whole, and never in the way of what follows."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import DatabaseError
from sqlanon.sqltext import table_name
from tests.engines import ENGINES, create_table

DTYPES = ["int32", "int16", "int64", "float64"]
CANARY = "canary-4711"
TABLES = ("numbers", "written", "texts", "holes")


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.name)
def db(request: pytest.FixtureRequest, connect_module: Any) -> Any:
    """One database an engine; what an earlier test wrote is gone."""
    made = connect_module(request.param)
    for name in TABLES:
        made.engine.execute(f"DROP TABLE IF EXISTS {name}")
    return made


def numbers(db: Any, count: int) -> tuple[Statement, list[np.ndarray]]:
    """A query over ``count`` rows in an order that is not the table's, and what it must return."""
    place = np.random.default_rng(7).permutation(count)
    columns = [place.astype("int32"), (place % 1000 - 500).astype("int16"), place.astype("int64") << 40, place / 7]
    db.engine.load_arrays(TableRef(None, "numbers"), dict(zip("abcd", columns, strict=True)))
    query = Statement("numbers", 'SELECT a, b, c, d FROM "numbers" ORDER BY a')
    return query, [column[np.argsort(place)] for column in columns]


def usable(db: Any) -> bool:
    return db.engine.fetch("SELECT 42") == [(42,)]


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a snapshot"])
@pytest.mark.parametrize(
    ("count", "rows", "blocks"),
    [
        (0, 10, []),
        (10, 10, [10]),
        (9, 10, [9]),
        (11, 10, [10, 1]),
        (30, 10, [10, 10, 10]),
        (3, 1, [1, 1, 1]),
        (70_000, 30_000, [30_000, 30_000, 10_000]),
    ],
)
def test_blocks_are_the_query_cut_into_pieces(db, count, rows, blocks, inside):
    query, expected = numbers(db, count)
    with db.engine.snapshot() if inside else nullcontext():
        found = list(db.engine.stream_arrays(query, DTYPES, rows))
        assert usable(db)
    assert [len(block[0]) for block in found] == blocks
    assert all([str(array.dtype) for array in block] == DTYPES for block in found)
    for i, column in enumerate(expected):
        joined = np.concatenate([block[i] for block in found]) if found else np.zeros(0)
        np.testing.assert_array_equal(joined, column)


def test_blocks_are_the_callers_own(db):
    query, expected = numbers(db, 20)
    first, second = db.engine.stream_arrays(query, DTYPES, 10)
    first[0][:] = -1
    second[0][:] = -2
    np.testing.assert_array_equal(first[2], expected[2][:10])
    assert (first[0] == -1).all()


def test_values_are_bound(db):
    query, _ = numbers(db, 20)
    mark = {"duckdb": "$least", "postgres": "%(least)s"}[db.engine.dialect]
    bound = Statement("numbers", query.text.replace("ORDER", f"WHERE a >= {mark} ORDER"), {"least": 15})
    (block,) = db.engine.stream_arrays(bound, DTYPES, 10)
    assert block[0].tolist() == [15, 16, 17, 18, 19]


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a snapshot"])
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_a_stream_that_is_closed_early_leaves_the_connection_and_its_transaction(db, taken, inside):
    query, expected = numbers(db, 50_000)
    with db.engine.snapshot() if inside else nullcontext():
        if inside:
            db.engine.load_arrays(TableRef(None, "written"), {"v": np.arange(3)})
        stream = db.engine.stream_arrays(query, DTYPES, 100)
        for _ in range(taken):
            next(stream)
        stream.close()
        assert usable(db)
        np.testing.assert_array_equal(db.engine.fetch_arrays(query, DTYPES)[0], expected[0])
    if inside:
        assert db.engine.fetch('SELECT count(*) FROM "written"') == [(3,)]


def test_nothing_is_left_behind(db):
    query, _ = numbers(db, 100)
    made = "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE '%stream%'"
    stream = db.engine.stream_arrays(query, DTYPES, 10)
    next(stream)
    stream.close()
    list(db.engine.stream_arrays(query, DTYPES, 10))
    assert db.engine.fetch(made) == [(0,)]


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a snapshot"])
@pytest.mark.parametrize("bad", [0, 4_999])
def test_an_error_of_the_query_shows_no_cell(db, bad, inside):
    value = f"CASE WHEN i = {bad} THEN '{CANARY}' ELSE CAST(i AS TEXT) END"
    db.engine.execute(f"CREATE TABLE texts AS SELECT i, {value} AS v FROM generate_series(0, 4999) AS r(i)")
    query = Statement("texts", f"SELECT CAST(v AS INTEGER) AS v FROM {table_name(db.engine.target('texts'))}")
    with pytest.raises(DatabaseError) as caught, db.engine.snapshot() if inside else nullcontext():
        list(db.engine.stream_arrays(query, ["int32"], 100))
    assert CANARY not in str(caught.value)
    assert "texts" in str(caught.value)
    assert usable(db)


@pytest.mark.parametrize("bad", [0, 5, 9, 10, 24])
def test_a_null_is_refused(db, bad):
    table = create_table(
        db, "holes", {"i": "INTEGER", "v": "INTEGER"}, [(i, None if i == bad else i) for i in range(25)]
    )
    query = Statement("holes", f"SELECT i, v FROM {table_name(db.engine.target(table))} ORDER BY i")
    with pytest.raises(DatabaseError, match="NULL"):
        list(db.engine.stream_arrays(query, ["int32", "int32"], 10))
    assert usable(db)
    with pytest.raises(DatabaseError, match="NULL"):
        db.engine.fetch_arrays(query, ["int32", "int32"])
