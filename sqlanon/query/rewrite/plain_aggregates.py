"""Bounds aggregates that need no order of the rows: COUNT, SUM, MIN and MAX, and sums compared with the source.

Sums count certain rows fully, and uncertain rows only if they widen the bound.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.query.rewrite.ordered_aggregates import INFINITE, NAN, is_huge, nan_or
from sqlanon.query.rewrite.query_plan import Aggregate
from sqlanon.query.sql.sqltree import FALSE, ZERO, Tree, as_type, every, negate, sql, when
from sqlanon.query.sql.types import is_single, is_whole


def bound_count(a: Aggregate, row: Mapping[str, Tree]) -> dict[str, Tree]:
    """The columns ``e``, ``l``, ``h``, ``u`` of COUNT over ``_found``.

    Args:
        a: the aggregate.
        row: the contribution of a row.
    """
    low, high = (
        sql("COALESCE(SUM(:x), 0)", x=x) for x in (row.get("fewest", _certain(row)), row.get("most", _possible(row)))
    )
    if "each" in row:  # each row is counted so many times
        low, high = (
            sql(f"CAST({way}(CAST(:x AS DOUBLE) / :k) AS BIGINT)", x=end, k=row["each"])
            for way, end in (("CEIL", low), ("FLOOR", high))
        )
    if "floor" in row:  # the bounds of all rows
        low = sql("GREATEST(:l, :f)", l=low, f=row["floor"])
        high = sql("LEAST(:h, :c)", h=high, c=row["ceiling"])
    estimate = sql("COALESCE(SUM(:n * :s), 0.0)", n=row["count"], s=row["share"])
    if "fewest" in row:
        estimate = sql("GREATEST(LEAST(:e, :h), :l)", e=estimate, h=high, l=low)
    return _columns(a, estimate, (low, high))


def unsure(a: Aggregate, row: Mapping[str, Tree]) -> dict[str, Tree]:
    """1 where a row may qualify and need not."""
    literal_one, literal_zero = exp.Literal.number(1), exp.Literal.number(0)
    is_unsure = sql(
        "COALESCE(MAX(:x), 0)", x=when(every([row["possible"], negate(row["sure"])]), literal_one, literal_zero)
    )
    return _columns(a, is_unsure, (is_unsure, is_unsure))


def error(a: Aggregate, row: Mapping[str, Tree]) -> dict[str, Tree]:
    """By how much a sum or an average may differ from the source's."""
    value = _error(a, row, _possible(row))
    return _columns(a, value, (value, value))


def bound_sum(a: Aggregate, row: Mapping[str, Tree], *, floating: bool) -> dict[str, Tree]:
    """SUM.

    Args:
        a: the aggregate.
        row: the contribution of a row.
        floating: the argument may be infinite or no number.
    """
    surely = sql("SUM(:x) > 0", x=_certain(row))
    low = sql("SUM(:x)", x=when(row["certain"], row["s_certain_low"], when(row["possible"], row["s_neg"])))
    high = sql("SUM(:x)", x=when(row["certain"], row["s_certain_high"], when(row["possible"], row["s_pos"])))
    # Of uncertain rows alone, at least one row must be taken for there to be a sum.
    first = sql("MIN(:x)", x=when(row["possible"], row["low"]))
    last = sql("MAX(:x)", x=when(row["possible"], row["high"]))
    low = sql("CASE WHEN :s OR :f <= 0 THEN :l ELSE :f END", s=surely, f=first, l=low)
    high = sql("CASE WHEN :s OR :f >= 0 THEN :l ELSE :f END", s=surely, f=last, l=high)
    if floating:
        low, high = _with_nan(a, row, low, high)
    weight = row["sum"] if not a.of_boxes else sql(":n * :e", n=row["count"], e=row["sum"])
    estimate = sql("SUM(:e)", e=when(row["possible"], weight))
    if _is_hidden(a):
        both = [sql("SUM(:n * :s)", n=row["count"], s=when(row["possible"], row[s])) for s in ("share", "shown")]
        estimate = sql(":e * :w / NULLIF(:k, 0)", e=estimate, w=both[0], k=both[1])
    return _of_values(a, row, estimate, (low, high))


def extreme(a: Aggregate, row: Mapping[str, Tree], *, least: bool) -> dict[str, Tree]:
    """MIN and MAX: the end that possible rows reach, and the end that certain rows force."""
    first, last, ours = ("MIN", "MAX", "low") if least else ("MAX", "MIN", "high")
    theirs = "high" if least else "low"
    reached = sql(f"{first}(:x)", x=when(row["possible"], row[ours]))
    # If a row is certain, all exact values of the row occur.
    forced_by = row.get(f"forced_{ours}", row[theirs if a.of_boxes else ours])
    forced = sql(f"{first}(:x)", x=when(row["certain"], forced_by))
    alone = sql(f"{last}(:x)", x=when(row["possible"], row[theirs]))
    far_end = when(sql("SUM(:x) > 0", x=_certain(row)), forced, alone)
    likely = sql(f"{first}(:x)", x=when(every([row["possible"], sql(":s >= 0.5", s=row["share"])]), row[ours]))
    estimate = sql("COALESCE(:l, :r)", l=likely, r=reached)
    return _of_values(a, row, estimate, (reached, far_end) if least else (far_end, reached))


def _certain(row: Mapping[str, Tree]) -> Tree:
    """How many rows qualify for certain."""
    return when(row["certain"], row["count"], exp.Literal.number(0))


def _possible(row: Mapping[str, Tree]) -> Tree:
    """How many rows may qualify."""
    return when(row["possible"], row["count"], exp.Literal.number(0))


def _columns(a: Aggregate, estimate: Tree, ends: tuple[Tree, Tree]) -> dict[str, Tree]:
    """The columns of an aggregate that has a value over no rows."""
    return {f"e{a.id}": estimate, f"l{a.id}": ends[0], f"h{a.id}": ends[1], f"u{a.id}": exp.Literal.number(0)}


def _of_values(a: Aggregate, row: Mapping[str, Tree], estimate: Tree, ends: tuple[Tree, Tree]) -> dict[str, Tree]:
    """The columns of an aggregate that is NULL over no rows, and without bounds where nothing bounds the values."""
    some_ = sql("SUM(:x) > 0", x=_possible(row))
    bounded = some_
    if row["open"] is not FALSE:
        bounded = every([some_, negate(sql("COALESCE(:u, FALSE)", u=sql("BOOL_OR(:o)", o=row["open"])))])
    return {
        f"e{a.id}": when(some_, estimate),
        f"l{a.id}": when(bounded, ends[0]),
        f"h{a.id}": when(bounded, ends[1]),
        f"u{a.id}": sql("CASE WHEN SUM(:x) > 0 THEN 0 ELSE 1 END", x=_certain(row)),
    }


def _is_hidden(a: Aggregate) -> bool:
    """Whether the release hides some values of the argument."""
    if a.value is not None:
        return any(box.state is not None for box in a.value.boxes)
    return a.box is not None and a.box.state is not None


def _error(a: Aggregate, row: Mapping[str, Tree], counted: Tree) -> Tree:
    """Largest difference of two sums (averages) of the same doubles: n times the unit of rounding, times all sizes.

    An average of few whole numbers is an exact division on every engine.
    """
    assert a.argument is not None
    low, high = (as_type(row[end], "DOUBLE") for end in ("low", "high"))
    largest = sql("MAX(:x)", x=when(row["possible"], sql("GREATEST(ABS(:l), ABS(:h))", l=low, h=high)))
    rows = sql("CAST(SUM(:n) AS DOUBLE)", n=counted)
    unit = exp.Literal.number("5e-7" if is_single(a.argument) else "1e-15")
    if a.of == "avg":
        error = sql(":n * :m * :u", n=rows, m=largest, u=unit)
        if is_whole(a.argument) and isinstance(row.get("mean", exp.null()), exp.Null):
            few = sql(":n < 2048 AND :n * :m < 9007199254740992", n=rows, m=largest)
            error = when(few, ZERO, error)
    else:
        sizes = sql(
            ":p - :n",
            p=as_type(row["s_pos"], "DOUBLE"),
            n=as_type(row["s_neg"], "DOUBLE"),
        )
        error = sql("SUM(:x) * :n * :u", x=when(row["possible"], sizes), n=rows, u=unit)
    return sql("COALESCE(:e, 0.0)", e=error)


def _with_nan(a: Aggregate, row: Mapping[str, Tree], low: Tree, high: Tree) -> tuple[Tree, Tree]:
    """The bounds of a sum of floating point values: infinities of both signs add up to NaN, which is unbounded.

    So do finite values with a sum that leaves the type.
    """
    ends = [as_type(row[end], "DOUBLE") for end in ("low", "high")]
    least_, most = (
        sql(f"{kind}(:x)", x=when(row["possible"], end)) for kind, end in zip(("MIN", "MAX"), ends, strict=True)
    )
    huge = sql(f"BOOL_OR(:p AND ({is_huge(':l')} OR {is_huge(':h')}))", p=row["possible"], l=ends[0], h=ends[1])
    maybe = sql(f":m = {NAN} OR (:l = -{INFINITE} AND :m >= {INFINITE}) OR :h", l=least_, m=most, h=huge)
    # The certain values of a row: of a box the end on this side, of exact values (many in one row) each of the two.
    up, down = (ends[0], ends[1]) if a.of_boxes else (ends[1], ends[0])
    sure = sql(
        f"BOOL_OR(:c AND :u = {NAN}) OR (BOOL_OR(:c AND :u >= {INFINITE}) AND BOOL_OR(:c AND :d = -{INFINITE}))",
        c=row["certain"],
        u=up,
        d=down,
    )
    return nan_or(sure, maybe, low), nan_or(sure, maybe, high)
