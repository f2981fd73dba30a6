"""Ratios of aggregates: as narrow as the sources allow, by brute force over all of them; and what is refused."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from tests.oracle.handmade import plain, publish, quasi

COLUMNS = [
    quasi("a", "integer", "INTEGER"),
    plain("c", "integer", "INTEGER"),
    plain("g", "integer", "INTEGER"),
]
Row = tuple[int, int, int]
RATIOS: dict[str, tuple[Callable[[Row], float], Callable[[Row], float]]] = {
    "100.0 * count(*) FILTER (WHERE a > 2) / count(*)": (lambda r: 100 * (r[0] > 2), lambda _: 1),
    "CAST(count(*) FILTER (WHERE a > 2 AND c > 1) AS DOUBLE PRECISION) / count(*) FILTER (WHERE a > 1 OR c > 2)": (
        lambda r: r[0] > 2 and r[1] > 1,
        lambda r: r[0] > 1 or r[1] > 2,
    ),
    "1.0 * sum(c) FILTER (WHERE a < 3) / sum(c + 2)": (lambda r: r[1] * (r[0] < 3), lambda r: r[1] + 2),
    "1.0 * sum(a) / sum(a + c)": (lambda r: r[0], lambda r: r[0] + r[1]),
    "1.0 * sum(CASE WHEN a > 2 THEN -c ELSE a END) / count(*)": (lambda r: -r[1] if r[0] > 2 else r[0], lambda _: 1),
}


def made(db: Any, rng: random.Random) -> tuple[str, list[tuple[int, int, int, int]]]:
    """A release of five rows: lo, hi, c, g; the last row keeps every denominator above 0."""
    rows = [(lo := rng.randint(0, 3), lo + rng.randint(0, 3), rng.randint(1, 4), rng.randint(0, 1)) for _ in range(4)]
    rows.append((4, 4, 3, 0))
    name = f"r{uuid.uuid4().hex[:12]}"
    publish(db, name, COLUMNS, [[str(value) for value in row] for row in rows])
    return name, rows


@pytest.mark.cover
@pytest.mark.parametrize("seed", range(3))
def test_counts_and_sums_divided_are_bounded_jointly(shared_db: Any, seed: int) -> None:
    name, rows = made(shared_db, random.Random(seed))
    listed = ", ".join(f"{text} AS r{i}" for i, text in enumerate(RATIOS))
    (answer,) = shared_db.query(f"SELECT {listed} FROM {name}").rows
    sources = [
        [(a, row[2], row[3]) for a, row in zip(values, rows, strict=True)]
        for values in product(*(range(row[0], row[1] + 1) for row in rows))
    ]
    for i, (text, (top, bottom)) in enumerate(RATIOS.items()):
        truths = [sum(map(top, source)) / sum(map(bottom, source)) for source in sources]
        cell = answer[f"r{i}"]
        assert cell.low <= min(truths) + 1e-9, text
        assert cell.high >= max(truths) - 1e-9, text
        if text != "1.0 * sum(a) / sum(a + c)":  # the two sums take a row's value each by itself
            assert (cell.low, cell.high) == pytest.approx((min(truths), max(truths))), text


def test_denominators_of_any_sign_have_bounds_where_quotients_have(shared_db: Any) -> None:
    """By brute force: of whole numbers none is nearer to 0 than 1.

    A fraction may be, and where it may have either sign there is no bound.
    """
    name, rows = made(shared_db, random.Random(2))
    below: dict[str, tuple[str, Callable[[Row], float | None]]] = {
        "either sign": ("a - 3", lambda r: r[0] - 3),
        "below 0": ("a - 10", lambda r: r[0] - 10),
        "fractions below 0": ("a - 10.5", lambda r: r[0] - 10.5),
        "some rows": ("c + 2) FILTER (WHERE a > 1", lambda r: r[1] + 2 if r[0] > 1 else None),
        "no row": ("c) FILTER (WHERE a > 40", lambda _: None),
        "always 0": ("c - c", lambda _: 0),
        "fractions of either sign": ("a - 2.5", lambda r: r[0] - 2.5),
    }
    listed = ", ".join(f"1.0 * sum(c) / nullif(sum({text}), 0) AS r{i}" for i, (text, _) in enumerate(below.values()))
    (answer,) = shared_db.query(f"SELECT {listed} FROM {name}").rows
    top = sum(row[2] for row in rows)
    for i, (what, (_, of)) in enumerate(below.items()):
        sums: set[float] = {0}  # of all sources: rows have their values independently
        for low, high, c, g in rows:
            values = {of((a, c, g)) or 0 for a in range(low, high + 1)}
            sums = {total + value for total in sums for value in values}
        cell, truths = answer[f"r{i}"], [top / found for found in sums if found]
        near = what == "fractions of either sign"
        assert cell.undefined_possible == (near or 0 in sums), what
        assert not near or min(sums) < 0 < max(sums)
        if near or not truths:
            assert (cell.low, cell.high) == (None, None), what
        else:
            assert (cell.low, cell.high) == pytest.approx((min(truths), max(truths))), what


def test_a_denominator_that_may_be_0_is_refused_or_null(shared_db: Any) -> None:
    name, _ = made(shared_db, random.Random(7))
    bare = "count(*) / count(*) FILTER (WHERE a > 4)"
    with pytest.raises(UnsupportedError, match=r"the denominator may be 0.*write nullif") as error:
        shared_db.query(f"SELECT {bare} AS r FROM {name}")
    assert "\n  SELECT count(*)" in str(error.value)
    (answer,) = shared_db.query(
        f"SELECT 1.0 * count(*) / nullif(count(*) FILTER (WHERE a > 4), 0) AS r FROM {name}"
    ).rows
    assert answer["r"].undefined_possible
    (never,) = shared_db.query(
        f"SELECT 1.0 * (count(*) + 1) / nullif(count(*) FILTER (WHERE a > 40), 0) AS r FROM {name}"
    ).rows
    assert never["r"].undefined_possible
    assert never["r"].estimate is None
    # A group that exists has a row.
    for row in shared_db.query(
        f"SELECT g, 1.0 * count(*) FILTER (WHERE a > 4) / count(*) AS r FROM {name} GROUP BY g"
    ).rows:
        assert 0 <= row["r"].low <= row["r"].high <= 1


def test_whole_numbers_are_divided_as_the_engine_does(shared_db: Any) -> None:
    """PostgreSQL divides whole numbers into whole ones."""
    name, _ = made(shared_db, random.Random(3))
    (answer,) = shared_db.query(
        f"SELECT count(*) FILTER (WHERE c > 0) / count(*) AS one, 7 * count(*) / 2 / count(*) AS r FROM {name}"
    ).rows
    assert answer["one"].exact
    assert answer["one"].low == 1
    whole = shared_db.engine.dialect == "postgres"
    assert answer["r"].low == pytest.approx(3 if whole else 3.5)


def test_parts_of_a_union_are_asked_one_after_the_other(shared_db: Any) -> None:
    name, _ = made(shared_db, random.Random(5))
    halves = [
        f"SELECT '{word}' AS h, count(*) AS n FROM {name} WHERE a {op} 2" for word, op in (("low", "<="), ("high", ">"))
    ]
    both = shared_db.query(" UNION ALL ".join(halves))
    alone = [shared_db.query(half).rows[0] for half in halves]
    assert list(both.rows) == alone
    with pytest.raises(UnsupportedError, match="UNION between"):
        shared_db.query(f"{' UNION ALL '.join(halves)} INTERSECT SELECT 'x', 1")
    with pytest.raises(UnsupportedError, match="different types"):
        shared_db.query(f"{halves[0]} UNION ALL SELECT count(*) AS n, 'x' AS h FROM {name}")
    for first in (halves[0], f"SELECT count(*) AS n, count(c) AS m FROM {name}"):
        with pytest.raises(UnsupportedError, match="as many columns each"):
            shared_db.query(f"{first} UNION ALL SELECT count(*) AS n FROM {name}")


def test_rows_under_a_limit_are_certain_where_the_counts_are_exact(shared_db: Any) -> None:
    """Three groups of 3, 2 and 2 rows.

    The first is the first in every source, of the other two one is left to the engine.
    """
    name = f"r{uuid.uuid4().hex[:12]}"
    groups = [0, 0, 0, 1, 1, 2, 2]
    publish(shared_db, name, COLUMNS, [["0", "9", "1", str(g)] for g in groups])
    text = f"SELECT g, count(*) AS n FROM {name} {{}} GROUP BY g ORDER BY {{}} LIMIT {{}}"
    for where, order, limit, certain in (
        ("", "n DESC", 1, (True,)),
        ("", "count(*) DESC", 2, (True, False)),
        ("", "g", 2, (True, True)),
        ("", "n DESC", 3, (True, True, True)),
        ("WHERE a < 5", "n DESC", 1, (False,)),
        ("", "sum(c) DESC", 1, (False,)),
    ):
        assert shared_db.query(text.format(where, order, limit)).certain == certain, (where, order, limit)
