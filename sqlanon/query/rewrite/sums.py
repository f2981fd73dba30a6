"""Sums: estimates and sound bounds of each aggregate, as SQL over the box rows.

For every row (a box, ``n`` times) each condition gives: possible, certain, share. AVG adds uncertain values one after
the other, the most extreme first, and takes the best average of all these prefixes: any set of uncertain rows with a
better average would lose by the missing values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.aggregate_kinds import KINDS, Asked
from sqlanon.query.rewrite.attained_rows import attains_distinct
from sqlanon.query.rewrite.box_rows import BoxRows, Tables
from sqlanon.query.rewrite.ordered_aggregates import FOUND
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.rewrite.row_values import RowValues
from sqlanon.query.rewrite.whole_rows import rename
from sqlanon.query.sql.sqltree import TRUE, Tree, column, is_true, named, select, some, sql

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
    for index, one in enumerate((rows, *rows.beside)):
        own = _Sums(scope, one, keys)
        made, columns = own.tables()
        kinds |= own.kinds
        if index:
            made = [*one.tables, *made]
            names = {name: f"{name}_{index}" for name, _ in made}
            made = [(names[name], rename(tree, names)) for name, tree in made]
            columns = [(names[name], found) for name, found in columns]
        tables += made
        united += columns
    branches = [_branch(plan, *one, kinds) for one in united]
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


def _branch(plan: QueryPlan, table: str, own: Mapping[str, Tree], kinds: Mapping[str, exp.DataType]) -> exp.Select:
    """A part of the union, which has NULL for the columns of the others."""
    keys = [column(f"g{i}") for i in range(len(plan.keys))]
    chosen: list[Tree] = [*keys]
    for name in _columns(plan):
        tree = own.get(name) or (exp.cast(exp.null(), kinds[name]) if name in kinds else exp.null())
        chosen.append(named(tree, name))
    present = [column("p0")] if keys and table == FOUND else []
    return select(chosen, table, where=present, group=keys)


def select_found(scope: Scope, rows: BoxRows, keys: Sequence[Tree]) -> exp.Select:
    """The table ``_found``: the rows under their conditions.

    Args:
        scope: the names.
        rows: the box rows.
        keys: the columns of the groups.
    """
    return _Sums(scope, rows, keys).found()


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
        made: list[tuple[str, exp.Expr]] = [(FOUND, self.found())]
        main: dict[str, Tree] = {}
        apart: list[tuple[str, dict[str, Tree]]] = []
        for a in self._plan.aggregates:
            asked = Asked(a, self._scope, self._plan, self._rows, self._values, self._keys)
            steps, own = KINDS[a.kind].bounds(asked)
            if not steps:
                main |= own
                continue
            made += steps
            apart.insert(0 if a is self._plan.present else len(apart), (steps[-1][0], own))
            estimate, bound = KINDS[a.kind].types(asked)
            types = (estimate, bound, bound, exp.DataType.build("INT"))
            self.kinds |= dict(zip((f"{end}{a.id}" for end in "elhu"), types, strict=True))
        return made, [(FOUND, main), *apart] if main else apart

    def found(self) -> exp.Select:
        """The rows, with ``p``, ``c`` and ``s`` of every condition and the values of every boxed argument."""
        rows, plan = self._rows, self._plan
        chosen: list[Tree] = [
            named(tree, key) for tree, key in zip(plan.keys, (key.name for key in self._keys), strict=True)
        ]
        chosen.append(column("n"))
        chosen += [column(name) for box in self._groups() for name in (f"{box.id}_group", f"{box.id}_size")]
        for i, triple in enumerate(rows.triples):
            chosen.append(named(triple.possible, f"q{i}" if i in rows.counts else f"p{i}"))
            chosen += [named(triple.certain, f"c{i}"), named(triple.share, f"s{i}")]
        chosen += self._values.classes.columns()
        parts = [part for a in plan.aggregates for part in a.parts]
        for term in dict.fromkeys(term for a in parts for term in a.terms):
            ends = ["n", *(("min", "max") if term in plan.ordered else ())]
            ends += ("s", "neg", "pos") if term in plan.summed else ()
            chosen += [column(f"{term}_{end}") for end in ends] if rows.is_partial(term, plan) else [column(term)]
        sets = (a.box.id for a in parts if a.box is not None and a.box.shape == "set")
        asked = {a.box.id for a in parts if a.box and attains_distinct(self._scope, a, plan)}
        chosen += [column(f"{name}_set") for name in dict.fromkeys(sets) if name in asked]
        boxed = {(a.box.id, a.condition): a.box for a in parts if a.box is not None}
        for (_, condition), box in boxed.items():
            chosen += self._values.read_box(box, condition)
        values = {(a.value.id, a.condition): a.value for a in parts if a.value is not None}
        for (_, condition), value in values.items():
            chosen += self._values.calculate(value, condition)
        # Of means, every row of a class counts, whatever the conditions say.
        triples = rows.triples[:1] if plan.filters else rows.triples  # each filter holds within WHERE
        reached = TRUE if plan.means else some(triple.possible for triple in triples)
        made = select(chosen, rows.last, where=[] if rows.filtered or is_true(reached) else [reached])
        if not rows.counts:
            return made
        # All rows of a class may be known to have other values: by the numbers above, which are not written twice.
        met = [sql(":q AND :m > 0", q=column(f"q{i}"), m=column(f"most{i}")) for i in rows.counts]
        return select(
            [sql("t.*"), *(named(tree, f"p{i}") for tree, i in zip(met, rows.counts, strict=True))], made.subquery("t")
        )

    def _groups(self) -> list[Box]:
        """The sensitive column of format anatomy, if the query asks for it."""
        return [box for box in self._scope.boxes.values() if box.shape == "group"]
