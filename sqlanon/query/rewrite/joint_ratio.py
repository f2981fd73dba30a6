"""Bounds a quotient of two aggregates jointly: every row counts once, in both, with the extreme values.

The largest N / D of all consistent sources is the v at which the largest N - v D is 0 (Dinkelbach 1967, On nonlinear
fractional programming). For a given v that is a sum over rows of the best contribution of each. A few steps of
Newton from 0 reach v. From any v the bound is sound: N <= v D + g(v), so that N / D is at most v + g(v) / D; at the
end of the steps, g is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.rewrite.ordered_aggregates import FOUND, Apart
from sqlanon.query.rewrite.query_plan import Aggregate, Ratio
from sqlanon.query.sql.sqltree import (
    FALSE,
    TRUE,
    Tree,
    as_type,
    column,
    greatest,
    least,
    named,
    number,
    select,
    some,
    sql,
    when,
)
from sqlanon.query.sql.types import is_whole

STEPS = 5
"""Steps of Newton; each about doubles the digits."""

INFINITY = "CAST('Infinity' AS DOUBLE)"

ROUNDED = 1e-12
"""Rounding error of N - v D in doubles, as a share of N."""


def quotient(
    a: Aggregate, ratio: Ratio, of: Mapping[str, Mapping[str, Tree]], keys: Sequence[Tree], *, present: bool
) -> Apart:
    """The columns of a ratio.

    Args:
        a: the aggregate.
        ratio: the parts of the ratio.
        of: the rows' values of each part, by name.
        keys: the groups.
        present: the denominator counts the rows of a group that exists.
    """
    options = [name for name in ("both", "first", "second") if getattr(ratio, name) is not None]
    expressions: list[Tree] = [column("n")]
    names: list[str] = []
    open_: list[Tree] = []
    for i, name in enumerate(options):
        top, bottom = getattr(ratio, name)
        condition = (top or bottom).condition
        expressions.append(named(column(f"p{condition}"), f"r{i}"))
        names.append(f"r{i}")
        for letter, part in (("a", top), ("b", bottom)):
            low, high, unknown = _bound_contribution(
                part, of.get(f"{name} {letter}", {}), ratio.factor if letter == "a" else None
            )
            expressions += [named(low, f"{letter}l{i}"), named(high, f"{letter}h{i}")]
            names += [f"{letter}l{i}", f"{letter}h{i}"]
            open_.append(when(column(f"p{condition}"), unknown, FALSE) if unknown is not FALSE else FALSE)
    expressions.append(named(sql("NOT :c", c=column(f"c{ratio.some}")), "z"))
    expressions.append(named(some(open_), "o"))
    inner = select([*keys, *expressions], FOUND, where=[column(f"p{ratio.some}")])
    groups = [*keys, *(column(name) for name in [*names, "z", "o"])]
    tables: list[tuple[str, exp.Expr]] = [
        (f"_ways_{a.id}", select([*groups, named(sql("SUM(n)"), "n")], inner.subquery("w"), group=groups))
    ]
    count = range(len(options))
    kept_columns = [*keys, *map(column, ["n", *names, "z", "o"])]
    for side in ("high", "low"):
        turn = _Turn(side, count)
        before, value = f"_ways_{a.id}", sql("CAST(0 AS DOUBLE)")
        for step in range(STEPS + 1):
            ways = select([*kept_columns, named(value, "v"), *turn.ways(value)], before).subquery("w")
            if step == STEPS:
                break
            top, bottom = (
                exp.Window(this=sql(f"SUM(n * {text})"), partition_by=[key.copy() for key in keys])
                for text in (turn.top, turn.bottom)
            )
            name = f"_{side}_{a.id}_{step}"
            after = sql("COALESCE(:t / NULLIF(:b, 0), v)", t=top, b=bottom)
            tables.append((name, select([*kept_columns, named(after, "v")], ways)))
            before, value = name, column("v")
        summed = {
            "side": sql(f"'{side}'"),
            "v": sql("MAX(v)"),
            "g": sql(f"SUM(n * {turn.best})"),
            "t": sql(f"SUM(n * ABS({turn.top}))"),
            "d": sql(f"SUM(n * {_least(count)})"),
            "b": sql(f"MIN({_least(count)})"),
            "m": sql(f"MAX({_most(count)})"),
            "o": sql("BOOL_OR(o)"),
        }
        tables.append(
            (
                f"_{side}_{a.id}",
                select([*keys, *(named(t, c) for c, t in summed.items())], ways, group=keys),
            )
        )
    sides = [
        select([*keys, *map(column, ("side", "v", "g", "t", "d", "b", "m", "o"))], f"_{side}_{a.id}")
        for side in ("low", "high")
    ]
    tables.append((f"_ratio_{a.id}", exp.Union(this=sides[0], expression=sides[1], distinct=False)))
    second = next(part for part in (ratio.both, ratio.second) if part is not None)[1]
    assert second is not None
    whole = second.kind in ("rows", "count") or (second.type is not None and is_whole(second.type))
    # A count is at least 1 where it is not 0, and it is not always 0.
    smallest = "CASE WHEN d > 0 THEN CAST(d AS DOUBLE)" + (" WHEN b >= 0 AND m > 0 THEN 1 END" if whole else " END")
    slack = f"CASE WHEN ABS(g) <= {ROUNDED} * t THEN 0 ELSE g END"
    # The steps compare N - v D, which NaN and infinities (of either side of the quotient) leave without an order.
    endless = " OR ".join(f"COALESCE(ABS({name}) >= {INFINITY}, FALSE)" for name in "gtbm")
    is_bounded = f"NOT BOOL_OR(o OR {endless})"
    lowest = f"MAX(CASE WHEN side = 'low' THEN v + LEAST({slack}, 0) / ({smallest}) END)"
    highest = f"MAX(CASE WHEN side = 'high' THEN v + GREATEST({slack}, 0) / ({smallest}) END)"
    bounds = {"l": f"CASE WHEN {is_bounded} THEN {lowest} END", "h": f"CASE WHEN {is_bounded} THEN {highest} END"}
    zero = sql("0") if present else sql("MAX(CASE WHEN d > 0 THEN 0 ELSE 1 END)")
    return tables, {
        f"e{a.id}": sql("CAST(NULL AS DOUBLE)"),
        f"l{a.id}": sql(bounds["l"]),
        f"h{a.id}": sql(bounds["h"]),
        f"u{a.id}": zero,
    }


class _Turn:
    """The best choice of each row for a given v, ``m<i>``: N - v D of the choice, and then N and D.

    A row that need not count may give 0.
    """

    def __init__(self, side: str, count: range) -> None:
        self._count = count
        self._end, self._other = ("h", "l") if side == "high" else ("l", "h")
        word = "GREATEST" if side == "high" else "LEAST"
        self.best = f"{word}({', '.join(f'm{i}' for i in count)}, CASE WHEN z THEN 0.0 END)"
        texts = (
            " ".join(f"WHEN m{i} = {self.best} THEN {result}" for i, result in enumerate(givens))
            for givens in ([f"a{self._end}{i}" for i in count], [self._below(i) for i in count])
        )
        self.top, self.bottom = (f"CASE {text} ELSE 0.0 END" for text in texts)

    def _below(self, i: int) -> str:
        return f"CASE WHEN v >= 0 THEN b{self._other}{i} ELSE b{self._end}{i} END"

    def ways(self, value: Tree) -> list[Tree]:
        """The value of each choice."""
        expressions = []
        for i in self._count:
            below = sql(self._below(i).replace("v >=", ":v >="), v=value)
            text = f"CASE WHEN r{i} THEN a{self._end}{i} - :v * :b END"
            expressions.append(named(sql(text, v=value, b=below), f"m{i}"))
        return expressions


def _least(count: range) -> str:
    """The least that a row gives to the denominator."""
    return f"LEAST({', '.join(f'CASE WHEN r{i} THEN bl{i} END' for i in count)}, CASE WHEN z THEN 0.0 END)"


def _most(count: range) -> str:
    """The most that a row gives to it."""
    return f"GREATEST({', '.join(f'CASE WHEN r{i} THEN bh{i} END' for i in count)}, CASE WHEN z THEN 0.0 END)"


def _bound_contribution(
    part: Aggregate | None, row: Mapping[str, Tree], factor: Tree | None
) -> tuple[Tree, Tree, Tree]:
    """The least and the largest contribution of a row to an aggregate if it meets the condition, as doubles.

    The last result is the condition under which that is not known.
    """
    if part is None:
        zero = number(0.0)
        return zero, zero.copy(), FALSE
    by = as_type(factor, "DOUBLE") if factor is not None else None
    if part.kind in ("rows", "count") and not part.of_boxes:
        whole: Tree = number(1.0)
        if part.kind == "count":
            whole = sql("CASE WHEN :x IS NULL THEN 0.0 ELSE 1.0 END", x=column(part.term or ""))
        ends, unknown = [whole, whole], FALSE
    elif not part.of_boxes:
        value = sql("COALESCE(CAST(:x AS DOUBLE), 0.0)", x=column(part.term or ""))
        ends, unknown = [value, value], FALSE
    else:
        # NULL, where a row may have it, adds nothing.
        hidden = part.box is not None and part.box.state is not None
        null = row.get("null", TRUE if hidden else FALSE)
        if part.kind == "count":
            ends = [when(null, number(0.0), number(1.0)), when(row["possible"], number(1.0), number(0.0))]
            unknown = FALSE
        else:
            doubles = [as_type(row[end], "DOUBLE") for end in ("low", "high")]
            ends = [
                sql("COALESCE(:x, 0.0)", x=when(null, widest([end, number(0.0)]), end))
                for widest, end in zip((least, greatest), doubles, strict=True)
            ]
            unknown = row["open"]
    if by is not None:
        ends = [sql(":f * :x", f=by, x=end) for end in ends]
    return as_type(ends[0], "DOUBLE"), as_type(ends[1], "DOUBLE"), unknown
