"""Writes estimates and sound bounds of each aggregate, as SQL over the box rows.

For every row (a box, ``n`` times) each condition gives: possible, certain, share. AVG adds uncertain values one after
the other, the most extreme first, and takes the best average of all these prefixes: any set of uncertain rows with a
better average would lose by the missing values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.aggregate_kinds import KINDS, AggregateInputs
from sqlanon.query.rewrite.attained_rows import attains_distinct
from sqlanon.query.rewrite.box_rows import BoxRows, Tables
from sqlanon.query.rewrite.ordered_aggregates import FOUND
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.rewrite.row_values import RowValues
from sqlanon.query.rewrite.whole_rows import rename
from sqlanon.query.sql.sqltree import TRUE, ZERO, Tree, column, is_true, named, select, some, sql, when

GROUPS = "_groups"
"""A row for each group: keys ``g0``, ``g1``, ... and four columns for each aggregate."""


def sums(scope: Scope, plan: QueryPlan, rows: BoxRows) -> Tables:
    """The tables that sum up, the last of them `GROUPS`.

    Of every aggregate it has the estimate ``e``, the bounds ``l`` and ``h``, and ``u``, which is 1 where it may be
    NULL.

    Args:
        scope: the names.
        plan: the aggregates and the keys.
        rows: the box rows.
    """
    keys = [column(f"g{i}") for i in range(len(plan.keys))]
    tables: list[tuple[str, exp.Expr]] = []
    united: list[tuple[str, dict[str, Tree]]] = []
    kinds: dict[str, exp.DataType] = {}
    for index, part in enumerate((rows, *rows.beside)):
        part_sums = _Sums(scope, part, keys)
        part_tables, columns = part_sums.tables()
        kinds |= part_sums.kinds
        if index:
            part_tables = [*part.tables, *part_tables]
            names = {name: f"{name}_{index}" for name, _ in part_tables}
            part_tables = [(names[name], rename(tree, names)) for name, tree in part_tables]
            columns = [(names[name], trees) for name, trees in columns]
        tables += part_tables
        united += columns
    branches = [_branch(plan, *part, kinds) for part in united]
    if len(branches) == 1:
        return (*tables, (GROUPS, branches[0]))
    if keys:
        branches = [
            branch.select(named(exp.Literal.number(int(index == 0)), "found")) for index, branch in enumerate(branches)
        ]
    union: exp.Expr = branches[0]
    for branch in branches[1:]:
        union = exp.Union(this=union, expression=branch, distinct=False)
    listed = [*keys, *(named(sql("MAX(:c)", c=column(c)), c) for c in _columns(plan))]
    merged = select(listed, "_parts", group=keys)
    if keys:  # without groups that no row can be in by attained values, which only the first part knows
        merged = merged.having(sql("MAX(:f) = 1", f=column("found")))
    return (*tables, ("_parts", union), (GROUPS, merged))


def _columns(plan: QueryPlan) -> list[str]:
    return [f"{end}{a.id}" for a in plan.aggregates for end in "elhu"]


def _branch(plan: QueryPlan, table: str, columns: Mapping[str, Tree], kinds: Mapping[str, exp.DataType]) -> exp.Select:
    """A part of the union, which has NULL for the columns of the others."""
    keys = [column(f"g{i}") for i in range(len(plan.keys))]
    expressions: list[Tree] = [*keys]
    for name in _columns(plan):
        tree = columns.get(name) or (exp.cast(exp.null(), kinds[name]) if name in kinds else exp.null())
        expressions.append(named(tree, name))
    present = [column("p0")] if keys and table == FOUND else []
    return select(expressions, table, where=present, group=keys)


def select_found(scope: Scope, rows: BoxRows, keys: Sequence[Tree], conditions: Collection[int]) -> exp.Select:
    """The table ``_found``: the rows under some conditions.

    Args:
        scope: the names.
        rows: the box rows.
        keys: the columns of the groups.
        conditions: the conditions that are read, by number.
    """
    return _Sums(scope, rows, keys).select_rows(conditions)


class _Sums:
    """The sums over the rows of some aggregates.

    Attributes:
        kinds: the types of the columns that have tables of their own.
    """

    def __init__(self, scope: Scope, rows: BoxRows, keys: Sequence[Tree]) -> None:
        self._scope, self._plan, self._rows, self._keys = scope, rows.plan, rows, keys
        self._values = RowValues(scope, rows.plan, rows)
        self.kinds: dict[str, exp.DataType] = {}

    def tables(self) -> tuple[list[tuple[str, exp.Expr]], list[tuple[str, dict[str, Tree]]]]:
        """``_found`` (rows under their conditions) and the tables of aggregates that need an order of their own.

        Beside them the columns of the aggregates over each table that has some.
        """
        tables: list[tuple[str, exp.Expr]] = [(FOUND, self.select_rows())]
        main: dict[str, Tree] = {}
        apart: list[tuple[str, dict[str, Tree]]] = []
        for a in self._plan.aggregates:
            asked_aggregate = AggregateInputs(a, self._scope, self._plan, self._rows, self._values, self._keys)
            steps, columns = KINDS[a.kind].bounds(asked_aggregate)
            if not steps:
                main |= columns
                continue
            tables += steps
            apart.insert(0 if a is self._plan.present else len(apart), (steps[-1][0], columns))
            estimate, bound = KINDS[a.kind].types(asked_aggregate)
            types = (estimate, bound, bound, exp.DataType.build("INT"))
            self.kinds |= dict(zip((f"{end}{a.id}" for end in "elhu"), types, strict=True))
        return tables, [(FOUND, main), *apart] if main else apart

    def select_rows(self, conditions: Collection[int] | None = None) -> exp.Select:
        """The rows, with ``p``, ``c`` and ``s`` of every condition and the values of every boxed argument.

        Args:
            conditions: the conditions that are read, by number; None: all of them.
        """
        rows, plan = self._rows, self._plan
        numbers = range(len(rows.triples)) if conditions is None else sorted(conditions)
        expressions: list[Tree] = [
            named(tree, key) for tree, key in zip(plan.keys, (key.name for key in self._keys), strict=True)
        ]
        expressions.append(column("n"))
        expressions += [column(name) for box in self._groups() for name in (f"{box.id}_group", f"{box.id}_size")]
        for i in numbers:
            triple, there = rows.triples[i], rows.attainable(i)
            share = triple.share if is_true(there) else when(there, triple.share, ZERO)
            expressions += [
                named(tree, f"{end}{i}") for end, tree in (("p", rows.possible(i)), ("c", triple.certain), ("s", share))
            ]
        expressions += self._values.classes.columns()
        parts = [part for a in plan.aggregates for part in a.parts]
        for term in dict.fromkeys(term for a in parts for term in a.terms):
            ends = ["n", *(("min", "max") if term in plan.ordered else ())]
            ends += ("s", "neg", "pos") if term in plan.summed else ()
            expressions += [column(f"{term}_{end}") for end in ends] if rows.is_partial(term, plan) else [column(term)]
        sets = (a.box.id for a in parts if a.box is not None and a.box.shape == "set")
        asked_boxes = {a.box.id for a in parts if a.box and attains_distinct(self._scope, a, plan)}
        expressions += [column(f"{name}_set") for name in dict.fromkeys(sets) if name in asked_boxes]
        boxed = {(a.box.id, a.condition): a.box for a in parts if a.box is not None}
        for (_, condition), box in boxed.items():
            expressions += self._values.read_box(box, condition)
        values = {(a.value.id, a.condition): a.value for a in parts if a.value is not None}
        for (_, condition), value in values.items():
            expressions += self._values.calculate(value, condition)
        # Of means, every row of a class counts, whatever the conditions say.
        outer = range(1) if plan.filters else numbers  # each filter holds within WHERE
        reached = TRUE if plan.means else some(map(rows.possible, outer))
        where = [] if (rows.filtered and not rows.counts) or is_true(reached) else [reached]
        return select(expressions, rows.written.rows(rows.last, [*expressions, *where]), where=where)

    def _groups(self) -> list[Box]:
        """The sensitive column of format anatomy, if the query asks for it."""
        return [box for box in self._scope.boxes.values() if box.shape == "group"]
