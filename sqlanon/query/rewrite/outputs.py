"""Writes the outputs of a query, items, HAVING and ORDER BY, over the columns of aggregates and keys."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.functions.aggregates import is_count
from sqlanon.query.functions.comparisons import OPPOSITE
from sqlanon.query.functions.definition import Call
from sqlanon.query.functions.registry import definition_of, is_estimated_apart
from sqlanon.query.functions.value import Value
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.parse.scope import ITEM, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.calculator import Aggregates
from sqlanon.query.rewrite.interval_calculator import IntervalCalculator
from sqlanon.query.rewrite.query_plan import Outputs, Quad
from sqlanon.query.rewrite.window_functions import has_aggregate
from sqlanon.query.sql.sqltree import FALSE, TRUE, Tree, column, every, negate, own, parenthesize, some, sql


def read_outputs(bound: BoundQuery, notes: Aggregates, *, sharp: bool = False) -> Outputs:
    """The outputs of a query.

    Args:
        bound: the query.
        notes: notes the aggregates.
        sharp: the bounds of the items have to hold to the last digit, and their types are asked.

    Raises:
        RefusedQueryError: a column that is neither grouped by nor aggregated, or a calculation without bounds.
    """
    return GroupOutputs(bound, notes, bound.groups, bound.items, sharp=sharp).outputs(bound, notes)


class GroupOutputs:
    """The items of a query, and expressions over them."""

    def __init__(
        self,
        bound: BoundQuery,
        notes: Aggregates,
        keys: tuple[Tree, ...],
        items: tuple[tuple[str, Tree], ...],
        *,
        sharp: bool = False,
    ) -> None:
        self._sharp, self._notes, self._scope = sharp, notes, bound.scope
        self.keys, self.has_having = keys, bound.having is not None
        self.calculator = IntervalCalculator(bound.scope, notes, self)
        self.items: tuple[tuple[str, Tree | Quad], ...] = ()
        self._written = [node.unnest() for _, node in items]
        self.items = tuple((name, self._item(node)) for name, node in items)

    @classmethod
    def of_groups(cls, bound: BoundQuery, notes: Aggregates) -> GroupOutputs:
        """Reads expressions of the groups of a query that groups them again."""
        return cls(replace(bound, having=bound.inner_having), notes, bound.groups, ())

    @classmethod
    def of_regrouped(cls, bound: BoundQuery, notes: Aggregates, *, sharp: bool) -> GroupOutputs:
        """Reads expressions of the groups of groups."""
        return cls(bound, notes, bound.regroup or (), bound.items, sharp=sharp)

    def outputs(self, bound: BoundQuery, notes: Aggregates) -> Outputs:
        """The outputs of a query over the groups that this object reads."""
        having, qualify = bound.having, bound.qualify
        self.check_windows(bound)
        return Outputs(
            self.items,
            self.estimate(having) if having is not None else TRUE,
            self.surely(having, True) if having is not None else TRUE,
            self.possibly(having) if having is not None else TRUE,
            tuple(self.order(term) for term in bound.order),
            every(self.is_settled(term.this) for term in bound.order),
            self.estimate(qualify) if qualify is not None else TRUE,
            self.surely(qualify, True) if qualify is not None else TRUE,
            self.possibly(qualify) if qualify is not None else TRUE,
            self.types(bound) if self._sharp else (),
            tuple(notes.windows.values()),
        )

    def types(self, bound: BoundQuery) -> tuple[exp.DataType, ...]:
        """The types of the items in the source."""
        check, type_of = self.calculator.check, self._notes.type_of
        return tuple(check(node) if has_aggregate(node) else type_of(node) for _, node in bound.items)

    def _item(self, node: exp.Expr) -> Tree | Quad:
        if self._sharp and has_aggregate(node):
            return self._ends(node)
        return self.calculator.calculation(node) if has_aggregate(node) else self.plain(node)

    def check_windows(self, bound: BoundQuery) -> None:
        """Refuse window functions in HAVING, which comes before them."""
        having = bound.having if bound.having is not None else exp.null()
        clauses = [
            part
            for part in having.find_all(exp.Column)
            if part.table == ITEM and self._written[int(part.name)].find(exp.Window)
        ]
        for clause in [*clauses, *having.find_all(exp.Window)]:
            refuse(
                self._scope.text,
                clause,
                "window functions are calculated after HAVING; write the condition in QUALIFY, or around a subquery",
            )

    def plain(self, node: exp.Expr) -> Tree:
        """An expression of the groups' keys."""
        paren = exp.Paren(this=node.copy())
        for i, key in enumerate(self.keys):
            for occurrence in [part for part in paren.walk() if part == key]:
                if occurrence.parent is not None:
                    occurrence.replace(column(f"g{i}"))
        tables = {"_box", VIEW, *(name for name, _ in self._scope.tables.values())}
        if any(part.table in tables for part in paren.find_all(exp.Column)):
            refuse(self._scope.text, node, "this must be in GROUP BY or inside an aggregate")
        plain: Tree = paren.this
        return plain.pop()

    def estimate(self, node: exp.Expr) -> Tree:
        """An expression on the estimates; aliases of the SELECT are replaced by their items."""
        if not has_aggregate(node) and not self._aliases(node):
            return self.plain(node)
        if isinstance(node, exp.AggFunc | exp.Filter | exp.Window):
            return self.calculator.quad(node).estimate
        if isinstance(node, exp.If):  # a part of CASE
            estimated = node.copy()
            for key in ("this", "true"):
                estimated.set(key, parenthesize(self.estimate(node.args[key])))
            return estimated
        if is_estimated_apart(node) and has_aggregate(node):
            return self.calculator.calculation(node).estimate
        if isinstance(node, exp.Column):
            item = self._find_item(node)
            return item.estimate if isinstance(item, Quad) else item if item is not None else self.plain(node)
        copied = node.copy()
        for key, part in node.args.items():
            if isinstance(part, exp.Expr):
                copied.set(
                    key,
                    parenthesize(self.estimate(part))
                    if not isinstance(part, exp.Boolean | exp.Null | exp.DataType)
                    else part.copy(),
                )
            elif isinstance(part, list):
                copied.set(key, [own(self.estimate(p)) if isinstance(p, exp.Expr) else p for p in part])
        return copied

    def _aliases(self, node: exp.Expr) -> bool:
        return any(part.table == ITEM for part in node.find_all(exp.Column))

    def _find_item(self, node: exp.Expr) -> Tree | Quad | None:
        """The item that an expression names."""
        if not isinstance(node, exp.Column) or node.table != ITEM:
            return None
        return self.items[int(node.name)][1]

    def surely(self, node: exp.Expr, positive: bool) -> Tree:
        """Whether HAVING is TRUE (FALSE) in every consistent source."""
        if isinstance(node, exp.Paren):
            return self.surely(node.this, positive)
        if isinstance(node, exp.Not):
            return self.surely(node.this, not positive)
        if isinstance(node, exp.And | exp.Or):
            parts = [self.surely(part, positive) for part in (node.left, node.right)]
            return every(parts) if isinstance(node, exp.And) is positive else some(parts)
        if isinstance(node, exp.Between):
            ends = exp.and_(
                exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()),
                exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()),
            )
            return self.surely(ends, positive)
        if not has_aggregate(node) and not self._aliases(node):
            return exp.Is(this=exp.Paren(this=self.plain(node)), expression=TRUE if positive else FALSE)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            if positive:
                return FALSE
            return sql(":u = 0", u=self._ends(node.this).undefined)
        opposite = OPPOSITE.get(type(node))
        if opposite is None:
            return FALSE  # the estimate decides; nothing is certain
        assert isinstance(node, exp.Binary)
        sides = tuple(self._value(side) for side in (node.left, node.right))
        condition = node if positive else opposite(this=node.left, expression=node.right)
        definition = definition_of(condition)
        assert definition is not None
        assert definition.ends is not None
        value = definition.ends(Call(condition, sides, exp.DataType.build("BOOLEAN"), self._scope.engine.dialect))
        return every([negate(value.null), value.low])

    def possibly(self, node: exp.Expr) -> Tree:
        """Whether HAVING is TRUE in some consistent source; it may say so where it is in none."""
        if isinstance(node, exp.Paren):
            return self.possibly(node.this)
        if isinstance(node, exp.And | exp.Or):
            parts = [self.possibly(part) for part in (node.left, node.right)]
            return every(parts) if isinstance(node, exp.And) else some(parts)
        if not has_aggregate(node) and not self._aliases(node):
            return self.surely(node, True)
        return negate(self.surely(node, False))

    def _value(self, node: exp.Expr) -> Value:
        """A side of a comparison; the engine compares the ends as they are."""
        quad = self._ends(node)
        null = sql("COALESCE(:u, 1) <> 0", u=quad.undefined)
        return Value(quad.low, quad.high, null, FALSE, exp.DataType.build("DOUBLE"), bounded=False)

    def _ends(self, node: exp.Expr) -> Quad:
        if has_aggregate(node):
            bare = isinstance(node.unnest(), exp.AggFunc | exp.Filter)
            return self.calculator.quad(node, typed=not bare, sharp=True)
        item = self._find_item(node) if isinstance(node, exp.Column) else None
        if isinstance(item, Quad):
            return item
        plain = item if item is not None else self.plain(node)
        return Quad(plain, plain, plain, exp.Literal.number(0))

    def order(self, term: exp.Ordered) -> exp.Ordered:
        """A term of ORDER BY, on the estimates."""
        node, ordered_term = term.this, term.copy()
        item = self._find_item(node)
        if item is None:
            item = self.estimate(node) if self._aliases(node) else self._item(node)
        ordered_term.set("this", item.estimate.copy() if isinstance(item, Quad) else item.copy())
        return ordered_term

    def is_settled(self, node: exp.Expr) -> Tree:
        """Whether a term of ORDER BY has the same value in every consistent source.

        It has if it is a group's name, or an exact count.
        """
        if isinstance(node, exp.Column) and node.table == ITEM:
            node = self._written[int(node.name)]
        if not has_aggregate(node) and not self._aliases(node):
            return TRUE
        call = node.this if isinstance(node, exp.Filter) else node
        if not is_count(call) or boxes_in(call):
            return FALSE
        quad = self.calculator.quad(node)
        return sql("COALESCE(:l = :h, FALSE)", l=quad.low, h=quad.high)
