"""Bounds arguments of aggregates that are expressions of columns with ranges, such as ``sum(age * 2)``.

CASE becomes branches: a formula each, and a value without CASE. Interval arithmetic bounds the value of a branch over
the part of each box in which the formula has one result. The ends are calculated in the types of the source: rounding
is monotone, so that it keeps the order of the ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.functions.definition import NoEndsError
from sqlanon.query.functions.evaluate import evaluate
from sqlanon.query.functions.registry import divisors
from sqlanon.query.functions.value import Value, fix_value, leaf
from sqlanon.query.logic.formula import Formula, Part, both
from sqlanon.query.parse.leaves import ExactLeaves
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.parse.source_types import SourceTypes, type_of
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, column, every, negate, select, sql, when

MOST_BRANCHES = 16
"""Most joint outcomes of the CASEs of an argument."""

_REASON = "inside an aggregate, columns with ranges are calculated with where the result has ends"


@dataclass(frozen=True)
class Branch:
    """A joint outcome of the CASEs of an argument: the condition, and the value then; None: NULL."""

    formula: Formula
    value: Tree | None


@dataclass(frozen=True)
class RowExpression:
    """The argument of an aggregate.

    Attributes:
        id: a short name for columns of the rewritten SQL.
        branches: exactly one branch holds for every row.
        boxes: those that the values read.
        type: type of the value in the source.
        floating: it may be infinite or no number.
        exact_ends: each end of a branch is reached by some value of the boxes, whatever the other branches do.
        types: types of the parts.
    """

    id: str
    branches: tuple[Branch, ...]
    boxes: tuple[Box, ...]
    type: exp.DataType
    floating: bool
    exact_ends: bool
    types: SourceTypes = field(compare=False, repr=False)


class ArgumentReader(Protocol):
    """The functions needed to read an argument."""

    scope: Scope

    def decides(self, predicate: exp.Expr) -> tuple[Formula, Formula]:
        """The formula that holds where a predicate is TRUE, and the formula that holds elsewhere."""

    def type_of(self, node: exp.Expr) -> exp.DataType:
        """The type of an expression in the source."""


def branches_of(reads: ArgumentReader, node: exp.Expr) -> list[Branch]:
    """The branches of an argument.

    Raises:
        RefusedQueryError: there are too many.
    """
    case = next(
        (c for c in node.find_all(exp.Case, exp.If) if boxes_in(c) and not isinstance(c.parent, exp.Case)),
        None,
    )
    if case is None:
        return [Branch(True, None if isinstance(node.unnest(), exp.Null) else node)]
    kind = reads.type_of(case)
    branches: list[Branch] = []
    before: Formula = True
    turns, default = _turns(case)
    for condition, value in [*turns, (None, default)]:
        holds, fails = reads.decides(condition) if condition is not None else (True, False)
        whole = exp.Paren(this=node.copy())
        place = next(c for c in whole.find_all(type(case)) if c == case)
        place.replace(exp.Paren(this=exp.cast(value.copy(), kind)) if value is not None else exp.null())
        rest = whole.this
        mine = both([before, holds])
        if mine is not False:
            if value is None and whole.this.unnest() is not None and isinstance(rest.unnest(), exp.Null):
                branches.append(Branch(mine, None))
            else:
                branches += [Branch(both([mine, branch.formula]), branch.value) for branch in branches_of(reads, rest)]
        before = both([before, fails])
        if len(branches) > MOST_BRANCHES:
            refuse(
                reads.scope.text,
                node,
                f"CASE expressions turn out in more than {MOST_BRANCHES} ways; ask with FILTER",
            )
    return [branch for branch in branches if branch.formula is not False]


def _turns(case: exp.Expr) -> tuple[list[tuple[exp.Expr, exp.Expr]], exp.Expr | None]:
    """Conditions with their values, and the value of ELSE."""
    if isinstance(case, exp.If):
        return [(case.this, case.args["true"])], case.args.get("false")
    turns = []
    for argument in case.args["ifs"]:
        condition = (
            argument.this if case.this is None else exp.EQ(this=case.this.copy(), expression=argument.this.copy())
        )
        turns.append((condition, argument.args["true"]))
    return turns, case.args.get("default")


class PartLeaves(ExactLeaves):
    """The parts of boxes in which a formula is decided alike, as leaves of an argument.

    Args:
        scope: the names.
        types: types of expressions in the source.
        names: the columns of exact expressions, by their texts.
        parts: parts of each box, by id.
    """

    def __init__(self, scope: Scope, types: SourceTypes, names: Mapping[str, str], parts: Mapping[str, Part]) -> None:
        super().__init__(scope, types)
        self._names, self._parts = names, parts

    def exact(self, node: exp.Expr) -> Tree:
        return column(self._names[node.sql(dialect=self.dialect)])

    def range_of(self, node: exp.Column) -> Value:
        part, type_ = self._parts[node.name], type_of(self.scope.box(node.name), self.dialect)
        if part.low is None or part.high is None:
            return fix_value(exp.cast(exp.null(), type_), type_, null=TRUE)
        middle = sql("COALESCE(:m, 0)", m=part.middle) if part.middle is not None else sql("0.0")
        bounded = part.open is FALSE
        ends = (exp.cast(end if bounded else when(negate(part.open), end), type_) for end in (part.low, part.high))
        return leaf(next(ends), next(ends), FALSE, FALSE, type_, middle=middle, bounded=bounded)


class ShownLeaves(ExactLeaves):
    """The ranges of the view's rows: a fact about them is asked before an argument is calculated."""

    def exact(self, node: exp.Expr) -> Tree:
        return node.copy()

    def range_of(self, node: exp.Column) -> Value:
        box, type_ = self.scope.box(node.name), type_of(self.scope.box(node.name), self.dialect)
        if box.shape != "interval" or not box.numeric or box.point is not None:
            raise NoEndsError(node, f"column {box.field.name} has no ranges of numbers")
        ends = (exp.cast(box.parts[end].copy(), type_) for end in ("lo", "hi"))
        null = FALSE if box.state is None else TRUE
        return leaf(next(ends), next(ends), null, FALSE, type_, bounded=box.state is None)


def value_of(leaves: ExactLeaves, argument: Tree) -> Value:
    """The abstract value of an argument, or a branch of it, with ends of the argument's type.

    Raises:
        RefusedQueryError: a part has no ends.
    """
    try:
        return evaluate(argument, leaves).narrow()
    except NoEndsError as missing:
        return refuse(leaves.scope.text, missing.node, f"{_REASON}: {missing.reason}")


def check_divisors(scope: Scope, types: SourceTypes, value: Tree) -> None:
    """Refuse a calculation with a divisor that may be 0 in some row of the release.

    Raises:
        RefusedQueryError: see above.
    """
    for call, below in divisors(value):
        if below.find(exp.Column) is None:
            _check_constant(scope, call, below)
            continue
        divisor = value_of(ShownLeaves(scope, types), below)
        zero = sql("NOT COALESCE(:l > 0 OR :h < 0, FALSE)", l=divisor.low, h=divisor.high)
        query = select([sql("BOOL_OR(:x)", x=every([negate(divisor.nothing), zero]))], scope.view())
        if scope.joins:
            query.set("joins", [join.copy() for join in scope.joins])
        if bool(scope.fact("query/divisor", query)):
            exact = not boxes_in(below)
            reason = "the denominator is 0 in some row; write nullif(.., 0) for NULL there"
            refuse(scope.text, call, reason if exact else f"{_REASON}; this denominator may be 0")


def _check_constant(scope: Scope, call: Tree, below: Tree) -> None:
    inner = below.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string and float(inner.name) != 0:
        return
    if bool(scope.fact("query/divisor", select([sql("COALESCE(:b = 0, FALSE)", b=below)]))):
        refuse(scope.text, call, "it divides by 0; write nullif(.., 0) for NULL there")


def exact_parts(node: exp.Expr) -> Sequence[Tree]:
    """The largest parts of an expression that read exact columns alone."""
    node = node.unnest()
    if not boxes_in(node):
        return [node] if node.find(exp.Column) is not None else []
    return [part for child in node.iter_expressions() for part in exact_parts(child)]
