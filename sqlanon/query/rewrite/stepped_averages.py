"""Bounds AVG of exact whole numbers: the best prefix is searched among steps of values first.

The average of the certain rows with all others up to a value is least where that value reaches the average: a value
below an average lowers it, one above raises it. The sums of whole steps show in which step this happens, and only the
values of that step are sorted: sorting all of them takes several times longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.rewrite.ordered_aggregates import FOUND, Apart
from sqlanon.query.rewrite.typed_quotient import mean
from sqlanon.query.rewrite.value_steps import Steps, partition, select_near
from sqlanon.query.sql.sqltree import Tree, column, named, select, sql, when


def average_by_steps(
    number_: int, row: Mapping[str, Tree], keys: Sequence[Tree], kind: exp.DataType, steps: Steps
) -> Apart:
    """The columns of AVG; see `sqlanon.query.rewrite.ordered_aggregates.average_of_exact`.

    Args:
        number_: number of the aggregate.
        row: the contribution of a row.
        keys: the groups.
        kind: type of the average in the source.
        steps: steps of the values.
    """
    summed, steps_, near = f"_steps_{number_}", f"_summed_{number_}", f"_near_{number_}"
    tables = [
        (summed, _by_step(row, keys, steps)),
        (steps_, _accumulate(summed, keys, steps)),
        (near, _near(steps_, row, keys, steps)),
        (f"_average_{number_}", _candidates(steps_, near, keys, kind)),
    ]
    return tables, {
        f"e{number_}": sql("SUM(e) / NULLIF(SUM(w), 0)"),
        f"l{number_}": sql("MIN(al)"),
        f"h{number_}": sql("MAX(ah)"),
        f"u{number_}": sql("CASE WHEN SUM(held) > 0 THEN 0 ELSE 1 END"),
    }


def _by_step(row: Mapping[str, Tree], keys: Sequence[Tree], steps: Steps) -> exp.Select:
    """The sums of each step of the uncertain rows; those of all certain rows have no step."""
    n, zero = row["count"], exp.Literal.number(0)
    step = when(row["certain"], exp.cast(exp.null(), "BIGINT"), steps.step_of(row["low"]))
    expressions = {
        "b": step,
        "held": sql("SUM(:x)", x=when(row["certain"], n, zero)),
        "many": sql("CAST(SUM(:n) AS BIGINT)", n=n),
        "total": sql("CAST(SUM(:n * :v) AS BIGINT)", n=n, v=row["low"]),
        "e": sql("SUM(:x)", x=row["sum"]),
        "w": sql("SUM(:n * :s)", n=n, s=row["share"]),
    }
    listed = [*keys, *(named(tree, name) for name, tree in expressions.items())]
    return select(listed, FOUND, where=[row["possible"]], group=[*keys, step])


def _accumulate(summed: str, keys: Sequence[Tree], steps: Steps) -> exp.Select:
    """The steps, with the sums of the certain rows and of all steps up to each, and from each on."""
    part = partition(keys)
    rows = "ROWS BETWEEN UNBOUNDED PRECEDING AND"
    up, whole = f"OVER ({part} ORDER BY b NULLS FIRST {rows} CURRENT ROW)", f"OVER ({part})"
    sums = {}
    for name in ("total", "many"):
        to = f"SUM({name}) {up}"
        sure = f"SUM(CASE WHEN b IS NULL THEN {name} ELSE 0 END) {whole}"
        sums[f"{name}_to"] = sql(f"CAST({to} AS BIGINT)")
        text = f"CASE WHEN b IS NULL THEN {name} ELSE {sure} + SUM({name}) {whole} - {to} + {name} END"
        sums[f"{name}_on"] = sql(f"CAST({text} AS BIGINT)")
    kept_columns = [column(name) for name in ("b", "held", "e", "w", "total", "many")]
    inner = select([*keys, *kept_columns, *(named(tree, name) for name, tree in sums.items())], summed)
    # The values of a step count for the least average if that of all below it, and the certain, is not below the step.
    below = sql("total_to - total >= :v * (many_to - many)", v=steps.least_of(column("b")))
    above = sql("total_on - total <= :v * (many_on - many)", v=steps.most_of(column("b")))
    least = sql(f"MAX(CASE WHEN :c THEN b END) {whole}", c=below)
    most = sql(f"MIN(CASE WHEN :c THEN b END) {whole}", c=above)
    names = [*(key.name for key in keys), "b", "held", "e", "w", "total", "many", *sums]
    return select([*map(column, names), named(least, "least"), named(most, "most")], inner.subquery("s"))


def _near(summed: str, row: Mapping[str, Tree], keys: Sequence[Tree], steps: Steps) -> exp.Select:
    """The values of the two steps that the bounds are in, each with the sums of its rows and of what goes with them."""
    n, value = row["count"], row["low"]
    free = when(row["certain"], exp.Literal.number(0), n)
    expressions = {
        "many": sql("CAST(SUM(:n) AS BIGINT)", n=free),
        "total": sql("CAST(SUM(:n * :v) AS BIGINT)", n=free, v=value),
    }
    for end, side in (("to", "low"), ("on", "high")):
        for part in ("total", "many"):
            whole = sql(":t - :p", t=column(f"{part}_{end}", "s"), p=column(part, "s"))
            expressions[f"{part}_{side}"] = sql("MIN(:x)", x=whole)
    return select_near(summed, row, keys, steps, expressions, ("least", "most"))


def _candidates(steps_: str, near: str, keys: Sequence[Tree], kind: exp.DataType) -> exp.Expr:
    """Averages of the certain rows with others, the best of all among them."""
    names = ["al", "ah", "held", "e", "w"]
    coarse = [
        mean(kind, column("total_to"), column("many_to")),
        mean(kind, column("total_on"), column("many_on")),
        *map(column, ("held", "e", "w")),
    ]
    part = partition(keys, "b")
    frame = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    low, high = f"OVER ({part} ORDER BY v {frame})", f"OVER ({part} ORDER BY v DESC {frame})"
    total, many = (sql(f"{name}_low + SUM({name}) {low}") for name in ("total", "many"))
    above, more = (sql(f"{name}_high + SUM({name}) {high}") for name in ("total", "many"))
    fine = [
        when(sql("b = least"), mean(kind, total, many)),
        when(sql("b = most"), mean(kind, above, more)),
        *(sql("NULL"), sql("NULL"), sql("NULL")),
    ]
    parts = [
        select([*keys, *(named(tree, name) for name, tree in zip(names, trees, strict=True))], table)
        for table, trees in ((steps_, coarse), (near, fine))
    ]
    return exp.Union(this=parts[0], expression=parts[1], distinct=False)
