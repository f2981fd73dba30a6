"""Reads aggregates over the groups of a query: the outer ones of ``avg(n)`` over ``count(*) AS n``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.query.functions.aggregates import aggregate_of, first_of
from sqlanon.query.normalize.expression_subqueries import Scalar
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Aggregates
from sqlanon.query.rewrite.outputs import GroupOutputs
from sqlanon.query.rewrite.query_plan import Aggregate, Check, GroupAggregate, Outputs, Quad, Regroup, WindowCall
from sqlanon.query.rewrite.window_functions import has_aggregate, of_present
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, every, negate, sql, when
from sqlanon.query.sql.types import is_float, is_number, is_whole

_KINDS = ("count", "sum", "avg", "min", "max")
_FORMS = (
    "over the groups of a subquery there are count(*), count, sum, avg, min and max, with FILTER; for others ask the "
    "groups themselves"
)


@dataclass
class GroupNotes:
    """Notes taken while aggregates of groups are read, see `sqlanon.query.rewrite.calculator.Aggregates`."""

    text: str
    dialect: str
    groups: GroupOutputs
    inner: Aggregates
    grouped: bool
    found: dict[str, GroupAggregate] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    windows: dict[str, WindowCall] = field(default_factory=dict)

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """An aggregate of groups, with the same number each time.

        Raises:
            RefusedQueryError: an aggregate that has no bounds.
        """
        key = node.sql(dialect=self.dialect)
        if key not in self.found:
            self.found[key] = self._read(len(self.found), node)
        existing = self.found[key]
        return Aggregate(existing.id, existing.kind, 0, type=existing.type)

    def error(self, node: exp.Expr) -> Aggregate | None:
        """None: nothing is rounded; refuse values that engines add up in any order."""
        inner = node.this if isinstance(node, exp.Filter) else node
        kind = self.aggregate(node).kind
        argument = self._argument_type(inner) if kind not in ("rows", "count") else None
        mean = kind == "avg" and is_float(self.type_of(inner)) and argument is not None and not is_whole(argument)
        if mean or (argument is not None and is_float(argument)):
            refuse(
                self.text,
                node,
                "floating point values of groups are not rounded or compared; cast to decimal inside, as in "
                "sum(CAST(x AS DECIMAL(18, 3)))",
            )
        return None

    def type_of(self, node: exp.Expr) -> exp.DataType:
        """The type of an expression in the source."""
        inner = node.this if isinstance(node, exp.Filter) else node
        if not isinstance(inner, exp.AggFunc) or isinstance(inner, Scalar) or not _has_argument(inner):
            return self.inner.type_of(node)
        typed = inner.copy()
        typed.set("this", exp.cast(exp.null(), self._argument_type(inner)))
        return self.inner.type_of(typed)

    def ratio(self, factor: exp.Expr, top: exp.Expr, bottom: exp.Expr) -> Aggregate | None:
        """None: both are bounded by themselves."""
        return None

    def _argument_type(self, inner: exp.Expr) -> exp.DataType:
        argument = inner.this
        if has_aggregate(argument):
            return self.groups.calculator.check(argument)
        return self.inner.type_of(argument)

    def _read(self, number: int, node: exp.Expr) -> GroupAggregate:
        inner, where = (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)
        aggregate = aggregate_of(inner)
        kind = aggregate.kind if aggregate is not None else ""
        if kind not in _KINDS or inner.expressions or isinstance(inner.this, exp.Distinct | exp.Order | exp.Tuple):
            refuse(self.text, node, _FORMS)
        sure, may, shown = TRUE, TRUE, TRUE
        if where is not None:
            sure, may = self.groups.surely(where, True), negate(self.groups.surely(where, False))
            if not has_aggregate(where):  # NULL is not TRUE, and known
                may = sql("COALESCE(:x, FALSE)", x=self.groups.plain(where))
            shown = sql("COALESCE(:x, FALSE)", x=self.groups.estimate(where))
        if kind == "count" and not _has_argument(inner):
            return GroupAggregate(number, "rows", inner, None, FALSE, sure, may, shown, where is not None, None)
        argument = inner.this.unnest()
        type_ = None
        if kind in ("sum", "avg") or has_aggregate(argument):
            if not is_number(self._argument_type(inner)):
                refuse(self.text, node, f"{kind} of groups is answered over numbers")
            type_ = self.type_of(inner) if kind == "avg" else None
        if has_aggregate(argument):
            value = of_present(argument, self.groups.calculator.quad(argument, typed=True))
            nothing = self.groups.calculator.is_surely_nothing(argument)
        else:
            if kind in ("min", "max") and not (
                is_number(argument_type := self._argument_type(inner)) or argument_type.is_type("DATE")
            ):
                refuse(self.text, node, f"{kind} of what groups are called is answered over numbers and dates")
            plain = self.groups.plain(argument)
            nothing = sql(":x IS NULL", x=plain)
            value = Quad(plain, plain, plain, when(nothing, exp.Literal.number(1), exp.Literal.number(0)))
        return GroupAggregate(number, kind, inner, value, nothing, sure, may, shown, where is not None, type_)


def _has_argument(node: exp.Expr) -> bool:
    return node.this is not None and not isinstance(node.this, exp.Star | exp.Literal)


def regroup(bound: BoundQuery, inner: Aggregates, *, sharp: bool) -> tuple[Regroup, Outputs]:
    """The parts of groups of groups, and the query's outputs.

    Args:
        bound: the query; items and HAVING are of the groups of groups.
        inner: notes the aggregates of rows.
        sharp: see `sqlanon.query.rewrite.outputs.read_outputs`.

    Raises:
        RefusedQueryError: an aggregate or a term that has no bounds, or a release without all groups.
    """
    scope, terms = bound.scope, bound.regroup or ()
    released = scope.released
    if released.left_out or released.as_of_source:
        refuse(bound.query.text, None, "aggregates of groups have no bounds where rows of the source are left out")
    groups = GroupOutputs.of_groups(bound, inner)
    for term in terms:
        if has_aggregate(term):
            refuse(bound.query.text, term, "groups are grouped again by what they are grouped by, not by aggregates")
    keys = tuple(groups.plain(term) for term in terms)
    before = _meet_condition(groups, bound.inner_having)
    ranked = _meet_condition(groups, bound.qualify)
    windows = tuple(inner.windows.values())
    notes = GroupNotes(bound.query.text, scope.engine.dialect, groups, inner, bool(terms))
    outer = replace(bound, qualify=None)
    outputs = GroupOutputs.of_regrouped(outer, notes, sharp=sharp).outputs(outer, notes)
    aggregates = tuple(notes.found.values())
    having, sure, may = (every(parts) for parts in zip(before, ranked, strict=True))
    some_left = bound.inner_having is not None or bound.qualify is not None
    groups_ = Outputs((), *before, (), TRUE, windows=windows)
    whole = not terms and bound.inner_having is None and bound.qualify is not None
    first = first_of(bound.qualify) if whole and bound.qualify is not None else None
    regroup = Regroup(keys, terms, having, sure, may, some_left, aggregates, tuple(inner.checks), groups_, first)
    inner.checks[:] = notes.checks
    return regroup, outputs


def _meet_condition(groups: GroupOutputs, condition: exp.Expr | None) -> tuple[Tree, Tree, Tree]:
    """Whether groups meet a condition: by their estimates, in every source, in some."""
    if condition is None:
        return TRUE, TRUE, TRUE
    return groups.estimate(condition), groups.surely(condition, True), negate(groups.surely(condition, False))
