"""Tests: predicates with a sign on the value of a row in a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.query.logic.number_line import Comparison
from sqlanon.query.sql.sqltree import Tree, with_columns


@dataclass(frozen=True)
class ValueTest:
    """A predicate on a box with a sign; ``tree`` holds exactly when it does, over the box's value.

    ``null``: whether NULL passes it; None: not known.
    """

    id: int
    box: str
    tree: Tree
    comparison: Comparison | None = None
    null: bool | None = None

    def on(self, value: Tree) -> Tree:
        """The test of a value."""
        return on(self.tree, self.box, value)


def on(tree: Tree, box: str, value: Tree) -> Tree:
    """``tree`` with a value in place of the box's column."""
    return with_columns(tree, lambda node: value if node.table == "_box" and node.name == box else None)


def is_computed(tests: Sequence[ValueTest]) -> bool:
    """Whether a test has to be computed on every value: it is no comparison with a constant."""
    return any(test.comparison is None or test.comparison.op == "other" for test in tests)
