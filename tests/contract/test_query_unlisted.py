"""Groups of values that a release shows nowhere, and answers where a type or a special value once made none."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from typing import Any

import pytest

from tests.oracle.handmade import Given, plain, publish, quasi

DOUBLE = "DOUBLE PRECISION"


def shown(name: str, kind: str, type_: str, *, flag: bool = False) -> Given:
    """An ordered quasi column of format suppressed or points."""
    published = ((name, type_), *(((f"{name}_suppressed", "BOOLEAN"),) if flag else ()))
    return Given(name, "quasi", kind, type_, published, "ordered")


def made(db: Any, columns: list[Given], rows: list[list[str]], kind: str) -> str:
    name = f"u{uuid.uuid4().hex[:10]}"
    publish(db, name, columns, rows, kind)
    return name


def groups(db: Any, name: str, key: str) -> tuple[dict[Any, tuple[int, int]], bool]:
    answer = db.query(f"SELECT {key} AS k, count(*) AS n FROM {name} GROUP BY 1")
    assert answer.to_dict()["unlisted_groups"] is answer.unlisted_groups
    return {row["k"]: (row["n"].low, row["n"].high) for row in answer.rows}, answer.unlisted_groups


def test_a_suppressed_value_may_make_a_group_of_its_own(shared_db: Any) -> None:
    for flag in (False, True):
        columns = [shown("x", "integer", "INTEGER", flag=flag), plain("d", "text", "TEXT", "sensitive")]
        rest = [["TRUE"], ["FALSE"]] if flag else [[], []]
        all_ = made(shared_db, columns, [["NULL", *rest[0], "'a'"]] * 2, "suppressed")
        some = made(shared_db, columns, [["NULL", *rest[0], "'a'"], ["3", *rest[1], "'a'"]], "suppressed")
        none = made(shared_db, columns, [["3", *rest[1], "'a'"]] * 2, "suppressed")
        # Without a flag no NULL is possible, with it any value and NULL.
        whole = {False: (0, 2), True: (0, 2)} if flag else {False: (2, 2)}
        assert groups(shared_db, all_, "x IS NULL") == (whole, False)
        assert groups(shared_db, some, "x IS NULL") == (
            {False: (1, 2), True: (0, 1)} if flag else {False: (2, 2)},
            False,
        )
        assert groups(shared_db, none, "x IS NOT NULL") == ({True: (2, 2)}, False)
        assert groups(shared_db, none, "x") == ({3: (2, 2)}, False)
        assert groups(shared_db, all_, "x")[1]
        found, unlisted = groups(shared_db, some, "x")
        assert (found[3], unlisted) == ((1, 2), True)
        assert groups(shared_db, some, "x > 2")[1]
        assert groups(shared_db, some, "d") == ({"a": (2, 2)}, False)


@pytest.mark.parametrize(("kind", "type_", "value"), [("decimal", "DECIMAL(8, 2)", "2.74"), ("float", DOUBLE, "2.5")])
def test_a_test_for_null_has_its_groups_where_every_value_is_suppressed(
    shared_db: Any, kind: str, type_: str, value: str
) -> None:
    """No value is shown that a group could be listed by, and each row is in one all the same."""
    name = made(
        shared_db, [shown("m", kind, type_), plain("c", "integer", "INTEGER")], [["NULL", "1"]] * 4, "suppressed"
    )
    assert groups(shared_db, name, "m IS NULL") == ({False: (4, 4)}, False)
    assert groups(shared_db, name, "CASE WHEN m IS NULL THEN 'none' ELSE 'some' END") == ({"some": (4, 4)}, False)
    row = shared_db.query(f"SELECT m IS NULL AS k, count(*) AS n FROM {name} WHERE m = {value} GROUP BY 1").rows[0]
    assert (row["k"], row["n"].low, row["n"].high) == (False, 0, 4)
    name = made(
        shared_db, [shown("m", kind, type_, flag=True)], [["NULL", "TRUE"]] * 3 + [["NULL", "FALSE"]], "suppressed"
    )
    assert groups(shared_db, name, "m IS NULL") == ({False: (0, 3), True: (1, 4)}, False)


def test_points_may_mean_any_value_and_for_null(shared_db: Any) -> None:
    columns = [
        shown("x", "integer", "INTEGER"),
        shown("seen", "date", "DATE"),
        plain("d", "text", "TEXT", "sensitive"),
    ]
    name = made(shared_db, columns, [["3", "DATE '2024-01-01'", "'a'"], ["3", "DATE '2024-02-01'", "'a'"]], "points")
    assert groups(shared_db, name, "x IS NULL") == ({False: (0, 2), True: (0, 2)}, False)
    assert groups(shared_db, name, "x")[1]
    row = shared_db.query(f"SELECT max(seen) AS x, min(seen) AS m, count(seen) AS n FROM {name}").rows[0]
    assert (row["x"].estimate, row["x"].low, row["x"].high) == (dt.date(2024, 2, 1), None, None)
    assert row["m"].estimate == dt.date(2024, 1, 1)
    assert (row["n"].low, row["n"].high) == (0, 2)


def test_a_declared_domain_is_listed_whole(shared_db: Any) -> None:
    tree = Given(
        "h",
        "quasi",
        "text",
        "TEXT",
        (("h", "TEXT"),),
        "hierarchy",
        {"leaves": ["a", "b"], "nodes": [[1, 0, 2, "*"]]},
    )
    name = made(shared_db, [tree, plain("d", "text", "TEXT", "sensitive")], [["'*'", "'a'"]], "ranges")
    assert groups(shared_db, name, "h") == ({"a": (0, 1), "b": (0, 1)}, False)


def number(value: Any) -> str:
    return f"CAST('{value}' AS {DOUBLE})"


@pytest.mark.parametrize(
    ("where", "sums"),
    [
        ("age < 35", None),  # inf is certain and -inf possible: inf, or no number
        ("age < 50", (math.nan, math.nan)),
        ("age < 30", (math.inf, math.inf)),
        ("c = 1", (math.nan, math.nan)),
        ("c = 2", (2.0, 2.0)),
        ("age > 38", None),
    ],
)
def test_sums_of_infinities_have_no_bounds_where_they_may_be_no_number(
    shared_db: Any, where: str, sums: tuple[float, float] | None
) -> None:
    columns = [
        quasi("age", "integer", "INTEGER"),
        plain("d", "text", "TEXT", "sensitive"),
        plain("f", "float", DOUBLE),
        plain("c", "integer", "INTEGER"),
    ]
    rows = [
        ["20", "29", "'x'", number("Infinity"), "1"],
        ["30", "39", "'x'", number("-Infinity"), "1"],
        ["40", "59", "'x'", number("Infinity"), "3"],
        ["60", "69", "'x'", number(2), "2"],
    ]
    name = made(shared_db, columns, rows, "ranges")
    row = shared_db.query(f"SELECT sum(f) AS s, avg(f) AS a, -1 * sum(f) AS t FROM {name} WHERE {where}").rows[0]
    for cell, sign in ((row["s"], 1), (row["a"], 1), (row["t"], -1)):
        if sums is None:
            assert (cell.low, cell.high, cell.exact) == (None, None, False)
        else:
            assert [cell.low, cell.high] == pytest.approx([sign * end for end in sums], nan_ok=True)
            assert cell.exact


def test_averages_of_ranges_that_reach_infinity_of_both_signs_have_no_bounds(shared_db: Any) -> None:
    columns = [quasi("h", "float", DOUBLE), plain("d", "text", "TEXT", "sensitive")]
    for ends, bounded in ((("0", "1"), True), (("-Infinity", "Infinity"), False), (("2", "NaN"), False)):
        rows = [[number(0), number(5), "'x'"], [number(ends[0]), number(ends[1]), "'x'"]]
        row = shared_db.query(f"SELECT sum(h) AS s, avg(h) AS a FROM {made(shared_db, columns, rows, 'ranges')}").rows[
            0
        ]
        assert [(cell.low is not None, cell.high is not None) for cell in (row["s"], row["a"])] == [
            (bounded, bounded)
        ] * 2


def test_a_boolean_is_counted_beside_itself(shared_db: Any) -> None:
    columns = [quasi("b", "boolean", "BOOLEAN"), plain("d", "text", "TEXT", "sensitive")]
    name = made(shared_db, columns, [["FALSE", "TRUE", "'x'"], ["TRUE", "TRUE", "'x'"]], "ranges")
    rows = shared_db.query(f"SELECT b, count(b) AS n FROM {name} GROUP BY b").rows
    assert {row["b"]: (row["n"].low, row["n"].high) for row in rows} == {False: (0, 1), True: (1, 2)}


@pytest.mark.parametrize(
    ("where", "bounds"),
    [
        ("seen - DATE '2024-01-01' > 5", (1, 2)),
        ("DATE '2024-01-11' - seen >= 8", (0, 1)),
        ("5 + age < seen - DATE '2023-12-01'", (2, 2)),
        ("seen + INTERVAL '1 day' < TIMESTAMP '2024-01-05 12:00:00'", (0, 1)),
        ("entered < '2024-01-01 06:00:00+00'", (1, 1)),
        ("entered < TIMESTAMP '2024-01-01 12:00:00'", (1, 2)),
    ],
)
def test_days_between_dates_and_times_of_a_zone(shared_db: Any, where: str, bounds: tuple[int, int]) -> None:
    zoned = "TIMESTAMP WITH TIME ZONE"
    columns = [
        quasi("age", "integer", "INTEGER"),
        quasi("seen", "date", "DATE"),
        quasi("entered", "timestamp", zoned),
        plain("d", "timestamp", zoned, "sensitive"),
    ]
    early, noon, late = (f"CAST('2024-01-01 {hour}:00:00+00' AS {zoned})" for hour in ("00", "10", "20"))
    rows = [
        ["1", "5", "DATE '2024-01-02'", "DATE '2024-01-09'", early, early, early],
        ["1", "5", "DATE '2024-01-09'", "DATE '2024-01-10'", noon, late, late],
    ]
    name = made(shared_db, columns, rows, "ranges")
    cell = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows[0]["n"]
    assert (cell.low, cell.high) == bounds
    assert cell.low <= cell.estimate <= cell.high
    answer = shared_db.query(f"SELECT d, max(d) AS x, count(*) AS n FROM {name} GROUP BY d")
    assert {row["d"].isoformat() for row in answer.rows} == {
        "2024-01-01T00:00:00+00:00",
        "2024-01-01T20:00:00+00:00",
    }
    assert all(row["x"].exact for row in answer.rows)


def test_whole_numbers_beyond_doubles_are_grouped_by_steps(shared_db: Any) -> None:
    columns = [quasi("q", "integer", "BIGINT"), plain("d", "text", "TEXT", "sensitive")]
    top = 2**63 - 1
    name = made(shared_db, columns, [[str(top - 3), str(top), "'x'"]] * 2, "ranges")
    for key in ("floor(q / 10.0)", "q % 7"):
        truth = {
            row[0]
            for row in shared_db.engine.fetch(
                f"SELECT DISTINCT {key} FROM (SELECT q_lo + i AS q FROM release.{name} "
                "CROSS JOIN (SELECT 0 AS i UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS s) AS t"
            )
        }
        assert set(groups(shared_db, name, key)[0]) == truth


def test_rests_of_whole_numbers_of_128_bits(connect: Any) -> None:
    from tests.engines import ENGINES

    db = connect(ENGINES[0])
    columns = [quasi("q", "integer", "HUGEINT"), plain("d", "text", "TEXT", "sensitive")]
    name = made(db, columns, [[str(2**70), str(2**70 + 3), "'x'"]], "ranges")
    assert set(groups(db, name, "q % 7")[0]) == {(2**70 + i) % 7 for i in range(4)}
    cell = db.query(f"SELECT count(*) AS n FROM {name} WHERE q > {2**70 + 1}").rows[0]["n"]
    assert (cell.low, cell.high) == (0, 1)
