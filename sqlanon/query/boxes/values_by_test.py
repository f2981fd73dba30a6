"""Values of a column by the tests that hold of them, and a column in GROUP BY."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.query.logic.value_tests import ValueTest
from sqlanon.query.sql.sqltree import (
    Tree,
)


@dataclass(frozen=True, slots=True)
class ValuesByTest:
    """Values of a column, grouped by the tests that hold of them.

    Attributes:
        ways: sets of tests that hold together, a group for each.
    """

    ways: Sequence[frozenset[int]]
    tests: Sequence[ValueTest]


@dataclass(frozen=True, slots=True)
class GroupedBox:
    """A box in GROUP BY.

    Attributes:
        test: the number of the test that holds within the key; None: there is no such test.
        key: the expression of the box in GROUP BY.
    """

    test: int | None = None
    key: Tree | None = None


UNGROUPED = GroupedBox()
"""A box that GROUP BY does not ask for."""
