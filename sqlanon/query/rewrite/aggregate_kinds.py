"""The kinds of aggregates: one definition of each, with the contributions of rows and the tables that it reads.

A row is a class, or a part of a class, with ``n`` rows of the source: whether they may qualify, whether they certainly
qualify, and the ends of their values. `KINDS` has the computation of bounds for each kind, by the name that
`sqlanon.query.functions.aggregates` gives; no other code depends on the kind of an aggregate to bound it.
`tests/contract/test_query_aggregates.py` judges each of them against all consistent sources of tiny tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.range_facts import count_shown_values
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import attains_distinct
from sqlanon.query.rewrite.box_rows import BoxRows
from sqlanon.query.rewrite.class_bounds import counts_rows
from sqlanon.query.rewrite.class_counts import count_classes
from sqlanon.query.rewrite.distinct_values import distinct_values
from sqlanon.query.rewrite.joint_ratio import quotient
from sqlanon.query.rewrite.ordered_aggregates import (
    Apart,
    average,
    average_of_exact,
    average_of_known,
    count_matched,
    distinct,
)
from sqlanon.query.rewrite.plain_aggregates import bound_count, bound_sum, error, extreme, unsure
from sqlanon.query.rewrite.quantiles import native, open_where_far, quantile
from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan, Ratio
from sqlanon.query.rewrite.row_values import RowValues
from sqlanon.query.rewrite.share_bounds import is_share, share
from sqlanon.query.rewrite.stepped_averages import average_by_steps
from sqlanon.query.rewrite.value_steps import Steps, steps_of
from sqlanon.query.sql.sqltree import Tree, column


@dataclass(frozen=True)
class AggregateInputs:
    """An aggregate to bound, with the inputs of its bounds.

    Attributes:
        scope, plan, rows: the names, the query, and the query's box rows.
        values: the contributions of each row.
        keys: the columns of the groups.
    """

    aggregate: Aggregate
    scope: Scope
    plan: QueryPlan
    rows: BoxRows
    values: RowValues
    keys: Sequence[Tree]

    @property
    def row(self) -> Mapping[str, Tree]:
        """The contribution of a row to the aggregate, see `RowValues.of`."""
        return self.values.of(self.aggregate)

    @property
    def classes(self) -> list[Tree]:
        """The columns of a class; none where each row is a class."""
        divides = self.rows.divided or bool(self.rows.solved)
        return [column(f"class_{class_column.name}") for class_column in self.rows.class_columns if divides]

    @property
    def floating(self) -> bool:
        """Whether the argument may be infinite or no number."""
        a = self.aggregate
        if a.value is not None:
            return a.value.floating
        if a.box is not None:
            return a.box.field.kind == "float"
        return a.term is not None and self.scope.is_floating(self.plan.terms[a.term])

    @property
    def short(self) -> bool:
        """Whether the argument is a published column of whole numbers of 32 bits at most."""
        term = self.plan.terms.get(self.aggregate.term or "")
        return isinstance(term, exp.Column) and self.scope.is_short(term)

    @property
    def steps(self) -> Steps | None:
        """Steps of the argument's values, if it is such a column and the rows have its values."""
        term = self.plan.terms.get(self.aggregate.term or "")
        if not self.short or not isinstance(term, exp.Column):
            return None
        return steps_of(self.scope, term)

    @property
    def average_type(self) -> exp.DataType:
        """The type in which an average is calculated: published means are doubles."""
        a = self.aggregate
        meant = a.box is not None and a.box.id in self.plan.means
        return exp.DataType.build("DOUBLE") if a.type is None or meant else a.type

    @property
    def shuffled(self) -> Box | None:
        """The sensitive column of format anatomy, if the condition asks it apart from exact columns."""
        formula = self.plan.conditions[self.aggregate.condition]
        groups = (box for box in self.scope.boxes.values() if box.shape == "group")
        return next((box for box in groups if self.rows.compiler.apart(formula, box.id)), None)


def _whole(_: AggregateInputs) -> tuple[exp.DataType, exp.DataType]:
    return exp.DataType.build("DOUBLE"), exp.DataType.build("BIGINT")


def _average(request: AggregateInputs) -> tuple[exp.DataType, exp.DataType]:
    return exp.DataType.build("DOUBLE"), request.average_type


def _find_types(request: AggregateInputs) -> tuple[exp.DataType, exp.DataType]:
    return exp.DataType.build("DOUBLE"), request.aggregate.type or exp.DataType.build("DOUBLE")


def _value(request: AggregateInputs) -> tuple[exp.DataType, exp.DataType]:
    estimate = _find_types(request)[1]
    return estimate, request.aggregate.argument or estimate


@dataclass(frozen=True)
class Kind:
    """The definition of a kind of aggregates.

    Attributes:
        bounds: the tables and the columns ``e``, ``l``, ``h``, ``u``: over the last of the tables, or over the rows
            themselves where no table is needed.
        types: types of the estimate and of the bounds, for kinds with tables of their own.
    """

    bounds: Callable[[AggregateInputs], Apart]
    types: Callable[[AggregateInputs], tuple[exp.DataType, exp.DataType]] = _whole


def _rows(request: AggregateInputs) -> Apart:
    box = request.shuffled
    if box is not None:
        return count_matched(request.aggregate.id, request.aggregate.condition, box, request.keys)
    return _bound_count(request)


def _bound_count(request: AggregateInputs) -> Apart:
    a = request.aggregate
    solved = request.rows.solved.get(a.condition) if counts_rows(a) else None
    if solved is not None:
        return count_classes(a.id, request.row, request.keys, request.classes, solved)
    return [], bound_count(request.aggregate, request.row)


def _distinct(request: AggregateInputs) -> Apart:
    a = request.aggregate
    if a.box is None:
        return distinct(a.id, column(a.term or ""), request.row, request.keys)
    members, attained = count_shown_values(request.scope, a.box), attains_distinct(request.scope, a, request.plan)
    return distinct_values(a.id, a.box, request.row, request.keys, members, attained=attained)


def _bound_average(request: AggregateInputs) -> Apart:
    a = request.aggregate
    if a.known:
        return [], average_of_known(a.id, request.row, request.average_type, floating=request.floating)
    if a.of_boxes:
        return average(a.id, request.row, request.keys, request.average_type, floating=request.floating)
    kind, floating, short = request.average_type, request.floating, request.short
    if (steps := request.steps) is not None:
        return average_by_steps(a.id, request.row, request.keys, kind, steps)
    return average_of_exact(a.id, request.row, request.keys, kind, floating=floating, short=short)


def _quantile(request: AggregateInputs) -> Apart:
    a = request.aggregate
    assert a.at is not None
    dates = a.type is not None
    row = open_where_far(request.row) if a.between and request.floating else request.row
    return quantile(a.id, a.at, row, request.keys, between=a.between, dates=dates, steps=request.steps)


def _ratio(request: AggregateInputs) -> Apart:
    a = request.aggregate
    assert a.ratio is not None
    if is_share(a.ratio):
        return _share(request, a.ratio)
    pairs = {name: getattr(a.ratio, name) or (None, None) for name in ("both", "first", "second")}
    of = {
        f"{name} {letter}": request.values.of(part)
        for name, pair in pairs.items()
        for letter, part in zip("ab", pair, strict=True)
        if part is not None
    }
    below = a.ratio.both[1]
    rows = below is not None and below.kind == "rows" and a.condition == 0 and bool(request.keys)
    return quotient(a, a.ratio, of, request.keys, present=rows)


def _share(request: AggregateInputs, ratio: Ratio) -> Apart:
    above, rest = ratio.both[0], ratio.second and ratio.second[1]
    assert above is not None
    assert rest is not None
    below = replace(above, condition=ratio.some)
    rows = request.values.of(above), request.values.of(rest), request.values.of(below)
    solved = [request.rows.solved.get(aggregate.condition) for aggregate in (above, rest, below)]
    return share(request.aggregate.id, ratio.factor, rows, request.keys, request.classes, solved)


KINDS: Mapping[str, Kind] = {
    "rows": Kind(_rows),
    "count": Kind(_bound_count),
    "distinct": Kind(_distinct),
    "sum": Kind(lambda request: ([], bound_sum(request.aggregate, request.row, floating=request.floating))),
    "avg": Kind(_bound_average, _average),
    "min": Kind(lambda request: ([], extreme(request.aggregate, request.row, least=True))),
    "max": Kind(lambda request: ([], extreme(request.aggregate, request.row, least=False))),
    "quantile": Kind(_quantile, _value),
    "native": Kind(
        lambda request: native(request.scope, request.plan, request.aggregate, [key.name for key in request.keys]),
        _value,
    ),
    "ratio": Kind(_ratio, _find_types),
    "unsure": Kind(lambda request: ([], unsure(request.aggregate, request.row))),
    "error": Kind(lambda request: ([], error(request.aggregate, request.row))),
}
"""By name; the last three are of no function: a quotient of two aggregates, whether it is known which rows qualify, and
by how much sums may differ that are added up in another order."""
