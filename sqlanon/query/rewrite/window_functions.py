"""Reads the window functions of a query: over the groups of the answer, after GROUP BY and HAVING."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions import aggregates
from sqlanon.query.functions.aggregates import (
    SHARES,
    adds_up,
    aggregate_of,
    counts_rows,
    edge_of,
    is_extreme,
    is_sum,
    parts_of,
    steps_of,
)
from sqlanon.query.parse.scope import boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Calculator
from sqlanon.query.rewrite.query_plan import Check, Frame, OrderTerm, Quad, WindowCall
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, column, sql, when
from sqlanon.query.sql.types import is_float, is_number, is_single, is_whole

MOST_RANKED = 3_000
"""Most groups that are compared with each other."""

RANKS = tuple(definition.kind for definition in aggregates.RANKS)
_FORMS = (
    "over the groups of an answer there are rank, dense_rank, row_number, percent_rank, cume_dist, ntile, count(*), "
    "sum, avg, min, max, lag, lead, first_value and last_value, each OVER ([PARTITION BY what is grouped by] [ORDER "
    "BY ..] [ROWS BETWEEN n PRECEDING AND m FOLLOWING])"
)
_UNIQUE = (
    "{0} is answered in an order by all that the query is grouped by and not partitioned by, so that no two rows tie"
)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression is of a whole group, or of several: it has an aggregate or a window function."""
    return node.find(exp.AggFunc, exp.Window) is not None


def type_window(calculator: Calculator, node: exp.Window) -> exp.DataType:
    """The type of a window function over the source's groups."""
    inner = node.this
    aggregate = aggregate_of(inner)
    mean = aggregate is not None and aggregate.kind == "avg"
    if aggregate is not None and aggregate.kind in SHARES:
        return exp.DataType.build("DOUBLE")
    placed = aggregate is None
    if not (is_sum(inner) or is_extreme(inner) or mean or placed):
        return exp.DataType.build("BIGINT")
    value = inner.this
    kind = calculator.check(value) if has_aggregate(value) else calculator.notes.type_of(value)
    if mean:
        return calculator.notes.type_of(type(inner)(this=exp.cast(exp.null(), kind)))
    return calculator.notes.type_of(exp.Sum(this=exp.cast(exp.null(), kind))) if is_sum(inner) else kind


def read_window(calculator: Calculator, node: exp.Window, *, as_source: bool = False, sharp: bool = False) -> Quad:
    """The columns that a window function will have (`sqlanon.query.rewrite.window_bounds`); noted down once.

    Args:
        calculator: reads the expressions in it.
        node: the window function, bound.
        as_source: it is part of a calculation, so that the ends have the same type as in the source.
        sharp: it is rounded or compared, so that the ends have to hold to the last digit.

    Raises:
        RefusedQueryError: another form than those that have bounds.
    """
    text = node.sql(dialect=calculator.scope.engine.dialect)
    window = calculator.notes.windows.get(text)
    if window is None:
        window = _read(calculator, node)
        calculator.notes.windows[text] = window
    estimate, low, high, undefined = (column(f"w{end}{window.id}") for end in "elhu")
    kind = type_window(calculator, node) if as_source or sharp or is_sum(node.this) else None
    singly = kind is not None and is_single(kind) and is_sum(node.this)
    if singly or (sharp and kind is not None and is_float(kind) and not _is_of_whole(calculator, node)):
        refuse(
            calculator.scope.text,
            node,
            "engines add floating point numbers up in any order, so that what is made of groups of them is not rounded "
            "or compared; cast to decimal inside, as in sum(sum(CAST(x AS DECIMAL(18, 3)))) OVER ()",
        )
    if (as_source or sharp) and kind is not None and is_number(kind):
        low, high = exp.cast(low, kind), exp.cast(high, kind)
    return Quad(estimate, low, high, undefined, tight=False)


def _is_of_whole(calculator: Calculator, node: exp.Window) -> bool:
    """Whether it is a quotient of whole numbers, or a mean of them, with a sum that is the same in any order."""
    aggregate = aggregate_of(node.this)
    if aggregate is not None and aggregate.kind in SHARES:
        return True
    if aggregate is None or aggregate.kind != "avg":
        return False
    value = node.this.this
    return is_whole(calculator.check(value) if has_aggregate(value) else calculator.notes.type_of(value))


def _read(calculator: Calculator, node: exp.Window) -> WindowCall:
    scope, function = calculator.scope, node.this
    aggregate = aggregate_of(function)
    kind = aggregate.kind if aggregate is not None and (aggregate.over_groups or aggregate.kind == "avg") else None
    frame = _frame(calculator, node)
    if frame is not None and frame.picks:
        kind = "place"
    try:
        parts = parts_of(function)
    except ValueError:
        refuse(scope.text, node, "ntile divides into a whole number of parts, at least 1, that is written out")
    order = node.args["order"].expressions if node.args.get("order") is not None else []
    plain = not any(node.args.get(name) for name in ("alias", "first")) and node.args.get("over") == "OVER"
    plain = plain and (frame is not None or not node.args.get("spec"))
    fits = kind is not None and plain and not function.expressions and not isinstance(function.this, exp.Distinct)
    if (
        not fits
        or (kind == "count" and not isinstance(function.this, exp.Star))
        or (kind in RANKS and ((function.this and parts is None) or not order or frame is not None))
    ):
        refuse(scope.text, node, _FORMS)
    assert kind is not None
    if not calculator.notes.grouped:
        refuse(
            scope.text,
            node,
            "a release has no rows of persons to number or add up; window functions are answered over the groups of a "
            "GROUP BY",
        )
    partition = node.args.get("partition_by") or []
    for term in partition:
        if has_aggregate(term):
            refuse(scope.text, term, "PARTITION BY takes what the query is grouped by")
    sorting = tuple(_read_sorting(calculator, term) for term in order)
    value, nothing = None, FALSE
    if kind in ("sum", "min", "max", "avg", "place"):
        value, nothing = _value(calculator, function.this)
        if any(term.ends is not None for term in sorting):
            refuse(scope.text, node, "running totals are ordered by what the query is grouped by")
    if frame is not None:
        frame = _settle_frame(calculator, node, frame, partition, order)
    if kind in RANKS or frame is not None:
        many = sql("(SELECT COUNT(*) FROM _groups) > :n", n=exp.Literal.number(MOST_RANKED))
        reason = f"more than {MOST_RANKED:,} groups are not ranked; group by larger steps, or leave groups out by WHERE"
        calculator.notes.checks.append(Check(many, node, reason))
    return WindowCall(
        len(calculator.notes.windows),
        kind,
        tuple(calculator.groups.plain(term) for term in partition),
        sorting,
        value,
        nothing,
        None if order or frame is not None else _whole(calculator, function, partition),
        frame,
        parts,
    )


def _frame(calculator: Calculator, node: exp.Window) -> Frame | None:
    """The frame of a window function that counts groups; None: it takes a partition, or all up to the row's own."""
    text, function, spec = calculator.scope.text, node.this, node.args.get("spec")
    try:
        offset = steps_of(function)
    except ValueError:
        refuse(text, node, "lag and lead go a whole number of places, at least 1")
    if offset is not None:
        if spec or not node.args.get("order"):
            refuse(text, node, "lag and lead are answered OVER (.. ORDER BY ..), without a frame")
        return Frame(offset=offset, default=function.args.get("default"))
    aggregate, edge = aggregate_of(function), edge_of(function)
    mean = aggregate is not None and aggregate.kind == "avg"
    if edge is not None and not node.args.get("order"):
        refuse(text, node, f"{function.sql_name().lower()} needs an ORDER BY: without one any row may be it")
    if spec is None:
        return Frame(None, 0 if node.args.get("order") else None, edge=edge) if mean or edge else None
    sides = [
        _side(spec.args.get(name), spec.args.get(f"{name}_side"), way)
        for name, way in (("start", "PRECEDING"), ("end", "FOLLOWING"))
    ]
    if spec.args.get("end") is None:
        sides[1] = (True, 0)
    if str(spec.args.get("kind")).upper() != "ROWS" or spec.args.get("exclude") or not all(fits for fits, _ in sides):
        refuse(text, node, _FORMS)
    if not node.args.get("order") and (sides[0][1], sides[1][1]) != (None, None):
        refuse(text, node, "a frame of rows needs an ORDER BY")
    return Frame(sides[0][1], sides[1][1], edge=edge)


def _side(end: object, side: object, way: str) -> tuple[bool, int | None]:
    """Whether an end of a frame is answered, and how many groups away it is; None: all."""
    word = str(end).upper() if isinstance(end, str) else ""
    if word == "CURRENT ROW":
        return True, 0
    if str(side).upper() != way:
        return False, 0
    if word == "UNBOUNDED":
        return True, None
    if isinstance(end, exp.Literal) and not end.is_string and end.this.isdigit():
        return True, int(end.this)
    return False, 0


def _settle_frame(
    calculator: Calculator, node: exp.Window, frame: Frame, partition: list[exp.Expr], order: list[exp.Ordered]
) -> Frame:
    """The frame, after checks of the order and types."""
    text = calculator.scope.text
    terms = [term.unnest() for term in (*partition, *(term.this for term in order))]
    if order and not all(key.unnest() in terms for key in calculator.groups.keys):
        refuse(text, node, _UNIQUE.format(node.this.sql_name().lower()))
    kind = type_window(calculator, node)
    if frame.picks and not (is_number(kind) or kind.is_type("DATE", "TIMESTAMP")):
        name = node.this.sql_name().lower()
        refuse(text, node, f"{name} is answered of numbers, dates and timestamps")
    default = frame.default
    if default is not None and (not isinstance(default, exp.Literal) or default.is_string or not is_number(kind)):
        refuse(text, default, "the third argument of lag and lead is a plain number")
    aggregate = aggregate_of(node.this)
    mean = not frame.picks and aggregate is not None and aggregate.kind == "avg"
    if mean and not is_number(kind):
        refuse(text, node, "averages are answered over numbers")
    return replace(frame, type=kind if mean else None)


def _read_sorting(calculator: Calculator, term: exp.Ordered) -> OrderTerm:
    """A term of ORDER BY inside a window."""
    scope, node, term_copy = calculator.scope, term.this, term.copy()
    if node.find(exp.Window):
        refuse(scope.text, node, "a window is ordered by aggregates, and by what the query is grouped by")
    if has_aggregate(node):
        bare = isinstance(node.unnest(), exp.AggFunc | exp.Filter)
        ends = calculator.quad(node, typed=not bare, sharp=True)
        term_copy.set("this", ends.estimate.copy())
        return OrderTerm(term_copy, ends)
    for field in [*scope.exact_fields(node), *(scope.box(name).field for name in boxes_in(node))]:
        scope.check_collation(field, node)
        if field.kind in ("enum", "other"):
            refuse(
                scope.text,
                node,
                f"column {field.name} ({field.source_type}) has an order of its own in the source; order by "
                "the aggregates",
            )
    term_copy.set("this", calculator.groups.plain(node))
    return OrderTerm(term_copy)


def _value(calculator: Calculator, node: exp.Expr) -> tuple[Quad, Tree]:
    """The summand of each group, and the condition under which it is NULL for certain."""
    if not has_aggregate(node):
        if boxes_in(node) and not any(node == key for key in calculator.groups.keys):
            refuse(
                calculator.scope.text,
                node,
                "write sum(sum(x)) OVER (..): the inner aggregate is of a group's rows, the outer one of the groups",
            )
        plain = calculator.groups.plain(node)
        missing = sql(":x IS NULL", x=plain)
        return Quad(plain, plain, plain, when(missing, exp.Literal.number(1), exp.Literal.number(0))), missing
    if node.find(exp.Window):
        refuse(calculator.scope.text, node, "a window function takes no other one")
    return of_present(node, calculator.quad(node, typed=True)), calculator.is_surely_nothing(node)


def of_present(node: exp.Expr, value: Quad) -> Quad:
    """The value of a group where the group is there: it has a row then."""
    if not counts_rows(node.unnest()):
        return value
    return replace(value, low=sql("GREATEST(:l, 1)", l=value.low))


def _whole(
    calculator: Calculator, function: exp.Expr, partition: list[exp.Expr]
) -> tuple[Tree, tuple[Tree, ...]] | None:
    """The aggregate that has the same value over the rows of a whole partition, and its keys; None: there is none.

    Every row lies in a single group: sums of groups add up to that of all rows, so that its bounds are narrower than
    sums of ends.
    """
    inner = function.this
    bare = inner.this if isinstance(inner, exp.Filter) else inner
    adds = is_sum(function) and adds_up(bare)
    same = is_extreme(function) and type(bare) is type(function)
    if (
        calculator.groups.has_having
        or not (adds or same)
        or not all(term in calculator.groups.keys for term in partition)
    ):
        return None
    return inner, tuple(partition)


def share_total(calculator: Calculator, top: exp.Expr, bottom: exp.Expr) -> tuple[Tree, Tree, Tree] | None:
    """The ends of a group's share of a total, and when they hold; None: it is another quotient.

    A share v / (v + o) rises with the group's own v and falls with the sum o of the others, where none is below 0. The
    total may be bounded better than by v + o.
    """
    if (
        not isinstance(bottom, exp.Window)
        or not is_sum(bottom.this)
        or bottom.args.get("order")
        or bottom.this.this != top
    ):
        return None
    read_window(calculator, bottom)
    over = calculator.notes.windows[bottom.sql(dialect=calculator.scope.engine.dialect)]
    part, total = (calculator.quad(node, typed=True) for node in (top, bottom))
    parts = {
        "l": as_type(part.low, "DOUBLE"),
        "h": as_type(part.high, "DOUBLE"),
        "a": as_type(total.low, "DOUBLE"),
        "b": as_type(total.high, "DOUBLE"),
        "o": as_type(column(f"wo{over.id}"), "DOUBLE"),
        "p": as_type(column(f"wp{over.id}"), "DOUBLE"),
    }
    low = sql("COALESCE(:l / NULLIF(LEAST(:l + :p, :b), 0), 0.0)", **parts)
    high = sql("LEAST(COALESCE(:h / NULLIF(GREATEST(:h + :o, :a), 0), 0.0), 1.0)", **parts)
    is_known = sql("COALESCE(:f AND :l >= 0 AND :h >= 0, FALSE)", f=column(f"wf{over.id}"), l=parts["l"], h=parts["h"])
    return low, high, is_known
