"""The rewriting: names, tests, rows, sums, and the SELECT over the groups; then its rows as an `Answer`."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine, Statement
from sqlanon.query.aggregates import Aggregate, Sums
from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.boxes import VIEW, Box
from sqlanon.query.buckets import bucket_of
from sqlanon.query.finish import Finish
from sqlanon.query.joins import joined
from sqlanon.query.parse import Query
from sqlanon.query.predicates import Tests
from sqlanon.query.refuse import refuse
from sqlanon.query.released import Released
from sqlanon.query.rows import Rows, Wanted
from sqlanon.query.scope import Scope, boxes_in
from sqlanon.query.terms import Tree, column, sql, table_of, when
from sqlanon.query.unroll import steps

MOST_ROWS = 100_000
"""Rows of an answer."""

MOST_VALUES = 5_000_000
"""Values that a GROUP BY may list of all distinct boxes together."""

_KINDS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


class Rewrite:
    """One query over one release.

    Raises:
        Refused: see `sqlanon.query.ask.ask`.
    """

    def __init__(self, engine: Engine, query: Query, released: Released, *, allow_linking: bool) -> None:
        self._engine, self._query = engine, query
        self._scope = Scope(engine, query.text, query.source.alias or query.source.name, released)
        joined(self._scope, query, allow_linking=allow_linking)
        for item in query.new:
            if self._scope.has(item.alias):
                refuse(
                    query.text,
                    item,
                    f"the subquery has two columns {item.alias}: this one, and one of the star's",
                )
        self._tests = Tests(self._scope)
        self._conditions = [self._tests.formula(query.where)]
        self._filters: dict[str, int] = {"": 0}
        self._wanted = Wanted()
        self._aggregates: dict[str, Aggregate] = {}
        groups = [self._named(node) for node in query.groups]
        self._bound_keys = [self._scope.bind(node) for node in groups]
        self._keys = [self._key(node, bound) for node, bound in zip(groups, self._bound_keys, strict=True)]
        self._finish = Finish(query, self._scope, self._bound_keys, self.aggregate)
        if query.groups:
            self._present = self.aggregate(exp.Count(this=exp.Star()))
        elif not self._aggregates:
            refuse(
                query.text,
                None,
                "a release has no rows of persons to show: ask for aggregates, such as count(*)",
            )

    def answer(self) -> Answer:
        """Run the rewritten SQL."""
        tree, tight = self.tree()
        text = tree.sql(dialect=self._engine.dialect, pretty=True)
        rows = self._engine.fetch(Statement("query", text), max_rows=MOST_ROWS)
        names = tuple(name for name, _ in self._query.items)
        bounded = tuple(name for name, is_bounded in self._finish.shape if is_bounded)
        found, certain = [], []
        for row in rows:
            cells = iter(row)
            made: dict[str, Any] = {}
            for name, is_bounded in self._finish.shape:
                made[name] = (
                    _bounded([next(cells) for _ in range(4)], tight=tight[name])
                    if is_bounded
                    else next(cells)
                )
            certain.append(bool(next(cells)))
            found.append(made)
        return Answer(names, bounded, tuple(found), tuple(certain), text)

    def tree(self) -> tuple[exp.Expr, dict[str, bool]]:
        """The rewritten SQL, and which columns have tight bounds."""
        self._finish.unlisted = [box for box in self._wanted.spread if self._scope.box(box).state is not None]
        rows = Rows(self._scope, self._tests, self._conditions, self._wanted)
        names = [f"g{i}" for i in range(len(self._keys))]
        keys = [tree if tree is not None else column(f"{spread}_key") for tree, spread in self._keys]
        aggregates = list(self._aggregates.values())
        sums = Sums(self._scope, rows, names, aggregates).with_keys(keys)
        final = self._finish.select(self._present if self._query.groups else None)
        final.set("with_", _with([*rows.tables(), *sums.tables()], final))
        tight = rows.tight and not self._scope.linked
        return final, {name: tight and self._finish.tight[name] for name in self._finish.tight}

    def _named(self, node: exp.Expr) -> exp.Expr:
        """A GROUP BY term: a name is a column of the tables first, then an item of the SELECT, as engines have it."""
        if not isinstance(node, exp.Column) or node.table or self._scope.has(node.name):
            return node
        items = [item for name, item in self._query.items if name.lower() == node.name.lower()]
        if items and items[0].find(exp.AggFunc):
            refuse(self._query.text, node, "GROUP BY cannot hold an aggregate")
        return items[0] if items else node

    def _key(self, node: exp.Expr, bound: Tree) -> tuple[Tree | None, str]:
        """A GROUP BY term: an exact one is a column of the rows, a boxed one is spread."""
        boxes = boxes_in(bound)
        if not boxes:
            key = self._scope.term(bound)
            self._wanted.raw.add(key.name)
            return key, ""
        box = self._scope.box(boxes[0])
        exact = [c for c in bound.find_all(exp.Column) if c.table != "_box"]
        if len(boxes) > 1 or exact:
            refuse(
                self._query.text, node, "a GROUP BY term over a column with ranges can hold no other column"
            )
        if box.id in self._wanted.spread:
            refuse(
                self._query.text,
                node,
                f"column {box.field.name} is grouped by twice; group by the finer expression alone",
            )
        bucket = bucket_of(bound, box) if box.point is None else None
        if bucket is not None:
            self._wanted.buckets[box.id] = bucket
        elif box.shape == "interval" and box.field.kind not in ("integer", "date", "boolean"):
            step = "date_trunc('month', {0})" if box.field.kind == "timestamp" else "floor({0} / 10)"
            told = f"column {box.field.name} ({box.field.source_type}) has no countable values to group by; "
            if box.field.kind == "text" or box.point is not None:
                refuse(self._query.text, node, f"{told}count ranges of it with count(*) FILTER (WHERE ...)")
            refuse(
                self._query.text, node, f"{told}group by steps of it, such as {step.format(box.field.name)}"
            )
        elif box.shape == "interval":
            self._narrow(node, box)
        self._wanted.spread[box.id] = bound
        return None, box.id

    def _narrow(self, node: exp.Expr, box: Box) -> None:
        """Boxes are unrolled value by value: refuse those that would fill the memory."""
        lo, hi = (
            when(sql(":l <= :h", l=box.parts["lo"], h=box.parts["hi"]), box.parts[end])
            for end in ("lo", "hi")
        )
        first, last, _ = steps(box, column("lo", "d"), column("hi", "d"))
        known = exp.Select().select(exp.alias_(lo, "lo"), exp.alias_(hi, "hi")).distinct()
        known = known.from_(table_of(self._scope.released.view.ref, VIEW))
        wide = sql("COALESCE(SUM(CAST(:b AS DOUBLE) - CAST(:a AS DOUBLE) + 1), 0)", a=first, b=last)
        counted = exp.Select().select(wide).from_(known.subquery("d"))
        rows = self._engine.fetch(Statement("query/width", counted.sql(dialect=self._engine.dialect)))
        if float(str(rows[0][0])) > MOST_VALUES:
            step = "date_trunc('month', {0})" if box.field.kind == "date" else "floor({0} / 1000)"
            refuse(
                self._query.text, node,
                f"the ranges of column {box.field.name} hold more than {MOST_VALUES:,} values to group by; group by steps of it, "
                f"such as {step.format(box.field.name)}",
            )  # fmt: skip

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """Note down an aggregate of the query, once.

        Raises:
            Refused: one that has no bounds.
        """
        condition = 0
        inner = node
        if isinstance(node, exp.Filter):
            inner = node.this
            predicate = node.expression.this
            key = predicate.sql()
            if key not in self._filters:
                self._filters[key] = len(self._conditions)
                from sqlanon.query.formula import both

                self._conditions.append(both([self._conditions[0], self._tests.formula(predicate)]))
            condition = self._filters[key]
        kind = _KINDS.get(type(inner))
        if kind is None:
            refuse(
                self._query.text, inner,
                "over ranges there are count, sum, avg, min and max; medians and other quantiles of a released column have no estimate",
            )  # fmt: skip
        key = node.sql()
        if key not in self._aggregates:
            self._aggregates[key] = self._noted(len(self._aggregates), kind, inner, condition)
        return self._aggregates[key]

    def _noted(self, number: int, kind: str, node: exp.Expr, condition: int) -> Aggregate:
        text, argument = self._query.text, node.this
        if node.expressions or node.args.get("order"):
            refuse(text, node, "this form of the aggregate is not answered over a release")
        if kind == "count" and (argument is None or isinstance(argument, exp.Star | exp.Literal)):
            return Aggregate(number, "rows", condition)
        if isinstance(argument, exp.Distinct):
            if kind != "count" or len(argument.expressions) != 1:
                refuse(text, node, "DISTINCT is answered in count(DISTINCT one column)")
            kind, argument = "distinct", argument.expressions[0]
        if isinstance(argument, exp.Order | exp.Tuple):
            refuse(text, node, "this form of the aggregate is not answered over a release")
        bound = self._scope.bind(argument)
        boxes = boxes_in(bound)
        if not boxes:
            name = self._scope.term(bound).name
            (self._wanted.raw if kind in ("avg", "distinct") else self._wanted.partial).add(name)
            if kind == "sum":
                self._wanted.summed.add(name)
            return Aggregate(number, kind, condition, term=name)
        if kind == "distinct":
            refuse(text, node, "distinct values of a column with ranges cannot be counted")
        if not isinstance(bound.unnest(), exp.Column):
            refuse(text, node, "aggregate the column with ranges itself, and calculate with the result")
        box = self._scope.box(boxes[0])
        ordered = box.shape == "interval" or box.field.kind in (
            "integer",
            "float",
            "decimal",
            "date",
            "timestamp",
        )
        if kind != "count" and (not ordered or (kind in ("sum", "avg") and not box.numeric)):
            refuse(
                text,
                node,
                f"{kind}({box.field.name}): {box.field.source_type} values cannot be aggregated so",
            )
        if kind in ("min", "max"):
            self._scope.check_order(box, node)
        self._wanted.values.add(box.id)
        # A join may drop or repeat rows of a class, of which the mean then says nothing.
        whole = not self._scope.joins
        if whole and kind in ("sum", "avg") and box.mean is not None and box.id not in self._wanted.spread:
            self._wanted.means.add(box.id)
        return Aggregate(number, kind, condition, box=box)


def _with(tables: list[tuple[str, exp.Expr]], last: exp.Expr) -> exp.With:
    """The tables as a WITH; what is read more than once is made once, on every engine."""
    read = Counter(
        node.name for tree in [*(table for _, table in tables), last] for node in tree.find_all(exp.Table)
    )
    made = [
        exp.CTE(
            this=tree,
            alias=exp.TableAlias(this=exp.to_identifier(name)),
            materialized=True if read[name] > 1 else None,
        )
        for name, tree in tables
    ]
    return exp.With(expressions=made)


def _bounded(cells: list[Any], *, tight: bool) -> Bounded:
    estimate, low, high = (_plain(cell) for cell in cells[:3])
    exact = low is not None and low == high and not cells[3]
    if exact:
        estimate = low
    elif None not in (estimate, low, high) and isinstance(estimate, int | float):
        estimate = min(
            max(estimate, low), high
        )  # sums of doubles in the engine's order may miss an end by a hair
    return Bounded(estimate, low, high, tight, exact, bool(cells[3]))


def _plain(value: Any) -> Any:  # noqa: ANN401 - an engine's value
    """A number as Python's own."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
