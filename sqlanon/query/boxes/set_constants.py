"""Sets in tests against a few constants.

The parts of a set in each group come straight from the array, without unrolling it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.formula import Group, Part
from sqlanon.query.logic.value_tests import ValueTest
from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    every,
    indicator,
    number,
    plus,
    some,
    sql,
    string,
)


class SetConstants:
    """See `sqlanon.query.logic.formula.Domain`: sets, asked for a few constants."""

    def __init__(self, box: Box, tests: Sequence[ValueTest], table: str, suffix: str = "") -> None:
        self.name = f"{box.id}{'_' if suffix else ''}{suffix}"
        self._table, self._set = table, box.parts["set"]
        self._state = column(f"{box.id}_state", table) if box.state is not None else None
        self._point, self._attained = box.point is not None, box.attained
        equal = [test.comparison for test in tests if test.comparison is not None]
        constants = sorted({str(constant) for comparison in equal for constant in comparison.constants})
        of: dict[Group, list[str | None]] = {}
        for value in [*constants, None]:
            holds = frozenset(comparison.id for comparison in equal if comparison.holds_at(value))
            of.setdefault(Group(holds), []).append(value)
        self._of = of
        self._constants = constants
        self._places = {constant: i for i, constant in enumerate(constants)}
        self._null = Group(frozenset(c.id for c in equal if c.op == "null"))
        self.groups = tuple(dict.fromkeys([*of, *([self._null] if self._state is not None else [])]))

    def columns(self) -> dict[str, Tree]:
        """Columns read from each row, as trees over the view: the constants in a set, and the size, not the set."""
        columns = {
            f"{self.name}_c{i}": sql("LIST_CONTAINS(:s, :c)", s=self._set, c=string(constant))
            for i, constant in enumerate(self._constants)
        }
        return columns | {f"{self.name}_size": sql("ARRAY_LENGTH(:s)", s=self._set)}

    def _has(self, constant: str) -> Tree:
        return column(f"{self.name}_c{self._places[constant]}", self._table)

    @property
    def _size(self) -> Tree:
        return column(f"{self.name}_size", self._table)

    def _count(self, groups: Sequence[Group]) -> Tree:
        """How many members are in the groups."""
        plan = [value for group in groups for value in self._of.get(group, ())]
        if None not in plan:
            return plus(indicator(self._has(value)) for value in plan if value is not None)
        excluded = [indicator(self._has(constant)) for constant in self._constants if constant not in plan]
        size = sql("CAST(:n AS DOUBLE)", n=self._size)
        return sql(":n - :o", n=size, o=plus(excluded)) if excluded else size

    def reach(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        plan = list(groups)
        if len(plan) == len(self.groups):
            return TRUE
        listed = [value for group in plan for value in self._of.get(group, ())]
        if None in listed:
            inside = sql(":n > 0", n=self._count(plan))
        else:
            inside = some(self._has(value) for value in listed if value is not None)
        if self._state is None:
            return inside
        ways = [every([self._is("none"), sql("COALESCE(:x, FALSE)", x=inside)])]
        if listed:
            ways += [self._is("some"), self._is("any")]
        if self._null in plan:
            ways += [self._is("all"), self._is("some")]
        return some(ways)

    def share(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        plan = list(groups)
        if len(plan) == len(self.groups):
            return ONE
        known_share = sql(":c / :n", c=self._count(plan), n=self._size)
        if self._state is None:
            return known_share
        mine, null = sum(group in self._of for group in plan), self._null in plan
        if self._point:
            shown = every([sql(":n IS NOT NULL", n=self._size), sql("COALESCE(:c > 0, FALSE)", c=self._count(plan))])
            return indicator(some([shown, *([sql(":n IS NULL", n=self._size)] if null else [])]))
        return unknown_share(self._state, known_share, mine, len(self._of), null=null)

    def count_attained(self, groups: Iterable[Group]) -> Tree | None:
        """See `Domain`: the members that are in the groups."""
        if not self._attained:
            return None
        members = self._count([group for group in groups if group in self._of])
        return sql("COALESCE(CAST(:m AS BIGINT), 0)", m=members)

    def parts(self) -> list[Part]:
        """See `Domain`: the counted parts; names have no ends, and a constant takes their place."""
        unknown = some([self._is("some"), self._is("any")])
        parts = []
        for group in self._of:
            inside = sql("COALESCE(:n > 0, FALSE)", n=self._count([group]))
            share = sql(":c / :n", c=self._count([group]), n=self._size)
            if self._state is not None:
                inside = some([every([self._is("none"), inside]), unknown])
                share = unknown_share(self._state, share, 1, len(self._of), null=False)
            if self._point:
                share = indicator(sql("COALESCE(:c > 0, FALSE)", c=self._count([group])))
            parts.append(Part(group, inside, share, ZERO, ZERO, None, unknown))
        if self._state is not None:
            parts.append(Part(self._null, some([self._is("all"), self._is("some")]), ZERO, None, None, None))
        return parts

    def _is(self, state: str) -> Tree:
        return sql(":s = :v", s=self._state, v=string(state)) if self._state is not None else FALSE


def unknown_share(state: Tree, share: Tree, mine: int, all_of: int, *, null: bool, beside: bool = False) -> Tree:
    """A share where NULL may be: in an unknown box every group counts the same.

    ``beside``: NULL is half of a box that has ends.
    """
    half = sql("(:s) / 2 + :n", s=share, n=number(Fraction(1, 2)) if null else ZERO)
    tree = exp.Case(
        this=state.copy(),
        ifs=[
            exp.If(this=string("none"), true=share),
            *([exp.If(this=string("ends"), true=half)] if beside else []),
            exp.If(this=string("all"), true=ONE if null else ZERO),
            exp.If(this=string("some"), true=number(Fraction(mine + null, all_of + 1)) if mine + null else ZERO),
        ],
        default=number(Fraction(mine, all_of)) if mine else ZERO,
    )
    return exp.cast(tree, "DOUBLE")
