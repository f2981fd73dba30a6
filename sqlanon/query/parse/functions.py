"""Functions of a query, each with the arguments that it may have.

The parser accepts functions that an engine lacks, and drops arguments that it does not know.
"""

from __future__ import annotations

from sqlglot import exp

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})

ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    # aggregates; the others are refused where they are collected, with the forms that there are
    **dict.fromkeys((exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median), _ONE),
    **dict.fromkeys((exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop), _ONE),
    exp.Count: frozenset({"this", "expressions"}),
    exp.PercentileCont: _TWO,
    exp.PercentileDisc: _TWO,
    exp.Quantile: frozenset({"this", "quantile"}),
    **dict.fromkeys((exp.RowNumber, exp.Rank, exp.DenseRank), frozenset[str]()),
    # logic and choice
    **dict.fromkeys((exp.And, exp.Or, exp.Xor), _TWO),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true", "false"}),
    exp.Coalesce: frozenset({"this", "expressions"}),
    exp.Nullif: _TWO,
    exp.Greatest: frozenset({"this", "expressions"}),
    exp.Least: frozenset({"this", "expressions"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to"}),
    # numbers
    **dict.fromkeys((exp.Abs, exp.Sign, exp.Ceil, exp.Floor, exp.Sqrt, exp.Exp, exp.Ln), _ONE),
    exp.Round: frozenset({"this", "decimals"}),
    exp.Trunc: frozenset({"this", "decimals"}),
    exp.Pow: _TWO,
    exp.Log: _TWO,
    exp.WidthBucket: frozenset({"this", "min_value", "max_value", "num_buckets"}),
    # text
    **dict.fromkeys((exp.Lower, exp.Upper, exp.Length, exp.Reverse), _ONE),
    **dict.fromkeys((exp.Initcap, exp.Left, exp.Right, exp.StartsWith, exp.EndsWith, exp.Contains), _TWO),
    exp.Substring: frozenset({"this", "start", "length"}),
    exp.Trim: _TWO,
    exp.Pad: frozenset({"this", "expression", "fill_pattern"}),
    exp.Replace: frozenset({"this", "expression", "replacement"}),
    exp.Concat: frozenset({"expressions"}),
    exp.ConcatWs: frozenset({"expressions"}),
    exp.StrPosition: frozenset({"this", "substr"}),
    exp.RegexpLike: frozenset({"this", "expression", "flag"}),
    # dates and times
    **dict.fromkeys(
        (
            exp.Year,
            exp.Quarter,
            exp.Month,
            exp.Week,
            exp.Day,
            exp.DayOfWeek,
            exp.DayOfWeekIso,
            exp.DayOfMonth,
            exp.DayOfYear,
            exp.Hour,
            exp.Minute,
            exp.Second,
            exp.Date,
        ),
        _ONE,
    ),
    exp.Extract: _TWO,
    exp.TimestampTrunc: frozenset({"this", "unit", "zone"}),
    exp.DateTrunc: frozenset({"this", "unit", "zone"}),
    exp.TimeToStr: frozenset({"this", "format"}),
    exp.ToChar: frozenset({"this", "format"}),
    exp.DateFromParts: frozenset({"year", "month", "day"}),
    exp.DateAdd: frozenset({"this", "expression", "unit"}),
    exp.DateSub: frozenset({"this", "expression", "unit"}),
    exp.DateDiff: frozenset({"this", "expression", "unit"}),
    exp.CurrentDate: frozenset(),
    exp.CurrentTimestamp: frozenset(),
}
"""Functions that compute one value from these arguments, and nothing else, on every engine."""

NAMES = {"date_part": 2, "make_date": 3, "strftime": 2, "ceiling": 1}
"""The like that sqlglot does not know in some dialect, and how many arguments they have."""


def is_known(node: exp.Func) -> bool:
    """Whether a function is one of those, whatever its arguments."""
    if isinstance(node, exp.Anonymous):
        return isinstance(node.this, str) and node.name.lower() in NAMES
    return type(node) in ARGUMENTS


def unknown_arguments(node: exp.Func) -> bool:
    """Whether a function has arguments that are not known of it."""
    if isinstance(node, exp.Anonymous):
        return len(node.expressions) != NAMES.get(node.name.lower())
    given = {
        name for name, value in node.args.items() if isinstance(value, exp.Expr) or (isinstance(value, list) and value)
    }
    return not given <= ARGUMENTS[type(node)]
