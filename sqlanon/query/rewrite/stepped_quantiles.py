"""Bounds quantiles of exact whole numbers: ranks are searched among steps of values first.

The number of rows at or below a value grows with the value, so that the numbers of rows of whole steps show which step
has the rank. See `sqlanon.query.rewrite.quantiles` for the ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.rewrite.ordered_aggregates import FOUND, Apart
from sqlanon.query.rewrite.value_steps import Steps, partition, select_near
from sqlanon.query.sql.sqltree import Tree, as_type, column, named, select, sql, when

_COUNTED = ("held", "free", "w")


def quantile_by_steps(
    number: int,
    row: Mapping[str, Tree],
    keys: Sequence[Tree],
    meets: Mapping[str, Tree],
    steps: Steps,
) -> Apart:
    """The columns of a quantile.

    Args:
        number: number of the aggregate.
        row: the contribution of a row.
        keys: the groups.
        meets: whether a value is at or above the least quantile (``low``), at or below the greatest (``high``), and at
            or above the estimate (``middle``), over the columns of running sums.
        steps: steps of the values.
    """
    by_step, summed, near = f"_steps_{number}", f"_summed_{number}", f"_near_{number}"
    step = steps.step_of(row["low"])
    counts = _count_rows(row)
    listed = [*keys, named(step, "b"), *(named(tree, name) for name, tree in counts.items())]
    first = select(listed, FOUND, where=[row["possible"]], group=[*keys, step])
    running = select([*keys, column("b"), *_accumulate(keys, "b", "")], by_step)
    whole = f"OVER ({partition(keys)})"
    searched = {
        "b_low": sql(f"MIN(CASE WHEN :m THEN b END) {whole}", m=meets["low"]),
        "b_high": sql(f"MAX(CASE WHEN :m THEN b END) {whole}", m=meets["high"]),
        "b_middle": sql(f"MIN(CASE WHEN :m THEN b END) {whole}", m=meets["middle"]),
    }
    sums = [f"{name}{end}" for name in _COUNTED for end in ("", "_to", "_all")]
    names = [*(key.name for key in keys), "b", *sums]
    totals = select(
        [*map(column, names), *(named(tree, name) for name, tree in searched.items())], running.subquery("r")
    )
    expressions = dict(counts)
    for name in _COUNTED:
        before = sql(":t - :n", t=column(f"{name}_to", "s"), n=column(name, "s"))
        expressions |= {f"{name}_before": sql("MIN(:x)", x=before)}
        expressions |= {f"{name}_all": sql("MIN(:x)", x=column(f"{name}_all", "s"))}
    values = select_near(summed, row, keys, steps, expressions, tuple(searched))
    of_values = [column("v"), column("b"), *map(column, searched), *_accumulate([*keys, column("b")], "v", "before")]
    inner = select([*keys, *of_values], near).subquery("v")
    kept_columns = [*keys, column("v"), column("held_all"), *(sql(f"b = {name} AS at_{name}") for name in searched)]
    last = select([*kept_columns, *(named(tree, name) for name, tree in meets.items())], inner)
    # Sums of shares are rounded in another order here, so that the last value of the step may seem too low.
    middle = sql("COALESCE(MIN(CASE WHEN at_b_middle AND middle THEN v END), MAX(CASE WHEN at_b_middle THEN v END))")
    tables: list[tuple[str, exp.Expr]] = [
        (by_step, first),
        (summed, totals),
        (near, values),
        (f"_quantile_{number}", last),
    ]
    return tables, {
        f"e{number}": as_type(middle, "DOUBLE"),
        f"l{number}": sql("MIN(CASE WHEN at_b_low AND low THEN v END)"),
        f"h{number}": sql("MAX(CASE WHEN at_b_high AND high THEN v END)"),
        f"u{number}": sql("CASE WHEN MAX(held_all) > 0 THEN 0 ELSE 1 END"),
    }


def _count_rows(row: Mapping[str, Tree]) -> dict[str, Tree]:
    n, zero = row["count"], exp.Literal.number(0)
    return {
        "held": sql("CAST(SUM(:x) AS BIGINT)", x=when(row["certain"], n, zero)),
        "free": sql("CAST(SUM(:x) AS BIGINT)", x=when(row["certain"], zero, n)),
        "w": sql("SUM(CAST(:n AS DOUBLE) * :s)", n=n, s=row["share"]),
    }


def _accumulate(keys: Sequence[Tree], order: str, before: str) -> list[Tree]:
    """The counted columns, those up to each row, and all; ``before``: the last two go on from other columns."""
    over = f"OVER ({partition(keys)} ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    whole = f"OVER ({partition(keys)})"
    expressions: list[Tree] = []
    for name in _COUNTED:
        to = sql(f"SUM({name}) {over}")
        if before:
            to = sql(f"{name}_{before} + SUM({name}) {over}")
        every = column(f"{name}_all") if before else sql(f"SUM({name}) {whole}")
        expressions += [column(name), named(to, f"{name}_to"), named(every, f"{name}_all")]
    return expressions
