"""GROUP BY in steps of continuous and wide columns.

Groups and COUNT against points of every box, shares against overlaps.
"""

from __future__ import annotations

import math
import random
import uuid
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import UnsupportedError
from sqlanon.query.boxes import range_facts
from sqlanon.query.rewrite import group_by
from tests.oracle.handmade import plain, publish, quasi


def made(db: Any, columns: list[Any], rows: list[list[str]]) -> str:
    name = f"b{uuid.uuid4().hex[:12]}"
    publish(db, name, columns, rows)
    return name


def test_a_step_that_begins_where_the_condition_ends_has_no_rows(shared_db: Any) -> None:
    """Of values from 5 to 25 that are below 20, none is in the step that begins at 20."""
    columns = [quasi("h", "float", "DOUBLE PRECISION"), plain("c", "integer", "INTEGER")]
    name = made(shared_db, columns, [["5", "25", "1"], ["5", "25", "1"]])
    for where, steps in (
        ("h < 20", {0, 1}),
        ("h <= 20", {0, 1, 2}),
        ("h > 10", {1, 2}),
        ("h < 19.5", {0, 1}),
    ):
        answer = shared_db.query(f"SELECT floor(h / 10) AS b, count(*) AS n FROM {name} WHERE {where} GROUP BY 1")
        assert {float(row["b"]) for row in answer.rows} == steps


@pytest.mark.thorough
@given(seed=st.integers(0, 2**32))
def test_steps_of_a_continuous_column(shared_db: Any, seed: int) -> None:
    rng = random.Random(seed)
    width = rng.choice(["1", "2", "2.5", "10"])
    ends = [(low := rng.randint(-10, 20) / 2, low + rng.randint(0, 12) / 2) for _ in range(rng.randint(1, 5))]
    name = made(
        shared_db,
        [quasi("h", "float", "DOUBLE PRECISION"), plain("c", "integer", "INTEGER")],
        [[str(low), str(high), "1"] for low, high in ends],
    )
    cut = f"{rng.randint(-20, 40) / 4}"
    where = rng.choice(["TRUE", f"h < {cut}", f"h >= {cut}", f"h <> {cut}", f"h BETWEEN {cut} AND {float(cut) + 3}"])
    answer = shared_db.query(f"SELECT floor(h / {width}) AS b, count(*) AS n FROM {name} WHERE {where} GROUP BY 1")
    found = {float(row["b"]): row["n"] for row in answer.rows}
    # Every box by points closer than its ends, the steps and the cuts lie.
    listed = [(rid, low + i / 8) for rid, (low, high) in enumerate(ends) for i in range(int((high - low) * 8) + 1)]
    with duckdb.connect() as side:
        side.execute("CREATE TABLE p (rid INTEGER, h DOUBLE)")
        side.executemany("INSERT INTO p VALUES (?, ?)", listed)
        rows = side.execute(
            f"SELECT b, count(*), sum(CASE WHEN mine = size THEN 1 ELSE 0 END) FROM (SELECT rid, floor(h / {width}) AS "
            f"b, count(*) AS mine FROM p WHERE {where} GROUP BY ALL) JOIN (SELECT rid, count(*) AS size FROM p GROUP "
            "BY rid) USING (rid) GROUP BY b"
        ).fetchall()
    assert {b: (cell.low, cell.high) for b, cell in found.items()} == {b: (low, high) for b, high, low in rows}
    if where == "TRUE":
        step = float(width)
        for b, cell in found.items():
            shares = [
                max(min(high, (b + 1) * step) - max(low, b * step), 0) / (high - low)
                if high > low
                else float(math.floor(low / step) == b)
                for low, high in ends
            ]
            assert math.isclose(cell.estimate, math.fsum(shares), abs_tol=1e-9)


def test_wide_whole_numbers_are_grouped_by_steps_and_not_one_by_one(shared_db: Any) -> None:
    name = made(shared_db, [quasi("x", "integer", "INTEGER")], [["0", "999999999"], ["250000000", "250000009"]])
    with pytest.raises(UnsupportedError, match=r"group by steps of it, such as floor\(x / 1000\)"):
        shared_db.query(f"SELECT x, count(*) AS n FROM {name} GROUP BY x")
    rows = shared_db.query(
        f"SELECT floor(x / 250000000.0) AS b, count(*) AS n FROM {name} WHERE x >= 100 GROUP BY 1"
    ).rows
    assert [float(row["b"]) for row in rows] == [0, 1, 2, 3]
    assert [row["n"].estimate for row in rows] == pytest.approx([0.25 - 1e-7, 1.25, 0.25, 0.25])
    assert [(row["n"].low, row["n"].high) for row in rows] == [(0, 1), (1, 2), (0, 1), (0, 1)]


@pytest.mark.parametrize("type_", ["TIMESTAMP", "TIMESTAMP WITH TIME ZONE"])
def test_timestamps_are_grouped_by_date_trunc(shared_db: Any, type_: str) -> None:
    """Those of a zone in UTC, the zone of our sessions."""
    columns = [quasi("seen", "timestamp", type_, nulls=True)]
    rows = [
        ["TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-01 18:00:00'", "'none'"],
        ["TIMESTAMP '2024-01-01 12:00:00'", "TIMESTAMP '2024-01-02 12:00:00'", "'none'"],
        ["NULL", "NULL", "'all'"],
    ]
    name = made(shared_db, columns, rows)
    found = shared_db.query(f"SELECT date_trunc('day', seen) AS d, count(*) AS n FROM {name} GROUP BY 1").rows
    cells = {str(row["d"])[:19]: (row["n"].estimate, row["n"].low, row["n"].high) for row in found}
    assert cells == {
        "None": (1, 1, 1),
        "2024-01-01 00:00:00": (1.5, 1, 2),
        "2024-01-02 00:00:00": (0.5, 0, 1),
    }
    with pytest.raises(UnsupportedError, match="date_trunc"):
        shared_db.query(f"SELECT seen, count(*) AS n FROM {name} GROUP BY seen")


def test_steps_that_would_fill_the_memory_are_refused(shared_db: Any) -> None:
    columns = [quasi("x", "float", "DOUBLE PRECISION"), quasi("seen", "timestamp", "TIMESTAMP")]
    rows = [["0", "3e9", "TIMESTAMP '2023-01-01 00:00:00'", "TIMESTAMP '2024-12-31 00:00:00'"]]
    name = made(shared_db, columns, rows)
    for key in ("floor(x)", "floor(x * 1000)", "date_trunc('second', seen)"):
        with pytest.raises(UnsupportedError, match="more than 5,000,000 steps"):
            shared_db.query(f"SELECT {key} AS k, count(*) AS n FROM {name} GROUP BY 1")
    for key, steps in (("floor(x / 1000000000)", 4), ("date_trunc('month', seen)", 24)):
        assert len(shared_db.query(f"SELECT {key} AS k, count(*) AS n FROM {name} GROUP BY 1").rows) == steps


HOURS = [
    "TRUE",
    "CAST(seen AS DATE) = DATE '2023-12-31'",
    "CAST(seen AS DATE) <> '2024-01-01'",
    "NOT (seen::date <= '2023-12-31')",
    "CAST(seen AS DATE) BETWEEN '2023-12-31' AND DATE '2024-01-01'",
    "DATE '2024-01-01' > CAST(seen AS DATE)",
    "extract(year FROM seen) = 2023",
    "extract(year FROM seen) > 2023",
    "date_trunc('month', seen) = TIMESTAMP '2024-01-01 00:00:00'",
    "date_trunc('day', seen) = TIMESTAMP '2024-01-01 06:00:00'",
    "date_trunc('day', seen) >= '2023-12-31 06:00:00'",
    "date_trunc('quarter', seen) <= '2023-11-11'",
    "(CAST(seen AS DATE) = '2024-01-01') IS NOT TRUE",
    "CAST(seen AS DATE) IN ('2023-12-30', '2024-01-01')",
]
STEPS = [
    "CAST(seen AS DATE)",
    "extract(year FROM seen)",
    "extract(month FROM seen)",
    "extract(hour FROM seen)",
    "extract(dow FROM seen)",
    "date_part('day', seen)",
    "date_trunc('day', CAST(seen AS DATE))",
]


@pytest.mark.cover
@pytest.mark.parametrize("where", HOURS)
def test_steps_of_timestamps_in_conditions_and_groups(shared_db: Any, where: str) -> None:
    """Against every half hour of every range: days, parts of times, and conditions on them."""
    rng, stamp = random.Random(where), "TIMESTAMP '2023-12-30 00:00:00' + INTERVAL '{} MINUTE'"
    ends = [(low := rng.randrange(60), low + rng.choice([0, 3, 9, 30])) for _ in range(6)]
    columns = [quasi("seen", "timestamp", "TIMESTAMP"), plain("c", "integer", "INTEGER")]
    rows = [[stamp.format(60 * low), stamp.format(60 * high), "1"] for low, high in ends]
    name = made(shared_db, columns, rows)
    with duckdb.connect() as side:
        points = " UNION ALL ".join(
            f"SELECT {i} AS rid, TIMESTAMP '2023-12-30 00:00:00' + to_minutes(m) AS seen FROM range({60 * low}, "
            f"{60 * high + 1}, 30) AS r(m)"
            for i, (low, high) in enumerate(ends)
        )
        side.execute(f"CREATE TABLE p AS {points}")
        key = rng.choice(STEPS) if where != "TRUE" else None
        for step in [key] if key else STEPS:
            truth = {
                int(k) if isinstance(k, float) else str(k): (low, high)
                for k, high, low in side.execute(
                    f"SELECT k, count(*), sum(CASE WHEN mine = size THEN 1 ELSE 0 END) FROM (SELECT rid, {step} AS k, "
                    f"count(*) AS mine FROM p WHERE {where} GROUP BY ALL) JOIN (SELECT rid, count(*) AS size FROM p "
                    "GROUP BY rid) USING (rid) GROUP BY k"
                ).fetchall()
            }
            rows_ = shared_db.query(f"SELECT {step} AS k, count(*) AS n FROM {name} WHERE {where} GROUP BY 1").rows
            cells = {str(row["k"])[:19].removesuffix("+00:00"): (row["n"].low, row["n"].high) for row in rows_}
            assert cells == {str(k)[:19]: v for k, v in truth.items()}, step
        counted = side.execute(
            f"SELECT coalesce(sum(CASE WHEN mine = size THEN 1 ELSE 0 END), 0), count(*) FILTER (WHERE mine > 0) FROM "
            f"(SELECT rid, count(*) AS size, count(*) FILTER (WHERE {where}) AS mine FROM p GROUP BY rid)"
        ).fetchone()
    (row,) = shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}").rows
    assert (row["n"].low, row["n"].high) == counted
    assert row["n"].tight


def test_dates_of_wide_ranges_are_grouped_by_the_steps_that_the_refusal_names(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By months where there are too many days to list: the shares are those of days."""
    for module in (range_facts, group_by):
        monkeypatch.setattr(module, "MOST_VALUES", 50)
    ends = [("2023-12-30", "2024-01-10"), ("2024-01-31", "2024-03-01"), ("2024-02-10", "2024-02-20")]
    rows = [[f"DATE '{low}'", f"DATE '{high}'"] for low, high in ends]
    name = made(shared_db, [quasi("born", "date", "DATE")], rows)
    with pytest.raises(UnsupportedError, match=r"group by steps of it, such as date_trunc\('month', born\)"):
        shared_db.query(f"SELECT born, count(*) AS n FROM {name} GROUP BY born")
    for key in ("date_trunc('month', born)", "extract(month FROM born)", "date_part('month', born)"):
        found = shared_db.query(
            f"SELECT {key} AS k, count(*) AS n FROM {name} WHERE born > '2023-12-30' GROUP BY 1"
        ).rows
        cells = {int(str(row["k"])[5:7] or row["k"]): row["n"] for row in found}
        # Days of the three ranges after 30 December: 1 and 10; 1, 29 and 1; 11.
        assert {k: (n.low, n.high) for k, n in cells.items()} == {12: (0, 1), 1: (0, 2), 2: (1, 2), 3: (0, 1)}
        expected = {12: 1 / 12, 1: 10 / 12 + 1 / 31, 2: 29 / 31 + 1, 3: 1 / 31}
        assert {k: n.estimate for k, n in cells.items()} == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["date", "timestamp"])
@pytest.mark.parametrize("infinite", ["infinity", "-infinity"])
def test_infinite_ends_are_not_left_out(shared_db: Any, kind: str, infinite: str) -> None:
    """Against a table of this release: three rows are infinite, one of them in a range that has finite values, too."""
    type_ = kind.upper()
    finite = ["2020-03-01", "2021-03-01", "9999-12-31"]
    order = [infinite, *finite] if infinite.startswith("-") else [*finite, infinite]
    ends = [(day, day) for day in order for _ in range(2)]
    low, high = (infinite, "2020-06-01") if infinite.startswith("-") else ("2020-06-01", infinite)
    ends += [(low, high), (low, high)]
    # One row of the range is infinite, the other is not.
    values = [*(day for day, _ in ends[:-2]), infinite, "2020-06-01"]
    name = made(shared_db, [quasi("seen", kind, type_)], [[f"{type_} '{end}'" for end in row] for row in ends])
    listed = ", ".join(f"({type_} '{value}')" for value in values)
    shared_db.engine.execute(f"CREATE TABLE {name}_rows AS SELECT * FROM (VALUES {listed}) AS v(seen)")
    for where in (
        "TRUE",
        "extract(year FROM seen) >= 2020",
        "NOT (extract(year FROM seen) = 2020)",
        "extract(year FROM seen) < 2022",
        "2020 <> extract(year FROM seen)",
        "extract(year FROM seen) + 1 > 2020",
        "CAST(seen AS DATE) > '2020-05-05'",
        "seen < '0001-01-01'",
        "date_trunc('day', seen) > TIMESTAMP '2021-01-01 00:00:00'",
        "seen >= '0001-01-01'",
        "extract(month FROM seen) <> 3",
    ):
        for counted in ("count(*)", "count(DISTINCT seen)"):
            asked = f"SELECT {counted} AS n FROM {{}} WHERE {where}"
            try:
                (row,) = shared_db.query(asked.format(name)).rows
            except UnsupportedError:
                assert "year" in where or "month" in where or (kind == "date" and "CAST" in where), asked
                continue
            ((truth,),) = shared_db.engine.fetch(asked.format(f"{name}_rows"))
            assert row["n"].low <= truth <= row["n"].high, asked
    for where in (f"seen = '{infinite}'", f"seen < {type_} '{infinite}'"):
        with pytest.raises(UnsupportedError, match="constant of its own type"):
            shared_db.query(f"SELECT count(*) AS n FROM {name} WHERE {where}")
    for key in ("extract(year FROM seen)", "date_trunc('month', seen)", "CAST(seen AS DATE)"):
        with pytest.raises(UnsupportedError, match="infinite ends, which are in no step"):
            shared_db.query(f"SELECT {key} AS k, count(*) AS n FROM {name} GROUP BY 1")
