"""Averages of exact columns against every subset of rows that may qualify: whole numbers of all widths, and NULL."""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tests.oracle.handmade import plain, publish, quasi

TYPES = ["SMALLINT", "INTEGER", "BIGINT", "DECIMAL(12, 2)", "DOUBLE PRECISION"]
CUT = 30
Row = tuple[int, int, str | None, int | None]
"""The ends of an age, a group, and a value."""


def drawn(rng: random.Random) -> list[Row]:
    """Rows below the cut, above it, and across it."""
    ages = [(20, 25), (26, 34), (28, 31), (35, 40)]
    values = [None, -32768, 32767, -7, -1, 0, 1, 2, 5, 5]
    return [(*rng.choice(ages), rng.choice(["x", "y", None]), rng.choice(values)) for _ in range(9)]


def averages(rows: list[Row]) -> Iterator[Fraction | None]:
    """The average of every set of rows that may be those below the cut; None: of no values."""
    sure = [value for _, high, _, value in rows if high < CUT]
    maybe = [value for low, high, _, value in rows if low < CUT <= high]
    for taken in itertools.product([False, True], repeat=len(maybe)):
        picked = [value for value, is_in in zip(maybe, taken, strict=True) if is_in]
        found = [value for value in (*sure, *picked) if value is not None]
        yield Fraction(sum(found), len(found)) if found else None


def holds(cell: Any, rows: list[Row]) -> None:
    """The bounds are the least and the greatest average."""
    every = list(averages(rows))
    known = [one for one in every if one is not None]
    assert cell.undefined_possible == (None in every)
    if not known:
        assert cell.low is None
        assert cell.high is None
        return
    assert float(cell.low) == pytest.approx(float(min(known)), rel=1e-12)
    assert float(cell.high) == pytest.approx(float(max(known)), rel=1e-12)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("draws", [1, pytest.param(5, marks=pytest.mark.thorough)])
def test_averages_are_those_of_the_best_sets(shared_db: Any, type_: str, draws: int) -> None:
    rng = random.Random(f"{type_} {draws}")
    for _ in range(draws):
        rows, name = drawn(rng), f"v{uuid.uuid4().hex[:10]}"
        columns = [
            quasi("age", "integer", "INTEGER"),
            plain("d", "text", "TEXT", "sensitive"),
            plain("c", "integer" if "INT" in type_ else "float" if "DOUBLE" in type_ else "decimal", type_),
        ]
        cells = [
            [str(low), str(high), "NULL" if d is None else f"'{d}'", "NULL" if value is None else str(value)]
            for low, high, d, value in rows
        ]
        publish(shared_db, name, columns, cells)
        (whole,) = shared_db.query(f"SELECT avg(c) AS a FROM {name} WHERE age < {CUT}").rows
        holds(whole["a"], rows)
        groups = shared_db.query(f"SELECT d, avg(c) AS a FROM {name} WHERE age < {CUT} GROUP BY d").rows
        possible = {d for low, _, d, _ in rows if low < CUT}
        assert {row["d"] for row in groups} == possible
        for row in groups:
            holds(row["a"], [one for one in rows if one[2] == row["d"]])
