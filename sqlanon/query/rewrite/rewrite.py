"""The rewriting: names, tests, rows, sums, and the SELECT over the groups; then its rows as an `Answer`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine, Statement, TableRef
from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.boxes.box import VIEW, Box
from sqlanon.query.boxes.listed import null_only
from sqlanon.query.boxes.steps import Bucket, bucket_of, places
from sqlanon.query.boxes.unroll import ROWS, steps
from sqlanon.query.parse.joins import joined
from sqlanon.query.parse.names import Scope, boxes_in
from sqlanon.query.parse.parse import Query
from sqlanon.query.parse.valid import check_valid
from sqlanon.query.refusal import refuse
from sqlanon.query.release import Released
from sqlanon.query.rewrite.box_rows import Rows, Wanted
from sqlanon.query.rewrite.final_select import Finish
from sqlanon.query.rewrite.sqltree import Tree, column, some, sql, table_of, when
from sqlanon.query.rewrite.sums import Aggregate, Sums
from sqlanon.query.rewrite.types import Types, is_float, is_number, is_whole
from sqlanon.query.where.predicates import Tests

MOST_ROWS = 100_000
"""Rows of an answer."""

MOST_VALUES = 5_000_000
"""Values, or steps, that a GROUP BY may list of all distinct boxes together."""

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

    def __init__(
        self,
        engine: Engine,
        query: Query,
        released: Released,
        joinable: Collection[TableRef] = (),
        *,
        allow_linking: bool,
    ) -> None:
        self._engine, self._query = engine, query
        self._scope = Scope(engine, query.text, query.source.alias or query.source.name, released)
        joined(self._scope, query, joinable, allow_linking=allow_linking)
        for item in query.new:
            if self._scope.has(item.alias):
                refuse(
                    query.text,
                    item,
                    f"the subquery has two columns {item.alias}: this one, and one of the star's",
                )
        self._tests = Tests(self._scope)
        self._types = Types(self._scope)
        self._conditions = [self._tests.formula(query.where)]
        self._filters: dict[str, int] = {"": 0}
        self._wanted = Wanted()
        self._aggregates: dict[str, Aggregate] = {}
        groups = [self._named(node).unnest() for node in query.groups]
        self._bound_keys = [self._scope.bind(node) for node in groups]
        self._keys = [self._key(node, bound) for node, bound in zip(groups, self._bound_keys, strict=True)]
        self._finish = Finish(query, self._scope, self._bound_keys, self)
        if query.groups:
            self._present = self.aggregate(exp.Count(this=exp.Star()))
        elif not self._aggregates:
            refuse(
                query.text,
                None,
                "a release has no rows of persons to show: ask for aggregates, such as count(*)",
            )
        check_valid(self._scope, query)

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
        return Answer(names, bounded, tuple(found), tuple(certain), text, self._unlisted(tree))

    def _unlisted(self, tree: exp.Expr) -> bool:
        """Whether a row may have a value of a GROUP BY's column that stands in no group of the rewritten query ``tree``."""
        open_ = [box for box in map(self._scope.box, self._finish.unlisted) if not self._closed(box)]
        if not open_:
            return False
        rows = next(cte for cte in tree.args["with_"].expressions if cte.alias == ROWS)
        known = some(
            sql(":s IN ('some', 'any')", s=column(f"{box.id}_state")) for box in open_ if box.point is None
        )
        counted = exp.Select().select(sql("COUNT(*)")).from_(ROWS)
        counted = counted.where(known) if all(box.point is None for box in open_) else counted
        counted.set("with_", exp.With(expressions=[rows.copy()]))
        text = counted.sql(dialect=self._engine.dialect)
        return int(str(self._engine.fetch(Statement("query/unlisted", text))[0][0])) > 0

    def _closed(self, box: Box) -> bool:
        """Whether the groups of a column are all listed: those of its declared values, or of what is NULL and what is not."""
        return null_only(self._wanted.spread[box.id]) or (
            box.point is None and box.shape in ("node", "order")
        )

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
        if bucket is not None and box.field.kind == "integer" and self._beyond_doubles(box):
            bucket = None  # the engine's own steps jump there: value by value
        if bucket is not None:
            self._narrow(node, box, bucket)
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

    def _beyond_doubles(self, box: Box) -> bool:
        """Whether a column of whole numbers has some that doubles round."""
        ends = [sql("MAX(ABS(CAST(:x AS DOUBLE)))", x=box.parts[end]) for end in ("lo", "hi")]
        made = exp.Select().select(sql("GREATEST(:a, :b)", a=ends[0], b=ends[1]))
        made = made.from_(table_of(self._scope.released.view.ref, VIEW))
        text = made.sql(dialect=self._engine.dialect)
        largest = self._scope.released.once(
            ("largest", text), lambda: self._one(Statement("query/largest", text))
        )
        return largest is not None and float(str(largest)) > 2**53

    def _one(self, statement: Statement) -> object:
        return self._engine.fetch(statement)[0][0]

    def _narrow(self, node: exp.Expr, box: Box, bucket: Bucket | None = None) -> None:
        """Boxes are unrolled value by value, or step by step: refuse those that would fill the memory."""
        lo, hi = (
            when(sql(":l <= :h", l=box.parts["lo"], h=box.parts["hi"]), box.parts[end])
            for end in ("lo", "hi")
        )
        ends = column("lo", "d"), column("hi", "d")
        first, last = places(box, bucket, *ends) if bucket is not None else steps(box, *ends)[:2]
        known = exp.Select().select(exp.alias_(lo, "lo"), exp.alias_(hi, "hi")).distinct()
        known = known.from_(table_of(self._scope.released.view.ref, VIEW))
        wide = sql("COALESCE(SUM(CAST(:b AS DOUBLE) - CAST(:a AS DOUBLE) + 1), 0)", a=first, b=last)
        counted = exp.Select().select(wide).from_(known.subquery("d"))
        text = counted.sql(dialect=self._engine.dialect)
        listed = self._scope.released.once(("width", text), lambda: self._one(Statement("query/width", text)))
        if not float(str(listed)) <= MOST_VALUES:
            step = "floor({0} / 1000)" if box.numeric else "date_trunc('month', {0})"
            counted_, wider = ("steps", "larger steps") if bucket is not None else ("values", "steps of it")
            refuse(
                self._query.text, node,
                f"the ranges of column {box.field.name} hold more than {MOST_VALUES:,} {counted_} to group by; group by {wider}, "
                f"such as {step.format(box.field.name)}",
            )  # fmt: skip

    def typed(self, node: exp.Expr) -> exp.DataType:
        """The type of an aggregate in the source, or of a calculation whose aggregates are NULLs of their types.

        Raises:
            Refused: the engine has no such function for these types.
        """
        inner = node.this if isinstance(node, exp.Filter) else node
        return self._types.of(self._scope.bind(inner), node)

    def error(self, node: exp.Expr) -> Aggregate | None:
        """Note down by how much a sum or average may differ from the source's; None: it does not."""
        found = self.aggregate(node)
        if found.kind not in ("sum", "avg"):
            return None
        inner = node.this if isinstance(node, exp.Filter) else node
        argument = self.typed(inner.this)
        own = found.type or self.typed(node)
        meant = found.box is not None and found.box.id in self._wanted.means
        exact = not is_float(own) and not is_float(argument)
        if exact and (not meant or (is_whole(own) and found.kind == "sum")):
            return None
        key = f"# error {node.sql(dialect=self._engine.dialect)}"
        if key not in self._aggregates:
            self._aggregates[key] = replace(
                found, id=len(self._aggregates), kind="error", argument=argument, of=found.kind
            )
        return self._aggregates[key]

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """Note down an aggregate of the query, once.

        Raises:
            Refused: one that has no bounds.
        """
        node = self._of_values(node)
        condition = 0
        inner = node
        if isinstance(node, exp.Filter):
            inner = node.this
            predicate = node.expression.this
            key = predicate.sql(dialect=self._engine.dialect)
            if key not in self._filters:
                self._filters[key] = len(self._conditions)
                from sqlanon.query.where.formula import both

                self._conditions.append(both([self._conditions[0], self._tests.formula(predicate)]))
            condition = self._filters[key]
        kind = _KINDS.get(type(inner))
        if kind is None:
            refuse(
                self._query.text, inner,
                "over ranges there are count, sum, avg, min and max; medians and other quantiles of a released column have no estimate",
            )  # fmt: skip
        key = node.sql(dialect=self._engine.dialect)
        if key not in self._aggregates:
            self._aggregates[key] = self._noted(len(self._aggregates), kind, inner, condition)
        return self._aggregates[key]

    def _of_values(self, node: exp.Expr) -> exp.Expr:
        """COUNT of the sensitive column of format anatomy, as the count of rows whose value is known not to be NULL."""
        inner = node.this if isinstance(node, exp.Filter) else node
        argument = inner.this if isinstance(inner, exp.Count) else None
        if not isinstance(argument, exp.Column) or inner.expressions:
            return node
        boxes = boxes_in(self._scope.bind(argument))
        if not boxes or self._scope.box(boxes[0]).shape != "group":
            return node
        valued = exp.Not(this=exp.Is(this=argument.copy(), expression=exp.null()))
        where: exp.Expr = valued
        if isinstance(node, exp.Filter):
            where = exp.And(this=exp.Paren(this=node.expression.this.copy()), expression=valued)
        return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=where))

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
            if kind in ("min", "max"):
                for own in self._scope.exact_fields(bound):
                    self._scope.check_collation(own, node)
            name = self._scope.term(bound).name
            (self._wanted.raw if kind in ("avg", "distinct") else self._wanted.partial).add(name)
            if kind == "sum":
                self._wanted.summed.add(name)
            return Aggregate(number, kind, condition, term=name, type=self._averaged(kind, node))
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
        return Aggregate(number, kind, condition, box=box, type=self._averaged(kind, node))

    def _averaged(self, kind: str, node: exp.Expr) -> exp.DataType | None:
        """The type of an average, in which its bounds are calculated; None: another aggregate."""
        if kind != "avg":
            return None
        found = self.typed(node)
        if not is_number(found):
            refuse(self._query.text, node, "averages are answered over numbers")
        return found


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
    nan = all(isinstance(end, float) and math.isnan(end) for end in (low, high))
    exact = low is not None and (low == high or nan) and not cells[3]
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
