"""Bounds of window functions over the groups of an answer, as SQL over the table of the groups.

A group is in the answer of every source, of some, or of none (`sure`, `may`). The rank of a group is 1 plus the groups
ahead of it: from below those that are sure and ahead in every source, from above those that may be and are ahead in
some. A total lies between the sums of the ends; where the groups' values add up to the same aggregate over all rows of
the partition, it is asked for by itself, since a row that may lie in any of ten groups counts once there, and ten times
in the sum of the high ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions import aggregates
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.rewrite.box_rows import Tables, box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import with_tables
from sqlanon.query.rewrite.query_plan import OrderTerm, Outputs, QueryPlan, WindowCall
from sqlanon.query.rewrite.sums import GROUPS, sums
from sqlanon.query.rewrite.whole_rows import rename_tables
from sqlanon.query.rewrite.window_frames import frame_columns, frame_tables
from sqlanon.query.rewrite.window_functions import MOST_RANKED, RANKS
from sqlanon.query.sql.sqltree import (
    TRUE,
    Tree,
    column,
    every,
    make_table,
    named,
    negate,
    own,
    select,
    some,
    sql,
    when,
)

MARKED, WINDOWED = "_marked", "_windowed"
COUNT_ALL = ("percent_rank", "cume_dist", "ntile")
"""Places that depend on the groups behind, too."""
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
            joins.append(_join_left(make_table(f"_frame_{over.id}"), sql(f"_frame_{over.id}.id = m.id")))
            expressions += frame_columns(over)
        elif over.kind in RANKS:
            tables.append((f"_ahead_{over.id}", _ahead(over)))
            joins.append(_join_left(make_table(f"_ahead_{over.id}"), sql(f"_ahead_{over.id}.id = m.id")))
            expressions += _ranks(over)
        else:
            whole = _whole(bound, over)
            if whole is not None:
                same = [_alike(f"p{over.id}_{i}", "m", f"g{i}", f"whole_{over.id}") for i in range(len(over.partition))]
                joins.append(_join_left(whole.subquery(f"whole_{over.id}"), every(same) if same else sql("1 = 1")))
            expressions += _totals(over, whole=whole is not None)
    last = select(expressions, exp.alias_(make_table(MARKED), "m", table=True))
    last.set("joins", joins)
    return (*tables, (WINDOWED, last))


def _join_left(table: exp.Expr, on: Tree) -> exp.Join:
    return exp.Join(this=table, on=on, side="LEFT")


def _alike(alias: str, first: str, other: str, second: str) -> Tree:
    return exp.NullSafeEQ(this=column(alias, first), expression=column(other, second))


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


def _ahead(over: WindowCall) -> exp.Select:
    """For every group, the number of others in the partition ahead of it: ``low`` in every source, ``high`` in some.

    Where the others count as well, ``rest_low`` and ``rest_high`` are those that are not ahead.
    """
    terms = list(enumerate(over.order))

    def mark(name: str, table: str) -> Tree:
        return column(name, table)

    def is_known(i: int) -> Tree:
        return every(sql(":u = 0", u=mark(f"o{over.id}_{i}u", table)) for table in "om")

    def before(i: int, term: OrderTerm, first: str = "o", second: str = "m") -> Tree:
        if term.ends is None:
            return sql(":a < :b", a=mark(f"o{over.id}_{i}", first), b=mark(f"o{over.id}_{i}", second))
        ends, word = ("lh", ">") if term.falls else ("hl", "<")
        return sql(
            f"COALESCE(:a {word} :b AND :k, FALSE)",
            a=mark(f"o{over.id}_{i}{ends[0]}", first),
            b=mark(f"o{over.id}_{i}{ends[1]}", second),
            k=is_known(i),
        )

    def may_be_before(i: int, term: OrderTerm) -> Tree:
        if term.ends is None:
            return before(i, term)
        ends, word = ("hl", "<=") if term.falls else ("lh", ">=")
        return sql(
            f"NOT COALESCE(:a {word} :b AND :k, FALSE)",
            a=mark(f"o{over.id}_{i}{ends[0]}", "o"),
            b=mark(f"o{over.id}_{i}{ends[1]}", "m"),
            k=is_known(i),
        )

    def same(i: int, term: OrderTerm) -> Tree:
        if term.ends is None:
            return sql(":a = :b", a=mark(f"o{over.id}_{i}", "o"), b=mark(f"o{over.id}_{i}", "m"))
        parts = {f"{table}{end}": mark(f"o{over.id}_{i}{end}", table) for table in "om" for end in "lh"}
        return sql("COALESCE(:ol = :oh AND :ml = :mh AND :ol = :ml AND :k, FALSE)", k=is_known(i), **parts)

    def may_be_same(i: int, term: OrderTerm) -> Tree:
        if term.ends is None:
            return same(i, term)
        return negate(some([before(i, term), before(i, term, "m", "o")]))

    def in_order(tied: Callable[[int, OrderTerm], Tree], ahead: Callable[[int, OrderTerm], Tree]) -> Tree:
        """The first term in which two groups differ decides."""
        return some(every([*(tied(j, other_term) for j, other_term in terms[:i]), ahead(i, term)]) for i, term in terms)

    surely, maybe = in_order(same, before), in_order(may_be_same, may_be_before)
    if over.kind in ("row_number", "ntile", "cume_dist"):  # of groups that are tied any may come first
        maybe = some([maybe, every(may_be_same(i, term) for i, term in terms)])
    if over.kind == "cume_dist":  # and all count
        surely = some([surely, every(same(i, term) for i, term in terms)])
    literal_one, none = _NUMBER(1), exp.null()
    low, high = (
        sql("COUNT(:x)", x=when(every([sql("o.sure"), surely]), literal_one, none)),
        sql("COUNT(:x)", x=when(every([sql("o.may"), maybe]), literal_one, none)),
    )
    if over.kind == "dense_rank":
        low, high = _distinct(over, surely, maybe)
    pairs = [
        sql("o.id <> m.id"),
        *(_alike(f"p{over.id}_{i}", "o", f"p{over.id}_{i}", "m") for i in range(len(over.partition))),
    ]
    # Too many groups are refused by a check of the answer; they are not compared before.
    other_rows = select([sql("*")], MARKED, where=[sql("(SELECT COUNT(*) FROM _groups) <= :n", n=_NUMBER(MOST_RANKED))])
    rest: list[Tree] = []
    if over.kind in COUNT_ALL:
        behind = {"rest_low": [sql("o.sure"), negate(maybe)], "rest_high": [sql("o.may"), negate(surely)]}
        rest = [
            named(sql("COUNT(:x)", x=when(every(parts), literal_one, none)), name) for name, parts in behind.items()
        ]
    query = select(
        [sql("m.id AS id"), named(low, "low"), named(high, "high"), *rest],
        exp.alias_(make_table(MARKED), "m", table=True),
        group=[sql("m.id")],
    )
    query.set("joins", [_join_left(other_rows.subquery("o"), every(pairs))])
    return query


def _distinct(over: WindowCall, surely: Tree, maybe: Tree) -> tuple[Tree, Tree]:
    """Number of values ahead.

    Each exact value counts once; of the others the lower bound counts at least one value, the upper bound each.
    """
    sure, may = every([sql("o.sure"), surely]), every([sql("o.may"), maybe])
    some_sure = sql("MAX(CASE WHEN :x THEN 1 ELSE 0 END)", x=sure)
    if len(over.order) > 1:
        return some_sure, sql("COUNT(CASE WHEN :x THEN 1 END)", x=may)
    name, exact = f"o{over.id}_0", over.order[0].ends is None
    value = column(name if exact else f"{name}l", "o")
    met = (
        TRUE
        if exact
        else sql(
            "COALESCE(:l = :h AND :u = 0, FALSE)",
            l=value,
            h=column(f"{name}h", "o"),
            u=column(f"{name}u", "o"),
        )
    )
    each = "COUNT(DISTINCT CASE WHEN :x THEN :v END)"
    low = sql(f"GREATEST({each}, :s)", x=every([sure, met]), v=value, s=some_sure)
    high = sql(f"{each} + COUNT(CASE WHEN :y THEN 1 END)", x=every([may, met]), v=value, y=every([may, negate(met)]))
    return low, high


def _ranks(over: WindowCall) -> list[Tree]:
    """The columns of a rank."""
    function = aggregates.rank_of(over.kind, over.parts)
    order = [_order_by_estimate(over, i, term) for i, term in enumerate(over.order)]
    order += [exp.Ordered(this=sql("m.id"))] if over.kind in ("row_number", "ntile") else []
    estimate = exp.Window(
        this=function, partition_by=[sql("m.shown"), *_partition(over)], order=exp.Order(expressions=order)
    )
    columns = {
        "e": estimate,
        "l": _place_group(over, "low", "rest_high"),
        "h": _place_group(over, "high", "rest_low"),
        "u": sql("CASE WHEN m.sure THEN 0 ELSE 1 END"),
    }
    return [named(tree, f"w{end}{over.id}") for end, tree in columns.items()]


def _place_group(over: WindowCall, ahead: str, rest: str) -> Tree:
    """The place of a group, by how many are ahead of it and how many are not.

    Every place rises with those ahead, and a part of all falls with the rest.
    """
    a, b = (column(name, f"_ahead_{over.id}") for name in (ahead, rest))
    if over.kind == "percent_rank":
        return sql("COALESCE(CAST(:a AS DOUBLE) / NULLIF(:a + :b, 0), 0)", a=a, b=b)
    if over.kind == "cume_dist":
        return sql("CAST(:a + 1 AS DOUBLE) / (:a + :b + 1)", a=a, b=b)
    if over.kind != "ntile":
        return sql("1 + :a", a=a)
    # Of n groups in k parts the first n % k parts have a group more than the others.
    assert over.parts is not None
    count, parts = sql(":a + :b + 1", a=a, b=b), _NUMBER(over.parts)
    each, larger = _quotient(count, parts), sql(":n % :k", n=count, k=parts)
    within = sql(":r * (:q + 1)", r=larger, q=each)
    return when(
        sql(":a < :w", a=a, w=within),
        sql("1 + :x", x=_quotient(a, sql(":q + 1", q=each))),
        sql("1 + :r + :x", r=larger, x=_quotient(sql(":a - :w", a=a, w=within), sql("GREATEST(:q, 1)", q=each))),
    )


def _quotient(number: Tree, by: Tree) -> Tree:
    """The whole quotient of numbers that are not negative; engines divide whole numbers differently."""
    return sql("CAST((:n - :n % :k) / :k AS BIGINT)", n=number, k=by)


def _order_by_estimate(over: WindowCall, i: int, term: OrderTerm) -> exp.Ordered:
    """A term of ORDER BY, on the estimates."""
    estimated = term.term.copy()
    if term.ends is None:
        return exp.Ordered(this=column(f"o{over.id}_{i}", "m"))
    estimated.set("this", column(f"o{over.id}_{i}e", "m"))
    return estimated


def _partition(over: WindowCall) -> list[Tree]:
    return [column(f"p{over.id}_{i}", "m") for i in range(len(over.partition))]


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
        window: Tree = exp.Window(this=sql(text, **parts), partition_by=_partition(over))
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
