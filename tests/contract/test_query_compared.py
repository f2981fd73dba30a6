"""What a column may be compared with: times with and without a zone, labels in quotes, calculations, other columns."""

from __future__ import annotations

import datetime
import uuid
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from sqlanon.query.logic.number_line import Piece
from sqlanon.query.where import constants
from tests.engines import create_table, read_table
from tests.oracle.handmade import Given, plain, publish, quasi


def made(db: Any, columns: list[Given], rows: list[list[str]], kind: str = "ranges") -> str:
    name = f"c{uuid.uuid4().hex[:12]}"
    publish(db, name, columns, rows, kind)
    return name


def count(db: Any, name: str, where: str) -> Any:
    (row,) = db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows
    return row["n"]


def test_times_with_a_zone_are_the_same_moments_in_utc(shared_db: Any, caplog: pytest.LogCaptureFixture) -> None:
    """From the 1st to the 3rd of January in UTC; the same moments in another zone are the same answer."""
    columns = [
        quasi("bare", "timestamp", "TIMESTAMP"),
        quasi("zoned", "timestamp", "TIMESTAMP WITH TIME ZONE"),
        plain("c", "integer", "INTEGER"),
    ]
    ends = [f"TIMESTAMP '2020-01-0{day}'" for day in (1, 3)]
    ends += [f"TIMESTAMP WITH TIME ZONE '2020-01-0{day} 00:00:00+00'" for day in (1, 3)]
    name = made(shared_db, columns, [[*ends, "1"]])
    for text, bounds in (
        ("2020-01-05 00:00:00+00", (1, 1)),
        ("2020-01-02 02:00:00+02", (0, 1)),
        ("2020-01-01 01:00:00+01", (0, 0)),
        ("2020-01-03 00:00:00-01", (1, 1)),
    ):
        for column in ("zoned", "bare"):
            found = count(shared_db, name, f"{column} < TIMESTAMPTZ '{text}'")
            assert (found.low, found.high) == bounds, (column, text)
    assert count(shared_db, name, "extract(year FROM zoned) + 1 > 2020").low == 1
    assert not caplog.records


def test_times_of_more_digits_than_a_column_has_are_refused(shared_db: Any) -> None:
    """DuckDB's TIMESTAMP_NS; PostgreSQL has no such type, and both read a text in microseconds."""
    columns = [quasi("bare", "timestamp", "TIMESTAMP"), plain("c", "integer", "INTEGER")]
    name = made(shared_db, columns, [[*(f"TIMESTAMP '2020-01-0{day}'" for day in (1, 3)), "1"]])
    fine = "not parse" if shared_db.engine.dialect == "postgres" else "it has more digits than microseconds"
    with pytest.raises(UnsupportedError, match=fine):
        count(shared_db, name, "bare < TIMESTAMP_NS '2020-01-02 00:00:00.123456789'")
    assert count(shared_db, name, "bare < TIMESTAMP '2020-01-04 00:00:00.123456'").low == 1


def test_numbers_in_quotes_are_numbers(shared_db: Any) -> None:
    """'10' is more than 9, and no text that begins with 1."""
    columns = [quasi("v", "integer", "INTEGER"), plain("c", "integer", "INTEGER")]
    name = made(shared_db, columns, [["2", "9", "1"]])
    for text, bounds in (("v < '10'", (1, 1)), ("v < '2'", (0, 0)), ("v <= '2'", (0, 1))):
        found = count(shared_db, name, text)
        assert (found.low, found.high) == bounds, text


def test_times_without_a_zone_are_those_of_the_session(shared_db: Any) -> None:
    """In Tokyo it is nine hours later than in UTC."""
    columns = [quasi("zoned", "timestamp", "TIMESTAMP WITH TIME ZONE"), plain("c", "integer", "INTEGER")]
    ends = [f"TIMESTAMP WITH TIME ZONE '2020-01-0{day} 00:00:00+00'" for day in (1, 3)]
    name = made(shared_db, columns, [[*ends, "1"]])
    shared_db.engine.execute("SET TimeZone = 'Asia/Tokyo'")
    try:
        for text, bounds in (
            ("TIMESTAMP '2020-01-01 08:00:00'", (0, 0)),
            ("TIMESTAMP '2020-01-01 10:00:00'", (0, 1)),
            ("DATE '2020-01-01'", (0, 0)),
            ("DATE '2020-01-04'", (1, 1)),
        ):
            found = count(shared_db, name, f"zoned < {text}")
            assert (found.low, found.high) == bounds, text
    finally:
        shared_db.engine.execute("RESET TimeZone")


def test_a_constant_that_the_engine_rounds_in_another_way_is_refused(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both engines round to the nearest.

    What is computed here is asked of them, and an engine that did not agree would be found.
    """
    columns = [quasi("v", "integer", "INTEGER"), plain("c", "integer", "INTEGER")]
    name = made(shared_db, columns, [["1", "9", "1"]])
    constant = "v < CAST(5 AS DOUBLE PRECISION)"
    assert count(shared_db, name, constant).estimate == pytest.approx(4 / 9)
    wide = Piece(Fraction(4), Fraction(6))
    monkeypatch.setattr(constants, "invert_rounding", lambda *_, **__: wide)
    with pytest.raises(UnsupportedError, match="it is rounded before it is compared"):
        count(shared_db, name, constant)


def test_no_value_is_counted_where_points_show_none(shared_db: Any) -> None:
    """A function of the column is looked up value by value; a row that shows NULL counts as NULL in the estimate."""
    name = f"points_{uuid.uuid4().hex[:8]}"
    shown = ["oslo", "rome", "pisa"]
    rows = [(None if i % 5 == 0 else shown[i % 3], i % 7) for i in range(40)]
    source = create_table(shared_db, name, {"s": "TEXT", "x": "INTEGER"}, rows)
    shared_db.anonymize(source, quasi=["s", "x"], k=4, format="points", name=name, publish=f"release.{name}")
    cells = [row["s"] for row in read_table(shared_db, ("release", name))]
    assert 0 < cells.count(None) < 40
    for where, values in (("s LIKE 'r%' OR s IS NULL", ("rome", None)), ("s LIKE 'r%'", ("rome",))):
        found = count(shared_db, f"release.{name}", where)
        assert found.estimate == sum(map(cells.count, values))
        assert found.low <= found.estimate <= found.high


def test_labels_of_values_in_quotes_are_refused(shared_db: Any) -> None:
    """A comma in a value looks like one between values, so labels are not taken apart."""
    words = Given("s", "quasi", "text", "TEXT", (("s", "TEXT"),), "nominal")
    columns = [words, plain("c", "integer", "INTEGER")]
    quoted = made(shared_db, columns, [["""'{"a, b", c}'""", "1"], ["'d'", "1"]], "labels")
    with pytest.raises(UnsupportedError, match="labels with values in quotes are not read"):
        count(shared_db, quoted, "s = 'c'")
    bare = made(shared_db, columns, [["'{a, c}'", "1"], ["'d'", "1"]], "labels")
    found = count(shared_db, bare, "s = 'c'")
    assert (found.low, found.estimate, found.high) == (0, 0.5, 1)


def test_columns_are_compared_by_their_ends(shared_db: Any) -> None:
    """x from 0 to 10, y is 4: below it are four tenths, and in a set of values nothing is decided."""
    numbers = Given("v", "quasi", "integer", "INTEGER", (("v", "INTEGER[]"),), "nominal")
    columns = [
        quasi("x", "float", "DOUBLE PRECISION"),
        quasi("y", "float", "DOUBLE PRECISION"),
        numbers,
        plain("c", "integer", "INTEGER"),
    ]
    name = made(shared_db, columns, [["0", "10", "4", "4", "ARRAY[1, 2]", "1"]])
    for where, estimate in (("x < y", 0.4), ("x <= y", 0.4), ("x > y", 0.6), ("y < x", 0.6)):
        found = count(shared_db, name, where)
        assert (found.low, found.high) == (0, 1)
        assert found.estimate == pytest.approx(estimate), where
    for where in ("v + c > 1", "v > c", "v + x > 3"):
        with pytest.raises(UnsupportedError, match="do not decide this"):
            count(shared_db, name, where)


def test_a_time_keeps_the_type_of_the_source_whatever_constant_it_is_compared_with(shared_db: Any) -> None:
    name = f"y{uuid.uuid4().hex[:10]}"
    first = datetime.datetime(2024, 1, 1)
    rows = [(first + datetime.timedelta(hours=7 * i), i % 2) for i in range(12)]
    create_table(shared_db, name, {"seen": "TIMESTAMP", "s": "INTEGER"}, rows)
    shared_db.anonymize(name, quasi=["seen"], sensitive="s", k=3)
    asked = f"min(seen) FILTER (WHERE seen > TIMESTAMP '2024-01-01 10:00:00') AS t FROM {name}"
    cell = shared_db.query(f"SELECT {asked}").rows[0]["t"]
    assert cell.low <= first + datetime.timedelta(hours=14) <= cell.high
    for row in shared_db.query(f"SELECT date_trunc('day', seen) AS day, {asked} GROUP BY 1").rows:
        assert {value.tzinfo for value in (row["t"].low, row["t"].high) if value is not None} <= {None}
        assert getattr(row["day"], "tzinfo", None) is None
    recent = "seen < TIMESTAMPTZ '2024-01-02 00:00:00+00' AND seen < now() - INTERVAL '7 days'"
    (truth,) = shared_db.engine.fetch(f"SELECT count(*) FROM {name} WHERE {recent}")[0]
    assert count(shared_db, name, recent).low <= truth <= count(shared_db, name, recent).high
