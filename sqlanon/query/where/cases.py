"""Tests of one box: a predicate on its value each, and which of them can hold together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.number_line import UNORDERED, Comparison, pieces_of
from sqlanon.query.rewrite.sqltree import Tree, with_columns

MOST_GROUPS = 64
"""Ways in which the tests of one listed column may turn out together, before they are taken one by one."""


@dataclass(frozen=True)
class Test:
    """A predicate on one box under its sign; ``tree`` holds exactly when it does, over the box's value.

    ``null``: whether NULL passes it; None: not known.
    """

    id: int
    box: str
    tree: Tree
    comparison: Comparison | None = None
    null: bool | None = None

    def on(self, value: Tree) -> Tree:
        """The test of one value."""
        return on(self.tree, self.box, value)


def on(tree: Tree, box: str, value: Tree) -> Tree:
    """``tree`` with a value in place of the box's column."""
    return with_columns(tree, lambda node: value if node.table == "_box" and node.name == box else None)


def computed(tests: Sequence[Test]) -> bool:
    """Whether a test has to be computed on every value: it is no comparison with a constant."""
    return any(test.comparison is None or test.comparison.op == "other" for test in tests)


def _computed(box: Box, tests: Sequence[Test]) -> list[frozenset[int]] | None:
    """Which tests can hold together for a value of an interval: any of those that are computed, with each run of the line."""
    placed = [t.comparison for t in tests if t.comparison is not None and t.comparison.op != "other"]
    free = [test.id for test in tests if test.comparison not in placed]
    runs = [holds for holds, _ in pieces_of(placed, box.step, box.field.kind)]
    runs.append(frozenset(c.id for c in placed if c.op == "null"))
    if len(runs) * 2 ** len(free) > MOST_GROUPS:
        return None
    found = [
        run | frozenset(i for i, is_in in zip(free, chosen, strict=True) if is_in)
        for run in dict.fromkeys(runs)
        for chosen in product((False, True), repeat=len(free))
    ]
    return list(dict.fromkeys(found))


def outcomes(box: Box, tests: Sequence[Test]) -> list[frozenset[int]] | None:
    """Which tests can hold together for a value of the box, or for NULL; None: too many ways to list.

    A value is one of the constants that it is compared with, or none of them; nothing is known of other predicates.
    """
    if box.shape == "interval":
        comparisons = [test.comparison for test in tests if test.comparison is not None]
        if not computed(tests):
            ways = [holds for holds, _ in pieces_of(comparisons, box.step, box.field.kind)]
            return list(dict.fromkeys([*ways, frozenset(c.id for c in comparisons if c.op == "null")]))
        return _computed(box, tests)
    equal = [t.comparison for t in tests if t.comparison is not None and t.comparison.op in UNORDERED]
    free = [test.id for test in tests if test.comparison not in equal]
    constants = {at for one in equal for at in one.constants}
    if (len(constants) + 2) * 2 ** len(free) > MOST_GROUPS:
        return None
    found = []
    null = frozenset(one.id for one in equal if one.op == "null")
    ways = [
        frozenset(one.id for one in equal if one.holds_at(at)) for at in [*sorted(constants, key=str), None]
    ]
    for known in [*ways, null]:
        found += [
            known | frozenset(i for i, is_in in zip(free, chosen, strict=True) if is_in)
            for chosen in product((False, True), repeat=len(free))
        ]
    return list(dict.fromkeys(found))
