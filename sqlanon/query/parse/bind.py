"""Bind: every column of a query becomes an exact column of the view or of a joined table, or the value of a box."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.base import Engine, TableRef
from sqlanon.query.normalize.grouping_sets import MissingTerm
from sqlanon.query.parse.joins import read_joins
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.scope import Scope, boxes_of, item
from sqlanon.query.parse.source_types import SourceTypes
from sqlanon.query.refusal import refuse
from sqlanon.query.release import ReaderRelease
from sqlanon.query.sql.sqltree import Tree


@dataclass(frozen=True)
class BoundQuery:
    """A query over a release, with resolved names.

    Attributes:
        query: the parsed query.
        scope: the tables and boxes of the names.
        items: output name and expression, in order.
        where, having: predicates or None.
        groups: the terms of GROUP BY.
        order: the terms of ORDER BY.
        qualify, regroup, inner_having: as in `sqlanon.query.parse.parse.Query`.
    """

    query: Query
    scope: Scope
    items: tuple[tuple[str, Tree], ...]
    where: Tree | None
    groups: tuple[Tree, ...]
    having: Tree | None
    order: tuple[exp.Ordered, ...]
    qualify: Tree | None = None
    regroup: tuple[Tree, ...] | None = None
    inner_having: Tree | None = None


def bind(
    engine: Engine,
    query: Query,
    released: ReaderRelease,
    joinable: Collection[TableRef] = (),
    *,
    allow_linking: bool = False,
) -> BoundQuery:
    """Resolve the names of a query.

    Args:
        engine: the database.
        query: the query.
        released: the release that it asks.
        joinable: the dimensions of the release's policy.
        allow_linking: any table may be joined, also with several rows for a value of the join columns.

    Returns:
        Expressions over the view and the joined tables, by the names that the rewritten SQL gives them, and over the
        values of boxes. In HAVING and ORDER BY, names of items are columns of `sqlanon.query.parse.scope.ITEM`.

    Raises:
        RefusedQueryError: an unknown or ambiguous name, or a join that is not answered.
    """
    assert query.source is not None
    alias = query.source.alias or query.source.name
    boxes = boxes_of(engine, released, alias, _list_written(query))
    scope = Scope(engine, released, query.text, alias, boxes=boxes)
    scope = read_joins(scope, query, joinable, allow_linking=allow_linking)
    for new in query.new:
        if scope.has(new.alias):
            refuse(query.text, new, f"a table has a column {new.alias} as well: give this one another name")
    query = _type_missing_terms(scope, query)
    names = [name for name, _ in query.items]
    return BoundQuery(
        query,
        scope,
        tuple((name, scope.bind(node)) for name, node in query.items),
        scope.bind(query.where) if query.where is not None else None,
        tuple(scope.bind(_bind_group(scope, query, node).unnest()) for node in query.groups),
        scope.bind(query.having, names) if query.having is not None else None,
        tuple(_bind_order(scope, query, term, names) for term in query.order),
        scope.bind(query.qualify, names if query.regroup is None else ()) if query.qualify is not None else None,
        None
        if query.regroup is None
        else tuple(scope.bind(_bind_group(scope, query, node).unnest()) for node in query.regroup),
        scope.bind(query.inner_having) if query.inner_having is not None else None,
    )


def _type_missing_terms(scope: Scope, query: Query) -> Query:
    """The query with a NULL of its type for each term that is not in its grouping."""
    types = SourceTypes(scope)

    def write_types(node: exp.Expr | None) -> exp.Expr | None:
        if node is None or node.find(MissingTerm) is None:
            return node
        whole = exp.Paren(this=node.copy())
        for missing in list(whole.find_all(MissingTerm)):
            missing.replace(exp.cast(exp.null(), types.of(scope.bind(missing.this), missing.this)))
        expression: exp.Expr = whole.this
        plain: exp.Expr = expression.pop()
        return plain

    items = tuple((name, write_types(node) or node) for name, node in query.items)
    return replace(query, items=items, having=write_types(query.having))


def _list_written(query: Query) -> Iterator[exp.Expr]:
    """The expressions of a query, but the names of items that ORDER BY repeats."""
    for join in query.joins:
        yield from (exp.column(name.name) for name in join.args.get("using") or ())
        yield from (on for on in [join.args.get("on")] if on is not None)
    yield from (node for node in [query.where] if node is not None)
    yield from query.groups
    yield from (node for _, node in query.items)
    yield from (node for node in [query.having, query.qualify, query.inner_having] if node is not None)
    yield from query.regroup or ()
    names = [name.lower() for name, _ in query.items]
    for term in query.order:
        node = term.this
        if not (isinstance(node, exp.Column) and not node.table and node.name.lower() in names):
            yield node


def _bind_group(scope: Scope, query: Query, node: exp.Expr) -> exp.Expr:
    """A term of GROUP BY: a name is a column of the tables first, then an item of the SELECT, as engines have it."""
    if not isinstance(node, exp.Column) or node.table or scope.has(node.name):
        return node
    items = [item for name, item in [*query.aliases, *query.items] if name.lower() == node.name.lower()]
    if items and items[0].find(exp.AggFunc, exp.Window):
        refuse(query.text, node, "GROUP BY cannot hold an aggregate")
    return items[0] if items else node


def _bind_order(scope: Scope, query: Query, term: exp.Ordered, names: list[str]) -> exp.Ordered:
    """A term of ORDER BY: a number or a name is an item first."""
    node, bound_term = term.this, term.copy()
    folded = [name.lower() for name in names]
    if isinstance(node, exp.Literal) and not node.is_string:
        position = int(node.this) if node.this.isdigit() else 0
        if not 1 <= position <= len(names):
            refuse(query.text, node, f"ORDER BY {node.this}: the query has {len(names)} columns")
        bound_term.set("this", item(position - 1, node))
    elif isinstance(node, exp.Column) and not node.table and node.name.lower() in folded:
        bound_term.set("this", item(folded.index(node.name.lower()), node))
    else:
        bound_term.set("this", scope.bind(node, names))
    return bound_term
