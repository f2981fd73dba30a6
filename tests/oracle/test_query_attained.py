"""Counts over releases that say which values their classes attain, against every source that attains them: sound, and tight where they say so."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.oracle import queries, sources
from tests.oracle.test_query import enumerated

KEYS = [[], [], [], ["d"], ["s"], ["a"], ["a % 2"], ["s", "d"], ["length(s)"]]
COUNTS = ["count(*)", "count(c)", "count(*) FILTER (WHERE {p})"]


@pytest.fixture(scope="module")
def side_by_side() -> Iterator[duckdb.DuckDBPyConnection]:
    """Where the sources are enumerated."""
    with duckdb.connect() as connection:
        yield connection


def test_counts_are_as_narrow_as_what_classes_attain_allows(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path
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
                answer, truth, len(consistent), ["n"], named, known=known, counted=False, weighed=False
            )
            assert found == [], (found, text, rows)
            for row in answer.rows:
                before = [v[0] for v in every.get(tuple(row[key] for key in named), {}).values()]
                tight += row["n"].tight
                narrower += bool(before) and row["n"].high - row["n"].low < max(before) - min(before)
    assert narrower > 10, f"what classes attain narrows only {narrower} of these counts"
    assert tight > 50, f"only {tight} of these counts say that they are tight"


def test_sums_and_extremes_know_that_some_row_has_each_end(
    shared_db: Any, side_by_side: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Of a class that qualifies whole one row has its low end and another its high end: without conditions the bounds are reached."""
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
