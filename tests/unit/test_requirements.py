"""Values of requirements as reports have them."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from sqlanon.privacy.base import as_number, round_reachable


def test_whole_values_are_integers() -> None:
    for value, expected in ((Fraction(3), 3), (Fraction(5, 2), 2.5), (Fraction(7, 4), 1.75), (Fraction(0), 0)):
        found = as_number(value)
        assert (found, type(found)) == (expected, type(expected))


def test_what_is_printed_can_be_asked_for() -> None:
    """2/3 is reached: 0.666 is less and can be asked for; of an upper bound 0.667."""
    for at_most, shown in ((False, 0.666), (True, 0.667)):
        requirement: Any = SimpleNamespace(at_most=at_most)
        assert round_reachable(requirement, Fraction(2, 3)) == shown
        assert round_reachable(requirement, Fraction(5, 2)) == 2.5
