"""Aggregates and functions of windows: the arguments that each may have; what rows give to each is in `rewrite`."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions.definition import Definition

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})

COUNT, SUM, AVERAGE = exp.Count, exp.Sum, exp.Avg

KINDS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
"""Aggregates of which each row gives its own part."""
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
