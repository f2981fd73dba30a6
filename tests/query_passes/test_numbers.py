"""Numbers behind the answers of queries, each by its definition.

Nearest floating point numbers, runs of a line, steps, types.
"""

from __future__ import annotations

import math
import random
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
import sqlglot
from sqlglot import exp

import sqlanon
from sqlanon.errors import DatabaseError
from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.buckets import Bucket, bucket_of, places
from sqlanon.query.logic.number_line import Comparison, Piece, literal, pieces_of, place
from sqlanon.query.release import Field
from sqlanon.query.sql.sqltree import with_columns
from sqlanon.query.where import constants

FLOATS = (0.0, 1.0, -1.0, 1.5, 0.1, -0.1, 3.0, 2.0**100, -(2.0**-100), 123456.7, 2.0**-120, 1e-30)


def test_a_floating_point_number_means_what_is_nearest_to_it() -> None:
    """Half way to its neighbours; the ends belong to it if its last bit is 0."""
    for single, tiny in ((True, 2.0**-149), (False, 2.0**-1074)):
        real, bits = (np.float32, np.uint32) if single else (np.float64, np.uint64)
        for value in (*FLOATS, tiny, 2 * tiny, 3 * tiny, -4 * tiny, 2.0**-126 if single else 2.0**-1022):
            own = real(value)
            before, after = (Fraction(float(np.nextafter(own, real(end)))) for end in (-math.inf, math.inf))
            exact = Fraction(float(own))
            even = int(own.view(bits)) % 2 == 0
            expected = Piece((before + exact) / 2, (exact + after) / 2, (even, even))
            assert constants.invert_rounding(float(own), single=single) == expected


def test_the_first_and_last_multiple_in_a_run() -> None:
    for low, high, closed in product(range(-9, 10), range(-9, 10), product((False, True), repeat=2)):
        ends, step = (Fraction(low, 4), Fraction(high, 4)), Fraction(1, 2)
        inside = [
            at * step
            for at in range(-6, 7)
            if ends[0] < at * step < ends[1]
            or (at * step == ends[0] and closed[0] and ends[0] <= ends[1])
            or (at * step == ends[1] and closed[1] and ends[0] <= ends[1])
        ]
        if low > high or (low == high and closed != (True, True)):
            continue
        run = constants.fit_steps(Piece(*ends, closed), step)
        assert (inside[0], inside[-1]) == (run.low, run.high) if inside else run.low > run.high  # type: ignore[operator]


@pytest.mark.parametrize("kind", [*constants._BITS])
def test_no_integer_of_a_type_is_larger_than_its_bound(kind: str) -> None:
    bound = constants._bound(SimpleNamespace(field=SimpleNamespace(kind="integer", source_type=kind)))  # type: ignore[arg-type]
    with sqlanon.connect("duckdb:///:memory:") as db:
        assert db.engine.fetch(f"SELECT CAST({bound} AS {kind}) = {bound}") == [(True,)]
        with pytest.raises(DatabaseError):
            db.engine.fetch(f"SELECT CAST('{bound + 1}' AS {kind})")


def test_every_value_is_in_the_run_whose_tests_it_meets() -> None:
    tests = [
        Comparison(i, op, Fraction(at)) for i, (op, at) in enumerate(product(("<", "<=", "=", "<>", ">", ">="), (0, 1)))
    ]
    means = {
        "<": float.__lt__,
        "<=": float.__le__,
        "=": float.__eq__,
        "<>": float.__ne__,
        ">": float.__gt__,
        ">=": float.__ge__,
    }
    for kind, values in (("boolean", (0, 1)), ("integer", range(-3, 5))):
        for chosen in [*([one] for one in tests), *map(list, pairwise(tests)), tests]:
            runs = pieces_of(chosen, Fraction(1), kind)
            assert all(one[0] != other[0] for one, other in pairwise(runs)), "a run is cut where nothing changes"
            for value in values:
                meets = frozenset(one.id for one in chosen if means[one.op](float(value), float(one.at)))  # type: ignore[arg-type]
                assert [
                    holds
                    for holds, run in runs
                    if (run.low is None or run.low <= value) and (run.high is None or value <= run.high)  # type: ignore[operator]
                ] == [meets]
            if kind == "boolean":
                assert {end for _, run in runs for end in (run.low, run.high)} <= {0, 1}


def test_days_and_microseconds_are_counted_as_in_sql() -> None:
    days, moments = (
        Field("d", "quasi", "ordered", "date", "DATE", ()),
        Field("d", "quasi", "ordered", "timestamp", "TIMESTAMP", ()),
    )
    for day in (date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29)):
        at = place(day, "date")
        with sqlanon.connect("duckdb:///:memory:") as db:
            counted = db.engine.fetch(f"SELECT CAST(EXTRACT(EPOCH FROM DATE '{day}') / 86400 AS BIGINT)")
            assert counted == [(at,)]
            for field, kind in ((days, "date"), (moments, "timestamp")):
                there = place(day, kind)
                assert there is not None
                shown = literal(there, field).sql("duckdb")
                assert db.engine.fetch(f"SELECT {shown} = DATE '{day}'") == [(True,)]


MICROSECONDS = {
    "microseconds": 1,
    "milliseconds": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
    "month": 28 * 86_400_000_000,
    "quarter": 90 * 86_400_000_000,
    "year": 365 * 86_400_000_000,
    "decade": 86_400_000_000,
}
"""Of the units that differ in length the shortest, so that no more steps than these lie between two times.

What is longer counts in days.
"""


@pytest.mark.parametrize("unit", MICROSECONDS)
def test_times_are_measured_in_steps(unit: str) -> None:
    field = Field("t", "quasi", "ordered", "timestamp", "TIMESTAMP", ())
    box = Box("b", field, "interval", {})
    lo, hi = datetime(2020, 1, 1), datetime(2020, 1, 3, 1, 0, 2, 5000)
    ends = [sqlglot.parse_one(f"TIMESTAMP '{end}'", dialect="duckdb") for end in (lo, hi)]
    first, last = places(box, Bucket(box.value, box.value, unit=exp.Var(this=unit)), *ends)
    with sqlanon.connect("duckdb:///:memory:") as db:
        (row,) = db.engine.fetch(f"SELECT ({last.sql('duckdb')}) - ({first.sql('duckdb')})")
    passed = (hi - lo).total_seconds() * 1_000_000
    assert float(str(row[0])) == pytest.approx(passed / MICROSECONDS[unit], rel=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "v / 10.0",
        "(v - 3) / 4.0",
        "(v + 3) * 0.5",
        "2 + v * 0.25",
        "(v * 2 - 7) / 8.0",
        "-(-3) + v / 5.0",
        "(v - (-3)) / 10.0",
    ],
)
def test_buckets_of_a_floor_begin_where_its_value_changes(text: str) -> None:
    field = Field("v", "quasi", "ordered", "float", "DOUBLE", ())
    box = Box("b", field, "interval", {})
    node = with_columns(sqlglot.parse_one(f"FLOOR({text})", dialect="duckdb"), lambda _: box.value)
    bucket = bucket_of(node, box)
    assert bucket is not None
    assert bucket.width is not None
    for quarter in range(-80, 81):
        at = Fraction(quarter, 4)
        by_text = eval(text, {"v": float(at)})
        assert math.floor((at - bucket.start) / bucket.width) == math.floor(by_text)


@pytest.mark.parametrize("text", ["v * v", "v / v", "3 / v", "v - w", "v * -2", "v % 2"])
def test_only_lines_have_buckets(text: str) -> None:
    """Of anything else the steps are not of one width."""
    box = Box("b", Field("v", "quasi", "ordered", "float", "DOUBLE", ()), "interval", {})
    own = {"v": box.value}
    node = with_columns(sqlglot.parse_one(f"FLOOR({text})", dialect="duckdb"), lambda found: own.get(found.name))
    assert bucket_of(node, box) is None


@pytest.mark.parametrize(("kind", "first", "last"), [("TINYINT", -128, 127), ("UTINYINT", 0, 255)])
def test_runs_hold_the_values_of_a_type_alone(kind: str, first: int, last: int) -> None:
    """By every value: each is in one run, whose tests hold for it, and no run lies beyond the type."""
    rng = random.Random(kind)
    for _ in range(50):
        near = [rng.choice([first - 1, first, first + 1, 0, last - 1, last, last + 1]) for _ in range(2)]
        kinds = [rng.choice(["<", "<=", ">", ">=", "=", "<>"]) for _ in near]
        tests = [Comparison(i, op, Fraction(at)) for i, (op, at) in enumerate(zip(kinds, near, strict=True))]
        runs = pieces_of(tests, Fraction(1), "integer", kind)
        for value in range(first, last + 1):
            mine = [
                holds
                for holds, run in runs
                if (run.low is None or value >= run.low) and (run.high is None or value <= run.high)
            ]
            assert mine == [frozenset(t.id for t in tests if t.holds(Fraction(value), Fraction(value)))]
        for _, run in runs:
            assert run.low is None or first <= run.low <= last
            assert run.high is None or first <= run.high <= last
