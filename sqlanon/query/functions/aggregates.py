"""Aggregates and functions of windows: allowed arguments, and the computation of bounds from rows.

The contribution of a class of rows to each kind of aggregate is in `sqlanon.query.rewrite.aggregate_kinds`, by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.functions.definition import Definition, Form

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})
_NUMBERS = ("whole", "decimal", "double")
_ORDERED = (*_NUMBERS, "date")
_ANY = (*_ORDERED, "text")


@dataclass(frozen=True)
class AggregateDefinition(Definition):
    """An aggregate, or a function of windows.

    Attributes:
        kind: computation of the bounds, by a name in `sqlanon.query.rewrite.aggregate_kinds`; for functions of windows
            by a name in `sqlanon.query.rewrite.window_bounds`.
        asked: the forms, {x} a column with ranges or sets of the kinds, {c} an exact column of whole numbers.
        over_groups: it is a function of windows, too.
        adds: the values of parts of some rows add up to that of all.
    """

    kind: str = ""
    asked: tuple[Form, ...] = ()
    over_groups: bool = False
    adds: bool = False


def _quantile(node: type[exp.Expr], name: str, arguments: frozenset[str], *form: Form) -> AggregateDefinition:
    return AggregateDefinition(node, name, arguments, kind="quantile", asked=form)


AGGREGATES = (
    AggregateDefinition(
        exp.Count,
        "count",
        frozenset({"this", "expressions"}),
        kind="count",
        asked=(
            Form("count(*)", ()),
            Form("count({c})", ()),
            Form("count({x})", (_ANY,)),
            Form("count(DISTINCT {c})", ()),
            Form("count(DISTINCT {x})", (_ANY,)),
        ),
        over_groups=True,
        adds=True,
    ),
    AggregateDefinition(
        exp.Sum,
        "sum",
        _ONE,
        kind="sum",
        asked=(Form("sum({c})", ()), Form("sum({x})", (_NUMBERS,)), Form("sum({x} * {c})", (("whole", "decimal"),))),
        over_groups=True,
        adds=True,
    ),
    AggregateDefinition(exp.Avg, "avg", _ONE, kind="avg", asked=(Form("avg({c})", ()), Form("avg({x})", (_NUMBERS,)))),
    *(
        AggregateDefinition(
            node,
            kind,
            _ONE,
            kind=kind,
            asked=(
                Form(f"{kind}({{c}})", ()),
                Form(f"{kind}({{x}})", (_ORDERED,)),
                Form(f"{kind}({{x}} - {{c}})", (("whole", "decimal"),)),
            ),
            over_groups=True,
        )
        for node, kind in ((exp.Min, "min"), (exp.Max, "max"))
    ),
    _quantile(
        exp.Median, "median", _ONE, Form("median({c})", (), ("duckdb",)), Form("median({x})", (_NUMBERS,), ("duckdb",))
    ),
    _quantile(
        exp.PercentileCont,
        "percentile_cont",
        _TWO,
        Form("percentile_cont(0.5) WITHIN GROUP (ORDER BY {x})", (_NUMBERS,)),
        Form("percentile_cont(0.3) WITHIN GROUP (ORDER BY {c})", ()),
    ),
    _quantile(
        exp.PercentileDisc,
        "percentile_disc",
        _TWO,
        Form("percentile_disc(0.75) WITHIN GROUP (ORDER BY {x})", (_ORDERED,)),
        Form("percentile_disc(0.4) WITHIN GROUP (ORDER BY {c})", ()),
    ),
    _quantile(
        exp.Quantile,
        "quantile",
        frozenset({"this", "quantile"}),
        Form("quantile({x}, 0.25)", (("whole",),), ("duckdb",)),
    ),
    *(
        AggregateDefinition(node, name, _ONE, kind="native", asked=(Form(f"{name}({{c}})", ()),))
        for node, name in (
            (exp.Stddev, "stddev"),
            (exp.StddevSamp, "stddev_samp"),
            (exp.StddevPop, "stddev_pop"),
            (exp.Variance, "variance"),
            (exp.VariancePop, "var_pop"),
        )
    ),
    *(
        AggregateDefinition(node, name, _TWO, kind="native", asked=(Form(f"{name}({{c}}, {{c}} * {{c}})", ()),))
        for node, name in (
            (exp.Corr, "corr"),
            (exp.CovarPop, "covar_pop"),
            (exp.CovarSamp, "covar_samp"),
            (exp.RegrSlope, "regr_slope"),
            (exp.RegrIntercept, "regr_intercept"),
            (exp.RegrR2, "regr_r2"),
        )
    ),
)
"""Aggregates; those of kind native the engine computes of rows that are known."""

RANKS = tuple(
    AggregateDefinition(node, name, arguments, operands=(), kind=name, over_groups=True)
    for node, name, arguments in (
        (exp.RowNumber, "row_number", frozenset[str]()),
        (exp.Rank, "rank", frozenset[str]()),
        (exp.DenseRank, "dense_rank", frozenset[str]()),
        (exp.PercentRank, "percent_rank", frozenset[str]()),
        (exp.CumeDist, "cume_dist", frozenset[str]()),
        (exp.Ntile, "ntile", frozenset({"this"})),
    )
)
"""Functions of windows that say where a group is among the others."""
SHARES = frozenset({"percent_rank", "cume_dist"})
"""Those of them that are parts of 1."""

DEFINITIONS = (*AGGREGATES, *RANKS)
_BY_NODE = {definition.node: definition for definition in DEFINITIONS}
QUANTILES = tuple(
    definition.node for definition in AGGREGATES if definition.kind == "quantile" and definition.arguments != _ONE
)
"""The calls that take the share of rows below."""


def aggregate_of(node: exp.Expr) -> AggregateDefinition | None:
    """The definition of an aggregate or function of windows; None: it is none."""
    return _BY_NODE.get(type(node))


def steps_of(node: exp.Expr) -> int | None:
    """How many places LAG (below 0) or LEAD goes, by a plain whole number above 0; None: it is neither.

    Raises:
        ValueError: another number of places.
    """
    if not isinstance(node, exp.Lag | exp.Lead):
        return None
    offset = node.args.get("offset")
    if offset is not None and not (isinstance(offset, exp.Literal) and offset.this.isdigit() and int(offset.this) > 0):
        raise ValueError
    count = 1 if offset is None else int(offset.this)
    return -count if isinstance(node, exp.Lag) else count


def edge_of(node: exp.Expr) -> str | None:
    """Whether it takes the first or the last group of a frame: ``first``, ``last``; None: neither."""
    return "first" if isinstance(node, exp.FirstValue) else "last" if isinstance(node, exp.LastValue) else None


def value_at(value: exp.Expr, edge: str) -> exp.Expr:
    """The FIRST_VALUE or LAST_VALUE of a value."""
    return exp.FirstValue(this=value) if edge == "first" else exp.LastValue(this=value)


def parts_of(node: exp.Expr) -> int | None:
    """Into how many parts NTILE divides, by a plain whole number above 0; None: it is another function.

    Raises:
        ValueError: another number of parts.
    """
    if not isinstance(node, exp.Ntile):
        return None
    argument = node.this
    if (
        not isinstance(argument, exp.Literal)
        or argument.is_string
        or not argument.this.isdigit()
        or int(argument.this) < 1
    ):
        raise ValueError
    return int(argument.this)


def rank_of(kind: str, parts: int | None) -> exp.Expr:
    """The ranking function of a kind."""
    rank = next(definition.node for definition in RANKS if definition.kind == kind)()
    if parts is not None:
        rank.set("this", exp.Literal.number(parts))
    return rank


def among_first(order: Sequence[exp.Expr], count: int | None, skipped: int) -> list[exp.Expr]:
    """The conditions that a group is among the first ones in an order, after those that are skipped."""
    place = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=list(order)), over="OVER")
    conditions: list[exp.Expr] = []
    if count is not None:
        conditions.append(exp.LTE(this=place.copy(), expression=exp.Literal.number(skipped + count)))
    if skipped:
        conditions.append(exp.GT(this=place.copy(), expression=exp.Literal.number(skipped)))
    return conditions


def first_of(condition: exp.Expr) -> tuple[int, exp.Expr | None] | None:
    """Number of first groups that a condition leaves, and the ranked expression; None: it is another condition."""
    comparison = condition.unnest()
    if not isinstance(comparison, exp.LTE) or not isinstance(comparison.expression, exp.Literal):
        return None
    window, count = comparison.this.unnest(), comparison.expression
    if not isinstance(window, exp.Window) or not isinstance(window.this, exp.RowNumber) or not count.this.isdigit():
        return None
    if window.args.get("partition_by") or not window.args["order"].expressions:
        return None
    first = window.args["order"].expressions[0]
    return int(count.this), first.this.unnest() if first.args.get("desc") else None


def place_of(value: exp.Expr, offset: int, default: exp.Expr | None) -> exp.Expr:
    """The LAG or LEAD of a value."""
    kind = exp.Lag if offset < 0 else exp.Lead
    call = kind(this=value, offset=exp.Literal.number(abs(offset)))
    if default is not None:
        call.set("default", default.copy())
    return call


def is_count(node: exp.Expr) -> bool:
    """Whether it counts rows or values, also under a FILTER."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.Count)


def is_sum(node: exp.Expr) -> bool:
    """Whether it adds values up."""
    return isinstance(node, exp.Sum)


def is_average(node: exp.Expr) -> bool:
    """Whether it is the mean of values."""
    return isinstance(node, exp.Avg)


def is_extreme(node: exp.Expr) -> bool:
    """Whether it is the least or the greatest value of rows."""
    return isinstance(node, exp.Min | exp.Max)


def counts_rows(node: exp.Expr) -> bool:
    """Whether it is count(*)."""
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)


def count_filtered(condition: exp.Expr) -> exp.Expr:
    """How many rows meet a condition."""
    return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=condition))


def null_for_zero(node: exp.Expr) -> exp.Expr:
    """An expression, and NULL where it is 0."""
    return exp.Nullif(this=node, expression=exp.Literal.number(0))


def total_of(node: exp.Expr) -> exp.Expr:
    """The sum of an expression."""
    return exp.Sum(this=node)


def adds_up(node: exp.Expr) -> bool:
    """Whether the values of parts of some rows add up to that of all."""
    aggregate = aggregate_of(node)
    return aggregate is not None and aggregate.adds and not isinstance(node.this, exp.Distinct)
