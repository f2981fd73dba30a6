"""Accepted forms in place of unsupported functions, for messages."""

from __future__ import annotations

from collections.abc import Mapping

ALTERNATIVES: Mapping[tuple[str, ...], str] = {
    ("bool_and", "logical_and", "every"): "count(*) FILTER (WHERE NOT (x > 3)), which is 0 where all hold",
    ("bool_or", "logical_or"): "count(*) FILTER (WHERE x > 3), which is above 0 where one holds",
    ("first", "last", "any_value", "arbitrary"): "min(x) or max(x)",
    ("approx_count_distinct", "approx_distinct"): "count(DISTINCT x)",
    ("string_agg", "group_concat", "list", "array_agg", "histogram", "mode", "entropy"): "count(*) .. GROUP BY x",
    ("max_by", "arg_max", "min_by", "arg_min"): "max(x) .. GROUP BY the other column",
    ("kurtosis", "skewness"): "sum(x), sum(x * x), sum(x * x * x) and count(x)",
    ("ntile",): "rank() OVER (ORDER BY count(*)) .. GROUP BY x",
    ("localtimestamp", "localtime", "sysdate", "getdate", "statement_timestamp"): "now()",
    ("age",): "current_date - x",
    ("split_part", "regexp_replace", "regexp_extract", "regexp_substr"): "substring(x, 1, 2) or x LIKE 'a%'",
}
"""By the names of functions, as engines or the parser write them: a form over a column ``x``."""

_BY_NAME = {name: form for names, form in ALTERNATIVES.items() for name in names}


def alternative_to(name: str) -> str | None:
    """The form that is answered in place of a function; None: none is known."""
    return _BY_NAME.get(name.lower())
