"""Functions of dates and times: their steps and their parts."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.definition import Call, Definition, Form
from sqlanon.query.functions.transfers import rises
from sqlanon.query.functions.value import Value, where
from sqlanon.query.sql.sqltree import every, negate, some, sql

_ONE = frozenset({"this"})
_TIMES = ("date", "timestamp")
_BOTH = ("duckdb", "spark")
UNITS = {
    "YEAR": "YEAR",
    "DECADE": "YEAR",
    "CENTURY": "YEAR",
    "MILLENNIUM": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAY": "DAY",
    "DOW": "DAY",
    "ISODOW": "DAY",
    "DOY": "DAY",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
}
"""Parts of a time, and the longest steps within which each is constant."""
_OTHER_PARTS = ("decade", "quarter", "month", "week", "day", "dow", "isodow", "doy")


def _year(call: Call) -> Value:
    """The year, which never falls; of infinite times it is no number on one engine, and NULL on another."""
    (inner,) = call.values
    value = rises(1)(call)
    finite = every(
        sql("COALESCE(ABS(CAST(EXTRACT(EPOCH FROM :x) AS DOUBLE)) < 1e300, FALSE)", x=end)
        for end in (inner.low, inner.high)
    )
    return replace(where(finite, value), null=some([value.null, negate(finite)]))


def _extract(call: Call) -> Value:
    if call.node.name.upper() != "YEAR":
        raise call.reject("of the parts of a time the year alone has ends")
    return _year(call)


DEFINITIONS = (
    Definition(
        exp.Year,
        "year",
        _ONE,
        ends=_year,
        signatures=(("date|timestamp",),),
        forms=(Form("year({x})", (_TIMES,), _BOTH),),
        finite=True,
        null_in=True,
        null_out=True,
        unit=lambda _: "YEAR",
    ),
    Definition(
        exp.Extract,
        "extract",
        frozenset({"this", "expression"}),
        operands=("expression",),
        ends=_extract,
        signatures=(("date|timestamp",),),
        forms=(
            Form("extract(year FROM {x})", (_TIMES,)),
            *(Form(f"extract({part} FROM {{x}})", (_TIMES,), listed=True) for part in _OTHER_PARTS),
        ),
        finite=True,
        null_in=True,
        null_out=True,
        unit=lambda node: UNITS.get(node.name.upper()),
    ),
    *(
        Definition(
            node,
            "date_trunc",
            frozenset({"this", "unit", "zone"}),
            ends=rises(1),
            signatures=(("date|timestamp",),),
            forms=(
                *(Form(f"date_trunc('{unit}', {{x}})", (_TIMES,)) for unit in ("day", "week", "month", "year")),
                Form("date_trunc('hour', {x})", (("timestamp",),)),
            ),
            null_in=True,
            null_out=True,
        )
        for node in (exp.TimestampTrunc, exp.DateTrunc)
    ),
    *(
        Definition(
            node,
            "date",
            _ONE,
            ends=rises(1),
            signatures=(("date|timestamp",),),
            forms=(Form("date({x})", (_TIMES,)),),
            null_in=True,
            unit=lambda _: "DAY",
        )
        for node in (exp.Date, exp.TsOrDsToDate)
    ),
    *(
        Definition(
            node,
            name,
            _ONE,
            forms=(Form(f"{name}({{x}})", (_TIMES,), engines),),
            null_in=True,
            finite=True,
            null_out=True,
            unit=lambda _, unit=unit: unit,  # type: ignore[misc]
        )
        for node, name, unit, engines in (
            (exp.Quarter, "quarter", "QUARTER", _BOTH),
            (exp.Month, "month", "MONTH", _BOTH),
            (exp.Week, "week", "WEEK", ("duckdb",)),
            (exp.WeekOfYear, "weekofyear", "WEEK", _BOTH),
            (exp.Hour, "hour", "HOUR", _BOTH),
            (exp.Day, "day", "DAY", _BOTH),
            (exp.DayOfMonth, "dayofmonth", "DAY", _BOTH),
            (exp.DayOfWeek, "dayofweek", "DAY", _BOTH),
            (exp.DayOfYear, "dayofyear", "DAY", _BOTH),
        )
    ),
    Definition(
        exp.DayOfWeekIso,
        "isodow",
        _ONE,
        forms=(Form("isodow({x})", (_TIMES,), ("duckdb",)),),
        null_in=True,
        unit=lambda _: "DAY",
    ),
    Definition(
        exp.Minute,
        "minute",
        _ONE,
        forms=(Form("minute({x})", (("timestamp",),), _BOTH),),
        null_in=True,
        finite=True,
        null_out=True,
    ),
    Definition(exp.Second, "second", _ONE, forms=(Form("second({x})", (("timestamp",),), _BOTH),), null_in=True),
    Definition(
        exp.TimeToStr, "strftime", frozenset({"this", "format"}), operands=("this", "format"), length="formatted"
    ),
    Definition(exp.ToChar, "to_char", frozenset({"this", "format"}), operands=("this", "format"), length="formatted"),
    Definition(exp.DateFromParts, "make_date", frozenset({"year", "month", "day"}), operands=("year", "month", "day")),
    *(
        Definition(node, name, frozenset({"this", "expression", "unit"}), operands=("this", "expression"))
        for node, name in ((exp.DateAdd, "date_add"), (exp.DateSub, "date_sub"), (exp.DateDiff, "date_diff"))
    ),
    Definition(exp.CurrentDate, "current_date", frozenset(), operands=(), clock=True),
    Definition(exp.CurrentTimestamp, "current_timestamp", frozenset(), operands=(), clock=True),
)
