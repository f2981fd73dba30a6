"""Bounds aggregates of groups, as SQL over the table of the groups.

A group is in every source (`sure`), in some (`may`), or in none, and the value is between two ends, or is NULL. From
these follow the bounds: a sure group counts with its ends, a possible group counts where it widens the bounds. Each row
is in a single group, so that the total of a count or sum over all groups is that of all rows, which has narrower
bounds.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.aggregates import adds_up, is_count
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.refusal import RefusedQueryError
from sqlanon.query.rewrite.box_rows import Tables, box_rows
from sqlanon.query.rewrite.collect import collect
from sqlanon.query.rewrite.final_select import with_tables
from sqlanon.query.rewrite.first_groups import MEMBERS, of_first
from sqlanon.query.rewrite.query_plan import Check, GroupAggregate, Quad, QueryPlan, Regroup
from sqlanon.query.rewrite.sums import GROUPS, sums
from sqlanon.query.rewrite.typed_quotient import mean
from sqlanon.query.rewrite.whole_rows import rename_tables
from sqlanon.query.rewrite.window_bounds import WINDOWED
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

PREFIXES, AGAIN = "_prefixes", "_again"
_NUMBER = exp.Literal.number


def bound_regroup(bound: BoundQuery, plan: QueryPlan) -> Tables:
    """The tables that follow the groups, the last of them `AGAIN`, with a row for each group of groups.

    It has the keys ``g0``, ..., of every aggregate the estimate ``e``, the bounds ``l`` and ``h``, and ``u``, which is
    1 where it may be NULL; ``sure``, ``may`` and ``shown`` of the row, and a column for each check of the groups.

    Args:
        bound: the query.
        plan: the plan of the query; without groups of groups there are no tables.
    """
    regroup = plan.regroup
    if regroup is None:
        return ()
    tables: list[tuple[str, exp.Expr]] = [(MEMBERS, _members(plan, regroup))]
    averages = [aggregate for aggregate in regroup.aggregates if aggregate.kind == "avg"]
    if averages:
        tables.append((PREFIXES, _prefixes(regroup, averages)))
    keys = [named(column(f"k{i}"), f"g{i}") for i in range(len(regroup.keys))]
    expressions: list[Tree] = [named(sql(f"BOOL_OR({name})"), name) for name in ("sure", "may", "shown")]
    expressions += [named(sql(f"BOOL_OR(check{i})"), f"failed{i}") for i in range(len(regroup.checks))]
    joins = []
    for aggregate in regroup.aggregates:
        ends = _aggregate(aggregate)
        if regroup.first is not None:
            ends |= of_first(aggregate, ends, *regroup.first)
        whole = _whole(bound, regroup, aggregate)
        if whole is not None:
            joins.append((aggregate, whole))
            ends = _narrow(aggregate, ends)
        expressions += [named(tree, f"{end}{aggregate.id}") for end, tree in ends.items()]
    source: exp.Expr = make_table(PREFIXES if averages else MEMBERS)
    last = select([*keys, *expressions], exp.alias_(source, "m", table=True))
    last.set("joins", [_join(table, whole, len(regroup.keys)) for table, whole in joins])
    if keys:
        last.set("group", exp.Group(expressions=[column(f"k{i}", "m") for i in range(len(keys))]))
    return (*tables, (AGAIN, last))


def list_regrouped_checks(plan: QueryPlan) -> tuple[Check, ...]:
    """The checks of the groups, over `AGAIN`."""
    checks = plan.regroup.checks if plan.regroup is not None else ()
    return tuple(replace(check, tree=column(f"failed{i}")) for i, check in enumerate(checks))


def _members(plan: QueryPlan, groups: Regroup) -> exp.Select:
    """The groups: keys in the groups of groups, whether they are there, and the argument of each aggregate."""
    present = plan.present
    assert present is not None
    marks: dict[str, Tree] = {f"k{i}": key for i, key in enumerate(groups.keys)}
    marks["sure"] = every([sql("COALESCE(:l, 0) > 0", l=column(f"l{present.id}")), groups.sure])
    marks["may"] = every([sql("COALESCE(:h, 0) > 0", h=column(f"h{present.id}")), groups.may])
    marks["shown"] = sql("COALESCE(:x, FALSE)", x=groups.having)
    if groups.first is not None:
        marks["there"] = sql("COALESCE(:l, 0) > 0", l=column(f"l{present.id}"))
        marks["here"] = sql("COALESCE(:h, 0) > 0", h=column(f"h{present.id}"))
    marks |= {f"check{i}": check.tree for i, check in enumerate(groups.checks)}
    for aggregate in groups.aggregates:
        marks |= {
            f"fs{aggregate.id}": aggregate.sure,
            f"fm{aggregate.id}": aggregate.may,
            f"fe{aggregate.id}": aggregate.shown,
        }
        if aggregate.value is not None:
            value = aggregate.value
            trees = (value.estimate, value.low, value.high, value.undefined, aggregate.nothing)
            marks |= {f"v{aggregate.id}{end}": tree for end, tree in zip("elhun", trees, strict=True)}
    return select(
        [named(own(tree), name) for name, tree in marks.items()], WINDOWED if groups.groups.windows else GROUPS
    )


def _counts_surely(aggregate: GroupAggregate) -> Tree:
    """Whether a group counts in every source."""
    parts = [sql("m.sure"), column(f"fs{aggregate.id}", "m")]
    return every(
        [*parts, *([sql(":u = 0", u=column(f"v{aggregate.id}u", "m"))] if aggregate.value is not None else [])]
    )


def _counts_maybe(aggregate: GroupAggregate) -> Tree:
    """Whether a group counts in some source."""
    parts = [sql("m.may"), column(f"fm{aggregate.id}", "m")]
    return every([*parts, *([negate(column(f"v{aggregate.id}n", "m"))] if aggregate.value is not None else [])])


def _aggregate(aggregate: GroupAggregate) -> dict[str, Tree]:
    """The columns of an aggregate."""
    surely, maybe = _counts_surely(aggregate), _counts_maybe(aggregate)
    shown = every([sql("m.shown"), column(f"fe{aggregate.id}", "m")])
    if aggregate.kind in ("rows", "count"):
        seen = (
            shown
            if aggregate.value is None
            else every([shown, sql("NOT :e IS NULL", e=column(f"v{aggregate.id}e", "m"))])
        )
        ends = {"e": seen, "l": surely, "h": maybe}
        return {end: sql("COUNT(CASE WHEN :x THEN 1 END)", x=tree) for end, tree in ends.items()} | {"u": _NUMBER(0)}
    e, low, high = (column(f"v{aggregate.id}{end}", "m") for end in "elh")
    none = sql("CASE WHEN COUNT(CASE WHEN :x THEN 1 END) > 0 THEN 0 ELSE 1 END", x=surely)
    open_ = [sql("COALESCE(BOOL_OR(:k AND :x IS NULL), FALSE)", k=maybe, x=end) for end in (low, high)]
    estimate = sql(f"{aggregate.kind.upper()}(:x)", x=when(shown, e))
    if aggregate.kind == "sum":
        zero = _NUMBER(0)
        least = when(surely, low, when(maybe, sql("LEAST(:l, :z)", l=low, z=zero)))
        most = when(surely, high, when(maybe, sql("GREATEST(:h, :z)", h=high, z=zero)))
        ends_ = [sql("SUM(:x)", x=tree) for tree in (least, most)]
    elif aggregate.kind == "avg":
        ends_ = [sql(f"{word}({end}{aggregate.id})") for word, end in (("MIN", "al"), ("MAX", "ah"))]
    else:
        word, opposite = ("MIN", "MAX") if aggregate.kind == "min" else ("MAX", "MIN")
        near, far = (low, high) if aggregate.kind == "min" else (high, low)
        reached = sql(f"{word}(:x)", x=when(maybe, near))
        forced = sql(f"COALESCE({word}(:f), {opposite}(:a))", f=when(surely, far), a=when(maybe, far))
        ends_ = [reached, forced] if aggregate.kind == "min" else [forced, reached]
    return {
        "e": estimate,
        "l": when(open_[0], exp.null(), ends_[0]),
        "h": when(open_[1], exp.null(), ends_[1]),
        "u": none,
    }


def _prefixes(groups: Regroup, averages: list[GroupAggregate]) -> exp.Select:
    """The groups with the averages that they may have a part in.

    Of the groups that are not sure, the best average takes those with the lowest (highest) ends: each of them as the
    last gives an average, and those that are sure alone another.
    """
    partition = [column(f"k{i}", "m") for i in range(len(groups.keys))]

    def run(text: str, order: list[exp.Expr] | None = None, **parts: Tree) -> Tree:
        window = exp.Window(this=sql(text, **parts), partition_by=[own(key) for key in partition])
        if order is not None:
            window.set("order", exp.Order(expressions=order))
            spec = {"kind": "ROWS", "start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}
            window.set("spec", exp.WindowSpec(**spec))
        return window

    expressions: list[Tree] = [sql("m.*")]
    for average in averages:
        surely, maybe = _counts_surely(average), _counts_maybe(average)
        open_ = every([maybe, negate(surely)])
        kind = average.type or exp.DataType.build("DOUBLE")
        for end, falls in (("l", False), ("h", True)):
            value = column(f"v{average.id}{end}", "m")
            own_value = when(open_, value)
            order: list[exp.Expr] = [
                exp.Ordered(this=when(open_, _NUMBER(0), _NUMBER(1))),
                exp.Ordered(this=value.copy(), desc=falls, nulls_first=False),
            ]
            sum_ = run("SUM(:x)", x=when(surely, value))
            count = run("COUNT(CASE WHEN :x THEN 1 END)", x=surely)
            more, many = run("SUM(:x)", order, x=own_value), run("COUNT(:x)", order, x=own_value)
            base = mean(kind, sum_, count)
            both = mean(kind, sql("COALESCE(:a, 0) + :b", a=sum_, b=more), sql(":a + :b", a=count, b=many))
            word = "LEAST" if end == "l" else "GREATEST"
            expressions.append(named(when(open_, sql(f"{word}(:a, :b)", a=base, b=both), base), f"a{end}{average.id}"))
    return select(expressions, exp.alias_(make_table(MEMBERS), "m", table=True))


def _whole(bound: BoundQuery, groups: Regroup, aggregate: GroupAggregate) -> exp.Select | None:
    """The total of all rows of each group of groups: keys, ``e``, ``l`` and ``h``; None: it is none."""
    inner = aggregate.node.this if aggregate.value is not None else None
    bare = inner.unnest() if inner is not None else None
    core = bare.this if isinstance(bare, exp.Filter) else bare
    if (
        aggregate.kind not in ("sum", "avg")
        or aggregate.filtered
        or groups.has_having
        or core is None
        or not adds_up(core)
    ):
        return None
    assert bare is not None
    whole_query = replace(
        bound,
        items=(("whole", bare),),
        groups=groups.written,
        having=None,
        order=(),
        qualify=None,
        regroup=None,
        inner_having=None,
    )
    try:
        plan = collect(whole_query)
    except RefusedQueryError:
        return None
    if plan.regroup is not None:
        return None
    rows = box_rows(bound.scope, plan)
    item = plan.outputs.items[0][1]
    assert isinstance(item, Quad)
    listed = [column(f"g{i}") for i in range(len(groups.keys))]
    total = select([*listed, *(named(t.copy(), n) for n, t in (("l", item.low), ("h", item.high)))], GROUPS)
    tables = [*rows.tables, *sums(bound.scope, plan, rows)]
    names = {name: f"_total_{aggregate.id}{name}" for name, _ in tables}
    total = rename_tables(total, names)
    total.set("with_", with_tables([(names[name], rename_tables(tree, names)) for name, tree in tables], total))
    return total


def _join(aggregate: GroupAggregate, whole: exp.Select, keys: int) -> exp.Join:
    name = f"total_{aggregate.id}"
    same = [exp.NullSafeEQ(this=column(f"k{i}", "m"), expression=column(f"g{i}", name)) for i in range(keys)]
    return exp.Join(this=whole.subquery(name), on=every(same) if same else sql("1 = 1"), side="LEFT")


def _narrow(aggregate: GroupAggregate, columns: dict[str, Tree]) -> dict[str, Tree]:
    """The bounds of a sum or average with those of the total of all rows.

    Every group gives a value: a count, or the sum of a column, of which a group may have no values, so that the total
    divided by the number of groups holds for counts alone.
    """
    total = f"total_{aggregate.id}"
    low, high = (sql("MAX(:x)", x=column(end, total)) for end in "lh")
    if aggregate.kind == "avg":
        inner = aggregate.node.this.unnest()
        core = inner.this if isinstance(inner, exp.Filter) else inner
        if not is_count(core):
            return columns
        most, fewest = (
            sql("NULLIF(COUNT(CASE WHEN :x THEN 1 END), 0)", x=sql(f"m.{word}")) for word in ("may", "sure")
        )
        kind = aggregate.type or exp.DataType.build("DOUBLE")
        low, high = mean(kind, low, most), mean(kind, high, fewest)
    return columns | {
        "l": sql("GREATEST(:a, :b)", a=columns["l"], b=low),
        "h": sql("LEAST(:a, :b)", a=columns["h"], b=high),
    }
