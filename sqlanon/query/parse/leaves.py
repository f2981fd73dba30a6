"""Leaves of expressions over ranges: constants and exact columns; subclasses add columns with ranges."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition
from sqlanon.query.functions.value import Value, fix_value
from sqlanon.query.parse.null_constants import is_null
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.parse.source_types import SourceTypes
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree

_DIGITS = 10
_INT = exp.DataType.build("INT")


def is_small(node: exp.Expr) -> bool:
    """Whether it is a whole number in few digits, which has the same type on every engine."""
    return isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit() and len(node.this) < _DIGITS


class ExactLeaves:
    """See `sqlanon.query.functions.evaluate.Leaves`.

    Args:
        scope: the names.
        types: types of expressions in the source.
    """

    def __init__(self, scope: Scope, types: SourceTypes) -> None:
        self.scope, self._types, self.dialect = scope, types, scope.engine.dialect

    def types(self, nodes: Sequence[exp.Expr]) -> Sequence[exp.DataType]:
        """See `Leaves`."""
        return self._types.of_all(nodes, nodes[-1])

    def middle(self, definition: Definition, call: Call, value: Value) -> Tree | None:
        """See `Leaves`: the mean over the box."""
        return value.middle

    def leaf(self, node: exp.Expr, *, sharp: bool) -> Value | None:
        """See `Leaves`."""
        if isinstance(node, exp.Column) and node.table == "_box":
            return self.range_of(node)
        if boxes_in(node):
            return None
        if isinstance(node, exp.Null):
            return fix_value(node, exp.DataType.build("NULL"), null=TRUE)
        (type_,) = [_INT] if is_small(node) else self.types([node])
        if node.find(exp.Column) is not None:
            return fix_value(node, type_, column=self.exact(node))
        return fix_value(node, type_, null=TRUE if is_null(self.scope, node) else FALSE)

    def range_of(self, node: exp.Column) -> Value:
        """The value of a column with ranges.

        Raises:
            NoEndsError: it has no ends.
        """
        raise NotImplementedError

    def exact(self, node: exp.Expr) -> Tree:
        """Name of an exact expression in the rows."""
        raise NotImplementedError
