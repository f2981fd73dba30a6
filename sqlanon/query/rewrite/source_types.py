"""The types of aggregates and calculations over the source, as its engine determines them.

They decide how it divides and rounds.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.errors import DatabaseError
from sqlanon.query.boxes.box import VIEW
from sqlanon.query.parse.scope import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import Tree, with_columns


class SourceTypes:
    """Asks the engine for the type of an expression, once each; no row is read, and nothing is computed.

    Args:
        scope: the names.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, str] = {}

    def of(self, bound: Tree, written: exp.Expr) -> exp.DataType:
        """The type of a bound expression: of an aggregate over the source's rows, or of one row's term.

        Args:
            bound: the expression, every column resolved.
            written: the piece of the query that it comes from, for messages.

        Raises:
            Refused: the engine has no such function for these types.
        """
        whole = with_columns(bound, self._null_of_type)
        made = exp.Select().select(whole).from_(exp.to_table("x").as_(VIEW))
        made.args["from_"].this.replace(self._scope.view())
        for join in self._scope.joins:
            made = made.join(join.copy())
        text = made.sql(dialect=self._scope.engine.dialect)
        try:
            if text not in self._known:
                (self._known[text],) = self._scope.engine.describe(text)
        except DatabaseError:
            refuse(self._scope.text, written, "the engine has no such function or operator for these types")
        return exp.DataType.build(self._known[text], dialect=self._scope.engine.dialect, udt=True)

    def _null_of_type(self, node: exp.Column) -> Tree | None:
        """A column with ranges as a NULL of its type; exact columns have theirs."""
        if node.table != "_box":
            return None
        own = self._scope.box(node.name).field
        if own.kind == "enum":
            return exp.cast(exp.null(), "TEXT")
        kind = exp.DataType.build(own.source_type, dialect=self._scope.engine.dialect, udt=True)
        return exp.cast(exp.null(), kind)
