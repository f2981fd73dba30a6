"""A SELECT over a release: rewritten, and asked of the engine."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.engines.rows import count
from sqlanon.errors import DatabaseError
from sqlanon.query.answer import Interval
from sqlanon.query.boxes.kept_classes import find_kept_classes, forget_kept
from sqlanon.query.functions.registry import reads_clock
from sqlanon.query.infinite_dates import with_infinite
from sqlanon.query.intervals import Distribution, distributions, intervals_of
from sqlanon.query.limits import Limits
from sqlanon.query.parse.bind import BoundQuery, bind
from sqlanon.query.parse.engine_check import check_valid
from sqlanon.query.parse.parse import Query
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.box_rows import box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import Final, final_select
from sqlanon.query.rewrite.group_bounds import bound_regroup, list_regrouped_checks
from sqlanon.query.rewrite.query_plan import Check
from sqlanon.query.rewrite.solve_classes import solve_classes
from sqlanon.query.rewrite.solve_matchings import solve_matchings
from sqlanon.query.rewrite.sums import sums
from sqlanon.query.rewrite.unlisted_groups import select_unlisted
from sqlanon.query.rewrite.window_bounds import bound_windows
from sqlanon.sqltext.trees import port_tree

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine, TableRef
    from sqlanon.query.release import ReaderRelease

_MOST_PLANS = 64
"""Rewritten queries that are kept for each version and connection: tools ask the same ones again and again."""
_LIMIT = re.compile(r"\bLIMIT (\d+)(?:\s+OFFSET \d+)?\s*\Z")


@dataclass(frozen=True)
class PreparedQuery:
    """A rewritten query, reused for the same text while the version is the same.

    Attributes:
        final: the columns of the query.
        text: the SQL.
        more: SQL that counts rows in groups that the release shows nowhere; None: there are none.
        others: SQL that counts groups which may be in an answer without rows; None: it is not known.
        notes: comments on the SQL.
        checks: conditions that refuse the query, in the order of the last columns.
        whole: values depend on every group, so that there must be no others.
        keys: the number of key columns at the front, where intervals are asked for.
        types: types of the columns in the source.
    """

    final: Final
    text: str
    more: str | None
    others: str | None
    notes: str
    checks: tuple[Check, ...]
    whole: bool
    keys: int
    types: tuple[exp.DataType, ...]


@dataclass(frozen=True)
class QueryRun:
    """The engine's result of a query: the cells of an answer, ``certain`` at ``width``.

    ``others``: conditions on groups, which go by the estimates, may leave groups out that are in the answer.
    """

    final: Final
    types: tuple[exp.DataType, ...]
    rows: list[Any]
    text: str
    more: bool
    others: bool
    intervals: Sequence[Mapping[str, Interval]]

    @property
    def width(self) -> int:
        """How many cells of a row belong to columns."""
        return sum(4 if bounded else 1 for _, bounded in self.final.columns)


@dataclass(frozen=True, slots=True)
class Precision:
    """The numbers that are asked of a query.

    Attributes:
        interval: see `sqlanon.query.ask.ask`.
        sharp: the ends of numbers must hold to the last digit.
    """

    interval: float | None = None
    sharp: bool = False


SHARP = Precision(sharp=True)
"""Of a subquery: other numbers are computed from the ends."""


def run_query(
    engine: Engine,
    query: Query,
    released: ReaderRelease,
    joinable: Collection[TableRef],
    limits: Limits,
    precision: Precision,
    *,
    allow_linking: bool,
) -> QueryRun:
    """Rewrite a query in which subqueries are constants, and send it.

    Args:
        engine: the database.
        query: a SELECT.
        released: the release that it asks.
        joinable: tables that it may join.
        limits: limits of the query.
        precision: interval and sharpness of the numbers.
        allow_linking: let it join any table.

    Raises:
        RefusedQueryError: the query, or a piece of it, has no answer over a release.
    """
    interval, sharp = precision.interval, precision.sharp
    key = None if sharp or interval is not None else _key(query, released, engine.dialect)
    plans: dict[object, PreparedQuery] = released.once("plans", dict)
    prepared = plans.get(key)
    drawn_distributions = None
    store = find_kept_classes(released)
    if prepared is None:
        bound = bind(engine, query, released, joinable, allow_linking=allow_linking)
        prepared, drawn_distributions = _prepare(engine, bound, limits, drawing=interval is not None, sharp=sharp)
        if key is not None and (store is None or not store.take_waiting()):
            if len(plans) >= _MOST_PLANS:
                plans.pop(next(iter(plans)), None)
            plans[key] = prepared
    final, text, checks, more_text = prepared.final, prepared.text, prepared.checks, prepared.more
    limits.check_planning(len(text))
    try:
        rows = engine.fetch(Statement("query", _limit(text, limits.rows + 1)), max_rows=limits.rows)
    except DatabaseError:
        if store is None or not store.are_lost(engine):
            raise
        forget_kept(engine, released)
        return run_query(engine, query, released, joinable, limits, precision, allow_linking=allow_linking)
    rows = with_infinite(engine, text, rows, limits.rows)
    intervals: Sequence[Mapping[str, Interval]] = ()
    if drawn_distributions is not None and interval is not None:
        keys = [tuple(row[: prepared.keys]) for row in rows]
        rows = [row[prepared.keys :] for row in rows]
        intervals = intervals_of(engine, drawn_distributions, keys, interval)
    for i, check in enumerate(checks, len(rows[0]) - len(checks) if rows else 0):
        if any(row[i] for row in rows):
            refuse(query.text, check.node, check.reason)
    more = more_text is not None and _count(engine, more_text) > 0
    more = more or (released.left_out > 0 and bool(query.groups))
    if more and prepared.whole:
        refuse(
            query.text,
            None,
            "rows may be in further groups, of values that the release shows nowhere, so that ranks, totals and "
            "numbers of groups have no bounds; ask the groups themselves, group by columns and not by a term of "
            "several, or leave these rows out by WHERE",
        )
    others = False
    if final.conditional and rows:
        others = bool(rows[0][sum(4 if bounded else 1 for _, bounded in final.columns) + 1])
    elif final.conditional:
        others = prepared.others is None or _is_counted(engine, prepared.others)
    return QueryRun(final, prepared.types, rows, prepared.notes + text, more, others, intervals)


def _prepare(
    engine: Engine, bound: BoundQuery, limits: Limits, *, drawing: bool, sharp: bool
) -> tuple[PreparedQuery, list[Distribution] | None]:
    """The rewritten query, and with ``drawing`` the distributions for intervals."""
    with limits.rewriting():
        plan = collect(bound, distribution=drawing, sharp=sharp)
    types = plan.outputs.types if sharp else check_valid(bound)  # of a subquery the text is that of the whole query
    with limits.rewriting():
        rows = box_rows(bound.scope, plan, together=drawing)
        rows = solve_matchings(bound.scope, solve_classes(bound.scope, rows))
        groups = (*sums(bound.scope, plan, rows), *bound_windows(bound, plan), *bound_regroup(bound, plan))
        plan = replace(plan, checks=(*plan.checks, *list_regrouped_checks(plan)))
        drawn_distributions = distributions(bound, plan, rows, groups) if drawing else None
        final = final_select(bound, plan, rows, groups, keyed=drawn_distributions is not None)
        beyond = select_unlisted(bound.scope, plan, rows)
        # Trees are changed while they are written, and not used again.
        text = port_tree(final.tree, engine.dialect).sql(dialect=engine.dialect, pretty=True, copy=False)
        more_text = (
            None if beyond is None else port_tree(beyond, engine.dialect).sql(dialect=engine.dialect, copy=False)
        )
        others_text = (
            None
            if final.others is None
            else port_tree(final.others, engine.dialect).sql(dialect=engine.dialect, copy=False)
        )
    notes = "".join(f"-- bounds by closed forms, not by the exact solver: {note}\n" for note in rows.notes)
    prepared = PreparedQuery(
        replace(final, tree=exp.Select(), others=None),  # of trees few are kept
        text,
        more_text,
        others_text,
        notes,
        tuple(replace(check, tree=exp.null()) for check in plan.checks),
        bool(plan.outputs.windows) or plan.regroup is not None,
        len(plan.keys),
        types,
    )
    return prepared, drawn_distributions


def _key(query: Query, released: ReaderRelease, dialect: str) -> object:
    """Key of a rewritten query beside the version: the text, and the parts with parameters.

    None: the query is not kept, as it depends on joined tables or on the time.
    """
    parts = [getattr(query, field.name) for field in fields(query) if field.name != "text"]
    if query.joins or query.asked or any(map(reads_clock, _trees(parts))):
        return None
    return query.text, released.as_of_source, _write(parts, dialect)


def _trees(part: object) -> Iterator[exp.Expr]:
    """The trees in a part of a query."""
    if isinstance(part, exp.Expr):
        yield part
    elif isinstance(part, tuple | list):
        for item in part:
            yield from _trees(item)


def _write(part: object, dialect: str) -> object:
    """A part of a query as values that can be compared, trees as SQL."""
    if isinstance(part, exp.Expr):
        return part.sql(dialect=dialect)
    return tuple(_write(item, dialect) for item in part) if isinstance(part, tuple | list) else part


def _limit(text: str, most: int) -> str:
    """A SELECT with a LIMIT, at most ``most``: a driver may hold a whole result before the first row is read."""
    match = _LIMIT.search(text)
    if match is None:
        return f"{text}\nLIMIT {most}"
    return text[: match.start(1)] + str(min(int(match[1]), most)) + text[match.end(1) :]


def _is_counted(engine: Engine, text: str) -> bool:
    """Whether groups may be in an answer without rows; so it is where the engine cannot compare ends of aggregates."""
    try:
        return _count(engine, text) > 0
    except DatabaseError:
        return True


def _count(engine: Engine, text: str) -> int:
    return count(engine, Statement("query/unlisted", text))
