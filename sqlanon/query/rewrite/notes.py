"""Collects the boxes, tests and aggregates that the expressions of a query need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.functions.aggregates import aggregate_of, is_count
from sqlanon.query.functions.quantile_forms import in_common_form, quantile_of
from sqlanon.query.functions.registry import keeps_ends
from sqlanon.query.logic.formula import Formula, both, either
from sqlanon.query.normalize.expression_subqueries import Scalar
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.parse.source_types import SourceTypes
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.query_plan import Aggregate, Check, Ratio, Spread, WindowCall
from sqlanon.query.rewrite.row_expressions import RowExpression, branches_of, check_divisors, exact_parts
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, column, some, sql
from sqlanon.query.sql.types import is_float, is_number, is_single, is_whole
from sqlanon.query.where.predicates import Predicates
from sqlanon.query.where.terms import Terms


class Notes:
    """Notes taken while the query is read; they do not outlive `collect`.

    Args:
        scope: the names.
        where: the predicate of WHERE.
        grouped: the query has a GROUP BY.
    """

    def __init__(self, scope: Scope, where: Tree | None, *, grouped: bool) -> None:
        self.scope, self.grouped = scope, grouped
        self.terms = Terms(scope.engine.dialect)
        self._types = SourceTypes(scope)
        self.predicates = Predicates(scope, self.terms, self._types)
        self.conditions: list[Formula] = [self.predicates.formula(where)]
        self.aggregates: dict[str, Aggregate] = {}
        self.spread: dict[str, Spread] = {}
        self.raw: set[str] = set()
        self.partial: set[str] = set()
        self.summed: set[str] = set()
        self.values: set[str] = set()
        self.means: set[str] = set()
        self.checks: list[Check] = []
        self.windows: dict[str, WindowCall] = {}
        self._filters: dict[str, int] = {}
        self._filtered: dict[int, Formula] = {0: True}

    def direct(self, items: Sequence[tuple[str, Tree]]) -> dict[str, int]:
        """See `QueryPlan.direct`."""
        ids = {}
        for name, node in items:
            inner = node.unnest()
            if isinstance(inner, exp.AggFunc | exp.Filter) and not isinstance(inner, Scalar):
                aggregate = self.aggregates.get(self._text(self._of_values(inner)))
                if aggregate is not None:
                    ids[name] = aggregate.id
        return ids

    def filters(self) -> tuple[Formula, ...]:
        """See `QueryPlan.filters`."""
        counts = all(a.kind in ("rows", "count") and not a.of_boxes for a in self.aggregates.values())
        groups = any(box.shape == "group" for box in self.scope.boxes.values())
        if not counts or groups or self.spread or len(self._filtered) < len(self.conditions):
            return ()
        return tuple(self._filtered[i] for i in range(1, len(self.conditions)))

    def type_of(self, node: exp.Expr) -> exp.DataType:
        """The type of an aggregate in the source, or of a calculation with NULLs of their types as aggregates.

        Raises:
            RefusedQueryError: the engine has no such function for these types.
        """
        inner = node.this if isinstance(node, exp.Filter) else node
        quantile = quantile_of(inner)
        if quantile is not None:  # written differently by every engine
            kind = self.type_of(inner.this)
            return exp.DataType.build("DOUBLE") if quantile[1] and is_number(kind) else kind
        return self._types.of(node.this if isinstance(node, exp.Filter) else node, node)

    def error(self, node: exp.Expr) -> Aggregate | None:
        """By how much a sum or average may differ from the source's, as an aggregate; None: it does not."""
        aggregate = self.aggregate(node)
        if aggregate.kind not in ("sum", "avg"):
            return None
        inner = node.this if isinstance(node, exp.Filter) else node
        argument = self.type_of(inner.this)
        value_type = aggregate.type or self.type_of(node)
        meant = aggregate.box is not None and aggregate.box.id in self.means
        exact = not is_float(value_type) and not is_float(argument)
        if exact and (not meant or (is_whole(value_type) and aggregate.kind == "sum")):
            return None
        key = f"# error {self._text(node)}"
        if key not in self.aggregates:
            self.aggregates[key] = replace(
                aggregate, id=len(self.aggregates), kind="error", argument=argument, of=aggregate.kind
            )
        return self.aggregates[key]

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """An aggregate of the query, with the same number each time.

        Raises:
            RefusedQueryError: an aggregate that has no bounds.
        """
        node = self._of_values(node)
        condition, inner = 0, node
        if isinstance(node, exp.Filter):
            inner, condition = node.this, self._condition(node.expression.this)
        kind = self._kind(inner)
        key = self._text(node)
        if key not in self.aggregates:
            if kind == "native":  # the rows are counted, to see whether they are known
                rows: exp.Expr = exp.Count(this=exp.Star())
                self.aggregate(exp.Filter(this=rows, expression=node.expression.copy()) if condition else rows)
            aggregate = self._note(len(self.aggregates), kind, inner, condition)
            self.aggregates[key] = replace(aggregate, id=len(self.aggregates))
        return self.aggregates[key]

    def _kind(self, inner: exp.Expr) -> str:
        """The kind of an aggregate."""
        aggregate = aggregate_of(inner)
        kind = aggregate.kind if aggregate is not None else None
        if kind is None or (kind == "quantile" and not quantile_of(inner)):
            refuse(
                self.scope.text,
                inner,
                "over ranges there are count, sum, avg, min, max, median, quantiles of one share between 0 and 1, and "
                "stddev, variance, corr and regr_slope of exact columns; ask for those, or for the sums that this is "
                "made of",
            )
        return kind

    def _by_rank(self, number: int, kind: str, node: exp.Expr, argument: exp.Expr, condition: int) -> Aggregate:
        """A quantile, or an aggregate that the engine calculates from known rows: spreads, correlations, slopes."""
        scope, quantile, value_type = self.scope, quantile_of(node), self.type_of(argument)
        second = [node.expression] if quantile is None and node.args.get("expression") is not None else []
        date = value_type if quantile is not None and value_type.is_type("DATE") else None
        if any(not is_number(kind) for kind in (value_type, *map(self.type_of, second))) and date is None:
            refuse(
                scope.text,
                node,
                "quantiles are answered over numbers and dates; standard deviations, variances, correlations and "
                "slopes over numbers",
            )
        exact = not any(boxes_in(tree) for tree in (argument, *second))
        is_known = exact and date is None and self.predicates.is_exact(self.conditions[condition]) and not self.spread
        if is_known and not (
            scope.released.left_out or scope.released.as_of_source or scope.released.form.facts.paired
        ):
            argument_type = None if quantile is None else value_type
            return Aggregate(number, "native", condition, native=in_common_form(node), argument=argument_type)
        if quantile is None:
            return self._of_known_rows(number, node, (argument, *second), condition)
        position, between = quantile
        if not exact:
            box = self._of_box(number, "max", node, argument, condition)
            return replace(box, kind="quantile", at=position, between=between, type=date, argument=value_type)
        name = self.terms.column(argument).name
        self.raw.add(name)
        ranked = Aggregate(number, "quantile", condition, term=name, at=position, between=between, type=date)
        return replace(ranked, argument=value_type)

    def _of_known_rows(self, number: int, node: exp.Expr, arguments: Sequence[exp.Expr], condition: int) -> Aggregate:
        """A spread, correlation or slope, if the release decides for every row whether it qualifies.

        A check refuses other answers.
        """
        scope = self.scope
        reason = (
            "standard deviations and variances are answered of exact columns, where it is certain of every row whether "
            "it qualifies and in which group it is; elsewhere ask for sum(x), sum(x * x) and count(x)"
        )
        if len(arguments) > 1:
            reason = (
                "correlations, covariances and slopes over ranges may be nearly all that they can be: they are "
                "answered of exact columns, where it is certain of every row whether it qualifies and in which group "
                "it is; "
                "elsewhere group by one column and compare averages of the other"
            )
        if any(map(boxes_in, arguments)) or scope.released.as_of_source or scope.released.form.facts.paired:
            refuse(scope.text, node, reason)
        # How many rows qualify may be known, and not which of a class.
        key = f"# unsure {condition}"
        unsure = self.aggregates.setdefault(key, Aggregate(len(self.aggregates), "unsure", condition))
        left_out = FALSE if not scope.released.left_out else TRUE
        uncertain = sql("COALESCE(:x, 0) > 0", x=column(f"h{unsure.id}"))
        self.checks.append(Check(some([left_out, uncertain]), node, reason))
        native = node.copy()
        names = [self.terms.column(argument).name for argument in arguments]
        self.raw.update(names)
        for part, name in zip(("this", "expression"), names, strict=False):
            native.set(part, column(name))
        return Aggregate(
            number, "native", condition, term=names[0], second=names[1] if names[1:] else None, native=native
        )

    def _text(self, node: exp.Expr) -> str:
        return node.sql(dialect=self.scope.engine.dialect)

    def _condition(self, predicate: exp.Expr) -> int:
        """The number of a FILTER's condition, which holds within WHERE."""
        key = self._text(predicate)
        if key not in self._filters:
            formula = self.predicates.formula(predicate)
            self._filters[key] = len(self.conditions)
            self._filtered[len(self.conditions)] = formula
            self.conditions.append(both([self.conditions[0], formula]))
        return self._filters[key]

    def _joint(self, key: str, formula: Formula) -> int:
        """The number of a condition that is made of others."""
        if key not in self._filters:
            self._filters[key] = len(self.conditions)
            self.conditions.append(formula)
        return self._filters[key]

    def ratio(self, factor: exp.Expr, top: exp.Expr, bottom: exp.Expr) -> Aggregate | None:
        """The quotient of two aggregates of the same rows; None: they are no sums over rows."""
        if top.find(Scalar) or bottom.find(Scalar):
            return None
        first, second = self.aggregate(top), self.aggregate(bottom)
        groups = any(box.shape == "group" for box in self.scope.boxes.values())
        if groups or not {first.kind, second.kind} <= {"rows", "count", "sum"}:
            return None
        key = f"# ratio {self._text(factor)} {self._text(top)} {self._text(bottom)}"
        if key in self.aggregates:
            return self.aggregates[key]
        i, j = first.condition, second.condition
        where, above, below = self.conditions[0], self._filtered[i], self._filtered[j]
        same = i == j
        met = i if same or j == 0 else j if i == 0 else self._joint(f"# both {i} {j}", both([where, above, below]))
        alone: list[int | None] = [None, None]
        if not same and j != 0:
            alone[0] = self._joint(f"# first {i} {j}", both([where, above, self.predicates.complement(below)]))
        if not same and i != 0:
            alone[1] = self._joint(f"# first {j} {i}", both([where, below, self.predicates.complement(above)]))
        some_ = (
            i if same else 0 if 0 in (i, j) else self._joint(f"# some {i} {j}", both([where, either([above, below])]))
        )
        self.raw |= {a.term for a in (first, second) if a.term is not None}
        summed = bottom.this if isinstance(bottom, exp.Filter) else bottom
        typed = replace(second, type=self.type_of(summed.this)) if second.kind == "sum" else second
        ratio = Ratio(
            factor,
            (replace(first, condition=met), replace(typed, condition=met)),
            None if alone[0] is None else (replace(first, condition=alone[0]), None),
            None if alone[1] is None else (None, replace(typed, condition=alone[1])),
            some_,
        )
        self.aggregates[key] = Aggregate(len(self.aggregates), "ratio", j, ratio=ratio)
        return self.aggregates[key]

    def _of_values(self, node: exp.Expr) -> exp.Expr:
        """COUNT of the sensitive column of format anatomy, as the count of rows with a value known not to be NULL."""
        inner = node.this if isinstance(node, exp.Filter) else node
        argument = inner.this if is_count(inner) else None
        if not isinstance(argument, exp.Column) or inner.expressions:
            return node
        boxes = boxes_in(argument)
        if not boxes or self.scope.box(boxes[0]).shape != "group":
            return node
        where: exp.Expr = exp.Not(this=exp.Is(this=argument.copy(), expression=exp.null()))
        if isinstance(node, exp.Filter):
            where = exp.And(this=exp.Paren(this=node.expression.this.copy()), expression=where)
        return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=where))

    def _note(self, number: int, kind: str, node: exp.Expr, condition: int) -> Aggregate:
        text, argument = self.scope.text, node.this
        if (node.expressions and not quantile_of(node)) or node.args.get("order"):
            refuse(text, node, "this form of the aggregate is not answered over a release")
        if kind == "count" and (argument is None or isinstance(argument, exp.Star | exp.Literal)):
            return Aggregate(number, "rows", condition)
        if isinstance(argument, exp.Distinct):
            if kind != "count" or len(argument.expressions) != 1:
                refuse(text, node, "DISTINCT is answered in count(DISTINCT one column)")
            kind, argument = "distinct", argument.expressions[0]
        if isinstance(argument, exp.Order | exp.Tuple):
            refuse(text, node, "this form of the aggregate is not answered over a release")
        if kind in ("quantile", "native"):
            return self._by_rank(number, kind, node, argument, condition)
        if boxes_in(argument):
            return self._of_box(number, kind, node, argument, condition)
        if kind in ("min", "max"):
            for exact_field in self.scope.exact_fields(argument):
                self.scope.check_collation(exact_field, node)
        if kind == "sum":
            self.scope.check_sum(argument, node)
        name = self.terms.column(argument).name
        is_known = kind == "avg" and self._is_known(condition) and not is_single(self.type_of(argument))
        (self.raw if kind in ("avg", "distinct") and not is_known else self.partial).add(name)
        if kind == "sum" or is_known:
            self.summed.add(name)
        return Aggregate(number, kind, condition, term=name, type=self._average_type(kind, node), known=is_known)

    def _is_known(self, condition: int) -> bool:
        """Whether it is known of every row whether it satisfies a condition, and in which group it is."""
        exact = self.predicates.is_exact(self.conditions[condition])
        return exact and not self.spread and not self.scope.released.form.facts.paired

    def decides(self, predicate: exp.Expr) -> tuple[Formula, Formula]:
        """The formula that holds where a predicate is TRUE, and the formula that holds elsewhere."""
        holds = self.predicates.formula(predicate)
        return holds, self.predicates.complement(holds)

    def _calculate(self, number: int, kind: str, node: exp.Expr, argument: exp.Expr, condition: int) -> Aggregate:
        """An aggregate of a calculation over columns with ranges."""
        text = self.scope.text
        if any(self.scope.box(name).shape == "group" for name in boxes_in(argument)):
            refuse(text, node, "aggregate the sensitive column of format anatomy with FILTER (WHERE ...)")
        value_type = self.type_of(argument)
        if kind != "count" and not is_number(value_type):
            refuse(text, node, f"{kind} of a calculation over columns with ranges is answered over numbers")
        branches = tuple(branches_of(self, argument))
        values = [branch.value for branch in branches if branch.value is not None]
        boxes = [self.scope.box(name) for name in dict.fromkeys(n for value in values for n in boxes_in(value))]
        floating = is_float(value_type) and (
            any(box.field.kind == "float" for box in boxes) or self.scope.is_floating(argument)
        )
        for box in boxes:
            self.scope.check_recoded(box, node)
            if not box.numeric and not (box.field.kind == "date" and box.shape == "interval"):
                refuse(text, node, f"column {box.field.name} ({box.field.source_type}) cannot be calculated with")
        if floating and kind in ("min", "max"):
            refuse(
                text,
                node,
                f"{kind} of a calculation with floating point numbers is not answered; ask it of the column",
            )
        for value in values:
            for part in exact_parts(value):
                self.raw.add(self.terms.column(part).name)
        self.values |= {box.id for box in boxes}
        once = all(sum(c.name == n for c in v.find_all(exp.Column)) == 1 for v in values for n in boxes_in(v))
        for value in values:
            check_divisors(self.scope, self._types, value)
        plain = all(keeps_ends(value) for value in values)
        expression = RowExpression(
            f"v{number}", branches, tuple(boxes), value_type, floating, once and plain, self._types
        )
        return Aggregate(number, kind, condition, value=expression, type=self._average_type(kind, node))

    def _of_box(self, number: int, kind: str, node: exp.Expr, argument: exp.Expr, condition: int) -> Aggregate:
        """An aggregate of a column with ranges."""
        text = self.scope.text
        if kind == "distinct":
            if not isinstance(argument.unnest(), exp.Column):
                refuse(text, node, "distinct values are counted of a column itself")
            box = self.scope.box(boxes_in(argument)[0])
            self.scope.check_recoded(box, node)
            if box.shape == "group":
                refuse(
                    text,
                    node,
                    "distinct values of the sensitive column of format anatomy are not counted; group by it",
                )
            self.values.add(box.id)
            return Aggregate(number, kind, condition, box=box)
        if not isinstance(argument.unnest(), exp.Column):
            return self._calculate(number, kind, node, argument, condition)
        box = self.scope.box(boxes_in(argument)[0])
        if kind != "count":
            self.scope.check_recoded(box, node)
        ordered = box.shape == "interval" or box.numeric or box.field.kind in ("date", "timestamp")
        if kind != "count" and (not ordered or (kind in ("sum", "avg") and not box.numeric)):
            refuse(
                text,
                node,
                f"{kind}({box.field.name}): {box.field.source_type} values cannot be aggregated so",
            )
        if kind in ("min", "max"):
            self.scope.check_order(box, node)
        self.values.add(box.id)
        # A join may drop or repeat rows of a class: the mean is then unknown.
        whole = not self.scope.joins
        if whole and kind in ("sum", "avg") and box.mean is not None and box.id not in self.spread:
            self.means.add(box.id)
        return Aggregate(number, kind, condition, box=box, type=self._average_type(kind, node))

    def _average_type(self, kind: str, node: exp.Expr) -> exp.DataType | None:
        """The type of an average, in which the bounds are calculated; None: another aggregate."""
        if kind != "avg":
            return None
        value_type = self.type_of(node)
        if not is_number(value_type):
            refuse(self.scope.text, node, "averages are answered over numbers")
        return value_type
