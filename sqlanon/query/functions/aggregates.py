"""Aggregates and functions of windows: the arguments that each may have; what rows give to each is in `rewrite`."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.definition import Definition

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})

KINDS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
"""Aggregates of which each row gives its own part."""
RANKS: dict[type[exp.Expr], str] = {exp.Rank: "rank", exp.DenseRank: "dense_rank", exp.RowNumber: "row_number"}
"""Functions of windows that number the groups."""
SPREADS = (exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop)
"""Aggregates that the engine computes of rows that are known."""
QUANTILES = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)

DEFINITIONS = (
    *(Definition(node, node.__name__.lower(), _ONE) for node in (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median)),
    *(Definition(node, node.sql_names()[0].lower(), _ONE) for node in SPREADS),
    Definition(exp.Count, "count", frozenset({"this", "expressions"})),
    Definition(exp.PercentileCont, "percentile_cont", _TWO),
    Definition(exp.PercentileDisc, "percentile_disc", _TWO),
    Definition(exp.Quantile, "quantile", frozenset({"this", "quantile"})),
    *(
        Definition(node, name, frozenset(), operands=())
        for node, name in ((exp.RowNumber, "row_number"), (exp.Rank, "rank"), (exp.DenseRank, "dense_rank"))
    ),
)


def is_count(node: exp.Expr) -> bool:
    """Whether it counts rows or values, also under a FILTER."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.Count)


def is_sum(node: exp.Expr) -> bool:
    """Whether it adds values up."""
    return isinstance(node, exp.Sum)


def is_extreme(node: exp.Expr) -> bool:
    """Whether it is the least or the greatest value of its rows."""
    return isinstance(node, exp.Min | exp.Max)


def adds_up(node: exp.Expr) -> bool:
    """Whether the values of parts of some rows add up to that of all."""
    return isinstance(node, exp.Count | exp.Sum) and not isinstance(node.this, exp.Distinct)
