"""The types of aggregates and calculations over the source, as the source's engine determines them.

They decide how it divides and rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.errors import DatabaseError
from sqlanon.query.boxes.box import VIEW, Box
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
        # Types of the columns of a release are facts about the version, those of joined tables are not.
        self._known: dict[str, exp.DataType] = {} if scope.joins else scope.released.once("types", dict)

    def of(self, bound: Tree, node: exp.Expr) -> exp.DataType:
        """The type of a bound expression: of an aggregate over the source's rows, or of a term in a row.

        Args:
            bound: the expression, every column resolved.
            node: the piece of the query that it comes from, for messages.

        Raises:
            RefusedQueryError: the engine has no such function for these types.
        """
        return self.of_all([bound], node)[0]

    def of_all(self, bound: Sequence[Tree], node: exp.Expr) -> list[exp.DataType]:
        """The types of several expressions, in a single question; see `of`."""
        dialect = self._scope.engine.dialect
        wholes = [with_columns(tree, self._null_of_type) for tree in bound]
        texts = [whole.sql(dialect=dialect) for whole in wholes]
        unknown = {text: whole for text, whole in zip(texts, wholes, strict=True) if text not in self._known}
        if unknown:
            listed = [exp.alias_(whole, f"t{i}") for i, whole in enumerate(unknown.values())]
            query = exp.Select().select(*listed).from_(exp.to_table("x").as_(VIEW))
            query.args["from_"].this.replace(self._scope.view())
            for join in self._scope.joins:
                query = query.join(join.copy())
            try:
                shown_types = self._scope.engine.describe(query.sql(dialect=dialect))
            except DatabaseError:
                refuse(self._scope.text, node, "the engine has no such function or operator for these types")
            for text, shown in zip(unknown, shown_types, strict=True):
                self._known[text] = read_type(shown, dialect)
        return [self._known[text] for text in texts]

    def _null_of_type(self, node: exp.Column) -> Tree | None:
        """A column with ranges as a NULL of the column's type; exact columns have a type."""
        if node.table != "_box":
            return None
        box = self._scope.box(node.name)
        return exp.cast(exp.null(), type_of(box, self._scope.engine.dialect))


def type_of(box: Box, dialect: str) -> exp.DataType:
    """The type of a source column; an enum is text."""
    if box.field.kind == "enum":
        return exp.DataType.build("TEXT")
    return exp.DataType.build(box.field.source_type, dialect=dialect, udt=True)


def read_type(shown: str, dialect: str) -> exp.DataType:
    """A type as an engine names it; that of a bare NULL is of no values."""
    if shown.strip('"').upper() in ("NULL", "UNKNOWN"):  # a bare NULL
        return exp.DataType.build("NULL")
    return exp.DataType.build(shown, dialect=dialect, udt=True)
