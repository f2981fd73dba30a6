"""Ends of the nodes of a rule, which bounds of answers rest on: every value of a node is between them."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from sqlanon.column_spec import Rule
from sqlanon.table.rules import read_node

STEPS = Rule("steps", ("10", "50"))
EDGES = [Decimal(text) for text in ("-10", "-0.5", "0", "0.1", "2.5", "10", "10.25", "40")]
"""Ends of nodes."""
PAIRS = list(itertools.combinations(EDGES, 2))


def ends_of(kind: str, low: Decimal, high: Decimal, step: Fraction | None) -> tuple[str, str]:
    ends = read_node(STEPS, f"{low}..<{high}", kind, step)
    assert ends is not None
    return ends


@pytest.mark.parametrize(("low", "high"), PAIRS)
def test_a_number_without_steps_may_be_as_near_to_the_end_as_digits_go(low: Decimal, high: Decimal) -> None:
    """A decimal of any number of digits is in a node that ends above it, however little."""
    least, greatest = map(Decimal, ends_of("decimal", low, high, None))
    for value in (low, high - Decimal("1e-18"), high - Decimal("1e-40")):
        assert least <= value <= greatest
    assert (least, greatest) == (low, high)


@pytest.mark.parametrize(("low", "high"), PAIRS)
def test_the_greatest_float_of_a_node_is_the_last_below_its_end(low: Decimal, high: Decimal) -> None:
    least, greatest = map(float, ends_of("float", low, high, None))
    assert least == float(low)
    assert greatest < float(high)
    assert math.nextafter(greatest, math.inf) == float(high)


@pytest.mark.parametrize(("low", "high"), PAIRS)
@pytest.mark.parametrize("digits", [0, 1, 2])
def test_the_greatest_value_of_a_column_with_steps_is_in_the_node(low: Decimal, high: Decimal, digits: int) -> None:
    """By all values of so many digits."""
    step = Fraction(1, 10**digits)
    inside = [n * step for n in range(-20 * 10**digits, 50 * 10**digits) if n * step < Fraction(high)]
    _, greatest = ends_of("decimal", low, high, step)
    assert Fraction(greatest) == max(inside)
