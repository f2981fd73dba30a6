"""Bounds of window functions over the groups of an answer, as SQL over the table of the groups.

A group is in the answer of every source, of some, or of none (`sure`, `may`). Ranks are in
`sqlanon.query.rewrite.window_ranks`, sums and extremes here. A total is between the sums of the ends. Where the values
of the groups add up to the same aggregate over all rows of the partition, that aggregate is bounded by itself: a row
that may be in any of ten groups counts once there, and ten times in the sum of the high ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.rewrite.box_rows import Tables, box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import with_tables
from sqlanon.query.rewrite.query_plan import Outputs, QueryPlan, WindowCall
from sqlanon.query.rewrite.sums import GROUPS, sums
from sqlanon.query.rewrite.whole_rows import rename_tables
from sqlanon.query.rewrite.window_frames import frame_columns, frame_tables
from sqlanon.query.rewrite.window_functions import RANKS
from sqlanon.query.rewrite.window_ranks import MARKED, count_ahead, join_left, match_columns, partition_of, rank_columns
from sqlanon.query.sql.sqltree import (
    Tree,
    column,
    every,
    make_table,
    named,
    negate,
    own,
    select,
    sql,
    when,
)

WINDOWED = "_windowed"
_NUMBER = exp.Literal.number


def bound_windows(bound: BoundQuery, plan: QueryPlan) -> Tables:
    """The tables that follow the groups, the last of them `WINDOWED`.

    It has the groups, with the columns of every window function.

    For window function i it has the estimate ``we<i>``, the bounds ``wl<i>`` and ``wh<i>``, and ``wu<i>``, which is 1
    where it may be NULL or the group may be missing. A sum also has the total of the other groups, from ``wo<i>`` to
    ``wp<i>``, and whether none is below 0, ``wf<i>``.

    Args:
        bound: the query.
        plan: aggregates and outputs; without window functions there are no tables.
    """
    outputs = plan.outputs if plan.regroup is None else plan.regroup.groups
    overs = outputs.windows
    if not overs:
        return ()
    tables: list[tuple[str, exp.Expr]] = [(MARKED, _mark_groups(plan, outputs))]
    expressions: list[Tree] = [sql("m.*")]
    joins: list[exp.Join] = []
    for over in overs:
        if over.frame is not None:
            tables += frame_tables(over, MARKED)
            joins.append(join_left(make_table(f"_frame_{over.id}"), sql(f"_frame_{over.id}.id = m.id")))
            expressions += frame_columns(over)
        elif over.kind in RANKS:
            tables.append((f"_ahead_{over.id}", count_ahead(over)))
            joins.append(join_left(make_table(f"_ahead_{over.id}"), sql(f"_ahead_{over.id}.id = m.id")))
            expressions += rank_columns(over)
        else:
            whole = _whole(bound, over)
            if whole is not None:
                same = [
                    match_columns(f"p{over.id}_{i}", "m", f"g{i}", f"whole_{over.id}")
                    for i in range(len(over.partition))
                ]
                joins.append(join_left(whole.subquery(f"whole_{over.id}"), every(same) if same else sql("1 = 1")))
            expressions += _totals(over, whole=whole is not None)
    last = select(expressions, exp.alias_(make_table(MARKED), "m", table=True))
    last.set("joins", joins)
    return (*tables, (WINDOWED, last))


def _mark_groups(plan: QueryPlan, outputs: Outputs) -> exp.Select:
    """The groups: the certain ones, the possible ones, and those in the estimates.

    They have the terms by which windows are divided and ordered, and the summands.
    """
    present = plan.present
    assert present is not None
    order = ", ".join(f"g{i}" for i in range(len(plan.keys)))
    marks: dict[str, Tree] = {
        "id": sql(f"ROW_NUMBER() OVER (ORDER BY {order})"),
        "sure": every([sql("COALESCE(:l, 0) > 0", l=column(f"l{present.id}")), outputs.sure]),
        "may": every([sql("COALESCE(:h, 0) > 0", h=column(f"h{present.id}")), outputs.may]),
        "shown": sql("COALESCE(:x, FALSE)", x=outputs.having),
    }
    for over in outputs.windows:
        marks |= {f"p{over.id}_{i}": term for i, term in enumerate(over.partition)}
        for i, term in enumerate(over.order):
            if term.ends is None:  # the place in the engine's own order
                marks[f"o{over.id}_{i}"] = exp.Window(
                    this=exp.DenseRank(), order=exp.Order(expressions=[term.term.copy()])
                )
            else:
                ends = {
                    "e": term.ends.estimate,
                    "l": term.ends.low,
                    "h": term.ends.high,
                    "u": term.ends.undefined,
                }
                marks |= {f"o{over.id}_{i}{end}": tree for end, tree in ends.items()}
        if over.value is not None:
            value = over.value
            ends = {
                "e": value.estimate,
                "l": value.low,
                "h": value.high,
                "u": value.undefined,
                "n": over.nothing,
            }
            marks |= {f"v{over.id}{end}": tree for end, tree in ends.items()}
    return select([sql("*"), *(named(own(tree), name) for name, tree in marks.items())], GROUPS)


def _whole(bound: BoundQuery, over: WindowCall) -> exp.Select | None:
    """The aggregate over the rows of whole partitions: keys ``g0``, ..., and ``e``, ``l``, ``h``, ``u``."""
    if over.whole is None or bound.scope.released.left_out:
        return None
    node, keys = over.whole
    whole_query = replace(
        bound,
        items=(("whole", node),),
        groups=keys,
        having=None,
        order=(),
        qualify=None,
        regroup=None,
        inner_having=None,
    )
    plan = collect(whole_query)
    rows = box_rows(bound.scope, plan)
    item = plan.outputs.items[0][1]
    assert not isinstance(item, exp.Expr)
    listed = [column(f"g{i}") for i in range(len(keys))]
    ends = {"e": item.estimate, "l": item.low, "h": item.high}
    query = select([*listed, *(named(tree.copy(), name) for name, tree in ends.items())], GROUPS)
    tables = [*rows.tables, *sums(bound.scope, plan, rows)]
    own_names = {name: f"_whole_{over.id}{name}" for name, _ in tables}
    query = rename_tables(query, own_names)
    query.set("with_", with_tables([(own_names[name], rename_tables(tree, own_names)) for name, tree in tables], query))
    return query


def _totals(over: WindowCall, *, whole: bool) -> list[Tree]:
    """The columns of a sum, count, minimum or maximum of groups."""
    order = [exp.Ordered(this=column(f"o{over.id}_{i}", "m")) for i in range(len(over.order))]

    def run(text: str, **parts: Tree) -> Tree:
        window: Tree = exp.Window(this=sql(text, **parts), partition_by=partition_of(over))
        if order:
            window.set("order", exp.Order(expressions=[term.copy() for term in order]))
        return window

    e, low, high, u, nothing = (column(f"v{over.id}{end}", "m") for end in "elhun")
    zero = _NUMBER(0)
    surely = sql("m.sure AND :u = 0", u=u)
    maybe = sql("m.may AND NOT :n", n=nothing)
    open_low, open_high = (run("BOOL_OR(:k AND :x IS NULL)", k=maybe, x=end) for end in (low, high))
    none = sql("CASE WHEN :d THEN 0 ELSE 1 END", d=every([sql("m.sure"), run("BOOL_OR(:h)", h=surely)]))
    bounds: dict[str, Tree] = {"u": none}
    if over.kind == "count":
        here = sql("CASE WHEN m.sure THEN 0 ELSE 1 END")
        bounds = {
            "e": run("COUNT(CASE WHEN m.shown THEN 1 END)"),
            "l": sql(":x + :y", x=run("COUNT(CASE WHEN m.sure THEN 1 END)"), y=here),
            "h": run("COUNT(CASE WHEN m.may THEN 1 END)"),
            "u": here,
        }
    elif over.kind == "sum":
        least = when(surely, low, when(maybe, sql("LEAST(:l, :z)", l=low, z=zero), zero))
        most = when(surely, high, when(maybe, sql("GREATEST(:h, :z)", h=high, z=zero), zero))
        ends = [run("SUM(:x)", x=least), run("SUM(:x)", x=most)]
        without = [sql(":t - :x", t=total, x=mine) for total, mine in zip(ends, (least, most), strict=True)]
        bounds |= {
            "e": run("SUM(CASE WHEN m.shown THEN :e END)", e=e),
            "l": when(open_low, exp.null(), ends[0]),
            "h": when(open_high, exp.null(), ends[1]),
            "o": when(open_low, exp.null(), without[0]),
            "p": when(open_high, exp.null(), without[1]),
            "f": every(
                [
                    negate(sql("COALESCE(:x, FALSE)", x=open_low)),
                    sql("COALESCE(:m >= 0, FALSE)", m=run("MIN(:x)", x=least)),
                ]
            ),
        }
    else:
        bounds |= _extremes(over, run, surely, maybe, (open_low, open_high))
    if whole:
        bounds |= {end: column(end, f"whole_{over.id}") for end in "elh"}
    return [named(tree, f"w{end}{over.id}") for end, tree in bounds.items()]


def _extremes(
    over: WindowCall, run: Callable[..., Tree], surely: Tree, maybe: Tree, open_: Sequence[Tree]
) -> dict[str, Tree]:
    """The smallest or largest value of a partition: the possible value, and the value that a sure group forces."""
    e, low, high = (column(f"v{over.id}{end}", "m") for end in "elh")
    word, last = ("MIN", "MAX") if over.kind == "min" else ("MAX", "MIN")
    near, far = (low, high) if over.kind == "min" else (high, low)
    reached = when(open_[0 if over.kind == "min" else 1], exp.null(), run(f"{word}(:x)", x=when(maybe, near)))
    forced = run(f"{word}(:x)", x=when(surely, far))
    alone = when(open_[1 if over.kind == "min" else 0], exp.null(), run(f"{last}(:x)", x=when(maybe, far)))
    far_end = sql("COALESCE(:f, :a)", f=forced, a=alone)
    ends = {"l": reached, "h": far_end} if over.kind == "min" else {"l": far_end, "h": reached}
    return {"e": run(f"{word}(CASE WHEN m.shown THEN :e END)", e=e), **ends}
