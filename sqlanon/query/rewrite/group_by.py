"""The terms of GROUP BY over columns with ranges: which can be spread over their values or steps, and which are refused."""

from __future__ import annotations

import math
from collections.abc import Collection

from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.query.boxes.box import VIEW, Box
from sqlanon.query.boxes.number_line import FINITE, measure
from sqlanon.query.boxes.steps import Bucket, bucket_of, places
from sqlanon.query.boxes.unroll import steps
from sqlanon.query.parse.names import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.sqltree import Tree, column, named, select, some, sql, table_of, when
from sqlanon.sqltext.trees import ported

MOST_VALUES = 5_000_000
"""Values, or steps, that a GROUP BY may list of all distinct boxes together."""


def spread_of(scope: Scope, term: Tree, others: Collection[str]) -> tuple[str, Bucket | None]:
    """The box that a term of GROUP BY spreads, and its steps where it goes by steps.

    Args:
        scope: the names.
        term: the bound term, over a box.
        others: boxes that earlier terms spread.

    Raises:
        Refused: the term mixes columns, or has no groups that can be listed.
    """
    box = scope.box(boxes_in(term)[0])
    if len(boxes_in(term)) > 1 or any(found.table != "_box" for found in term.find_all(exp.Column)):
        refuse(scope.text, term, "a GROUP BY term over a column with ranges can hold no other column")
    scope.check_recoded(box, term)
    if box.id in others:
        refuse(
            scope.text,
            term,
            f"column {box.field.name} is grouped by twice; group by the finer expression alone",
        )
    bucket = bucket_of(term, box) if box.point is None else None
    if bucket is not None and box.field.kind == "integer" and _beyond_doubles(scope, box):
        bucket = None  # the engine's own steps jump there: value by value
    if bucket is not None and box.field.kind == "date" and _listed(scope, box) <= MOST_VALUES:
        bucket = None  # value by value, which bounds the rest of a query more narrowly
    if bucket is not None:
        _narrow(scope, term, box, bucket)
    elif box.shape == "interval" and box.field.kind not in ("integer", "date", "boolean"):
        step = "date_trunc('month', {0})" if box.field.kind == "timestamp" else "floor({0} / 10)"
        reason = f"column {box.field.name} ({box.field.source_type}) has no countable values to group by; "
        if box.field.kind == "text" or box.point is not None:
            refuse(scope.text, term, f"{reason}count ranges of it with count(*) FILTER (WHERE ...)")
        refuse(scope.text, term, f"{reason}group by steps of it, such as {step.format(box.field.name)}")
    elif box.shape == "interval":
        _narrow(scope, term, box)
    return box.id, bucket


def fact(scope: Scope, name: str, query: exp.Select) -> object:
    """A fact about the view's rows."""
    text = ported(query, scope.engine.dialect).sql(dialect=scope.engine.dialect)
    return scope.released.once((name, text), lambda: scope.engine.fetch(Statement(name, text))[0][0])


def _beyond_doubles(scope: Scope, box: Box) -> bool:
    """Whether a column of whole numbers has some that doubles round."""
    ends = [sql("MAX(ABS(CAST(:x AS DOUBLE)))", x=box.parts[end]) for end in ("lo", "hi")]
    view = table_of(scope.released.view.ref, VIEW)
    largest = fact(scope, "query/largest", select([sql("GREATEST(:a, :b)", a=ends[0], b=ends[1])], view))
    return largest is not None and float(str(largest)) > 2**53


def countable(scope: Scope, box: Box) -> bool:
    """Whether the ranges of a column have so few values that all of them can be listed."""
    if box.field.kind not in ("integer", "date", "boolean") or box.point is not None:
        return False
    return min(_listed(scope, box), _span(scope, box)) <= MOST_VALUES


def unrollable(scope: Scope, box: Box) -> bool:
    """Whether the ranges of a column can be listed value by value, each range by itself."""
    return _listed(scope, box) <= MOST_VALUES


def is_along(scope: Scope, box: Box) -> bool:
    """Whether the ranges of a column hold more values together than there are from the first of them to the last."""
    return box.shape == "interval" and box.point is None and _span(scope, box) < _listed(scope, box)


def _span(scope: Scope, box: Box) -> float:
    """How many values there are from the first of a column's ranges to the last; infinite for types that have no series."""
    if box.field.kind not in ("integer", "date") or box.field.source_type.upper() in (
        "HUGEINT",
        "UHUGEINT",
        "UBIGINT",
    ):
        return math.inf
    if not is_finite(scope, box):
        return math.inf
    ends = column("lo", "d"), column("hi", "d")
    first, last = steps(box, *ends)[:2]
    view = table_of(scope.released.view.ref, VIEW)
    known = select([named(box.parts["lo"], "lo"), named(box.parts["hi"], "hi")], view, distinct=True)
    wide = sql("COALESCE(MAX(CAST(:b AS DOUBLE)) - MIN(CAST(:a AS DOUBLE)) + 1, 0)", a=first, b=last)
    return float(str(fact(scope, "query/span", select([wide], known.subquery("d")))))


def shown_values(scope: Scope, box: Box) -> int | None:
    """How many values a release shows of a column of sets, or declares of a hierarchy or an order; None: they are not listed."""
    if box.values:
        return len(box.values)
    if box.shape != "set" or box.point is not None:
        return None
    view = table_of(scope.released.view.ref, VIEW)
    members = select([named(exp.Unnest(expressions=[box.parts["set"]]), "v")], view).subquery("d")
    return int(str(fact(scope, "query/members", select([sql("COUNT(DISTINCT d.v)")], members))))


def _listed(scope: Scope, box: Box, bucket: Bucket | None = None) -> float:
    """How many values, or steps, all distinct ranges of a column hold together."""
    if not is_finite(scope, box):
        return math.inf
    lo, hi = (
        when(sql(":l <= :h", l=box.parts["lo"], h=box.parts["hi"]), box.parts[end]) for end in ("lo", "hi")
    )
    ends = column("lo", "d"), column("hi", "d")
    first, last = places(box, bucket, *ends) if bucket is not None else steps(box, *ends)[:2]
    view = table_of(scope.released.view.ref, VIEW)
    known = select([named(lo, "lo"), named(hi, "hi")], view, distinct=True)
    wide = sql("COALESCE(SUM(CAST(:b AS DOUBLE) - CAST(:a AS DOUBLE) + 1), 0)", a=first, b=last)
    return float(str(fact(scope, "query/width", select([wide], known.subquery("d")))))


def is_finite(scope: Scope, box: Box) -> bool:
    """Whether every end of a column of times is a time: infinite ones are in no step, and have no year that is a number."""
    if box.shape != "interval" or box.field.kind not in ("date", "timestamp"):
        return True
    places_ = [measure(box.parts[end], box.field.kind) or box.parts[end] for end in ("lo", "hi")]
    found = some(
        sql(f":x IS NOT NULL AND NOT {FINITE}", x=box.parts[e], m=m)
        for e, m in zip(("lo", "hi"), places_, strict=True)
    )
    view = table_of(scope.released.view.ref, VIEW)
    counted = select([sql("COUNT(*)")], view, where=[found])
    return int(str(fact(scope, "query/infinite", counted))) == 0


def _narrow(scope: Scope, term: Tree, box: Box, bucket: Bucket | None = None) -> None:
    """Boxes are unrolled value by value, or step by step: refuse those that would fill the memory."""
    listed = _listed(scope, box, bucket)
    if not math.isfinite(listed) and box.field.kind in ("date", "timestamp"):
        refuse(
            scope.text, term,
            f"column {box.field.name} has infinite ends, which are in no step; count ranges of it with count(*) FILTER (WHERE ...)",
        )  # fmt: skip
    if not listed <= MOST_VALUES:
        step = "floor({0} / 1000)" if box.numeric else "date_trunc('month', {0})"
        counted, wider = ("steps", "larger steps") if bucket is not None else ("values", "steps of it")
        refuse(
            scope.text, term,
            f"the ranges of column {box.field.name} hold more than {MOST_VALUES:,} {counted} to group by; group by {wider}, "
            f"such as {step.format(box.field.name)}",
        )  # fmt: skip
