"""Answers queries without rows: a SELECT without a table, and a SELECT with a condition that is FALSE."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.engines.lacks import require
from sqlanon.query.answer import Answer
from sqlanon.query.explain import explain_errors
from sqlanon.query.limits import Limits, guard
from sqlanon.query.parse.bind import bind
from sqlanon.query.parse.engine_check import check_valid
from sqlanon.query.parse.parse import Query
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import named, select

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine, TableRef
    from sqlanon.query.release import ReaderRelease


def answer_constants(engine: Engine, query: Query, role: str | None, limits: Limits) -> Answer:
    """The constants of a SELECT without a table."""
    if role is not None:
        require(engine, "query --as")
    clauses = (query.groups, query.having, query.where, query.joins, query.qualify)
    if any(clauses) or any(node.find(exp.AggFunc, exp.Window, exp.Column, exp.Star) for _, node in query.items):
        refuse(query.text, None, "the query needs a released table after FROM")
    # By numbers: DuckDB takes CURRENT_TIMESTAMP for a column where a column has that name.
    listed = [named(node.copy(), f"_{index}") for index, (_, node) in enumerate(query.items)]
    text = select(listed).sql(dialect=engine.dialect)
    rights, names = engine.rights, tuple(name for name, _ in query.items)
    with (
        rights.acting_as(role, limits.seconds) if rights and role is not None else nullcontext(),
        explain_errors(engine, query),
    ):
        fetched = guard(engine, limits).fetch(Statement("query", text)) if query.limit != 0 and not query.offset else []
    rows = tuple(dict(zip(names, row, strict=True)) for row in fetched)
    return Answer(names, (), rows, tuple(True for _ in rows), text)


def answer_nothing(
    engine: Engine, query: Query, released: ReaderRelease, joinable: Collection[TableRef], *, allow_linking: bool
) -> Answer:
    """The columns of a query that has no rows."""
    plain = replace(query, items=(), groups=(), having=None, qualify=None, order=(), regroup=None, inner_having=None)
    bound = bind(engine, plain, released, joinable, allow_linking=allow_linking)
    types = check_valid(replace(bound, query=query))
    names: list[str] = []
    aggregates = []
    for name, node in query.items:
        if node.is_star:
            names += [field.name for field in released.fields]
            names += [column.name for _, relation in bound.scope.tables.values() for column in relation.columns]
        else:
            names.append(name)
            aggregates += [name] if node.find(exp.AggFunc, exp.Window) else []
    left_out, unlike = released.left_out, released.unlike
    return Answer(tuple(names), tuple(aggregates), (), (), "", left_out=left_out, unlike=unlike, types=types)
