"""Intervals of counts and sums that hold in most of the consistent sources, if these are drawn uniformly.

The model is that of the estimates: each row takes every value of the box with equal probability, the columns and the
rows independently. Then row i qualifies with probability p_i, the row's share. A COUNT is a sum of independent zeros
and ones (Poisson-binomial) with an exactly computed distribution: rows of one share are binomial, and these are
convolved. A SUM of exact values x_i has mean sum x_i p_i and variance sum x_i^2 p_i (1 - p_i); it is taken to be
normal, which misses each probability by at most 0.56 sum E|x_i (B_i - p_i)|^3 / sigma^3 (Berry-Esseen, constant of
Shevtsova 2010, Doklady Mathematics 82).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.engines.rows import number
from sqlanon.query.answer import Interval
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.final_select import with_tables
from sqlanon.query.rewrite.ordered_aggregates import FOUND
from sqlanon.query.rewrite.row_values import RowValues
from sqlanon.query.sql.sqltree import Tree, column, every, named, select, sql
from sqlanon.sqltext.trees import port_tree

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.query.parse.bind import BoundQuery
    from sqlanon.query.rewrite.box_rows import BoxRows, Tables
    from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan

SHEVTSOVA = 0.56
"""Of Berry-Esseen's inequality for terms that are not distributed alike."""

MOST_SHARES = 10_000_000
"""Different shares of the rows of an answer, at most."""


@dataclass(frozen=True)
class Distribution:
    """Distribution of an item over the sources.

    Attributes:
        name: the item.
        summed: it is a SUM; else a COUNT.
        tree: SQL: the keys of GROUP BY, and for a count a share and the number of rows with it; for a sum, in one row
            per group, mean, variance and third absolute moments of the terms.
        keys: number of keys.
    """

    name: str
    summed: bool
    tree: exp.Select
    keys: int


def distributions(bound: BoundQuery, plan: QueryPlan, rows: BoxRows, groups: Tables) -> list[Distribution]:
    """Distributions to read for the intervals of a query.

    Raises:
        RefusedQueryError: an item is no count and no sum of exact values, or the rows are not independent.
    """
    scope, text = bound.scope, bound.query.text
    reason = (
        "a join that repeats rows makes them depend on each other"
        if scope.linked
        else "rows of the source are left out of this release, and nothing is known of them"
        if scope.released.left_out
        else "the bounds of the source itself have none"
        if scope.released.as_of_source
        else "in format anatomy the rows of a group depend on each other"
        if scope.released.form.facts.paired
        else "format points does not show what a row may be"
        if any(box.point is not None for box in scope.boxes.values())
        else "groups that are put together depend on each other"
        if plan.regroup is not None
        else "of comparisons of two columns, and of more than 12 predicates over columns with ranges, the share of a "
        "row is not exact"
        if plan.tests.relaxed
        else None
    )
    if reason is not None:
        refuse(text, None, f"there is no interval: {reason}; ask without --interval")
    values = RowValues(scope, plan, rows)
    results = []
    for (name, node), (_, bounded) in zip(bound.items, plan.outputs.items, strict=True):
        if isinstance(bounded, exp.Expr):
            continue
        number = plan.direct.get(name)
        a = None if number is None else plan.aggregates[number]
        if a is None or a.kind not in ("rows", "count", "sum") or (a.kind == "sum" and a.of_boxes):
            refuse(
                text,
                node,
                "intervals are of count(..), and of sum(..) of columns that the release shows as they are; ask this "
                "one without --interval",
            )
        results.append(_distribution(name, a, plan, values.of(a), (*rows.tables, *groups)))
    return results


def _distribution(name: str, a: Aggregate, plan: QueryPlan, row: Mapping[str, Tree], tables: Tables) -> Distribution:
    keys: list[Tree] = [column(f"g{i}") for i in range(len(plan.keys))]
    n, p = row["count"], row["share"]
    where = [every([row["possible"], sql(":n > 0", n=n)])]
    if a.kind == "sum":
        x = sql("CAST(:x AS DOUBLE)", x=row["low"])
        moments = {
            "m": sql("COALESCE(SUM(:n * :p * :x), 0.0)", n=n, p=p, x=x),
            "v": sql("COALESCE(SUM(:n * :p * (1 - :p) * :x * :x), 0.0)", n=n, p=p, x=x),
            "t": sql(
                "COALESCE(SUM(:n * :p * (1 - :p) * (:p * :p + (1 - :p) * (1 - :p)) * ABS(:x) * :x * :x), 0.0)",
                n=n,
                p=p,
                x=sql("ABS(:x)", x=x),
            ),
        }
        moments["z"] = sql("COALESCE(MAX(CASE WHEN :p > 0 THEN 0.0 ELSE 1.0 END), 1.0)", p=p)
        query = select([*keys, *(named(tree, key) for key, tree in moments.items())], FOUND, where=where, group=keys)
    else:
        query = select([*keys, named(p, "p"), named(sql("SUM(:n)", n=n), "n")], FOUND, where=where, group=[*keys, p])
    needed_tables = _list_needed(tables)
    query.set("with_", with_tables([(table, tree.copy()) for table, tree in needed_tables], query))
    return Distribution(name, a.kind == "sum", query, len(keys))


def _list_needed(tables: Tables) -> Tables:
    """The tables up to the rows under their conditions."""
    names = [name for name, _ in tables]
    return tables[: names.index(FOUND) + 1]


def intervals_of(
    engine: Engine, distributions: Sequence[Distribution], keys: Sequence[tuple[Any, ...]], level: float
) -> list[dict[str, Interval]]:
    """The intervals of every group of an answer.

    Args:
        engine: the database.
        distributions: the items.
        keys: the keys of the answer's groups, in order.
        level: the share of the sources.
    """
    intervals: list[dict[str, Interval]] = [{} for _ in keys]
    for distribution in distributions:
        text = port_tree(distribution.tree, engine.dialect).sql(dialect=engine.dialect, copy=False)
        by_group: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
        for row in engine.fetch(Statement("query/interval", text), max_rows=MOST_SHARES):
            numbers = tuple(number(cell) for cell in row[distribution.keys :])
            by_group.setdefault(_key(row[: distribution.keys]), []).append(numbers)
        for group_intervals, key in zip(intervals, keys, strict=True):
            mine = by_group.get(_key(key), [])
            # A single value of a continuous column takes no part of a range, and a row may have it all the same.
            if not distribution.summed and all(p > 0 for p, _ in mine):
                group_intervals[distribution.name] = count_interval(mine, level)
            elif distribution.summed and mine and not mine[0][3]:  # a sum of no rows has none
                mean, variance, third, _ = mine[0]
                group_intervals[distribution.name] = _normal(mean, variance, third, level)
    return intervals


def _key(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(repr(value) for value in values)


def count_interval(shares: Sequence[Sequence[float]], level: float) -> Interval:
    """The central interval of a COUNT: each end leaves out at most half of the rest.

    Args:
        shares: pairs of a probability and the number of rows that have it.
        level: the share of the sources, above 0 and below 1.

    Example:
        >>> count_interval([(1.0, 3), (0.5, 2)], 0.95)
        Interval(level=0.95, low=3, high=5, error=0.0)
    """
    import numpy as np

    sure = sum(int(n) for p, n in shares if p >= 1)
    unsure = [(p, int(n)) for p, n in shares if 0 < p < 1]
    total = np.cumsum(_sum_of([_binomial(n, p) for p, n in unsure]))
    outside = (1 - level) / 2
    low = int(np.searchsorted(total, outside * (1 - 1e-9), side="left"))
    high = int(np.searchsorted(total, (1 - outside) * (1 - 1e-9), side="left"))
    last = len(total) - 1
    return Interval(level, sure + min(low, last), sure + min(high, last), 0.0)


def _binomial(n: int, p: float) -> npt.NDArray[np.float64]:
    import numpy as np

    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))
    k = np.arange(n + 1)
    log = factorials[n] - factorials - factorials[::-1] + k * math.log(p) + (n - k) * math.log1p(-p)
    chances: npt.NDArray[np.float64] = np.exp(log)
    return chances


def _sum_of(parts: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The distribution of a sum of independent numbers: the two shortest are convolved until only one is left."""
    import numpy as np

    heap = [(len(part), index, part) for index, part in enumerate(parts)] or [(1, 0, np.ones(1))]
    heapq.heapify(heap)
    serial = len(heap)
    while len(heap) > 1:
        (_, _, first), (_, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        size = len(first) + len(second) - 1
        if len(first) < 64:
            both = np.convolve(second, first)
        else:
            both = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)
        heapq.heappush(heap, (size, serial, np.maximum(both, 0.0)))
        serial += 1
    return heap[0][2]


def _normal(mean: float, variance: float, third: float, level: float) -> Interval:
    """The interval of a sum that is taken to be normal, with the error of both ends together."""
    if variance <= 0 or not math.isfinite(variance):
        return Interval(level, mean, mean, 0.0)
    deviation = math.sqrt(variance)
    reach = NormalDist().inv_cdf((1 + level) / 2) * deviation
    error = min(1.0, 2 * SHEVTSOVA * third / deviation**3)
    return Interval(level, mean - reach, mean + reach, error)
