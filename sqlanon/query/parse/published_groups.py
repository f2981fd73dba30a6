"""Shared rules of queries over published groups: counts and noisy statistics have groups instead of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.scope import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import Tree

if TYPE_CHECKING:
    from sqlanon.query.release import Field

KINDS = ("integer", "decimal", "float", "text", "boolean", "date", "enum")
"""Kinds of columns that conditions and keys may read: a value and its text are one to one."""


def refuse_clauses(query: Query, reason: str) -> None:
    """Refuse clauses that are asked of rows or of finished groups; ``reason`` follows their name.

    Raises:
        RefusedQueryError: the query has such a clause.
    """
    unread: tuple[tuple[object, exp.Expr | None, str], ...] = (
        (query.joins, query.joins[0] if query.joins else None, "joins"),
        (query.having, query.having, "HAVING"),
        (query.qualify, query.qualify, "QUALIFY"),
        (query.regroup is not None, None, "groups of groups"),
        (query.asked, query.asked[0].node if query.asked else None, "subqueries"),
    )
    for present, node, clause in unread:
        if present:
            refuse(query.text, node, f"{clause} {reason}")


def find_term(bound: BoundQuery, item: Tree, node: exp.Expr, answered: str) -> int:
    """The term of GROUP BY that an item is.

    Args:
        bound: the query.
        item: the bound item, which has no aggregate.
        node: the item as written, for the refusal.
        answered: description of the allowed terms.

    Raises:
        RefusedQueryError: it is no term.
    """
    for place, term in enumerate(bound.groups):
        if term == item.unnest():
            return place
    return refuse(bound.query.text, node, f"this must be in GROUP BY; over {answered}")


def cast_published(scope: Scope, field: Field, tree: Tree) -> Tree:
    """A published text in the source type of the column; an enum stays a text."""
    if field.kind == "enum":
        return exp.cast(tree, "VARCHAR")
    if field.kind == "text" and field.collation is not None and scope.engine.capabilities.collations:
        return scope.collate(field, tree)
    return exp.cast(tree, exp.DataType.build(field.source_type, dialect=scope.engine.dialect, udt=True))
