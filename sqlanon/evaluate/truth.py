"""The truth of an answer, and the comparison of cells with it.

The truth is the answer of the same SQL on the source. HAVING, ORDER BY and LIMIT are left out there, so that every
group that the release answers finds the truth.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from datetime import time as time_of_day
from typing import Any

import sqlglot
from sqlglot import exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.errors import UnsupportedError
from sqlanon.evaluate.report import Cell, Errors, QueryResult
from sqlanon.evaluate.workload import WorkloadQuery
from sqlanon.query.answer import Answer, Bounded, NoiseInterval
from sqlanon.sqltext import identifier

MOST_GROUPS = 100_000
ROUNDING = 1e-9
"""Sums of doubles depend on the engine's order; a truth this near to a bound (relatively) is inside."""


def find_truth(engine: Engine, sql: str, answer: Answer) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The same query on the source: group to aggregates.

    Raises:
        UnsupportedError: there is nothing to compare, or two groups look the same.
    """
    if not answer.aggregates:
        raise UnsupportedError("it asks no aggregate, so there is nothing to measure")
    tree = sqlglot.parse_one(sql, read=engine.dialect)
    for clause in ("having", "order", "limit", "offset"):
        tree.set(clause, None)
    _qualify(engine, tree)
    text = tree.sql(dialect=engine.dialect)
    rows = engine.fetch(Statement("evaluate/truth", text), max_rows=MOST_GROUPS)
    every = [dict(zip(answer.columns, row, strict=True)) for row in rows]
    groups = {_group(row, answer): {name: row[name] for name in answer.aggregates} for row in every}
    if len(groups) < len(every) or len({_group(row, answer) for row in answer.rows}) < len(answer.rows):
        raise UnsupportedError("its groups have no names to compare them by: SELECT every expression of GROUP BY")
    return groups


def _qualify(engine: Engine, tree: exp.Expr) -> None:
    """Write every table with the schema: generated SQL does not run on the path that the query's names mean."""
    subqueries = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or (not table.db and table.name.lower() in subqueries):
            continue
        spelling = ".".join(identifier(p.name) if p.args.get("quoted") else p.name for p in table.parts)
        ref = engine.relation(spelling).ref
        if not table.alias:
            table.set("alias", exp.TableAlias(this=table.this.copy()))
        for part, name in (("this", ref.name), ("db", ref.schema), ("catalog", ref.database)):
            table.set(part, exp.to_identifier(name, quoted=True) if name else None)


def _group(row: Mapping[str, Any], answer: Answer) -> tuple[Any, ...]:
    return tuple(_normalize_key(row[name]) for name in answer.columns if name not in answer.aggregates)


def _normalize_key(value: Any) -> Any:  # noqa: ANN401 - an engine's value
    """Equal values of the two sides as equal keys."""
    if isinstance(value, list | tuple):
        return tuple(_normalize_key(item) for item in value)
    if isinstance(value, decimal.Decimal | float):
        return "NaN" if math.isnan(value) else value + 0  # -0.0 is 0.0
    return value


def compare_cells(
    query: WorkloadQuery,
    answer: Answer,
    name: str,
    truth: Mapping[tuple[Any, ...], Mapping[str, Any]],
    *,
    cut: bool,
    count: bool,
) -> tuple[QueryResult, list[Cell]]:
    """The cells of an aggregate.

    A group that only the release has counts 0 rows in truth; another aggregate than a plain count is not compared
    there, and outside where the release is certain of the group.
    """
    cells = []
    groups = set()
    for row, certain in zip(answer.rows, answer.certain, strict=True):
        group = _group(row, answer)
        groups.add(group)
        there = truth.get(group)
        if there is not None or count:
            cells.append(_cell(row[name], 0 if there is None else there[name]))
        elif certain:
            cells.append(replace(_cell(row[name], None), inside=False))
    lost = 0 if cut else len(truth.keys() - groups)
    alone = cells[0] if len(cells) == 1 else Cell(None, None, None, None, inside=True)
    result = QueryResult(
        query.name,
        query.family,
        name,
        len(cells),
        lost,
        Errors.of(cells),
        alone.estimate,
        alone.truth,
        alone.low,
        alone.high,
    )
    return result, cells


def _cell(bounded: Bounded, truth: Any) -> Cell:  # noqa: ANN401 - an engine's value
    if isinstance(bounded.interval, NoiseInterval):  # in place of bounds, which noise has not
        bounded = replace(bounded, low=bounded.interval.low, high=bounded.interval.high)
    numbers = [_finite(value) for value in (truth, bounded.estimate, bounded.low, bounded.high)]
    return Cell(numbers[0], numbers[1], numbers[2], numbers[3], inside=lies_within(bounded, truth))


def lies_within(bounded: Bounded, truth: Any) -> bool:  # noqa: ANN401 - an engine's value
    """Whether the truth lies in the bounds: whole numbers, dates and text exactly, other numbers to `ROUNDING`."""
    if truth is None:
        return bounded.undefined_possible
    ends = [end for end in (bounded.low, bounded.high) if end is not None]
    whole = all(isinstance(value, int) for value in (truth, *ends))
    sizes = (_finite(value) for value in (truth, *ends))
    slack = 0.0 if whole else ROUNDING * max((abs(size) for size in sizes if size is not None), default=0.0)
    low, high = bounded.low, bounded.high
    return (low is None or _at_most(low, truth, slack)) and (high is None or _at_most(truth, high, slack))


def _at_most(less: Any, more: Any, slack: float) -> bool:  # noqa: ANN401 - an engine's values
    """In the engines' order, in which NaN comes last."""
    if _is_nan(less) or _is_nan(more):
        return _is_nan(more)
    if slack and _is_number(less) and _is_number(more):
        return float(less) <= float(more) + slack
    return bool(_as_time(less) <= _as_time(more))


def _as_time(value: Any) -> Any:  # noqa: ANN401 - an engine's values
    """A date as the time at the day's beginning: DuckDB's median of dates is a time."""
    return datetime.combine(value, time_of_day.min) if type(value) is date else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | decimal.Decimal)


def _is_nan(value: object) -> bool:
    return isinstance(value, float | decimal.Decimal) and math.isnan(value)


def _finite(value: Any) -> float | None:  # noqa: ANN401 - an engine's value
    """A number; None for other values and those without an end: dates, text, NaN and infinities."""
    return float(value) if _is_number(value) and math.isfinite(value) else None
