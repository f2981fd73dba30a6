"""Formulas are simplified by the laws of logic.

Neutral and absorbing parts, one part alone, nested ones of the same kind.
"""

from __future__ import annotations

from sqlanon.query.logic.formula import both, either


def test_joined_formulas() -> None:
    for join, kind, unit in ((both, "and", True), (either, "or", False)):
        other = "or" if kind == "and" else "and"
        assert join([]) is unit
        assert join([1, not unit, 2]) is (not unit)
        assert join([1, unit, 1]) == 1
        assert join([1, join([2, join([3, 1])])]) == (kind, frozenset({1, 2, 3}))
        nested = (other, frozenset({2, 3}))
        assert join([1, nested]) == (kind, frozenset({1, nested}))
