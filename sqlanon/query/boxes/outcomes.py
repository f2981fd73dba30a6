"""Sets of tests of a box that can hold together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.number_line import UNORDERED
from sqlanon.query.logic.value_tests import ValueTest, is_computed

MOST_GROUPS = 64
"""Most joint outcomes of the tests of a listed column; with more the tests are taken separately."""


def _combine(box: Box, tests: Sequence[ValueTest]) -> list[frozenset[int]] | None:
    """Combinations of tests that can hold together for a value of an interval.

    Any combination of the computed tests is possible with each run of the line.
    """
    placed = [t.comparison for t in tests if t.comparison is not None and t.comparison.op != "other"]
    free = [test.id for test in tests if test.comparison not in placed]
    runs = [holds for holds, _ in box.pieces(placed)]
    runs.append(frozenset(c.id for c in placed if c.op == "null"))
    if len(runs) * 2 ** len(free) > MOST_GROUPS:
        return None
    ways = [
        run | frozenset(i for i, is_in in zip(free, signs, strict=True) if is_in)
        for run in dict.fromkeys(runs)
        for signs in product((False, True), repeat=len(free))
    ]
    return list(dict.fromkeys(ways))


def outcomes(box: Box, tests: Sequence[ValueTest]) -> list[frozenset[int]] | None:
    """Sets of tests that can hold together for a value of the box, or for NULL; None: too many ways to list.

    A value equals a constant that it is compared with, or none of them; nothing is known of other predicates.
    """
    if box.shape == "interval":
        comparisons = [test.comparison for test in tests if test.comparison is not None]
        if not is_computed(tests):
            ways = [holds for holds, _ in box.pieces(comparisons)]
            return list(dict.fromkeys([*ways, frozenset(c.id for c in comparisons if c.op == "null")]))
        return _combine(box, tests)
    equal = [t.comparison for t in tests if t.comparison is not None and t.comparison.op in UNORDERED]
    free = [test.id for test in tests if test.comparison not in equal]
    constants = {constant for comparison in equal for constant in comparison.constants}
    if (len(constants) + 2) * 2 ** len(free) > MOST_GROUPS:
        return None
    results = []
    null = frozenset(comparison.id for comparison in equal if comparison.op == "null")
    ways = [
        frozenset(comparison.id for comparison in equal if comparison.holds_at(value))
        for value in [*sorted(constants, key=str), None]
    ]
    for holding in [*ways, null]:
        results += [
            holding | frozenset(i for i, is_in in zip(free, signs, strict=True) if is_in)
            for signs in product((False, True), repeat=len(free))
        ]
    return list(dict.fromkeys(results))
