"""Bounds medians and other quantiles by ranks.

The smallest possible quantile has every row at the low end, all certain rows, and uncertain rows only up to the value:
a value is large enough once the rows at or below it reach the quantile's rank. The largest is the mirror image. If a
query has no uncertain rows, the engine calculates the aggregate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.query.logic.formula import Formula
from sqlanon.query.logic.number_line import measure
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.ordered_aggregates import FOUND, INFINITE, Apart
from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan
from sqlanon.query.rewrite.stepped_quantiles import quantile_by_steps
from sqlanon.query.rewrite.value_steps import Steps
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, column, every, is_false, named, select, some, sql, when

_ROUNDED = "0.000000001"


def quantile(
    number: int,
    fraction: Fraction,
    row: Mapping[str, Tree],
    keys: Sequence[Tree],
    *,
    between: bool,
    dates: bool = False,
    steps: Steps | None = None,
) -> Apart:
    """The columns of a quantile.

    Args:
        number: number of the aggregate.
        fraction: the share of rows below it.
        row: the contribution of a row.
        keys: the groups.
        between: it may lie between two values, in which case the bounds are these values.
        dates: the argument is a date.
        steps: steps of the values of an exact column.
    """
    if row["low"] == row["high"]:
        return _quantile_of_exact(number, fraction, row, keys, (between, dates), steps)
    tables: list[tuple[str, exp.Expr]] = []
    n, zero = row["count"], exp.Literal.number(0)
    dyadic = fraction.denominator & (fraction.denominator - 1) == 0
    slack = "0" if dyadic else _ROUNDED  # engines find the rank with doubles
    for end, share in (("low", fraction), ("high", 1 - fraction)):
        value = row[end]
        expressions = {
            "v": value,
            "free": sql("SUM(:x)", x=when(row["certain"], zero, n)),
            "held": sql("SUM(:x)", x=when(row["certain"], n, zero)),
            "o": sql("MAX(:x)", x=when(row["open"], exp.Literal.number(1), zero)),
        }
        table = f"_{end}s_{number}"
        listed = [*keys, *(named(tree, name) for name, tree in expressions.items())]
        tables.append((table, select(listed, FOUND, where=[row["possible"]], group=[*keys, value])))
        part = f"PARTITION BY {', '.join(key.sql(dialect='duckdb') for key in keys)}" if keys else ""
        running = (
            f"OVER ({part} ORDER BY v{'' if end == 'low' else ' DESC'} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT "
            "ROW)"
        )
        below = f"(SUM(held) {running} + SUM(free) {running})"
        rows = f"(SUM(held) OVER ({part}) + SUM(free) {running})"
        goal = f"{share.numerator} * ({rows}{' - 1' if between else ''})"
        strict = ">" if between or end == "high" else ">="
        meets = f"{share.denominator} * {below} {strict} {goal} - {slack} * {rows} * {share.denominator}"
        kept_columns = [
            *keys,
            column("v"),
            sql(f"{meets} AS meets"),
            column("held"),
            column("o"),
            sql(f"{int(end == 'high')} AS side"),
        ]
        tables.append((f"{table}_ranked", select(kept_columns, table)))
    # Every row counts as much as it is likely to qualify, at the middle of the ends.
    kind = "date" if dates else "float"
    ends = {name: measure(row[end], kind) or row[end] for name, end in (("l", "low"), ("h", "high"))}
    middle = sql(":l / 2 + :h / 2", **ends)
    weight = sql("SUM(:n * :s)", n=n, s=row["share"])
    tables.append(
        (
            f"_middles_{number}",
            select(
                [*keys, named(middle, "v"), named(weight, "w")],
                FOUND,
                where=[row["possible"]],
                group=[*keys, middle],
            ),
        )
    )
    over = f"PARTITION BY {', '.join(key.sql(dialect='duckdb') for key in keys)}" if keys else ""
    reached = sql(f"SUM(w) OVER ({over} ORDER BY v) >= {float(fraction)!r} * SUM(w) OVER ({over}) AS meets")
    tables.append((f"_middles_{number}_ranked", select([*keys, column("v"), reached], f"_middles_{number}")))
    sides = [
        select(
            [*keys, *map(column, ("v", "meets", "held", "o", "side")), sql("CAST(NULL AS DOUBLE) AS m")],
            f"_{end}s_{number}_ranked",
        )
        for end in ("low", "high")
    ]
    nothing = [
        exp.null().as_("v"),
        column("meets"),
        sql("0 AS held"),
        sql("0 AS o"),
        sql("2 AS side"),
        column("v").as_("m"),
    ]
    sides.append(select([*keys, *nothing], f"_middles_{number}_ranked"))
    union: exp.Expr = sides[0]
    for side in sides[1:]:
        union = exp.Union(this=union, expression=side, distinct=False)
    tables.append((f"_quantile_{number}", union))
    estimate = sql("MIN(CASE WHEN side = 2 AND meets THEN m END)")
    if dates:
        estimate = sql("CAST('1970-01-01' AS DATE) + CAST(FLOOR(:m) AS INTEGER)", m=estimate)
    return tables, {
        f"e{number}": estimate,
        f"l{number}": sql("CASE WHEN MAX(o) = 0 THEN MIN(CASE WHEN side = 0 AND meets THEN v END) END"),
        f"h{number}": sql("CASE WHEN MAX(o) = 0 THEN MAX(CASE WHEN side = 1 AND meets THEN v END) END"),
        f"u{number}": sql("CASE WHEN SUM(held) > 0 THEN 0 ELSE 1 END"),
    }


def open_where_far(row: Mapping[str, Tree]) -> Mapping[str, Tree]:
    """The contribution of a row to a quantile between two floating point values; open where they may be far apart.

    Between two values of which one is infinite, or whose difference is, engines find no number, or an infinite one.
    """
    far = [sql(f"ABS(:x) BETWEEN 8e307 AND {INFINITE}", x=row[end]) for end in ("low", "high")]
    return {**row, "open": some([row["open"], *far])}


def _quantile_of_exact(
    number: int,
    share: Fraction,
    row: Mapping[str, Tree],
    keys: Sequence[Tree],
    kind: tuple[bool, bool],
    steps: Steps | None,
) -> Apart:
    """See `quantile`, of exact values: both ends and the estimate use the same order."""
    between, dates = kind
    n, zero, value = row["count"], exp.Literal.number(0), row["low"]
    expressions = {
        "v": value,
        "free": sql("SUM(:x)", x=when(row["certain"], zero, n)),
        "held": sql("SUM(:x)", x=when(row["certain"], n, zero)),
        "o": sql("MAX(:x)", x=when(row["open"], exp.Literal.number(1), zero)),
        "w": sql("SUM(:n * :s)", n=n, s=row["share"]),
    }
    table = f"_values_{number}"
    slack = "0" if share.denominator & (share.denominator - 1) == 0 else _ROUNDED  # engines find the rank with doubles
    meets = _ranks(share, slack, between=between)
    if steps is not None and is_false(row["open"]):
        return quantile_by_steps(number, row, keys, meets, steps)
    listed = [*keys, *(named(tree, name) for name, tree in expressions.items())]
    part = f"PARTITION BY {', '.join(key.sql(dialect='duckdb') for key in keys)}" if keys else ""
    running = f"OVER ({part} ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    sums = {
        **{f"{name}_to": sql(f"SUM({name}) {running}") for name in ("held", "free", "w")},
        **{f"{name}_all": sql(f"SUM({name}) OVER ({part})") for name in ("held", "free", "w")},
    }
    summed = [*keys, *map(column, expressions), *(named(tree, name) for name, tree in sums.items())]
    ranked = [*keys, *map(column, ("v", "held", "o")), *(named(tree, name) for name, tree in meets.items())]
    tables: list[tuple[str, exp.Expr]] = [
        (table, select(listed, FOUND, where=[row["possible"]], group=[*keys, value])),
        (f"{table}_summed", select(summed, table)),
        (f"_quantile_{number}", select(ranked, f"{table}_summed")),
    ]
    middle = sql("MIN(CASE WHEN middle THEN v END)")
    return tables, {
        f"e{number}": middle if dates else as_type(middle, "DOUBLE"),
        f"l{number}": sql("CASE WHEN MAX(o) = 0 THEN MIN(CASE WHEN low THEN v END) END"),
        f"h{number}": sql("CASE WHEN MAX(o) = 0 THEN MAX(CASE WHEN high THEN v END) END"),
        f"u{number}": sql("CASE WHEN SUM(held) > 0 THEN 0 ELSE 1 END"),
    }


def _ranks(fraction: Fraction, slack: str, *, between: bool) -> dict[str, Tree]:
    """Whether a value is at or above the least quantile, at or below the greatest, and at or above the estimate."""
    meets = {}
    for end, share in (("low", fraction), ("high", 1 - fraction)):
        # From the other side, the rows up to a value are all but the rows below it.
        certain, free = (
            f"{name}_to" if end == "low" else f"({name}_all - {name}_to + {name})" for name in ("held", "free")
        )
        below, rows = f"({certain} + {free})", f"(held_all + {free})"
        goal = f"{share.numerator} * ({rows}{' - 1' if between else ''})"
        strict = ">" if between or end == "high" else ">="
        meets[end] = sql(f"{share.denominator} * {below} {strict} {goal} - {slack} * {rows} * {share.denominator}")
    return meets | {"middle": sql(f"w_to >= {float(fraction)!r} * w_all")}


def native(scope: Scope, plan: QueryPlan, a: Aggregate, keys: Sequence[str]) -> Apart:
    """An aggregate of known rows' exact values, computed by the engine itself.

    It reads the view, or, with a term, the rows that qualify.
    """
    assert a.native is not None
    if a.term is not None:
        listed = [*(column(key) for key in keys), named(a.native.copy(), "x")]
        query = select(listed, FOUND, where=[column(f"p{a.condition}")], group=[column(key) for key in keys])
        repeated = sql(
            "SELECT 1 FROM a CROSS JOIN LATERAL GENERATE_SERIES(1, :n) AS s(i)",
            n=as_type(column("n"), "BIGINT"),
        )
        query.set("joins", [join.copy() for join in repeated.args["joins"]])
        return [(f"_native_{a.id}", query)], _as_it_is(a)
    grouped = [named(plan.terms[tree.name].copy(), key) for tree, key in zip(plan.keys, keys, strict=True)]
    numbers = [exp.Literal.number(i + 1) for i in range(len(grouped))]
    where = _where(plan, plan.conditions[a.condition])
    query = select([*grouped, named(a.native.copy(), "x")], scope.view(), where=[where], group=numbers)
    if scope.joins:
        query.set("joins", [join.copy() for join in scope.joins])
    return [(f"_native_{a.id}", query)], _as_it_is(a)


def _as_it_is(a: Aggregate) -> dict[str, Tree]:
    """The columns of an aggregate that the engine calculated."""
    value = sql("MAX(x)")
    undefined = sql("CASE WHEN MAX(x) IS NULL THEN 1 ELSE 0 END")
    return {f"{end}{a.id}": value for end in "elh"} | {f"u{a.id}": undefined}


def _where(plan: QueryPlan, formula: Formula) -> Tree:
    """A formula of exact tests over the view."""
    if isinstance(formula, bool):
        return sql("TRUE") if formula else FALSE.copy()
    if isinstance(formula, int):
        return plan.terms[plan.tests.exact[formula].name].copy()
    parts = [_where(plan, part) for part in sorted(formula[1], key=str)]
    return every(parts) if formula[0] == "and" else some(parts)
