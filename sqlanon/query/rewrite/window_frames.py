"""Bounds windows that count groups: ROWS frames, means of windows, LAG and LEAD, FIRST_VALUE and LAST_VALUE.

The groups in a frame depend on the groups that exist. Between two groups are at least the sure groups, and at most the
possible ones. A group may be in a frame if few enough sure groups are between, and is certainly in it if it is sure and
few enough possible groups are. The group of the row counts as existing: bounds hold where it does.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions import aggregates
from sqlanon.query.rewrite.box_rows import Tables
from sqlanon.query.rewrite.query_plan import Frame, WindowCall
from sqlanon.query.rewrite.typed_quotient import mean
from sqlanon.query.rewrite.window_functions import MOST_RANKED
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

_NUMBER = exp.Literal.number


def frame_tables(over: WindowCall, marked: str) -> Tables:
    """The groups with their places, and for each group the bounds over the frame, as ``l``, ``h`` and ``u``.

    Args:
        over: the window function.
        marked: the table of the groups, see `sqlanon.query.rewrite.window_bounds`.
    """
    placed = f"_placed_{over.id}"
    return ((placed, _places(over, marked)), (f"_frame_{over.id}", _frames(over, placed)))


def frame_columns(over: WindowCall) -> list[Tree]:
    """The columns of the window function, beside the groups ``m``."""
    name = f"_frame_{over.id}"
    columns = {
        "e": _estimate(over),
        "l": column("l", name),
        "h": column("h", name),
        "u": sql("CASE WHEN m.sure THEN :u ELSE 1 END", u=column("u", name)),
    }
    return [named(tree, f"w{end}{over.id}") for end, tree in columns.items()]


def _order(over: WindowCall) -> list[exp.Ordered]:
    return [exp.Ordered(this=column(f"o{over.id}_{i}", "m")) for i in range(len(over.order))]


def _partition(over: WindowCall) -> list[Tree]:
    return [column(f"p{over.id}_{i}", "m") for i in range(len(over.partition))]


def _places(over: WindowCall, marked: str) -> exp.Select:
    """The groups: the numbers of sure and of possible groups up to each, and the place."""

    def run(text: str) -> Tree:
        order: list[exp.Expr] = [*_order(over), exp.Ordered(this=sql("m.id"))]
        spec = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
        return exp.Window(this=sql(text), partition_by=_partition(over), order=exp.Order(expressions=order), spec=spec)

    expressions = {
        "place": run("COUNT(*)"),
        "sures": run("COUNT(CASE WHEN m.sure THEN 1 END)"),
        "mays": run("COUNT(CASE WHEN m.may THEN 1 END)"),
        "all_sures": exp.Window(this=sql("COUNT(CASE WHEN m.sure THEN 1 END)"), partition_by=_partition(over)),
    }
    # Too many groups are refused by a check of the answer; they are not compared before.
    few = sql("(SELECT COUNT(*) FROM _groups) <= :n", n=_NUMBER(MOST_RANKED))
    return select(
        [sql("m.*"), *(named(tree, name) for name, tree in expressions.items())],
        exp.alias_(make_table(marked), "m", table=True),
        where=[few],
    )


def _between(name: str, *, before: bool) -> Tree:
    """How many groups lie between o and m that are sure, or may be: ``name`` counts them up to each."""
    flag = "sure" if name == "sures" else "may"
    first, last = ("o", "m") if before else ("m", "o")
    return sql(f"{last}.{name} - (CASE WHEN {last}.{flag} THEN 1 ELSE 0 END) - {first}.{name}")


def _within(frame: Frame, name: str) -> Tree:
    """Whether few enough groups lie between o and m for o to be in the frame of m."""
    sides = []
    for most, before in ((frame.before, True), (frame.after, False)):
        side = sql("o.place < m.place" if before else "o.place > m.place")
        if most == 0:
            continue
        if most is None:
            sides.append(side)
            continue
        sides.append(every([side, sql(":b < :n", b=_between(name, before=before), n=_NUMBER(most))]))
    sides.append(sql("o.id = m.id"))
    condition = sides[0]
    for side in sides[1:]:
        condition = sql(":a OR :b", a=condition, b=side)
    return condition


def _frames(over: WindowCall, placed: str) -> exp.Select:
    """For each group, the bounds over the possible contents of the frame."""
    frame = over.frame
    assert frame is not None
    here = [
        exp.NullSafeEQ(this=column(f"p{over.id}_{i}", "o"), expression=column(f"p{over.id}_{i}", "m"))
        for i in range(len(over.partition))
    ]
    query = select(
        [sql("m.id AS id"), *(named(tree, name) for name, tree in _bounds(over, frame).items())],
        exp.alias_(make_table(placed), "m", table=True),
        group=[sql("m.id")],
    )
    other_rows = exp.alias_(make_table(placed), "o", table=True)
    query.set("joins", [exp.Join(this=other_rows, on=every(here) if here else sql("1 = 1"))])
    return query


def _bounds(over: WindowCall, frame: Frame) -> dict[str, Tree]:
    if frame.offset is not None:
        return _of_one(over, frame, *_so_far_away(frame.offset))
    if frame.edge is not None:
        return _of_one(over, frame, _at_end(frame, first=frame.edge == "first"), TRUE)
    itself = sql("o.id = m.id")
    sure = every([sql("(o.sure OR :i)", i=itself), _within(frame, "mays")])
    may = every([sql("(o.may OR :i)", i=itself), _within(frame, "sures")])
    if over.value is None:
        ends = {"l": sure, "h": may}
        return {end: sql("COUNT(CASE WHEN :x THEN 1 END)", x=tree) for end, tree in ends.items()} | {"u": _NUMBER(0)}
    low, high, undefined, nothing = (column(f"v{over.id}{end}", "o") for end in "lhun")
    surely, maybe = every([sure, sql(":u = 0", u=undefined)]), every([may, negate(nothing)])
    open_low, open_high = (sql("COALESCE(BOOL_OR(:k AND :x IS NULL), FALSE)", k=maybe, x=end) for end in (low, high))
    none = sql("CASE WHEN COUNT(CASE WHEN :x THEN 1 END) > 0 THEN 0 ELSE 1 END", x=surely)
    if over.kind == "sum":
        zero = _NUMBER(0)
        ends_ = [
            sql("SUM(:x)", x=when(surely, end, when(maybe, sql(f"{word}(:e, :z)", e=end, z=zero))))
            for end, word in ((low, "LEAST"), (high, "GREATEST"))
        ]
    elif over.kind == "avg":
        all_known = sql("COALESCE(BOOL_AND(NOT :k OR :h), TRUE)", k=maybe, h=surely)
        kind = frame.type or exp.DataType.build("DOUBLE")
        ends_ = [
            when(
                all_known,
                mean(kind, sql("SUM(:x)", x=when(surely, end)), sql("COUNT(CASE WHEN :h THEN 1 END)", h=surely)),
                exp.cast(sql(f"{word}(:x)", x=when(maybe, end)), kind.copy()),
            )
            for end, word in ((low, "MIN"), (high, "MAX"))
        ]
    else:
        word, opposite = ("MIN", "MAX") if over.kind == "min" else ("MAX", "MIN")
        near, far = (low, high) if over.kind == "min" else (high, low)
        reached = sql(f"{word}(:x)", x=when(maybe, near))
        forced = sql(f"COALESCE({word}(:f), {opposite}(:a))", f=when(surely, far), a=when(maybe, far))
        ends_ = [reached, forced] if over.kind == "min" else [forced, reached]
    return {"l": when(open_low, exp.null(), ends_[0]), "h": when(open_high, exp.null(), ends_[1]), "u": none}


def _so_far_away(offset: int) -> tuple[Tree, Tree]:
    """LAG and LEAD: whether a group may be so many places away, and whether a group is there for certain."""
    before, count = offset < 0, abs(offset)
    side = sql("o.place < m.place" if before else "o.place > m.place")
    least, most = (_between(name, before=before) for name in ("sures", "mays"))
    is_near = every([side, sql("o.may"), sql(":l <= :n AND :n <= :m", l=least, m=most, n=_NUMBER(count - 1))])
    return is_near, sql("COUNT(CASE WHEN :s AND o.sure THEN 1 END) >= :n", s=side, n=_NUMBER(count))


def _at_end(frame: Frame, *, first: bool) -> Tree:
    """FIRST_VALUE and LAST_VALUE: whether a group may be the outermost of a frame.

    It is so many places away, or nearer and there is none beyond it; the row's own is in every frame.
    """
    most = frame.before if first else frame.after
    itself = sql("o.id = m.id")
    if most == 0:
        return itself
    alone, own_alone = (
        sql(
            f"{alias}.sures - (CASE WHEN {alias}.sure THEN 1 ELSE 0 END) = 0"
            if first
            else f"{alias}.all_sures = {alias}.sures"
        )
        for alias in "om"
    )
    side = every([sql("o.may"), sql("o.place < m.place" if first else "o.place > m.place")])
    if most is None:
        return every([some([itself, side]), alone])
    fewest, greatest = (_between(name, before=first) for name in ("sures", "mays"))
    away = _NUMBER(most - 1)
    near = sql(":f <= :n AND (:g >= :n OR :a)", f=fewest, g=greatest, n=away, a=alone)
    return some([every([itself, own_alone]), every([side, near])])


def _of_one(over: WindowCall, frame: Frame, chosen: Tree, enough: Tree) -> dict[str, Tree]:
    """The values of the groups that may be chosen; ``enough``: a group is chosen for certain."""
    low, high, undefined = (column(f"v{over.id}{end}", "o") for end in "lhu")
    # A group without a value gives NULL, which is none of the ends.
    some_null = sql("COALESCE(BOOL_OR(:c AND :u <> 0), FALSE)", c=chosen, u=undefined)
    valued = every([chosen, negate(column(f"v{over.id}n", "o"))])
    open_ = [sql("COALESCE(BOOL_OR(:c AND :x IS NULL), FALSE)", c=valued, x=end) for end in (low, high)]
    ends = [sql(f"{word}(:x)", x=when(valued, end)) for word, end in (("MIN", low), ("MAX", high))]
    maybe = sql("CASE WHEN :e AND NOT :s THEN 0 ELSE 1 END", e=enough, s=some_null)
    if frame.default is not None:
        ends = [
            when(enough, end, sql(f"{word}(:e, :d)", e=end, d=own(frame.default)))
            for word, end in zip(("LEAST", "GREATEST"), ends, strict=True)
        ]
        maybe = sql("CASE WHEN :s THEN 1 ELSE 0 END", s=some_null)
    return {
        "l": when(open_[0], exp.null(), ends[0]),
        "h": when(open_[1], exp.null(), ends[1]),
        "u": maybe,
    }


def _estimate(over: WindowCall) -> Tree:
    """The window function over the groups that the answer shows."""
    frame = over.frame
    assert frame is not None
    shown = sql("m.shown")
    value = column(f"v{over.id}e", "m")
    if frame.offset is not None:
        function: exp.Expr = aggregates.place_of(value, frame.offset, frame.default)
    elif frame.edge is not None:
        function = aggregates.value_at(value, frame.edge)
    else:
        function = sql(f"{over.kind.upper()}(:x)", x=value) if over.value is not None else sql("COUNT(*)")
    window = exp.Window(this=function, partition_by=[shown, *_partition(over)])
    order = _order(over)
    if order:
        window.set("order", exp.Order(expressions=order))
    if frame.offset is None and order:
        sides = {
            name: (
                "UNBOUNDED" if count is None else "CURRENT ROW" if count == 0 else _NUMBER(count),
                side if count != 0 else None,
            )
            for name, count, side in (("start", frame.before, "PRECEDING"), ("end", frame.after, "FOLLOWING"))
        }
        window.set(
            "spec",
            exp.WindowSpec(
                kind="ROWS",
                start=sides["start"][0],
                start_side=sides["start"][1],
                end=sides["end"][0],
                end_side=sides["end"][1],
            ),
        )
    return window
