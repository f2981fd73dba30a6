"""Window functions of a query, as they are read: over the groups of its answer, after GROUP BY and HAVING."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.query.functions import aggregates
from sqlanon.query.functions.aggregates import adds_up, aggregate_of, is_extreme, is_sum
from sqlanon.query.parse.scope import boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Calculator
from sqlanon.query.rewrite.query_plan import Check, Over, Quad, Sorting
from sqlanon.query.sql.sqltree import FALSE, Tree, as_type, column, sql, when
from sqlanon.query.sql.types import is_float, is_number

MOST_RANKED = 3_000
"""Groups that are compared with one another."""

RANKS = tuple(one.kind for one in aggregates.RANKS)
_FORMS = (
    "over the groups of an answer there are rank, dense_rank, row_number, count(*), sum, min and max, each OVER "
    "([PARTITION BY what is grouped by] [ORDER BY ..]) without a frame; a mean is sum(..) OVER (..) / count(*) OVER "
    "(..)"
)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an expression is of a whole group, or of several: it has an aggregate or a window function."""
    return node.find(exp.AggFunc, exp.Window) is not None


def type_window(calculator: Calculator, node: exp.Window) -> exp.DataType:
    """The type of a window function over the source's groups."""
    inner = node.this
    if not (is_sum(inner) or is_extreme(inner)):
        return exp.DataType.build("BIGINT")
    value = inner.this
    own = calculator.check(value) if has_aggregate(value) else calculator.notes.type_of(value)
    return calculator.notes.type_of(exp.Sum(this=exp.cast(exp.null(), own))) if is_sum(inner) else own


def read_window(calculator: Calculator, node: exp.Window, *, as_source: bool = False, sharp: bool = False) -> Quad:
    """The columns that a window function will have (`sqlanon.query.rewrite.window_bounds`); noted down once.

    Args:
        calculator: reads what is in it.
        node: the window function, bound.
        as_source: it is calculated with, so that its ends have the type that they have in the source.
        sharp: it is rounded or compared, so that its ends have to hold to the last digit.

    Raises:
        Refused: another form than those that have bounds.
    """
    text = node.sql(dialect=calculator.scope.engine.dialect)
    found = calculator.notes.windows.get(text)
    if found is None:
        found = _read(calculator, node)
        calculator.notes.windows[text] = found
    estimate, low, high, undefined = (column(f"w{end}{found.id}") for end in "elhu")
    kind = type_window(calculator, node) if as_source or sharp else None
    if sharp and kind is not None and is_float(kind):
        refuse(
            calculator.scope.text,
            node,
            "engines add floating point numbers up in any order, so that what is made of groups of them is not rounded "
            "or compared; cast to decimal inside, as in sum(sum(CAST(x AS DECIMAL(18, 3)))) OVER ()",
        )
    if kind is not None and is_number(kind):
        low, high = exp.cast(low, kind), exp.cast(high, kind)
    return Quad(estimate, low, high, undefined, tight=False)


def _read(calculator: Calculator, node: exp.Window) -> Over:
    scope, function = calculator.scope, node.this
    known = aggregate_of(function)
    kind = known.kind if known is not None and known.over_groups else None
    order = node.args["order"].expressions if node.args.get("order") is not None else []
    plain = not any(node.args.get(name) for name in ("spec", "alias", "first")) and node.args.get("over") == "OVER"
    fits = kind is not None and plain and not function.expressions and not isinstance(function.this, exp.Distinct)
    if (
        not fits
        or (kind == "count" and not isinstance(function.this, exp.Star))
        or (kind in RANKS and (function.this or not order))
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
    sorting = tuple(_sorting(calculator, term) for term in order)
    value, nothing = None, FALSE
    if kind in ("sum", "min", "max"):
        value, nothing = _value(calculator, function.this)
        if any(term.ends is not None for term in sorting):
            refuse(scope.text, node, "running totals are ordered by what the query is grouped by")
    if kind in RANKS:
        many = sql("(SELECT COUNT(*) FROM _groups) > :n", n=exp.Literal.number(MOST_RANKED))
        reason = f"more than {MOST_RANKED:,} groups are not ranked; group by larger steps, or leave groups out by WHERE"
        calculator.notes.checks.append(Check(many, node, reason))
    return Over(
        len(calculator.notes.windows),
        kind,
        tuple(calculator.groups.plain(term) for term in partition),
        sorting,
        value,
        nothing,
        None if order else _whole(calculator, function, partition),
    )


def _sorting(calculator: Calculator, term: exp.Ordered) -> Sorting:
    """A term of ORDER BY inside a window."""
    scope, node, made = calculator.scope, term.this, term.copy()
    if node.find(exp.Window):
        refuse(scope.text, node, "a window is ordered by aggregates, and by what the query is grouped by")
    if has_aggregate(node):
        bare = isinstance(node.unnest(), exp.AggFunc | exp.Filter)
        ends = calculator.quad(node, typed=not bare, sharp=True)
        made.set("this", ends.estimate.copy())
        return Sorting(made, ends)
    for own in [*scope.exact_fields(node), *(scope.box(name).field for name in boxes_in(node))]:
        scope.check_collation(own, node)
        if own.kind in ("enum", "other"):
            refuse(
                scope.text,
                node,
                f"column {own.name} ({own.source_type}) has an order of its own in the source; order by the aggregates",
            )
    made.set("this", calculator.groups.plain(node))
    return Sorting(made)


def _value(calculator: Calculator, node: exp.Expr) -> tuple[Quad, Tree]:
    """What is added up of each group, and when it is NULL for certain."""
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
    return calculator.quad(node, typed=True), calculator.surely_nothing(node)


def _whole(
    calculator: Calculator, function: exp.Expr, partition: list[exp.Expr]
) -> tuple[Tree, tuple[Tree, ...]] | None:
    """The aggregate that has the same value over the rows of a whole partition, and its keys; None: there is none.

    Every row lies in one group: sums of groups add up to that of all rows, so that its bounds are narrower than sums of
    ends.
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
    own, total = (calculator.quad(node, typed=True) for node in (top, bottom))
    parts = {
        "l": as_type(own.low, "DOUBLE"),
        "h": as_type(own.high, "DOUBLE"),
        "a": as_type(total.low, "DOUBLE"),
        "b": as_type(total.high, "DOUBLE"),
        "o": as_type(column(f"wo{over.id}"), "DOUBLE"),
        "p": as_type(column(f"wp{over.id}"), "DOUBLE"),
    }
    low = sql("COALESCE(:l / NULLIF(LEAST(:l + :p, :b), 0), 0.0)", **parts)
    high = sql("LEAST(COALESCE(:h / NULLIF(GREATEST(:h + :o, :a), 0), 0.0), 1.0)", **parts)
    known = sql("COALESCE(:f AND :l >= 0 AND :h >= 0, FALSE)", f=column(f"wf{over.id}"), l=parts["l"], h=parts["h"])
    return low, high, known
