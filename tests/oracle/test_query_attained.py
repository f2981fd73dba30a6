"""Counts over releases that declare the attained values of classes, against every source that attains them.

They are sound, and tight where they say so.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.oracle import queries, sources
from tests.oracle.test_query import enumerated

KEYS = [[], [], [], ["d"], ["s"], ["a"], ["a % 2"], ["s", "d"], ["length(s)"]]
COUNTS = ["count(*)", "count(c)", "count(*) FILTER (WHERE {p})"]


@pytest.mark.thorough
@pytest.mark.parametrize("compared", [False, True], ids=["boxes", "compared with exact columns"])
def test_counts_are_as_narrow_as_what_classes_attain_allows(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path, compared: bool
) -> None:
    narrower = tight = asked = 0
    rng = random.Random("attained")
    for _ in range(40):
        made = enumerated(shared_db, side_by_side, tmp_path, "ranges", rng)
        if made is None or asked == 8:
            continue
        asked += 1
        name, quasi, rows, _, consistent = made
        known = all(row.get(f"{column}_null") != "some" for row in rows for column in quasi)
        for _ in range(8):
            columns = [*quasi, "A"] if "a" in quasi else quasi
            columns = [*columns, "C", "C"] if compared and "a" in quasi else columns
            where = f"WHERE {queries.predicate(rng, columns, rng.choice([1, 1, 2, 2, 3]))}"
            used = {"a % 2": "a", "length(s)": "s"}
            keys = rng.choice([own for own in KEYS if {used.get(key, key) for key in own} <= {*quasi, "d"}])
            count = rng.choice(COUNTS).replace("{p}", queries.predicate(rng, quasi, 1))
            every = sources.outcomes(side_by_side, count, where, keys)
            truth = sources.only(every, consistent)
            listed = ", ".join([*(f"{key} AS k{i}" for i, key in enumerate(keys)), f"{count} AS n"])
            group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
            text = f"SELECT {listed} FROM {name} {where}{group}"
            answer = shared_db.query(text)
            named = [f"k{i}" for i in range(len(keys))]
            # This asks too whether bounds that are said to be tight are.
            found = queries.problems(
                answer,
                truth,
                len(consistent),
                ["n"],
                named,
                known=known and not compared,
                counted=False,
                weighed=False,
            )
            assert found == [], (found, text, rows)
            for row in answer.rows:
                before = [v[0] for v in every.get(tuple(row[key] for key in named), {}).values()]
                tight += row["n"].tight
                narrower += bool(before) and row["n"].high - row["n"].low < max(before) - min(before)
    if compared:  # row by row, so that nothing is counted by class
        return
    assert narrower > 10, f"what classes attain narrows only {narrower} of these counts"
    assert tight > 50, f"only {tight} of these counts say that they are tight"


@pytest.mark.thorough
def test_rows_of_a_class_may_differ_in_conditions_that_ask_an_exact_column(shared_db: Any) -> None:
    """By hand: one class of a = 1, 2, 3, 5; the rows of c = 0, 3, 3, 9 may be any of them."""
    db, name = shared_db, f"t{random.Random('exact').randrange(10**9)}"
    cells = "(5, 0, 'x'), (1, 3, 'y'), (3, 3, 'x'), (2, 9, 'y')"
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {cells}) AS v(a, c, d)")
    db.anonymize(name, quasi=["a"], sensitive="d", insensitive=["c"], k=4, accept_unique=["c", "d"], name=name)
    selects = (
        "count(*)",
        "count(c)",
        "count(*) FILTER (WHERE a > c)",
        "count(*) FILTER (WHERE d = 'x')",
        "sum(a)",
    )
    for select in selects:
        for where in (
            "TRUE",
            "a > c",
            "a - c > 0",
            "a > c OR a > 4",
            "NOT (a > c)",
            "a < c OR a <= 4",
            "a > c AND a < 4",
        ):
            asked = f"SELECT {select} AS n FROM {name} WHERE {where}"
            answer = db.query(asked).rows[0]["n"]
            truth = db.engine.fetch(asked)[0][0]
            if truth is None:
                assert answer.undefined_possible, asked
            else:
                assert answer.low <= truth <= answer.high, asked


def test_intervals_and_their_bounds_are_of_the_boxes(shared_db: Any) -> None:
    """By hand: of 1 and 1000 one row at least is 1, and uniform draws from 1 to 1000 are nearly never."""
    db, name = shared_db, f"t{random.Random('interval').randrange(10**9)}"
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES (1, 'x'), (1000, 'y')) AS v(a, d)")
    db.anonymize(name, quasi=["a"], sensitive="d", k=2, accept_unique=["d"], name=name)
    asked = f"SELECT count(*) AS n FROM {name} WHERE a = 1"
    drawn = db.query(asked, interval=0.95).rows[0]["n"]
    assert (drawn.low, drawn.high) == (0, 2)
    assert (drawn.interval.low, drawn.interval.high) == (0, 0)
    plain = db.query(asked).rows[0]["n"]
    assert (plain.low, plain.high) == (1, 1)


@pytest.mark.thorough
def test_sums_and_extremes_know_that_some_row_has_each_end(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Of a class that qualifies whole one row has its low end and another its high end.

    Without conditions the bounds are reached.
    """
    rng, asked = random.Random("ends"), 0
    listed = ["count(*) AS n", "sum(a) AS sa", "min(a) AS ma", "max(a) AS xa", "avg(a) AS aa"]
    names = [item.split()[-1] for item in listed]
    for _ in range(40):
        made = enumerated(shared_db, side_by_side, tmp_path, "ranges", rng) if asked < 6 else None
        if made is None or "a" not in made[1]:
            continue
        asked += 1
        name, quasi, rows, _, consistent = made
        none = all(row.get("a_null", "none") == "none" for row in rows)
        for where in ["", *(f"WHERE {queries.predicate(rng, quasi, 1)}" for _ in range(3))]:
            select = ", ".join(item.partition(" AS ")[0] for item in listed)
            every = sources.outcomes(side_by_side, select, where, [])
            truth = sources.only(every, consistent)
            answer = shared_db.query(f"SELECT {', '.join(listed)} FROM {name} {where}")
            found = queries.problems(answer, truth, len(consistent), names, [], known=False)
            assert found == [], (found, where, rows)
            if not where and none:
                seen = list(truth[()].values())
                for at, short in enumerate(names):
                    ends = [float(values[at]) for values in seen]
                    cell = answer.rows[0][short]
                    assert (cell.low, cell.high) == pytest.approx((min(ends), max(ends))), (short, rows)
    assert asked == 6


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        ("DATE", "DATE '1999-12-31'", "DATE '9999-12-31'"),
        ("TIMESTAMP", "TIMESTAMP '1999-12-31 01:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
        ("HUGEINT", "-3", str(2**127 - 1)),
    ],
)
def test_ends_of_what_a_type_holds(shared_db: Any, kind: str, first: str, last: str) -> None:
    """By hand: all four rows are up to the last value, and one at least is it."""
    db, name = shared_db, f"t{random.Random(kind).randrange(10**9)}"
    if kind == "HUGEINT" and db.engine.dialect != "duckdb":
        pytest.skip("PostgreSQL has no such type")
    values = ", ".join(f"(CAST({x} AS {kind}), '{d}')" for x, d in zip((first, last) * 2, "xyxy", strict=True))
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {values}) AS v(a, d)")
    db.anonymize(name, quasi=["a"], sensitive="d", k=4, accept_unique=["d"], name=name)
    for condition, low, high in ((f"a <= {last}", 4, 4), (f"a > {last}", 0, 0), (f"a >= {last}", 1, 3)):
        found = db.query(f"SELECT count(*) AS n FROM {name} WHERE {condition}").rows[0]["n"]
        truth = db.engine.fetch(f"SELECT count(*) FROM {name} WHERE {condition}")[0][0]
        assert found.low <= truth <= found.high, condition
        if kind != "HUGEINT":
            assert (found.low, found.high) == (low, high), condition


@pytest.mark.thorough
def test_different_values_are_at_least_those_that_classes_attain(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Without a condition the least number is reached: all other rows may have values that rows of their class have."""
    rng, asked, narrower = random.Random("distinct"), 0, 0
    for _ in range(40):
        made = enumerated(shared_db, side_by_side, tmp_path, "ranges", rng) if asked < 5 else None
        if made is None:
            continue
        asked += 1
        name, quasi, rows, _, consistent = made
        known = [column for column in quasi if all(row.get(f"{column}_null", "none") == "none" for row in rows)]
        for where in ["", "WHERE c > 0", *(f"WHERE {queries.predicate(rng, quasi, n)}" for n in (1, 1, 2))]:
            filtered = f" FILTER (WHERE {queries.predicate(rng, quasi, 1)})"
            for keys in ([], ["d"]):
                items = [f"count(DISTINCT {column}){rng.choice(['', filtered])}" for column in quasi]
                listed = [
                    *(f"{key} AS k{i}" for i, key in enumerate(keys)),
                    *(f"{item} AS n{i}" for i, item in enumerate(items)),
                ]
                every = sources.outcomes(side_by_side, ", ".join(items), where, keys)
                truth = sources.only(every, consistent)
                group = " GROUP BY 1" if keys else ""
                answer = shared_db.query(f"SELECT {', '.join(listed)} FROM {name} {where}{group}")
                names, named = [f"n{i}" for i in range(len(items))], [f"k{i}" for i in range(len(keys))]
                found = queries.problems(answer, truth, len(consistent), names, named, known=False)
                assert found == [], (found, where, items, rows)
                for i, column in enumerate(quasi):
                    if where or keys or column not in {"a", "s"}.intersection(known) or "FILTER" in items[i]:
                        continue
                    cell = answer.rows[0][f"n{i}"]
                    assert cell.low == min(values[i] for values in truth[()].values()), (column, rows)
                    narrower += cell.low > 1
    assert narrower > 3


def test_groups_that_no_row_can_be_in_are_not_listed_beside_what_is_counted_apart(shared_db: Any) -> None:
    """By hand: of two rows from 1 to 3, whose c is known, one is 1 and the other 3."""
    db, name = shared_db, f"t{random.Random('apart').randrange(10**9)}"
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES (1, 7, 'x', 1), (3, 8, 'y', 2)) AS v(a, b, d, c)")
    db.anonymize(name, quasi=["a", "b"], sensitive="d", insensitive=["c"], k=2, accept_unique=["c", "d"], name=name)
    asked = f"SELECT a, count(c) AS n, count(DISTINCT b) AS m, median(c) AS q FROM {name} GROUP BY a"
    rows = db.query(asked if db.engine.dialect == "duckdb" else asked.replace(", median(c) AS q", "")).rows
    assert [(row["a"], row["n"].low, row["n"].high) for row in rows] == [(1, 1, 1), (3, 1, 1)]


def test_estimates_are_the_same_however_a_condition_is_asked(shared_db: Any) -> None:
    """By hand: of the class of a = 1 and 3 no row is even, and of that of 1 and 2 each is with a half."""
    db, name = shared_db, f"t{random.Random('forms').randrange(10**9)}"
    cells = "(1, 7, 'x'), (2, 7, 'y'), (1, 8, 'x'), (3, 8, 'y')"
    db.engine.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {cells}) AS v(a, b, d)")
    db.anonymize(name, quasi=["a", "b"], sensitive="d", k=2, accept_unique=["d"], name=name)
    items = "count(*){f} AS n, sum(a){f} AS s, count(a){f} AS m"
    even = " FILTER (WHERE a % 2 = 0)"
    for asked, beside in (
        (f"SELECT {items} FROM {name} WHERE a % 2 = 0 AND d = 'x'", ""),
        (f"SELECT {items} FROM {name} WHERE d = 'x'", even),
        (f"SELECT d, {items} FROM {name} WHERE a % 2 = 0 GROUP BY d", ""),
        (f"SELECT d, {items} FROM {name} GROUP BY d", even),
        (f"SELECT a % 2 AS e, {items} FROM {name} WHERE d = 'x' GROUP BY 1", ""),
    ):
        rows = db.query(asked.format(f=beside)).rows
        row = next(row for row in rows if row.get("d", "x") == "x" and row.get("e", 0) == 0)
        assert (row["n"].estimate, row["s"].estimate, row["m"].estimate) == (0.5, 2, 0.5), asked
        assert (row["n"].low, row["n"].high, row["s"].low, row["s"].high) == (0, 1, 2, 2), asked
