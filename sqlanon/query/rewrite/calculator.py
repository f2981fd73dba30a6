"""Interface between the parts of a calculation with aggregates.

The parts are windows, quotients, CASE, and the code around them.
"""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.query_plan import Aggregate, Check, Over, Quad
from sqlanon.query.sql.sqltree import Tree


class Aggregates(Protocol):
    """Notes down the aggregates of a query."""

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """An aggregate, once."""

    def error(self, node: exp.Expr) -> Aggregate | None:
        """By how much it may differ from the source's."""

    def type_of(self, node: exp.Expr) -> exp.DataType:
        """The type of an expression in the source."""

    def ratio(self, factor: exp.Expr, top: exp.Expr, bottom: exp.Expr) -> Aggregate | None:
        """Two aggregates of the same rows, one divided by the other; None: they are no sums over rows."""

    checks: list[Check]
    """What refuses the query."""

    grouped: bool
    """Whether the query has a GROUP BY."""

    windows: dict[str, Over]
    """The window functions, by their texts."""


class Groups(Protocol):
    """Expressions of a whole group, around its aggregates."""

    keys: tuple[Tree, ...]
    """The terms of GROUP BY."""

    has_having: bool
    """Whether HAVING leaves groups out."""

    def plain(self, node: exp.Expr) -> Tree:
        """One without aggregates."""

    def surely(self, node: exp.Expr, positive: bool) -> Tree:
        """Whether a condition is TRUE (FALSE) in every consistent source."""

    def estimate(self, node: exp.Expr) -> Tree:
        """An expression on the estimates."""


class Calculator(Protocol):
    """Makes intervals of expressions with aggregates."""

    scope: Scope
    """The names."""

    notes: Aggregates
    """Where aggregates are noted down."""

    groups: Groups
    """Reads what is around them."""

    def quad(self, node: exp.Expr, *, typed: bool = False, sharp: bool = False) -> Quad:
        """An expression with aggregates, as intervals."""

    def own(self, node: exp.Expr, *, sharp: bool) -> Quad | None:
        """What has bounds of its own: aggregates, window functions, CASE, and quotients of two aggregates."""

    def check(self, node: exp.Expr) -> exp.DataType:
        """The type of a calculation; refuse one that the engine does not do with aggregates of these types."""

    def is_constant(self, node: exp.Expr) -> bool:
        """Whether it reads no column."""

    def meet(self, made: Quad) -> Quad:
        """Where the bounds meet, the estimate is theirs."""

    def surely_nothing(self, node: exp.Expr) -> Tree:
        """Whether a calculation is NULL in every consistent source."""
