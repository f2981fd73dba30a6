"""The SELECT over the groups: calculations with bounds, HAVING, ORDER BY and LIMIT on the estimates, and what is certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.parse.names import Scope
from sqlanon.query.parse.parse import Query
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.sqltree import FALSE, TRUE, Tree, column, every, guarded, some, sql, when
from sqlanon.query.rewrite.sums import Aggregate
from sqlanon.query.rewrite.types import is_number, is_whole

_OPS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_NOT: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.LT: exp.GTE, exp.GTE: exp.LT, exp.GT: exp.LTE, exp.LTE: exp.GT,
}  # fmt: skip


@dataclass(frozen=True)
class Quad:
    """Estimate, low, high, and 1 where it may be undefined; ``tight``: as tight as the aggregates in it."""

    estimate: Tree
    low: Tree
    high: Tree
    undefined: Tree
    tight: bool = True


class Aggregates(Protocol):
    """Notes down the aggregates of a query."""

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """An aggregate, once."""

    def error(self, node: exp.Expr) -> Aggregate | None:
        """By how much it may differ from the source's."""

    def typed(self, node: exp.Expr) -> exp.DataType:
        """The type of an expression in the source."""


class Finish:
    """What the query does with its groups.

    Args:
        query: the query.
        scope: the names.
        keys: the bound terms of GROUP BY.
        aggregates: where aggregates are noted down.
    """

    def __init__(self, query: Query, scope: Scope, keys: Sequence[Tree], aggregates: Aggregates) -> None:
        self._query, self._scope, self._keys, self._aggregates = query, scope, keys, aggregates
        self._items: list[tuple[str, Tree | Quad]] = [(name, self._item(node)) for name, node in query.items]
        self.unlisted: list[str] = []
        """Boxes of GROUP BY that may have values which the release shows nowhere: there may be more groups."""
        self.shape = [(name, isinstance(item, Quad)) for name, item in self._items]
        self.tight = {name: item.tight for name, item in self._items if isinstance(item, Quad)}
        self._having = self._estimated(query.having) if query.having is not None else TRUE
        self._sure = self._surely(query.having, True) if query.having is not None else TRUE
        self._order = [self._ordered(term) for term in query.order]

    def select(self, present: Aggregate | None) -> exp.Select:
        """The last SELECT; ``present`` counts the rows of a group, None: there is one group, always."""
        chosen: list[Tree] = []
        for name, item in self._items:
            if isinstance(item, Quad):
                ends = (
                    ("", item.estimate),
                    ("_low", item.low),
                    ("_high", item.high),
                    ("_undefined", item.undefined),
                )
                chosen += [exp.alias_(tree.copy(), f"{name}{end}", quoted=True) for end, tree in ends]
            else:
                chosen.append(exp.alias_(item.copy(), name, quoted=True))
        certain = [self._sure]
        if present is not None:
            certain.append(sql("COALESCE(:l, 0) > 0", l=column(f"l{present.id}")))
            if self._query.limit is not None or self._query.offset:
                wanted = exp.Literal.number(self._query.limit if self._query.limit is not None else 1 << 60)
                all_in = sql("(SELECT COUNT(*) FROM _groups) <= :n", n=wanted)
                certain.append(FALSE if self._query.offset else all_in)
                known = "(SELECT COUNT(*) FROM _rows WHERE :s IN ('some', 'any')) = 0"
                certain += [sql(known, s=column(f"{box}_state")) for box in self.unlisted]
        chosen.append(exp.alias_(every(certain), "certain", quoted=True))
        made = exp.Select().select(*chosen).from_("_groups")
        if self._having is not TRUE:
            made = made.where(self._having)
        # Ties, and answers without an order, come in the order of their keys, so that every engine gives the same.
        ties = [exp.Ordered(this=column(f"g{i}"), nulls_first=True) for i in range(len(self._keys))]
        order = [*self._order, *ties]
        made = made.order_by(*order) if order else made
        if self._query.limit is not None:
            made = made.limit(self._query.limit)
        return made.offset(self._query.offset) if self._query.offset else made

    # --- items ------------------------------------------------------------------------------------------------------

    def _item(self, node: exp.Expr) -> Tree | Quad:
        return self._calculation(node) if node.find(exp.AggFunc) else self._plain(node)

    def _plain(self, node: exp.Expr) -> Tree:
        """An expression of the groups' keys."""
        made = exp.Paren(this=self._scope.bind(node))
        for i, key in enumerate(self._keys):
            for found in [part for part in made.walk() if part == key]:
                if found.parent is not None:
                    found.replace(column(f"g{i}"))
        left = next(
            (
                part
                for part in made.find_all(exp.Column)
                if part.table in ("_box", VIEW) or part.table in self._joined()
            ),
            None,
        )
        if left is not None:
            refuse(self._query.text, node, f"{node.sql()} must stand in GROUP BY or inside an aggregate")
        plain: Tree = made.this
        return plain

    def _joined(self) -> set[str]:
        return {name for name, _ in self._scope.tables.values()}

    def _calculation(self, node: exp.Expr) -> Quad:
        """An aggregate, or a calculation with some."""
        bare = node.unnest()
        if isinstance(bare, exp.Filter | exp.AggFunc):
            return self._quad(bare)
        made = self._quad(node, typed=True)
        self._check(node)
        return made

    def _check(self, node: exp.Expr) -> exp.DataType:
        """The type of a calculation; refuse one that the engine does not do with aggregates of these types."""
        whole = exp.Paren(this=node.copy())
        for found in list(whole.find_all(exp.AggFunc)):
            inside = found.parent if isinstance(found.parent, exp.Filter) else found
            inside.replace(exp.cast(exp.null(), self._aggregates.typed(found)))
        return self._aggregates.typed(whole.this)

    def _quad(self, node: exp.Expr, *, typed: bool = False, sharp: bool = False) -> Quad:
        """An expression with aggregates, as intervals.

        Args:
            node: the expression.
            typed: it is calculated with, so that aggregates have the types that they have in the source.
            sharp: a function that jumps is taken of it, so that the bounds have to hold to the last digit.
        """
        if isinstance(node, exp.Paren):
            return self._quad(node.this, typed=typed, sharp=sharp)
        if isinstance(node, exp.Filter | exp.AggFunc):
            return self._leaf(node, typed=typed, sharp=sharp)
        if isinstance(node, exp.Neg):
            inner = self._quad(node.this, typed=True, sharp=sharp)
            estimate, low, high = (exp.Neg(this=guarded(t)) for t in (inner.estimate, inner.high, inner.low))
            return Quad(
                estimate,
                low,
                high,
                inner.undefined,
                inner.tight,
            )
        if isinstance(node, exp.Round | exp.Floor | exp.Ceil | exp.Cast):
            return self._rising(node)
        if (
            isinstance(node, exp.Coalesce)
            and len(node.expressions) == 1
            and self._is_constant(node.expressions[0])
        ):
            return self._coalesced(node, sharp=sharp)
        if isinstance(node, exp.Mod):
            return self._rest(node)
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv):
            return self._calculated(node, sharp=sharp)
        return refuse(
            self._query.text, node,
            "with aggregates there are + and -, *, / and % by constants, round, floor, ceil, cast and coalesce",
        )  # fmt: skip

    def _leaf(self, node: exp.Expr, *, typed: bool, sharp: bool) -> Quad:
        found = self._aggregates.aggregate(node)
        estimate, low, high, undefined = (column(f"{end}{found.id}") for end in "elhu")
        if found.kind in ("distinct", "rows"):
            # A group without any value has no row of its own where values are counted.
            estimate, low, high = (sql("COALESCE(:x, 0)", x=tree) for tree in (estimate, low, high))
        undefined = sql("COALESCE(:u, :d)", u=undefined, d=exp.Literal.number(int(found.undefined)))
        error = self._aggregates.error(node) if sharp else None
        if error is not None:
            by = column(f"e{error.id}")
            low, high = (
                sql(text, x=exp.cast(end, "DOUBLE"), e=by)
                for text, end in ((":x - :e", low), (":x + :e", high))
            )
        kind = self._aggregates.typed(node) if typed else None
        if kind is not None and is_number(kind):
            low, high = exp.cast(low, kind), exp.cast(high, kind)
        return Quad(estimate, low, high, undefined, error is None)

    def _is_constant(self, node: exp.Expr) -> bool:
        if node.find(exp.Null) is not None:
            refuse(self._query.text, node, "a calculation with NULL is NULL")
        return node.find(exp.Column, exp.AggFunc) is None

    def _rising(self, node: exp.Expr) -> Quad:
        rest = [
            part
            for key, part in node.args.items()
            if key != "this" and isinstance(part, exp.Expr) and part.find(exp.Column)
        ]
        if rest or (isinstance(node, exp.Cast) and not node.to.is_type(*exp.DataType.NUMERIC_TYPES)):
            refuse(
                self._query.text,
                node,
                "aggregates are rounded to a constant number of places, and cast to numbers",
            )
        inner = self._quad(node.this, typed=True, sharp=True)

        def at(tree: Tree) -> Tree:
            copied = node.copy()
            copied.set("this", tree.copy())
            return copied

        estimate = at(inner.estimate)
        if isinstance(node, exp.Round) and node.args.get("decimals") is not None:
            # The estimate is a double, which not every engine rounds to places.
            scale = sql("POWER(CAST(10 AS DOUBLE), :p)", p=node.args["decimals"])
            estimate = sql("ROUND(:e * :s) / :s", e=inner.estimate, s=scale)
        return self._met(Quad(estimate, at(inner.low), at(inner.high), inner.undefined, inner.tight))

    def _met(self, made: Quad) -> Quad:
        """Where the bounds meet, the estimate is theirs: it must not lie on the other side of a jump."""
        estimate = when(
            sql(":l = :h", l=made.low, h=made.high), exp.cast(made.low.copy(), "DOUBLE"), made.estimate
        )
        return Quad(estimate, made.low, made.high, made.undefined, made.tight)

    def _rest(self, node: exp.Mod) -> Quad:
        """What is left of a division by a constant: it rises with the aggregate within one quotient, and starts again."""
        by = node.right
        if not self._is_constant(by):
            refuse(self._query.text, node, "aggregates are divided by constants")
        inner = self._quad(node.left, typed=True, sharp=True)

        def at(tree: Tree) -> Tree:
            return exp.Mod(this=guarded(tree), expression=guarded(by))

        low, high = at(inner.low), at(inner.high)
        within = sql(
            ":l - :a = :h - :b AND (:l >= 0 OR :h <= 0)", l=inner.low, h=inner.high, a=low, b=high
        )  # fmt: skip
        known = sql("NOT :l IS NULL AND NOT :h IS NULL", l=inner.low, h=inner.high)
        ends = (
            sql("CASE WHEN :l >= 0 THEN 0 ELSE -ABS(:m) END", l=inner.low, m=by),
            sql("CASE WHEN :h <= 0 THEN 0 ELSE ABS(:m) END", h=inner.high, m=by),
        )
        low, high = (
            when(within, end, when(known, wide, None)) for end, wide in zip((low, high), ends, strict=True)
        )
        middle = sql("(CAST(:l AS DOUBLE) + CAST(:h AS DOUBLE)) / 2", l=low, h=high)
        return Quad(middle, low, high, inner.undefined, tight=False)

    def _coalesced(self, node: exp.Coalesce, *, sharp: bool) -> Quad:
        inner = self._quad(node.this, typed=True, sharp=sharp)
        value = node.expressions[0]
        maybe = sql(":u = 1", u=inner.undefined)
        # The estimate may be NULL although rows are possible, and NULL ends may be unbounded: only no possible value is sure.
        nothing = self._surely_nothing(node.this)
        low = when(
            nothing, value, when(every([maybe, sql(":l > :v", l=inner.low, v=value)]), value, inner.low)
        )
        high = when(
            nothing, value, when(every([maybe, sql(":h < :v", h=inner.high, v=value)]), value, inner.high)
        )
        estimate = exp.Coalesce(this=inner.estimate.copy(), expressions=[value.copy()])
        return Quad(estimate, low, high, exp.Literal.number(0), inner.tight)

    def _surely_nothing(self, node: exp.Expr) -> Tree:
        """Whether a calculation is NULL in every consistent source: an aggregate in it has no possible value to work on."""
        empty = []
        for found in node.find_all(exp.AggFunc):
            if isinstance(found, exp.Count):
                continue
            counted: exp.Expr = exp.Count(this=found.this.copy())
            if isinstance(found.parent, exp.Filter):
                counted = exp.Filter(this=counted, expression=found.parent.expression.copy())
            empty.append(sql("COALESCE(:h, 0) = 0", h=self._quad(counted).high))
        return FALSE if node.find(exp.Coalesce) is not None else some(empty)

    def _calculated(self, node: exp.Binary, *, sharp: bool) -> Quad:
        left, right = node.left, node.right
        kind = type(node)
        if self._is_constant(left) or self._is_constant(right):
            constant, other = (left, right) if self._is_constant(left) else (right, left)
            if kind in (exp.Div, exp.IntDiv) and constant is left:
                refuse(
                    self._query.text,
                    node,
                    "a constant divided by an aggregate has no bounds where the aggregate may be 0",
                )
            # Some engines divide whole numbers into whole ones.
            whole = kind in (exp.Div, exp.IntDiv) and is_whole(self._check(node))
            inner = self._quad(other, typed=True, sharp=sharp or kind is exp.IntDiv)

            def at(tree: Tree) -> Tree:
                copied = node.copy()
                copied.set("this" if other is left else "expression", guarded(tree))
                return copied

            ends = [at(inner.low), at(inner.high)]
            falls = kind is exp.Sub and other is right
            if kind in (exp.Mul, exp.Div, exp.IntDiv):
                falling = sql(":c < 0", c=constant)
                ends = [when(falling, ends[1], ends[0]), when(falling, ends[0], ends[1])]
            elif falls:
                ends.reverse()
            estimate = (
                sql("TRUNC(:e)", e=exp.Div(this=inner.estimate.copy(), expression=guarded(right)))
                if whole
                else at(inner.estimate)
            )
            made = Quad(estimate, ends[0], ends[1], inner.undefined, inner.tight)
            return self._met(made) if whole else made
        if kind not in (exp.Add, exp.Sub) or not (left.find(exp.AggFunc) and right.find(exp.AggFunc)):
            refuse(
                self._query.text,
                node,
                "two aggregates are added or subtracted only; for a mean write avg(column)",
            )
        a, b = (self._quad(side, typed=True, sharp=sharp) for side in (left, right))
        c, d = (b.low, b.high) if kind is exp.Add else (b.high, b.low)
        trees = [
            kind(this=guarded(x), expression=guarded(y))
            for x, y in ((a.estimate, b.estimate), (a.low, c), (a.high, d))
        ]
        return Quad(
            trees[0], trees[1], trees[2], sql("GREATEST(:a, :b)", a=a.undefined, b=b.undefined), tight=False
        )

    # --- HAVING and ORDER BY ----------------------------------------------------------------------------------------

    def _estimated(self, node: exp.Expr) -> Tree:
        """An expression on the estimates; aliases of the SELECT stand for their items."""
        if not node.find(exp.AggFunc) and not self._aliases(node):
            return self._plain(node)
        if isinstance(node, exp.AggFunc | exp.Filter):
            return self._quad(node).estimate
        if isinstance(
            node, exp.Div | exp.IntDiv | exp.Mod | exp.Round | exp.Floor | exp.Ceil | exp.Cast
        ) and node.find(exp.AggFunc):
            return self._calculation(node).estimate
        if isinstance(node, exp.Column):
            item = self._aliased(node)
            return (
                item.estimate if isinstance(item, Quad) else item if item is not None else self._plain(node)
            )
        copied = node.copy()
        for key, part in node.args.items():
            if isinstance(part, exp.Expr):
                copied.set(
                    key,
                    guarded(self._estimated(part))
                    if not isinstance(part, exp.Boolean | exp.Null | exp.DataType)
                    else part.copy(),
                )
            elif isinstance(part, list):
                copied.set(key, [self._estimated(p) if isinstance(p, exp.Expr) else p for p in part])
        return copied

    def _aliases(self, node: exp.Expr) -> bool:
        return any(self._aliased(part) is not None for part in node.find_all(exp.Column))

    def _aliased(self, node: exp.Column) -> Tree | Quad | None:
        """The item that a name means: an alias that is no column of the tables."""
        if node.table or any(own.name.lower() == node.name.lower() for own in self._scope.released.fields):
            return None
        return next((item for name, item in self._items if name.lower() == node.name.lower()), None)

    def _surely(self, node: exp.Expr, positive: bool) -> Tree:
        """Whether HAVING is TRUE (FALSE) in every consistent source."""
        if isinstance(node, exp.Paren):
            return self._surely(node.this, positive)
        if isinstance(node, exp.Not):
            return self._surely(node.this, not positive)
        if isinstance(node, exp.And | exp.Or):
            parts = [self._surely(part, positive) for part in (node.left, node.right)]
            return every(parts) if isinstance(node, exp.And) is positive else some(parts)
        if isinstance(node, exp.Between):
            ends = exp.and_(
                exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()),
                exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()),
            )
            return self._surely(ends, positive)
        if not node.find(exp.AggFunc) and not self._aliases(node):
            return exp.Is(this=exp.Paren(this=self._plain(node)), expression=TRUE if positive else FALSE)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            if positive:
                return FALSE
            return sql(":u = 0", u=self._ends(node.this).undefined)
        if not isinstance(node, _OPS):
            return FALSE  # the estimate decides; nothing is certain
        assert isinstance(node, exp.Binary)
        kind = type(node) if positive else _NOT[type(node)]
        left, right = self._ends(node.left), self._ends(node.right)
        if kind in (exp.GT, exp.GTE):
            left, right, kind = right, left, {exp.GT: exp.LT, exp.GTE: exp.LTE}[kind]
        a, b, c, d = left.low, left.high, right.low, right.high
        holds = {
            exp.LT: sql(":b < :c", b=b, c=c), exp.LTE: sql(":b <= :c", b=b, c=c),
            exp.EQ: sql(":a = :d AND :b = :c", a=a, b=b, c=c, d=d), exp.NEQ: sql(":b < :c OR :d < :a", a=a, b=b, c=c, d=d),
        }[kind]  # fmt: skip
        known = sql(":a = 0 AND :b = 0", a=left.undefined, b=right.undefined)
        return sql("COALESCE(:x, FALSE)", x=every([holds, known]))

    def _ends(self, node: exp.Expr) -> Quad:
        if node.find(exp.AggFunc):
            return self._quad(node, typed=not isinstance(node.unnest(), exp.AggFunc | exp.Filter), sharp=True)
        item = self._aliased(node) if isinstance(node, exp.Column) else None
        if isinstance(item, Quad):
            return item
        plain = item if item is not None else self._plain(node)
        return Quad(plain, plain, plain, exp.Literal.number(0))

    def _ordered(self, term: exp.Ordered) -> exp.Ordered:
        node = term.this
        made = term.copy()
        if isinstance(node, exp.Literal) and not node.is_string:
            at = int(node.this) if node.this.isdigit() else 0
            if not 1 <= at <= len(self._items):
                refuse(
                    self._query.text, node, f"ORDER BY {node.this}: the query has {len(self._items)} columns"
                )
            item = self._items[at - 1][1]
        else:
            named = next(
                (
                    i
                    for name, i in self._items
                    if isinstance(node, exp.Column) and not node.table and name.lower() == node.name.lower()
                ),
                None,
            )
            item = (
                named
                if named is not None
                else self._item(node)
                if not self._aliases(node)
                else self._estimated(node)
            )
        made.set("this", item.estimate.copy() if isinstance(item, Quad) else item.copy())
        return made


__all__ = ["Finish", "Quad"]
