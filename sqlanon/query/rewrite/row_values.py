"""The contribution of a box row to an aggregate: whether it qualifies, how often, and the range of the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.functions.registry import passes_null
from sqlanon.query.functions.value import Value
from sqlanon.query.logic.formula import Part, both
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.attained_rows import CLASS_ROWS, find_attaining
from sqlanon.query.rewrite.box_rows import BoxRows
from sqlanon.query.rewrite.class_values import ClassValues
from sqlanon.query.rewrite.ordered_aggregates import INFINITE, NAN
from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan
from sqlanon.query.rewrite.row_expressions import PartLeaves, RowExpression, value_of
from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    ZERO,
    Tree,
    as_type,
    column,
    every,
    greatest,
    indicator,
    is_false,
    is_true,
    least,
    named,
    negate,
    plus,
    some,
    sql,
    times,
    when,
)
from sqlanon.query.sql.types import is_float, is_number, is_whole


class RowValues:
    """The columns of ``_found``, and trees over them.

    Args:
        scope: the names.
        plan: the plan of the query.
        rows: the rows.
    """

    def __init__(self, scope: Scope, plan: QueryPlan, rows: BoxRows) -> None:
        self._scope, self._plan, self._rows = scope, plan, rows
        self.classes = ClassValues(scope, plan, rows)

    def read_box(self, box: Box, condition: int) -> list[Tree]:
        """Values of a boxed argument under a condition.

        They are the ends, the mean times the share, the share, possible, certain, open.
        """
        parts = self._rows.compiler.by_part(self._plan.conditions[condition], box.id)
        valued_parts = [(part, triple) for part, triple in parts if part.low is not None]
        there = self._rows.attainable(condition)
        row_results = self._rows.written
        ways = [row_results.column(every([part.reach, triple.possible, there])) for part, triple in valued_parts]
        # Certain: the condition holds throughout, and no value is NULL.
        certain = [
            self._rows.triples[condition].certain,
            *(negate(part.reach) for part, _ in parts if part.low is None),
        ]
        certain += [negate(part.null) for part, _ in valued_parts]
        name = f"{box.id}_{condition}"
        # A CASE even where nothing can be: the ends keep their type.
        lows, highs = (
            [
                exp.Case(ifs=[exp.If(this=way.copy(), true=end.copy())])
                for way, (part, _) in zip(ways, valued_parts, strict=True)
                if (end := part.low if end_number == 0 else part.high) is not None
            ]
            for end_number in (0, 1)
        )
        here = [] if is_true(there) else [indicator(there)]
        shares = [row_results.column(times(part.share, triple.share, *here)) for part, triple in valued_parts]
        valued = [
            (share, part.middle)
            for share, (part, _) in zip(shares, valued_parts, strict=True)
            if part.middle is not None
        ]
        middles = [times(share, sql("COALESCE(:m, 0)", m=middle)) for share, middle in valued]
        # Hidden values are taken to be like shown values: they have no middle, and do not count as 0.
        shown = [
            share if box.state is None else times(share, indicator(sql(":m IS NOT NULL", m=middle)))
            for share, middle in valued
        ]
        columns: dict[str, Tree] = {
            "lo": least(lows),
            "hi": greatest(highs),
            "e": plus(middles),
            "w": plus(shares),
            "k": plus(shown),
            "p": some(ways),
            "c": every(certain),
            "o": some(every([way, part.open]) for way, (part, _) in zip(ways, valued_parts, strict=True)),
        }
        if box.id in self._plan.means and box.mean is not None:
            classes = self._rows.class_columns
            group = [*(c.copy() for c in classes), *(tree.copy() for tree in self._plan.keys)]
            mine = when(columns["c"], column("n"), exp.Literal.number(0))
            inside_sum = exp.Window(this=sql("SUM(:m)", m=mine), partition_by=group)
            whole = exp.Window(this=sql("SUM(n)"), partition_by=[c.copy() for c in classes])
            full = exp.EQ(this=inside_sum, expression=whole)
            columns["mean"] = when(full, column(f"{box.id}_mean"))
        return [named(tree, f"{name}_{end}") for end, tree in columns.items()]

    def calculate(self, value: RowExpression, condition: int) -> list[Tree]:
        """Of an argument that is calculated, under a condition: the same columns as of a boxed argument."""
        dialect = self._scope.engine.dialect
        exact = {tree.sql(dialect=dialect): name for name, tree in self._plan.terms.items()}
        ways: list[tuple[Tree, Tree, Value, Tree]] = []
        nothing: list[Tree] = []
        unsure: list[Tree] = []
        there, row_results = self._rows.attainable(condition), self._rows.written
        here = [] if is_true(there) else [indicator(there)]
        for branch in value.branches:
            formula = both([self._plan.conditions[condition], branch.formula])
            boxes = [] if branch.value is None else boxes_in(branch.value)
            for parts, triple in self._rows.compiler.by_parts(formula, boxes):
                way = row_results.column(every([*(part.reach for part in parts.values()), triple.possible, there]))
                # Where a box is NULL in every case, no part of it is reached: it is asked for by itself.
                nothing += [every([triple.possible, there, part.null]) for part in parts.values()]
                if branch.value is None:
                    nothing.append(way)
                    continue
                self._check_null(branch.value, parts)
                value_here = value_of(PartLeaves(self._scope, value.types, exact, parts), branch.value)
                nothing.append(every([way, value_here.null]))
                if is_true(value_here.nothing):
                    continue
                unsure += [every([way, part.open]) for part in parts.values()]
                valued = every([way, negate(value_here.nothing)])
                if not value_here.bounded and is_float(value.type):
                    value_here = replace(
                        value_here,
                        low=sql(f"COALESCE(:x, -{INFINITE})", x=value_here.low),
                        high=sql(f"COALESCE(:x, {NAN})", x=value_here.high),
                    )
                elif not value_here.bounded:
                    unsure.append(every([valued, sql(":l IS NULL OR :h IS NULL", l=value_here.low, h=value_here.high)]))
                share = times(*(part.share for part in parts.values()), triple.share, *here)
                shown = [
                    sql(":m IS NOT NULL", m=part.middle)
                    for name, part in parts.items()
                    if self._scope.box(name).state is not None and part.middle is not None
                ]
                valued_share = indicator(negate(value_here.nothing)) if not is_false(value_here.nothing) else ONE
                ways.append(
                    (
                        row_results.column(valued),
                        row_results.column(times(share, valued_share)),
                        value_here,
                        every(shown),
                    )
                )
        lows, highs = (
            [
                exp.Case(ifs=[exp.If(this=way.copy(), true=exp.cast(end.copy(), value.type))])
                for way, _, span, _ in ways
                for end in [span.low if end_number == 0 else span.high]
            ]
            for end_number in (0, 1)
        )
        number = is_number(value.type)
        none = exp.cast(exp.null(), value.type if number else "INT")
        low, high = (least(lows), greatest(highs)) if lows and number else (none, none)
        if value.floating:
            nan = sql(f":l = {NAN} OR :h = {NAN}", l=low, h=high)
            low, high = when(nan, sql(f"-{INFINITE}"), low), when(nan, sql(NAN), high)
        middles = [times(share, _middle(span)) for _, share, span, _ in ways] if number else []
        found_: dict[str, Tree] = {
            "lo": low,
            "hi": high,
            "e": plus(middles),
            "w": plus(share for _, share, _, _ in ways),
            "k": plus(share if is_true(shown) else times(share, indicator(shown)) for _, share, _, shown in ways),
            "p": some(way for way, _, _, _ in ways),
            "c": every([self._rows.triples[condition].certain, *(negate(way) for way in nothing if not is_false(way))]),
            "o": some(unsure),
            "z": some(nothing),
        }
        return [named(tree, f"{value.id}_{condition}_{end}") for end, tree in found_.items()]

    def _check_null(self, value: Tree, parts: Mapping[str, Part]) -> None:
        """Refuse coalesce and the like of a column that is grouped by: NULL is in no part of it."""
        if passes_null(value) and any(part.null is not FALSE for part in parts.values()):
            refuse(
                self._scope.text,
                value,
                "coalesce of a column that is grouped by is not answered; group by the coalesce",
            )

    def _of_calculated(self, value: RowExpression, condition: int) -> Mapping[str, Tree]:
        name, n = f"{value.id}_{condition}", column("n")
        columns = _read_columns(name)
        low, high = columns["low"], columns["high"]
        wide = [as_type(end, "DECIMAL(38, 0)") if is_whole(value.type) else end for end in (low, high)]
        zero = exp.Literal.number(0)
        columns |= {"mean": exp.null(), "null": column(f"{name}_z")}
        if is_number(value.type):
            columns |= {
                "s_certain_low": sql(":n * :e", n=n, e=wide[0]),
                "s_certain_high": sql(":n * :e", n=n, e=wide[1]),
                "s_neg": sql(":n * LEAST(:l, :z)", n=n, l=wide[0], z=zero),
                "s_pos": sql(":n * GREATEST(:h, :z)", n=n, h=wide[1], z=zero),
            }
        return columns

    def of(self, a: Aggregate) -> Mapping[str, Tree]:
        """Trees over ``_found``, by name.

        possible, certain, count (rows that are not NULL), share; sum (times share), low and high of the sum if the row
        is certain and if it is not; the smallest and largest value; open.
        """
        i = a.condition
        possible, certain, share, n = column(f"p{i}"), column(f"c{i}"), column(f"s{i}"), column("n")
        if a.value is not None:
            return self._of_calculated(a.value, i)
        if a.box is not None:
            columns = _read_columns(f"{a.box.id}_{i}")
            low, high = columns["low"], columns["high"]
            has_mean = a.box.id in self._plan.means and a.box.mean is not None
            columns["mean"] = column(f"{a.box.id}_{i}_mean") if has_mean else exp.null()
            whole = self._attains(a.box)
            if whole is not None:
                columns["forced_low"], columns["forced_high"] = when(whole, low, high), when(whole, high, low)
            if a.box.numeric:
                ends = [self._wide(end, a.box) for end in (low, high)]
                if whole is not None:  # a row has the other end
                    apart = sql("CASE WHEN :w THEN :h - :l ELSE 0 END", w=whole, l=ends[0], h=ends[1])
                    columns |= {"apart_low": apart, "apart_high": sql("-(:a)", a=apart)}
                columns["s_certain_low"], columns["s_certain_high"] = (
                    self._multiply_count(n, columns["mean"], end, columns.get(f"apart_{side}"))
                    for side, end in zip(("low", "high"), ends, strict=True)
                )
                zero = exp.Literal.number(0)
                columns["s_neg"] = sql(":n * LEAST(:l, :z)", n=n, l=self._wide(low, a.box), z=zero)
                columns["s_pos"] = sql(":n * GREATEST(:h, :z)", n=n, h=self._wide(high, a.box), z=zero)
            return columns
        if a.term is None:
            sure = certain
            if i in self._rows.counts:  # all rows of the class satisfy the condition
                sure = some([certain, exp.GTE(this=column(f"least{i}"), expression=column(CLASS_ROWS))])
            return {
                "possible": possible,
                "certain": certain,
                "count": n,
                "share": share,
                "open": FALSE,
                "sure": sure,
                **self.classes.ends_of(i, None, n),
            }
        term = a.term
        partial = self._rows.is_partial(term, self._plan)
        if partial:
            count, low, high = (column(f"{term}_{end}") for end in ("n", "min", "max"))
            total, neg, pos = (
                column(f"{term}_{end}") if term in self._plan.summed else exp.null() for end in ("s", "neg", "pos")
            )
        else:
            value = column(term)
            count = self.classes.count_known(term)
            total, low, high = sql(":n * :x", n=n, x=value), value, value
            neg, pos = sql(":n * LEAST(:x, 0)", n=n, x=value), sql(":n * GREATEST(:x, 0)", n=n, x=value)
        is_valued = sql(":c > 0", c=count) if partial else sql("NOT :x IS NULL", x=low)
        return {
            "possible": every([possible, is_valued]),
            "certain": every([certain, is_valued]),
            "count": count,
            "share": share,
            "low": low,
            "high": high,
            "open": FALSE,
            "sum": sql(":s * CAST(:x AS DOUBLE)", s=share, x=total),
            "s_certain_low": total,
            "s_certain_high": total,
            "s_neg": neg,
            "s_pos": pos,
            **self.classes.ends_of(i, term, count),
        }

    def _wide(self, tree: Tree, box: Box) -> Tree:
        """An end as a number with sums that do not overflow."""
        return as_type(tree, "DECIMAL(38, 0)") if box.field.kind == "integer" else tree

    def _attains(self, box: Box) -> Tree | None:
        """Whether a row of the boxes is a whole class, so that the values have both ends.

        None if the release has no such fact about this box.

        Of doubles nothing is gained: the other end may be infinite.
        """
        whole = self._rows.counts and find_attaining(self._scope.released).whole
        if not whole or not box.attained or box.field.kind == "float":
            return None
        return exp.EQ(this=column("n"), expression=column(CLASS_ROWS))

    def _multiply_count(self, n: Tree, mean: Tree, end: Tree, apart: Tree | None) -> Tree:
        plain = sql(":n * :e", n=n, e=end) if apart is None else sql(":n * :e + :a", n=n, e=end, a=apart)
        if isinstance(mean, exp.Null):
            return plain
        return sql("COALESCE(:n * :m, CAST(:p AS DOUBLE))", n=n, m=mean, p=plain)


def _middle(value: Value) -> Tree:
    return ZERO if value.middle is None else sql("COALESCE(:m, 0)", m=value.middle)


def _read_columns(name: str) -> dict[str, Tree]:
    """Trees over ``_found`` that an expression and a box have alike, by name."""
    ends = {
        "possible": "p",
        "certain": "c",
        "share": "w",
        "low": "lo",
        "high": "hi",
        "open": "o",
        "sum": "e",
        "shown": "k",
    }
    return {"count": column("n"), **{key: column(f"{name}_{end}") for key, end in ends.items()}}
