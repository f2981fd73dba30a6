"""Subqueries inside expressions: their answers are put in their places before the query around them is answered.

A subquery of one row becomes an aggregate of the group, with bounds. In conditions on rows, and after IN, an answer has
to be the same in every consistent source: then it is a constant.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, Statement, TableRef
from sqlanon.query.functions.aggregates import aggregate_of
from sqlanon.query.normalize.expression_subqueries import ListedValues, Scalar
from sqlanon.query.parse.parse import ParsedSubquery, Query
from sqlanon.query.refusal import refuse
from sqlanon.query.release import ReaderRelease, relation_of
from sqlanon.query.sql.sqltree import number, string, table_of
from sqlanon.sqltext import identifier
from sqlanon.sqltext.trees import port_tree

MOST_VALUES = 1000
"""Rows of a subquery after IN."""
_EXACT = (
    "the subquery has not the same answer in every consistent source, so that rows cannot be compared with it; ask it "
    "first and write its answer as a constant"
)


@dataclass(frozen=True)
class Rows:
    """The answer of a subquery over the release.

    Attributes:
        rows: the cells of each row: estimate, low, high, undefined of a column with bounds, else the value alone.
        bounded: whether each column has bounds.
        certain: of each row whether it is there in every consistent source.
        types: types of the columns in the source.
        complete: no consistent source has other rows.
    """

    rows: Sequence[Sequence[Any]]
    bounded: Sequence[bool]
    certain: Sequence[bool]
    types: Sequence[exp.DataType]
    complete: bool


@dataclass(frozen=True)
class SubqueryContext:
    """The release and database for all queries of a text.

    Attributes:
        engine: the database.
        joinable: the dimensions of the release's policy.
        allow_linking: any table may be read.
        answer: answers a query over the release.
    """

    engine: Engine
    released: ReaderRelease
    joinable: Collection[TableRef]
    allow_linking: bool
    answer: Callable[[Query], Rows]


def answer_subqueries(query: Query, around: SubqueryContext) -> tuple[Query, bool]:
    """The query with the answers of the subqueries in the expressions.

    Returns:
        The query, and whether the rows of the answer are only possible, and others may be missing, as a list of groups
        that limits it may differ between sources.

    Raises:
        RefusedQueryError: an answer that differs between consistent sources where a constant is needed.
    """
    if not query.asked:
        return query, False
    values: dict[int, exp.Expr] = {}
    lists: dict[int, list[exp.Expr]] = {}
    unsettled = False
    for i, subquery in enumerate(query.asked):
        is_own = query.source is not None and _path(subquery.query.source) == _path(query.source)
        if subquery.several:
            lists[i], sure = (
                _list_of(query, subquery, around) if is_own else (_of_table(query, subquery, around)[0], True)
            )
            if not sure and not (subquery.top and _is_grouped_by(query, i)):
                refuse(query.text, subquery.node, _EXACT)
            unsettled = unsettled or not sure
        else:
            values[i] = _scalar(query, subquery, around) if is_own else _constant_scalar(query, subquery, around)
    return _replace(query, values, lists), unsettled


def _is_grouped_by(query: Query, number_: int) -> bool:
    """Whether the query is grouped by the expression that is compared with a list."""
    tests = query.where.find_all(exp.In) if query.where is not None else ()
    condition = next((n for n in tests if n.expressions and _number(n.expressions[0]) == number_), None)
    if condition is None:  # it is a condition on groups
        return False
    if any(node.find(exp.Window) for node in (*(n for _, n in query.items), *query.order, query.qualify) if node):
        return False  # they depend on the other groups
    keys = [*query.groups, *(node for name, node in query.items if any(_names(term, name) for term in query.groups))]
    return query.regroup is None and any(_alike(condition.this, key) for key in keys)


def _names(term: exp.Expr, name: str) -> bool:
    return isinstance(term, exp.Column) and not term.table and term.name.lower() == name.lower()


def _alike(first: exp.Expr, other: exp.Expr) -> bool:
    if isinstance(first, exp.Column) and isinstance(other, exp.Column):
        same = first.name.lower() == other.name.lower()
        return same and (not first.table or not other.table or first.table.lower() == other.table.lower())
    return first == other


def _number(node: exp.Expr) -> int:
    return int(node.this.name) if isinstance(node, ListedValues | Scalar) else -1


def _replace(query: Query, values: dict[int, exp.Expr], lists: dict[int, list[exp.Expr]]) -> Query:
    """The query with constants on rows, and values with bounds around aggregates."""

    def fill(node: exp.Expr | None, *, rows: bool) -> exp.Expr | None:
        if node is None:
            return None
        whole = exp.Paren(this=node.copy())
        for listed in list(whole.find_all(ListedValues)):
            assert listed.parent is not None
            values_ = [literal.copy() for literal in lists[_number(listed)]]
            if values_:
                listed.parent.set("expressions", values_)
            else:  # also of NULL: it is in no empty list
                listed.parent.replace(exp.false())
        for scalar in list(whole.find_all(Scalar)):
            value = values[_number(scalar)].copy()
            on_rows = rows or scalar.find_ancestor(exp.AggFunc, exp.Filter) is not None
            scalar.replace(_as_constant(query, value, scalar) if on_rows else value)
        expression: exp.Expr = whole.this
        plain: exp.Expr = expression.pop()
        return plain

    def each(nodes: Sequence[exp.Expr], *, rows: bool) -> tuple[Any, ...]:
        return tuple(fill(node, rows=rows) for node in nodes)

    return replace(
        query,
        items=tuple((name, fill(node, rows=False)) for name, node in query.items),  # type: ignore[misc]
        joins=each(query.joins, rows=True),
        where=fill(query.where, rows=True),
        groups=each(query.groups, rows=True),
        having=fill(query.having, rows=False),
        qualify=fill(query.qualify, rows=False),
        order=each(query.order, rows=False),
        regroup=None if query.regroup is None else each(query.regroup, rows=True),
        inner_having=fill(query.inner_having, rows=False),
    )


def _as_constant(query: Query, value: exp.Expr, place: exp.Expr) -> exp.Expr:
    if not isinstance(value, Scalar):
        return value
    low, high, undefined = (value.args[end] for end in ("low", "high", "undefined"))
    if low != high or undefined.this != "0" or low.find(exp.Null):
        refuse(query.text, query.asked[_number(place)].node, _EXACT)
    literal: exp.Expr = low.copy()
    return literal


def _scalar(query: Query, request: ParsedSubquery, around: SubqueryContext) -> exp.Expr:
    """The value of a subquery over the release, with bounds."""
    answer = around.answer(request.query)
    if len(answer.rows) != 1 or not answer.certain[0] or not answer.complete:
        refuse(query.text, request.node, "a subquery in place of a value has one row in every consistent source")
    kind = answer.types[request.column]
    cells = _cells(answer, 0, request.column)
    trees = [_literal(query, request, cell, kind) for cell in cells[:3]]
    return Scalar(
        this=exp.Literal.number(0),
        estimate=trees[0],
        low=trees[1],
        high=trees[2],
        undefined=exp.Literal.number(int(bool(cells[3]))),
        kind=kind.copy(),
    )


def _cells(fetched: Rows, row: int, column: int) -> Sequence[Any]:
    """Estimate, low, high and undefined of a cell."""
    position = sum(4 if bounded else 1 for bounded in fetched.bounded[:column])
    if fetched.bounded[column]:
        return fetched.rows[row][position : position + 4]
    value = fetched.rows[row][position]
    return [value, value, value, int(value is None)]


def _list_of(query: Query, request: ParsedSubquery, around: SubqueryContext) -> tuple[list[exp.Expr], bool]:
    """The values of a subquery over the release, and whether every consistent source has these."""
    answer = around.answer(request.query)
    if answer.bounded[request.column]:
        refuse(query.text, request.node, "IN takes what the subquery is grouped by")
    if len(answer.rows) > MOST_VALUES:
        refuse(query.text, request.node, f"a subquery after IN has at most {MOST_VALUES:,} rows")
    kind = answer.types[request.column]
    cells = [_cells(answer, i, request.column)[0] for i in range(len(answer.rows))]
    present = [cell for cell in cells if cell is not None or not request.top]
    return [_literal(query, request, cell, kind) for cell in present], all(answer.certain) and answer.complete


def _constant_scalar(query: Query, request: ParsedSubquery, around: SubqueryContext) -> exp.Expr:
    """The value of a subquery over another table."""
    values, kind = _of_table(query, request, around)
    if len(values) > 1:
        refuse(query.text, request.node, "a subquery in place of a value has one row")
    value = values[0] if values else exp.cast(exp.null(), kind)
    null = bool(value.find(exp.Null))
    ends = {end: value.copy() for end in ("estimate", "low", "high")}
    undefined = exp.Literal.number(int(null))
    return Scalar(this=exp.Literal.number(0), **ends, undefined=undefined, kind=kind.copy())


def _of_table(query: Query, request: ParsedSubquery, around: SubqueryContext) -> tuple[list[exp.Expr], exp.DataType]:
    """The values of a subquery that reads another table, which the engine answers."""
    engine, text, tree = around.engine, query.text, request.select.copy()
    if request.query.asked or request.query.source is None or request.query.joins:
        refuse(text, request.node, "a subquery beside a release reads one table, or the release")
    if request.query.regroup is not None or any(not _is_plain(n) for n in tree.find_all(exp.AggFunc)):
        refuse(text, request.node, "a subquery of another table has columns, conditions, and plain aggregates")
    table = tree.args["from_"].this
    spelled = ".".join(identifier(p.name) if p.args.get("quoted") else p.name for p in table.parts)
    relation = relation_of(engine, spelled)
    source = around.released.source_in(engine)
    listed = relation is not None and relation.ref != source and relation.ref in around.joinable
    if not around.allow_linking and not listed:  # also where there is no such table: names are no answers
        refuse(
            text,
            request.node,
            f"{table.name} is not among the dimensions of the release's policy: reading it could link rows of persons; "
            "list it there (dimensions: [...]), or allow linking (--allow-linking)",
        )
    if relation is None:
        refuse(text, request.node, f"there is no table {table.name} to read")
    if relation.ref.schema == PRIVATE_SCHEMA:
        refuse(text, request.node, "private tables of sqlanon cannot be read")
    table.replace(table_of(relation.ref, table.alias or table.name))
    # Items stay, with their names and places: DISTINCT, GROUP BY and ORDER BY go by them.
    spelled = port_tree(tree, engine.dialect).sql(dialect=engine.dialect)
    kind = exp.DataType.build(engine.describe(spelled)[request.column], dialect=engine.dialect, udt=True)
    rows = engine.fetch(Statement("query/subquery", spelled), max_rows=MOST_VALUES)
    return [_literal(query, request, row[request.column], kind) for row in rows], kind


def _is_plain(node: exp.Expr) -> bool:
    aggregate = aggregate_of(node)
    return aggregate is not None and aggregate.kind in ("count", "sum", "avg", "min", "max")


def _literal(query: Query, request: ParsedSubquery, value: Any, kind: exp.DataType) -> exp.Expr:  # noqa: ANN401 - an engine's value
    """A value as a constant of a type."""
    if value is None:
        return exp.cast(exp.null(), kind.copy()) if not request.several else exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        typed = not request.several or isinstance(value, float)  # a decimal of the same digits is another value
        return exp.cast(number(value), kind.copy()) if typed else number(value)
    if isinstance(value, datetime.date) and kind.this is not exp.DataType.Type.TIMESTAMP_NS:  # microseconds in Python
        return exp.cast(string(str(value)), kind.copy())
    return refuse(
        query.text, request.node, "a subquery inside an expression has texts, finite numbers, dates or booleans"
    )


def _path(table: exp.Table | None) -> list[str]:
    return [part.name.lower() for part in table.parts] if table is not None else []
