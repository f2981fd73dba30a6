"""Dates in quantiles, quotients of rows, texts around aggregates: by brute force over every source of tiny releases."""

from __future__ import annotations

import datetime as dt
import random
import statistics
import uuid
from itertools import product
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from sqlanon.query.boxes import range_facts
from sqlanon.query.rewrite import domains, group_by
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = [
    quasi("seen", "date", "DATE"),
    quasi("a", "integer", "INTEGER"),
    plain("day", "date", "DATE"),
    plain("c", "integer", "INTEGER"),
]
FIRST = dt.date(2020, 2, 27)


def made(db: Any, rows: list[tuple[int, int, int, int, int, int]]) -> str:
    """A release of rows: seen from and to, a from and to, day, c; dates as days after the first."""
    name = f"q{uuid.uuid4().hex[:12]}"
    publish(
        db,
        name,
        COLUMNS,
        [[_day(r[0]), _day(r[1]), str(r[2]), str(r[3]), _day(r[4]), str(r[5])] for r in rows],
    )
    return name


def _day(days: int) -> str:
    return f"DATE '{FIRST + dt.timedelta(days=days)}'"


def drawn(seed: int) -> list[tuple[int, int, int, int, int, int]]:
    rng = random.Random(seed)
    rows = []
    for _ in range(4):
        low, a = rng.randint(0, 5), rng.randint(1, 3)
        rows.append(
            (
                low,
                low + rng.randint(0, 2),
                a,
                a + rng.randint(0, 2),
                rng.randint(0, 9),
                rng.choice([-2, 1, 4]),
            )
        )
    return rows


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(3))
def test_quantiles_of_dates(shared_db: Any, seed: int) -> None:
    """The median is the lower of the two middle dates, as percentile_disc has it; DuckDB's median lies between them."""
    rows = drawn(seed)
    asked = "percentile_disc(0.5) WITHIN GROUP (ORDER BY {})"
    duckdb = shared_db.engine.dialect == "duckdb"
    more = ", median(seen) AS m, median(day) AS e" if duckdb else ""
    text = f"SELECT {asked.format('seen')} AS s, {asked.format('day')} AS d{more} FROM {made(shared_db, rows)}"
    (row,) = shared_db.query(text).rows
    sources = [sorted(values) for values in product(*(range(r[0], r[1] + 1) for r in rows))]
    medians = [FIRST + dt.timedelta(days=values[1]) for values in sources]
    assert (row["s"].low, row["s"].high) == (min(medians), max(medians))
    assert min(medians) <= row["s"].estimate <= max(medians)
    days = sorted(r[4] for r in rows)
    assert row["d"].low == row["d"].high == FIRST + dt.timedelta(days=days[1])
    if duckdb:
        assert row["m"].low <= FIRST + dt.timedelta(days=min(v[1] for v in sources))
        assert row["m"].high >= FIRST + dt.timedelta(days=max(v[2] for v in sources))
        assert row["e"].low <= FIRST + dt.timedelta(days=days[1]) <= FIRST + dt.timedelta(days=days[2]) <= row["e"].high


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(3))
def test_quotients_of_rows(shared_db: Any, seed: int) -> None:
    """Divided by a column whose ranges are above 0, and by an exact one; each end is reached."""
    rows = drawn(seed)
    text = (
        "SELECT sum(1.0 * c / a) AS x, avg(1.0 * a / c) AS y, sum(1.0 * a / nullif(c - 1, 0)) AS z FROM "
        f"{made(shared_db, rows)}"
    )
    (row,) = shared_db.query(text).rows
    sources = list(product(*(range(r[2], r[3] + 1) for r in rows)))
    costs = [r[5] for r in rows]
    truths = {
        "x": [sum(c / a for a, c in zip(values, costs, strict=True)) for values in sources],
        "y": [statistics.fmean(a / c for a, c in zip(values, costs, strict=True)) for values in sources],
        "z": [sum(a / (c - 1) for a, c in zip(values, costs, strict=True) if c != 1) for values in sources],
    }
    for name, values in truths.items():
        if name != "z" or set(costs) != {1}:
            assert (float(row[name].low), float(row[name].high)) == pytest.approx((min(values), max(values))), name


def test_denominators_that_may_be_0_are_refused(shared_db: Any) -> None:
    name = made(shared_db, [(0, 1, 0, 2, 3, 0), (0, 1, 1, 2, 3, 5)])
    for item, reason in (
        ("sum(a / c)", r"write nullif\(\.\., 0\)"),
        ("sum(c / a)", "this denominator may be 0"),
    ):
        with pytest.raises(UnsupportedError, match=reason):
            shared_db.query(f"SELECT {item} AS x FROM {name}")


def test_texts_around_aggregates(shared_db: Any) -> None:
    """Of two rows of 1 to 3 none, one or both are above 2."""
    name = made(shared_db, [(0, 1, 1, 3, 3, 0), (0, 1, 1, 3, 3, 5)])
    case = "CASE WHEN count(*) FILTER (WHERE a > 2) > {} THEN 'many' WHEN count(*) > 1 THEN 'few' END"
    (row,) = shared_db.query(
        f"SELECT {case.format(1)} AS x, {case.format(2)} AS y, CASE WHEN sum(c) > 9 THEN 'x' END AS z FROM {name}"
    ).rows
    assert (row["x"].low, row["x"].high, row["x"].exact) == ("few", "many", False)
    assert (row["y"].estimate, row["y"].exact) == ("few", True)
    assert (row["z"].estimate, row["z"].undefined_possible) == (None, True)
    with pytest.raises(UnsupportedError, match="numbers, and with constant texts"):
        shared_db.query(f"SELECT day, CASE WHEN count(*) > 1 THEN day END AS x FROM {name} GROUP BY day")


def test_lists_that_a_value_is_not_in(shared_db: Any) -> None:
    name = made(shared_db, [(0, 1, 1, 3, 3, 0), (0, 1, 2, 2, 3, 5)])
    (row,) = shared_db.query(
        "SELECT count(*) FILTER (WHERE a <> ALL (ARRAY[1, 3])) AS n, count(*) FILTER (WHERE c <> ALL (ARRAY[5])) AS m "
        f"FROM {name}"
    ).rows
    assert (row["n"].low, row["n"].high, row["m"].low, row["m"].high) == (1, 2, 1, 1)


def test_what_null_decides_is_certain_where_null_is(shared_db: Any) -> None:
    """A row that is NULL in every source passes a condition on coalesce(..) by its constant."""
    name = f"q{uuid.uuid4().hex[:12]}"
    columns = [quasi("a", "integer", "INTEGER", nulls=True)]
    publish(
        shared_db,
        name,
        columns,
        [["NULL", "NULL", "'all'"], ["1", "4", "'none'"], ["NULL", "NULL", "'some'"]],
    )
    text = (
        "SELECT count(*) FILTER (WHERE coalesce(a, 0) % 5 = 0) AS n, count(*) FILTER (WHERE coalesce(a, 9) % 5 > 0) AS "
        "m, sum(CASE WHEN a > 2 THEN 0 ELSE 1 END) AS s FROM {}"
    )
    (row,) = shared_db.query(text.format(name)).rows
    assert (row["n"].low, row["n"].high) == (1, 2)
    assert (row["m"].low, row["m"].high) == (2, 3)
    assert (row["s"].low, row["s"].high) == (1, 3)


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(3))
def test_predicates_are_counted_along_the_line(shared_db: Any, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Ranges that overlap hold more values together than the line from the first to the last: each is asked once."""
    rng = random.Random(seed)
    rows = [(lo := rng.randint(0, 3), lo + rng.randint(2, 5), 1, 3 + rng.randint(0, 2), 0, 1) for _ in range(4)]
    for module in (range_facts, group_by, domains):
        monkeypatch.setattr(module, "MOST_VALUES", 9)
    name = made(shared_db, rows)
    march = "extract(month FROM seen) = 3"
    items = (
        f"count(*) FILTER (WHERE {march}) AS m, count(*) FILTER (WHERE a % 2 = 1) AS o, sum(c) FILTER (WHERE {march} "
        "AND a % 2 = 0) AS s"
    )
    (row,) = shared_db.query(f"SELECT {items} FROM {name}").rows
    found: dict[str, list[tuple[bool, bool]]] = {"m": [], "o": [], "s": []}
    part = 0.0
    for r in rows:
        days = [FIRST + dt.timedelta(days=d) for d in range(r[0], r[1] + 1)]
        ages = range(r[2], r[3] + 1)
        hits = {"m": [d.month == 3 for d in days], "o": [a % 2 == 1 for a in ages]}
        hits["s"] = [d.month == 3 and a % 2 == 0 for d in days for a in ages]
        for key, values in hits.items():
            found[key] += [(all(values), any(values))]
        part += sum(hits["m"]) / len(days)
    for key, pairs in found.items():
        certain, possible = (sum(pair[i] for pair in pairs) for i in range(2))
        assert (row[key].low, row[key].high) == (certain if certain or key != "s" else 1, possible), (
            key
        )  # a sum of no row is NULL
    assert row["m"].estimate == pytest.approx(part)
    with pytest.raises(UnsupportedError, match="hold more than 9 values together"):
        shared_db.query(f"SELECT max(seen) FILTER (WHERE {march}) AS x FROM {name}")


def test_deviations_where_every_row_is_known(shared_db: Any) -> None:
    """A condition over ranges that each range decides, and groups of columns whose ranges have one value.

    The others are refused.
    """
    rows = [
        (0, 1, 1, 2, 3, 1),
        (0, 1, 1, 2, 3, 4),
        (0, 1, 5, 5, 3, 6),
        (0, 1, 5, 5, 3, 9),
        (0, 1, 5, 5, 3, 2),
        (0, 1, 5, 5, 3, 2),
    ]
    name = made(shared_db, rows)
    costs = [r[5] for r in rows]
    (row,) = shared_db.query(
        "SELECT stddev(c) AS s, var_pop(c) FILTER (WHERE a > 4) AS v, stddev_samp(c) FILTER (WHERE a > 9) AS n FROM "
        f"{name} WHERE seen < DATE '2021-01-01'"
    ).rows
    assert float(row["s"].low) == float(row["s"].high) == pytest.approx(statistics.stdev(costs))
    assert float(row["v"].low) == float(row["v"].high) == pytest.approx(statistics.pvariance(costs[2:]))
    assert row["n"].undefined_possible
    (five,) = shared_db.query(f"SELECT a, stddev(c) AS s FROM {name} WHERE a > 3 GROUP BY a").rows
    assert (five["a"], float(five["s"].low)) == (5, pytest.approx(statistics.stdev(costs[2:])))
    for rest in ("WHERE a > 1", "GROUP BY a"):
        with pytest.raises(
            UnsupportedError, match="it is certain of every row whether it qualifies and in which group it is"
        ):
            shared_db.query(f"SELECT stddev(c) AS s FROM {name} {rest}")
