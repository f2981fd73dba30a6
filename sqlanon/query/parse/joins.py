"""Joins with tables of facts about an exact column's values.

Each has a single row for each value, unless linking is allowed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.base import PRIVATE_SCHEMA, Statement, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.query.functions.comparisons import is_equality
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.release import relation_of
from sqlanon.query.sql.sqltree import Tree, sql, table_of
from sqlanon.sqltext import identifier

_KINDS = {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}


def read_joins(scope: Scope, query: Query, joinable: Collection[TableRef], *, allow_linking: bool) -> Scope:
    """The names of a query with those of its joined tables.

    Args:
        scope: the names of the release.
        query: the query.
        joinable: the dimensions of the release's policy.
        allow_linking: any table may be joined, also with several rows for a value of the join columns.

    Raises:
        RefusedQueryError: a join on a column with ranges, of another kind than inner and left, with a table that the
            policy does not list, or with rows of persons.
    """
    for number, join in enumerate(query.joins, 1):
        scope = _join(scope, join, f"joined{number}", joinable, allow_linking=allow_linking)
    return scope


def _join(scope: Scope, join: exp.Join, name: str, joinable: Collection[TableRef], *, allow_linking: bool) -> Scope:
    text, table = scope.text, join.this
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if not isinstance(table, exp.Table) or not table.name:
        refuse(text, join, "tables can be joined, subqueries cannot; put it into a view")
    if (side, kind) not in _KINDS or join.method or (join.args.get("on") is None) == (not join.args.get("using")):
        refuse(text, join, "joins are INNER or LEFT, with ON or USING")
    spelled = ".".join(identifier(p.name) if p.args.get("quoted") else p.name for p in table.parts)
    relation = relation_of(scope.engine, spelled)
    if not allow_linking and relation is not None and relation.ref == scope.released.source_in(scope.engine):
        refuse(
            text,
            table,
            f"{table.name} is the table that the release was made of: joining it would link rows of persons; "
            "ask the table itself, or allow linking (--allow-linking)",
        )
    if not allow_linking and (relation is None or relation.ref not in joinable):  # both alike: names are no answers
        refuse(
            text,
            table,
            f"{table.name} is not among the dimensions of the release's policy: joining it could link rows of persons; "
            "list it there (dimensions: [...]), or allow linking (--allow-linking)",
        )
    if relation is None:
        refuse(text, table, f"there is no table {table.name} to join")
    if relation.ref.schema == PRIVATE_SCHEMA:
        refuse(text, table, "private tables of sqlanon cannot be joined")
    scope = replace(
        scope,
        tables={**scope.tables, table.alias or table.name: (name, relation)},
        using=scope.using | {c.name.lower() for c in join.args.get("using") or ()},
    )
    pairs = _pairs(scope, join, table.alias or table.name, name)
    joined_columns = [theirs for _, theirs in pairs]
    keyed = _is_key(scope, table_of(relation.ref, name), joined_columns)
    if not allow_linking and not keyed:
        refuse(
            text,
            join,
            f"{table.name} has several rows for one value of its join columns: joining it could link rows of persons; "
            "join a table keyed by them, or allow linking (--allow-linking)",
        )
    on = exp.and_(*(exp.EQ(this=mine.copy(), expression=theirs.copy()) for mine, theirs in pairs))
    new_join = exp.Join(this=table_of(relation.ref, name), on=on, side=side or None)
    return replace(scope, joins=(*scope.joins, new_join), linked=scope.linked or not keyed)


def _pairs(scope: Scope, join: exp.Join, alias: str, name: str) -> list[tuple[Tree, Tree]]:
    """The equal columns: a column of the release or of a table before, and a column of the joined table."""
    text = scope.text
    if join.args.get("using"):
        conditions: list[exp.Expr] = [
            exp.EQ(this=exp.column(c.name, table=scope.alias), expression=exp.column(c.name, table=alias))
            for c in join.args["using"]
        ]
    else:
        on = join.args["on"].unnest()
        conditions = list(on.flatten()) if isinstance(on, exp.And) else [on]
    pairs: list[tuple[Tree, Tree]] = []
    for condition in conditions:
        equal = condition.unnest()
        if not is_equality(equal):
            refuse(text, condition, "joins are on equal columns, with AND between them")
        sides = [scope.bind(equal.left), scope.bind(equal.right)]
        if any(boxes_in(side) for side in sides):
            refuse(text, condition, "a join on a column with ranges has no sound answer; join on an exact column")
        theirs = [side for side in sides if isinstance(side, exp.Column) and side.table == name]
        mine = [side for side in sides if isinstance(side, exp.Column) and side.table != name]
        if len(theirs) != 1 or len(mine) != 1:
            refuse(
                text,
                condition,
                "each join condition compares one column of the release with one of the joined table",
            )
        pairs.append((mine[0], theirs[0]))
    return pairs


def _is_key(scope: Scope, table: exp.Table, columns: list[Tree]) -> bool:
    """Whether no two rows of a table agree in the columns."""
    grouped = exp.Select().select(sql("COUNT(*) AS n")).from_(table).group_by(*(c.copy() for c in columns))
    grouped = grouped.where(*(sql(":c IS NOT NULL", c=c) for c in columns))
    query = exp.Select().select(sql("COALESCE(MAX(n), 0)")).from_(grouped.subquery("g"))
    rows = scope.engine.fetch(Statement("query/key", query.sql(dialect=scope.engine.dialect)))
    return read_integer(rows[0][0]) <= 1
