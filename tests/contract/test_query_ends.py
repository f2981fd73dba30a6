"""Ends of calculations that answers of earlier versions missed, by releases whose rows leave no doubt."""

from __future__ import annotations

import math
import uuid
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = [
    quasi("b", "integer", "BIGINT"),
    quasi("f", "float", "DOUBLE PRECISION"),
    quasi("g", "float", "DOUBLE PRECISION"),
    plain("c", "integer", "INTEGER"),
]
ROWS = [
    ("4", "4", "1", "'NaN'", "-2", "-2", "1"),
    ("0", "10000000000", "'-Infinity'", "5", "1", "'Infinity'", "3"),
]

HUGE = [("1e308", "1"), ("1e308", "2"), ("-1e308", "1")]
"""From the left the first two are infinite together."""


@pytest.fixture(scope="module")
def named(shared_db: Any) -> tuple[Any, str]:
    name = f"n{uuid.uuid4().hex[:10]}"
    publish(shared_db, name, COLUMNS, ROWS)
    return shared_db, name


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("(b + 1) / 2 = 2", {"b": 4}),
        ("(b + c) / 2 = 2", {"b": 4, "c": 1}),
        ("(b - 1) / 2 * 2 = 2", {"b": 4}),
        ("-f < 0", {"f": 3}),
        ("-f > 1e308", {"f": "NaN"}),
        ("5 - f < 0", {"f": 7}),
    ],
)
def test_a_row_that_satisfies_a_condition_is_possible(
    named: tuple[Any, str], where: str, values: dict[str, Any]
) -> None:
    """The first row may have these values; the engine says whether they satisfy the condition."""
    db, name = named
    kinds = {"b": "BIGINT", "f": "DOUBLE PRECISION", "c": "INTEGER"}
    row = ", ".join(f"CAST('{value}' AS {kinds[column]}) AS {column}" for column, value in values.items())
    ((holds,),) = db.engine.fetch(f"SELECT {where} FROM (SELECT {row}) AS v")
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE c = 1 AND {where}").rows[0]["n"]
    assert cell.low <= int(holds) <= cell.high


@pytest.mark.every_engine
@pytest.mark.parametrize("item", ["sum(f + g)", "sum(f * g)", "max(b * 2)", "sum(f - g)"])
def test_a_calculation_of_infinities_that_is_no_number_is_possible(named: tuple[Any, str], item: str) -> None:
    """Of the second row f may be -Infinity and g Infinity: their sum is NaN, which is above all numbers."""
    db, name = named
    cell = db.query(f"SELECT {item} AS x FROM {name} WHERE c = 3").rows[0]["x"]
    if item == "max(b * 2)":
        assert (cell.low, cell.high) == (0, 20000000000)
    else:
        assert cell.low is None or cell.low == float("-inf")
        assert cell.high is None or cell.high != cell.high


@pytest.mark.every_engine
@pytest.mark.parametrize("item", ["sum(f) / count(f)", "sum(f) / count(*)", "count(*) / nullif(sum(f), 0)"])
def test_a_quotient_of_what_may_be_no_number_may_be_none(shared_db: Any, item: str) -> None:
    """One of the three values may be NaN, and a class has no value."""
    name = f"n{uuid.uuid4().hex[:10]}"
    columns = [quasi("f", "float", "DOUBLE PRECISION", nulls=True), plain("c", "integer", "INTEGER")]
    rows = [("1", "2", "'none'", "1"), ("5", "'NaN'", "'none'", "1"), ("NULL", "NULL", "'all'", "1")]
    publish(shared_db, name, columns, rows)
    source = "(VALUES (1, 1), (CAST('NaN' AS DOUBLE PRECISION), 1), (NULL, 1)) AS v (f, c)"
    ((value,),) = shared_db.engine.fetch(f"SELECT {item} FROM {source}")
    assert math.isnan(value)
    cell = shared_db.query(f"SELECT {item} AS x FROM {name}").rows[0]["x"]
    assert cell.high is None or cell.high != cell.high


@pytest.mark.parametrize("item", ["sum(f)", "avg(f)", "sum(f) / count(*)", "sum(f) FILTER (WHERE c < 3)"])
def test_a_sum_that_leaves_the_type_on_its_way_has_no_bounds(item: str) -> None:
    """In another order of the same rows the sum is finite: infinite is not what every consistent source gives."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        publish(db, "huge", [plain("f", "float", "DOUBLE"), plain("c", "integer", "INTEGER")], HUGE)
        db.engine.execute("SET threads = 1")
        orders = [", ".join(f"({f}, {c})" for f, c in order) for order in (HUGE, [HUGE[0], HUGE[2], HUGE[1]])]
        values = {db.engine.fetch(f"SELECT {item} FROM (VALUES {order}) AS v (f, c)")[0][0] for order in orders}
        assert len(values) == 2
        cell = db.query(f"SELECT {item} AS x FROM huge").rows[0]["x"]
        assert cell.low is None or cell.low <= min(values)
        assert cell.high is None or cell.high >= max(values)


@pytest.mark.every_engine
def test_an_earlier_time_may_be_moved_to_a_later_one_by_months(shared_db: Any) -> None:
    """A month after 29 January, noon, is 29 February, noon; after 30 January, half past midnight, it is earlier."""
    name = f"n{uuid.uuid4().hex[:10]}"
    ends = ["TIMESTAMP '2020-01-29 12:00:00'", "TIMESTAMP '2020-01-31 12:30:00'"]
    publish(shared_db, name, [quasi("t", "timestamp", "TIMESTAMP")], [ends])
    where = "t + INTERVAL '1 month' < TIMESTAMP '2020-02-29 06:00:00'"
    row = "(SELECT TIMESTAMP '2020-01-30 00:30:00' AS t) AS v"
    assert shared_db.engine.fetch(f"SELECT {where} FROM {row}") == [(True,)]
    assert shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"].high == 1


@pytest.mark.every_engine
def test_whole_numbers_that_doubles_leave_out(shared_db: Any) -> None:
    """Distinct values of ranges beyond 2^53, and quantiles beside aggregates with other tables."""
    name, start = f"n{uuid.uuid4().hex[:10]}", 2**53 + 1
    rows = [(str(start + 2), str(start + 4), str(start + 2 * i)) for i in range(3)]
    publish(shared_db, name, [quasi("b", "integer", "BIGINT"), plain("i", "integer", "BIGINT")], rows, attained=["b"])
    (row,) = shared_db.query(
        f"SELECT count(DISTINCT b) AS n, count(DISTINCT b) FILTER (WHERE i > 0) AS m FROM {name}"
    ).rows
    assert (row["n"].low, row["n"].high, row["m"].high) == (2, 3, 3)
    quantile = "percentile_disc(0.5) WITHIN GROUP (ORDER BY {})"
    (row,) = shared_db.query(
        f"SELECT {quantile.format('i')} AS i, {quantile.format('b')} AS b, count(*) AS n FROM {name}"
    ).rows
    assert row["i"].low == start + 2
    assert (row["b"].low, row["b"].high) == (start + 2, start + 4)
    (row,) = shared_db.query(f"SELECT {quantile.format('i')} * count(*) AS x FROM {name}").rows
    assert row["x"].low == row["x"].high == 3 * (start + 2)


@pytest.mark.every_engine
def test_keys_that_python_has_none_of(shared_db: Any) -> None:
    """24:00 is a time of both engines; NaN and infinite numbers have no neighbours."""
    name = f"n{uuid.uuid4().hex[:10]}"
    columns = [quasi("b", "integer", "BIGINT"), plain("t", "other", "TIME"), plain("m", "float", "DOUBLE PRECISION")]
    publish(shared_db, name, columns, [("0", "1", "'24:00:00'", "'NaN'"), ("0", "1", "'00:00:00'", "1")])
    rows = shared_db.query(f"SELECT t, count(*) AS n FROM {name} GROUP BY t").rows
    assert [str(row["t"]) for row in rows] == ["00:00:00", "24:00:00"]
    asked = f"SELECT m, count(*) AS n FROM {name} {{}} GROUP BY m"
    assert len(shared_db.query(asked.format(""), merge_narrow=50).rows) == 2
    with pytest.raises(UnsupportedError, match="NaN or infinite"):
        shared_db.query(asked.format("WHERE b = 0"), merge_narrow=50)
