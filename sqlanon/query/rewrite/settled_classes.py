"""Settled classes: every row of the class satisfies a condition, or none does.

Most classes are inside a requested range, or outside of it. Their rows need not be grouped by class: all rows that
satisfy the same conditions are a single class, counted as a whole. Classes that a condition cuts are grouped as usual.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.query.logic.class_counter import Count
from sqlanon.query.logic.formula import MOST_EXACT, Compiler, Formula, Triple, restrict, tests_in
from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    every,
    is_false,
    is_true,
    named,
    negate,
    select,
    some,
    sql,
)


@dataclass(frozen=True)
class SettledConditions:
    """Grouping of the rows of a query by settled conditions.

    Attributes:
        cut: over the columns that rows have of their boxes: whether some condition cuts the class.
        certain: over the same, by the number of each condition that some class settles: whether the row satisfies it.
    """

    cut: Tree
    certain: Mapping[int, Tree]

    @property
    def names(self) -> list[str]:
        """The columns of the rows with the settled result of each condition; NULL: the class is cut."""
        return [f"d{i}" for i in self.certain]

    def apply_to(self, triples: Sequence[Triple]) -> tuple[Triple, ...]:
        """The results of conditions, which are known where they are settled."""
        return tuple(self._settle(i, triple) if i in self.certain else triple for i, triple in enumerate(triples))

    def _settle(self, condition: int, triple: Triple) -> Triple:
        possible, certain = (
            sql("COALESCE(:d, :x)", d=column(f"d{condition}"), x=tree) for tree in (triple.possible, triple.certain)
        )
        return Triple(possible, certain, self._case(condition, (ONE, ZERO), triple.share))

    def count(self, counts: Mapping[int, Count], rows: Tree) -> dict[int, Count]:
        """The numbers of rows of a class that satisfy conditions: all of them, or none, where that is settled."""
        return {i: self._count(i, count, rows) if i in self.certain else count for i, count in counts.items()}

    def sort(self, sorts: Mapping[int, Tree]) -> dict[int, Tree]:
        """The sorts of rows, -1 where a condition is settled."""
        none = exp.Literal.number(-1), exp.Literal.number(-1)
        return {i: self._case(i, none, tree) if i in self.certain else tree for i, tree in sorts.items()}

    def _count(self, condition: int, count: Count, rows: Tree) -> Count:
        ends = rows, exp.Literal.number(0)
        low, high = (self._case(condition, ends, end) for end in (count.low, count.high))
        return replace(count, low=low, high=high)

    def _case(self, condition: int, results: tuple[Tree, Tree], otherwise: Tree) -> Tree:
        settled = column(f"d{condition}")
        ifs = [
            exp.If(this=sign, true=tree.copy()) for sign, tree in zip((settled, negate(settled)), results, strict=True)
        ]
        return exp.Case(ifs=ifs, default=otherwise.copy())


def settle(conditions: Sequence[tuple[Compiler, Formula]], exact: Mapping[int, Tree]) -> SettledConditions | None:
    """The settled conditions of the rows; None: nothing can be settled.

    A class is settled if no condition cuts it, whatever the values of exact columns: so all rows of the class are.

    Args:
        conditions: the conditions with their compilers.
        exact: the tests of exact columns.
    """
    cuts: list[Tree] = []
    certain: dict[int, Tree] = {}
    for i, (compiler, formula) in enumerate(conditions):
        tests = sorted(tests_in(formula) & exact.keys())
        if len(tests) > MOST_EXACT:
            return None
        signs = itertools.product((True, False), repeat=len(tests))
        rests = dict.fromkeys(restrict(formula, dict(zip(tests, values, strict=True))) for values in signs)
        cuts += [every([triple.possible, negate(triple.certain)]) for triple in map(compiler.triple, rests)]
        if not isinstance(formula, bool):
            certain[i] = sql("COALESCE(:c, :f)", c=compiler.triple(formula).certain, f=FALSE)
    cut = some(cuts)
    if is_true(cut) or is_false(cut):
        return None
    return SettledConditions(sql("COALESCE(:c, :t)", c=cut, t=TRUE), certain)


@dataclass(frozen=True)
class RowColumns:
    """Names of the columns read from every row of the view.

    Attributes:
        boxes: columns of boxes.
        held: exact terms.
        classes: the columns of the class.
        sums: aggregates of other terms, by name.
        rows: the name of the number of the rows of the class, and that number.
    """

    boxes: Sequence[str]
    held: Sequence[str]
    classes: Sequence[str]
    sums: Mapping[str, Tree]
    rows: tuple[str, Tree]


def group_rows(settled: SettledConditions, view: exp.Select, shown: RowColumns, reached: Sequence[Tree]) -> exp.Query:
    """The rows of the query: those of cut classes by class, and of others by the conditions that they satisfy.

    Args:
        settled: the settled conditions.
        view: the columns read from every row of the release.
        shown: names of the columns.
        reached: conditions under which rows may satisfy a condition of the query.
    """
    parts = []
    for cut in (True, False):
        keys = {name: column(name) for name in shown.held}
        own_columns = {name: column(name) for name in (*shown.classes, *shown.boxes)}
        settled_columns = dict(zip(settled.names, settled.certain.values(), strict=True))
        keys |= own_columns if cut else settled_columns
        nothing = {
            name: exp.cast(exp.null(), "BOOLEAN") if cut else exp.null()
            for name in (settled_columns if cut else own_columns)
        }
        name, rows = shown.rows
        if shown.held:  # which divide the rows of a class
            whole = [tree.copy() for name, tree in keys.items() if name not in (*shown.held, *shown.boxes)]
            rows = exp.cast(exp.Window(this=sql("SUM(:n)", n=rows), partition_by=whole), "BIGINT")
        columns = {**keys, **nothing, "n": sql("COUNT(*)"), name: rows, **shown.sums}
        order = [*shown.held, *own_columns, *settled_columns, "n", name, *shown.sums]
        expressions = [named(columns[column_name].copy(), column_name) for column_name in order]
        numbers = [exp.Literal.number(i) for i, column_name in enumerate(order, 1) if column_name in keys]
        cut_condition = [settled.cut if cut else negate(settled.cut)]
        parts.append(select(expressions, view.copy().subquery("v"), where=[*reached, *cut_condition], group=numbers))
    return exp.Union(this=parts[0], expression=parts[1], distinct=False)
