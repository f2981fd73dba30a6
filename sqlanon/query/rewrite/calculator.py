"""Interface between the parts of a calculation with aggregates: windows, quotients, CASE, and the rest."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from sqlanon.query.functions.aggregates import is_sum
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.query_plan import Aggregate, Check, Quad, WindowCall
from sqlanon.query.sql.sqltree import Tree
from sqlanon.query.sql.types import is_single


class Aggregates(Protocol):
    """Notes down the aggregates of a query."""

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """An aggregate, once."""

    def error(self, node: exp.Expr) -> Aggregate | None:
        """By how much it may differ from the source's."""

    def type_of(self, node: exp.Expr) -> exp.DataType:
        """The type of an expression in the source."""

    def ratio(self, factor: exp.Expr, top: exp.Expr, bottom: exp.Expr) -> Aggregate | None:
        """The quotient of two aggregates of the same rows; None: they are no sums over rows."""

    checks: list[Check]
    """Conditions that refuse the query."""

    grouped: bool
    """Whether the query has a GROUP BY."""

    windows: dict[str, WindowCall]
    """The window functions, by their texts."""


class Groups(Protocol):
    """Expressions of a whole group, around aggregates."""

    keys: tuple[Tree, ...]
    """The terms of GROUP BY."""

    has_having: bool
    """Whether HAVING leaves groups out."""

    def plain(self, node: exp.Expr) -> Tree:
        """An expression without aggregates."""

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
    """Reads the expressions around aggregates."""

    def quad(self, node: exp.Expr, *, typed: bool = False, sharp: bool = False) -> Quad:
        """An expression with aggregates, as intervals."""

    def own(self, node: exp.Expr, *, sharp: bool) -> Quad | None:
        """The bounds of aggregates, window functions, CASE, and quotients of aggregates; None: another node."""

    def check(self, node: exp.Expr) -> exp.DataType:
        """The type of a calculation; refuse it if the engine does not do it with aggregates of these types."""

    def is_constant(self, node: exp.Expr) -> bool:
        """Whether it reads no column."""

    def meet(self, quad: Quad) -> Quad:
        """Where the bounds meet, the estimate is theirs."""

    def is_surely_nothing(self, node: exp.Expr) -> Tree:
        """Whether a calculation is NULL in every consistent source."""


def adds_singly(notes: Aggregates, node: exp.Expr) -> bool:
    """Whether the engine adds up in single precision: another order of the rows gives another sum of few digits."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return is_sum(inner) and is_single(notes.type_of(node))
