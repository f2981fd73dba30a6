"""GROUP BY of a column with ranges in steps.

Steps are ``floor(x / 10)`` of numbers, and ``date_trunc`` and parts of dates and timestamps.

A box is unrolled into the buckets that it reaches, not into its values, so that continuous columns can be grouped and
wide boxes stay small. Which buckets those are is asked of the engine at the two ends of the box: neither function ever
falls, rounded or not, so that no value between them lies in another bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.interval import Interval
from sqlanon.query.functions.steps import is_floor, line_of, step_around, truncate
from sqlanon.query.logic.number_line import Comparison, Piece, literal, measure
from sqlanon.query.sql.sqltree import (
    FALSE,
    Tree,
    column,
    every,
    greatest,
    least,
    number,
    sql,
    when,
    with_columns,
)


@dataclass(frozen=True)
class Bucket:
    """The innermost step of a GROUP BY term.

    Attributes:
        node: the step, over the box's value.
        key: the term, with the bucket in place of the step.
        width, start: bucket ``i`` holds values from ``i * width + start`` on; None for dates and timestamps.
        unit: unit of dates and timestamps.
    """

    node: Tree
    key: Tree
    width: Fraction | None = None
    start: Fraction = Fraction(0)
    unit: Tree | None = None

    def unroll(
        self,
        box: Box,
        tests: Sequence[Comparison],
        number_of: Callable[[frozenset[int]], int],
        boxes: exp.Select,
    ) -> exp.Query:
        """Every distinct box, piece by piece, in the buckets that it reaches.

        The columns are the box's keys, the value ``v``, weight ``w``, ``u`` (the box is not known), ``way``, and ends
        ``l``, ``h``.

        Args:
            box: the column.
            tests: comparisons that decide which group of values a value is in.
            number_of: the number of the group in which some of these hold.
            boxes: the distinct boxes, by keys.
        """
        line = Interval(box, [], "k")
        pieces = box.pieces(tests)
        parts = [_piece(box, self, number_of(holds), piece, boxes, line) for holds, piece in pieces]
        return parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)


def bucket_of(term: Tree, box: Box) -> Bucket | None:
    """The bucket of a bound GROUP BY term over an interval; None: there is no bucket, or ends do not determine it."""
    term = truncate(term, box.value) if box.field.kind in ("date", "timestamp") else term
    values = [node for node in term.find_all(exp.Column) if node.table == "_box"]
    if box.shape != "interval" or len(values) != 1:
        return None
    step = step_around(values[0])
    if step is None:
        return None
    marked = exp.Paren(this=term.copy())
    inside = next(node for node in marked.find_all(type(step)) if node == step)
    inside.replace(box.value)
    key = marked.this
    if is_floor(step):
        line = line_of(step.this, box.value, whole=box.field.kind == "integer")
        if line is None or step.args.get("decimals") or not box.numeric:
            return None
        width, start = 1 / line[0], -line[1] / line[0]
        if box.field.kind == "integer" and (width.denominator, start.denominator) != (1, 1):
            return None  # unrolled value by value: the ends of buckets would have to be rounded
        return Bucket(step, key, width, start)
    timed = box.field.kind in ("date", "timestamp")
    whole = timed and step.this.unnest() == box.value and not step.args.get("zone")
    return Bucket(step, key, unit=step.args["unit"]) if whole else None


_LONG = {"MICRO": 1, "MILLI": 10**3, "SEC": 10**6, "MIN": 60 * 10**6, "HOUR": 3600 * 10**6}
_DAY = 86_400 * 10**6
"""Microseconds of the units that are shorter than a day, by how their names begin."""
_LONGER = {"WEEK": 7, "MONTH": 28, "QUARTER": 90, "YEAR": 365}
"""Days of longer ones, at least."""


def places(box: Box, bucket: Bucket, lo: Tree, hi: Tree) -> tuple[Tree, Tree]:
    """The two ends of a box as doubles, measured in steps; of times in days where the steps are longer than a year."""
    width = bucket.width
    if width is None:
        unit = bucket.unit.name.upper() if bucket.unit is not None else ""
        short = next((long for name, long in _LONG.items() if unit.startswith(name)), None)
        days = Fraction(_LONGER.get(unit, 1))
        width = Fraction(short) if short is not None else days * _DAY
        width = width / _DAY if box.field.kind == "date" else width
    ends = (sql(":m / :w", m=measure(end, box.field.kind) or end, w=number(width)) for end in (lo, hi))
    return next(ends), next(ends)


def _piece(box: Box, bucket: Bucket, way: int, piece: Piece, boxes: exp.Select, line: Interval) -> exp.Select:
    low_ends, high_ends = ([] if end is None else [literal(end, box.field)] for end in (piece.low, piece.high))
    lo, hi = column(f"{box.id}_lo", "k"), column(f"{box.id}_hi", "k")
    first, last = greatest([lo, *low_ends]), least([hi, *high_ends])

    def find_start(end: Tree) -> Tree:
        return with_columns(bucket.node, lambda node: end if node.table == "_box" else None)

    conditions = [line.touches(piece)]
    place = column("i", "s")
    if bucket.width is None:
        unit = bucket.unit.name.upper() if bucket.unit is not None else ""
        step = sql(f"INTERVAL '{3 if unit == 'QUARTER' else 1} {'MONTH' if unit == 'QUARTER' else unit}'")
        series = sql("GENERATE_SERIES(:a, :b, :s)", a=find_start(first), b=find_start(last), s=step)
        value, begin = place, place
        end: Tree = exp.Add(this=place.copy(), expression=step.copy())
        if box.field.kind == "date":
            begin, end = exp.cast(begin.copy(), "DATE"), sql("CAST(:e AS DATE) - 1", e=end)
    else:
        series = sql("GENERATE_SERIES(CAST(:a AS BIGINT), CAST(:b AS BIGINT))", a=find_start(first), b=find_start(last))
        value = exp.cast(place.copy(), "DOUBLE")
        begin, end = (
            sql(":i * :w + :s", i=index, w=number(bucket.width), s=number(bucket.start))
            for index in (value, sql(":v + 1", v=value))
        )
        if box.field.kind == "integer":
            begin, end = exp.cast(begin, "BIGINT"), sql("CAST(:e AS BIGINT) - 1", e=end)
    if piece.high is not None and not piece.closed[1] and (bucket.width is None or bucket.width.denominator == 1):
        conditions.append(sql(":b < :h", b=begin, h=high_ends[0]))  # the bucket that begins where the piece ends
    low, high = greatest([first, begin]), least([last, end])
    measured = [measure(side, box.field.kind) for side in (high, low)]
    step_ = sql("1.0") if box.field.kind in ("integer", "date") else sql("0.0")
    if box.field.kind == "decimal" and box.step is not None:
        # The last value of a box belongs to it, the end of a bucket within it does not. (Microseconds do not count.)
        step_ = sql("CASE WHEN :e > :l THEN :s ELSE 0.0 END", e=end, l=last, s=number(box.step))
    weight = sql("GREATEST(:h - :l + :s, 0.0)", h=measured[0] or high, l=measured[1] or low, s=step_)
    weight = when(exp.EQ(this=lo.copy(), expression=hi.copy()), sql("1.0"), weight)
    names = [f"{box.id}_{part}" for part in box.parts]
    query = exp.Select().select(
        *(column(name, "k") for name in names),
        exp.alias_(value.copy(), "v", quoted=True),
        exp.alias_(exp.cast(weight, "DOUBLE"), "w", quoted=True),
        exp.alias_(FALSE.copy(), "u", quoted=True),
        exp.alias_(exp.Literal.number(way), "way", quoted=True),
        exp.alias_(low, "l", quoted=True),
        exp.alias_(high, "h", quoted=True),
    )
    tail = sql("SELECT 1 FROM a CROSS JOIN LATERAL GENERATE_SERIES(1, 2) AS s(i)")
    tail.args["joins"][0].this.this.replace(series)
    query.set("from_", exp.From(this=boxes.subquery("k")))
    query.set("joins", [join.copy() for join in tail.args["joins"]])
    return query.where(every(conditions))
