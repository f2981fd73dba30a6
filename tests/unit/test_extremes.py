"""Ends that are proposed where a few values are far from all others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from sqlanon.table.extremes import MOST, ends_of


def of(values: Sequence[object]) -> tuple[str | None, str | None]:
    ordered = sorted(set(values))  # type: ignore[type-var]
    return ends_of(ordered[:MOST], ordered[-MOST:][::-1])


AGES = range(17, 91)


@pytest.mark.parametrize(
    ("values", "bottom", "top"),
    [
        (AGES, None, None),
        ([*AGES, 99999999999], None, "100"),
        ([*AGES, 998, 999], None, "100"),
        ([*AGES, -1], "0", None),
        ([*AGES, -999], "10", None),
        ([*AGES, -1726, 329, 99999999999], "10", "100"),
        (range(-20, 90), None, None),
        (range(-1, 30), "0", None),
        ([x / 4 for x in range(12, 90)] + [1e12], None, "50"),
        ([Decimal(x) / 100 for x in range(50, 900)] + [Decimal("99999.99")], None, "10"),
        ([float("inf"), *map(float, AGES)], None, None),
        ([1.0, 2.0, 3.0], None, None),
        ([date(2020, 1 + i % 12, 1 + i) for i in range(28)], None, None),
        ([*(date(2020, 1 + i % 12, 1 + i) for i in range(28)), date(9999, 12, 31)], None, "2021-01-01"),
        ([*(date(2020, 1 + i % 12, 1 + i) for i in range(28)), date(1900, 1, 1)], "2020-01-01", None),
        ([0, 1, 2, 3, 4, 5, 6, 10, 20, 40, 80, 160, 320, 640], None, None),
    ],
)
def test_ends(values: Sequence[object], bottom: str | None, top: str | None) -> None:
    assert of(values) == (bottom, top)


@pytest.mark.parametrize("highest", [0.013, 7, 10, 11, 19, 20, 21, 49, 51, 99, 101, 5001, 1e12])
def test_an_end_is_a_round_number_beyond_what_is_left(highest: float) -> None:
    """It is no value of the table, unless that is round itself, and hides none of those that are left."""
    values = [highest * i / 40 for i in range(1, 41)]
    _, top = of([*values, highest * 1000])
    assert top is not None
    assert highest * (1 - 1e-12) <= float(top) <= 2.5 * highest
    assert top.strip("0.").lstrip("0.")[:1] in ("1", "2", "5")
