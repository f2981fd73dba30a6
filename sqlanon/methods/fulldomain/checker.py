"""Questions of a search about the classes of nodes: two executions answer, `in_memory` and `pushed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlanon.engines.base import TableRef
from sqlanon.methods.base import Context
from sqlanon.privacy.base import beyond_rows, least_rows

if TYPE_CHECKING:
    Node = tuple[int, ...]


OF_CLASSES = ("dm", "c_avg")
"""Metrics that are sums over classes, and not over columns."""


@dataclass(frozen=True, slots=True)
class SuppressedClasses:
    """Classes of suppressed rows.

    Attributes:
        rows: their rows.
        extra: the cost of suppressing them less that of publishing them at the node (metrics other than dm).
        of_classes: the metric, if it is in `OF_CLASSES`: of dm the sum of the squares of the classes' rows, of c_avg
            the number of classes, negative, as the most are best.
    """

    rows: int
    extra: int
    of_classes: int


@dataclass(frozen=True, slots=True)
class NodeClasses:
    """The classes of a node.

    Attributes:
        few: rows in classes of fewer rows than the requirements leave any class.
        of_classes: the same of all classes.
        failing: the classes that do not meet the requirements.
    """

    few: int
    of_classes: int
    failing: SuppressedClasses


class Checker(Protocol):
    """Looks at the classes of nodes; two executions of the same questions."""

    execution: str

    def check(self, node: Node) -> NodeClasses:
        """The classes of a node. It becomes the open node."""

    def meets(self, joined: int) -> bool:
        """Whether the failing classes of the open node meet the requirements as one class with some others.

        The others are the smallest; their number is given. With a population also whether it allows so many rows of
        the source among the rows in no other class; of rows that are left out that alone is asked.
        """

    def joinable(self, most: int) -> int:
        """How many others may join the failing classes of the open node within ``most`` suppressed rows."""

    def count_suppressed(self, joined: int) -> SuppressedClasses:
        """The failing classes of the open node and so many others."""

    def assign(self, joined: int, starred: bool) -> tuple[TableRef, int | None, int]:
        """The assignment of the open node.

        Returns:
            the table (rid, class); the class of suppressed rows, where they are ``starred`` and there are any
            (otherwise they are not in the table); how many classes there are.
        """


def least_of(context: Context) -> int:
    """Rows of a class, at least, whatever values they have."""
    shapes = [requirement.shape for requirement in beyond_rows(context.requirements)]
    least = [
        shape.p if shape.kind == "distinct" else -(-shape.p // shape.q) for shape in shapes if shape.kind != "other"
    ]
    return max(least_rows(context.requirements), *least, 1)


def stars_rows(context: Context) -> bool:
    """Whether suppressed rows are published, as one class."""
    return context.suppression is None or context.suppression.rows == "starred"
