"""Bounds of decimal types that no double holds are rounded outward."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sqlanon.query.answer import Bounded, ResultRows, make_answer

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**25), max_value=10**25)


def cell(low: Decimal, high: Decimal) -> Bounded:
    """The cell of an answer of one row and one aggregate."""
    rows = ResultRows((("n", True),), {"n": True}, [(low, low, high, False, True)], ())
    bounded = make_answer(rows, "", unlisted_groups=False).rows[0]["n"]
    assert isinstance(bounded, Bounded)
    return bounded


@given(low=DECIMALS, high=DECIMALS)
def test_ends_contain_the_decimals(low: Decimal, high: Decimal) -> None:
    if low >= high:
        low, high = high, low + Decimal("1E-10")
    ends = cell(low, high)
    assert not ends.exact
    # As the digits that are printed, not as binary fractions: the double 0.1 is printed as the decimal 0.1.
    assert Fraction(repr(ends.low)) <= Fraction(low)
    assert Fraction(high) <= Fraction(repr(ends.high))
    assert ends.high <= math.nextafter(float(high), math.inf)
    assert ends.low >= math.nextafter(float(low), -math.inf)


@given(value=DECIMALS)
def test_an_exact_decimal_is_the_nearest_double(value: Decimal) -> None:
    ends = cell(value, value)
    assert ends.exact
    assert ends.low == ends.high
    assert float(ends.low) == float(value)


def test_near_decimals_are_not_one_exact_value() -> None:
    assert not cell(Decimal("0.10000000000000000001"), Decimal("0.10000000000000000002")).exact
