"""Facts about the published ranges of a column.

They are the number of values in the ranges, and whether all can be listed.
"""

from __future__ import annotations

import math

from sqlglot import exp

from sqlanon.engines.rows import number, read_integer
from sqlanon.query.boxes.box import VIEW, Box
from sqlanon.query.boxes.buckets import Bucket, places
from sqlanon.query.boxes.released_view import ReleasedView
from sqlanon.query.boxes.unroll import number_values
from sqlanon.query.logic.number_line import FINITE, measure
from sqlanon.query.sql.sqltree import column, named, select, some, sql, table_of, when

MOST_VALUES = 5_000_000
"""Values, or steps, that a GROUP BY may list of all distinct boxes together."""


def beyond_doubles(view: ReleasedView, box: Box) -> bool:
    """Whether a column of whole numbers has some that doubles round."""
    ends = [sql("MAX(ABS(CAST(:x AS DOUBLE)))", x=box.parts[end]) for end in ("lo", "hi")]
    rows = table_of(view.released.view.ref, VIEW)
    largest = view.fact("query/largest", select([sql("GREATEST(:a, :b)", a=ends[0], b=ends[1])], rows))
    return largest is not None and number(largest) > 2**53


def countable(view: ReleasedView, box: Box) -> bool:
    """Whether the ranges of a column have so few values that all of them can be listed."""
    if box.field.kind not in ("integer", "date", "boolean") or box.point is not None:
        return False
    return min(count_listed(view, box), _span(view, box)) <= MOST_VALUES


def unrollable(view: ReleasedView, box: Box) -> bool:
    """Whether the ranges of a column can be listed value by value, each range by itself."""
    return count_listed(view, box) <= MOST_VALUES


def is_line_shorter(view: ReleasedView, box: Box) -> bool:
    """Whether the ranges of a column hold more values together than there are from the first of them to the last."""
    return box.shape == "interval" and box.point is None and _span(view, box) < count_listed(view, box)


def _span(view: ReleasedView, box: Box) -> float:
    """Number of values from the first of a column's ranges to the last.

    It is infinite for types without a series.
    """
    if box.field.kind not in ("integer", "date") or box.field.source_type.upper() in (
        "HUGEINT",
        "UHUGEINT",
        "UBIGINT",
    ):
        return math.inf
    if not is_finite(view, box):
        return math.inf
    ends = column("lo", "d"), column("hi", "d")
    first, last = number_values(box, *ends)[:2]
    rows = table_of(view.released.view.ref, VIEW)
    distinct_ends = select([named(box.parts["lo"], "lo"), named(box.parts["hi"], "hi")], rows, distinct=True)
    wide = sql("COALESCE(MAX(CAST(:b AS DOUBLE)) - MIN(CAST(:a AS DOUBLE)) + 1, 0)", a=first, b=last)
    return number(view.fact("query/span", select([wide], distinct_ends.subquery("d"))))


def count_shown_values(view: ReleasedView, box: Box) -> int | None:
    """Number of values of a column of sets in the release, or of a hierarchy or an order in the declaration.

    None if they are not listed.
    """
    if box.values:
        return len(box.values)
    if box.shape != "set" or box.point is not None:
        return None
    rows = table_of(view.released.view.ref, VIEW)
    members = select([named(exp.Unnest(expressions=[box.parts["set"]]), "v")], rows).subquery("d")
    return read_integer(view.fact("query/members", select([sql("COUNT(DISTINCT d.v)")], members)))


def count_listed(view: ReleasedView, box: Box, bucket: Bucket | None = None) -> float:
    """How many values, or steps, all distinct ranges of a column hold together."""
    if not is_finite(view, box):
        return math.inf
    lo, hi = (when(sql(":l <= :h", l=box.parts["lo"], h=box.parts["hi"]), box.parts[end]) for end in ("lo", "hi"))
    ends = column("lo", "d"), column("hi", "d")
    first, last = places(box, bucket, *ends) if bucket is not None else number_values(box, *ends)[:2]
    rows = table_of(view.released.view.ref, VIEW)
    distinct_ends = select([named(lo, "lo"), named(hi, "hi")], rows, distinct=True)
    wide = sql("COALESCE(SUM(CAST(:b AS DOUBLE) - CAST(:a AS DOUBLE) + 1), 0)", a=first, b=last)
    return number(view.fact("query/width", select([wide], distinct_ends.subquery("d"))))


def is_finite(view: ReleasedView, box: Box) -> bool:
    """Whether every end of a column of times is finite.

    Infinite times are in no step, and their year is no number.
    """
    if box.shape != "interval" or box.field.kind not in ("date", "timestamp"):
        return True
    places_ = [measure(box.parts[end], box.field.kind) or box.parts[end] for end in ("lo", "hi")]
    infinite = some(
        sql(f":x IS NOT NULL AND NOT {FINITE}", x=box.parts[e], m=m) for e, m in zip(("lo", "hi"), places_, strict=True)
    )
    rows = table_of(view.released.view.ref, VIEW)
    query = select([sql("COUNT(*)")], rows, where=[infinite])
    return read_integer(view.fact("query/infinite", query)) == 0
