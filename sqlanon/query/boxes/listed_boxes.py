"""Boxes with listed values.

They are sets, nodes of a hierarchy, declared orders, groups of anatomy, and boxes that GROUP BY spreads.

Each goes through a *lookup*. Every distinct box is unrolled into its values once (`sqlanon.query.boxes.unroll`), and
the engine computes the tests on the values. The lookup has a row for each box (or box and key of a group), with the
part of the box that each group of values takes. Sets that are asked for a few constants need no lookup
(`sqlanon.query.boxes.set_constants`).
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.set_constants import unknown_share
from sqlanon.query.boxes.values_by_test import UNGROUPED, GroupedBox, ValuesByTest
from sqlanon.query.functions.registry import null_only_with_column
from sqlanon.query.logic.formula import Group, Part
from sqlanon.query.logic.value_tests import ValueTest, on
from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    counter,
    counts,
    every,
    negate,
    plus,
    some,
    sql,
    string,
    when,
)


class Lookup:
    """See `sqlanon.query.logic.formula.Domain`: a box with groups of values that were counted beforehand.

    Args:
        box: the column.
        tested: the groups of values, and the tests.
        table: the table that the rows are read from.
        grouped: the box in GROUP BY.
        values: aggregates of the column itself are plan.
        suffix: distinguishes lookups of the same box.
        bucketed: the boxes are unrolled into buckets, each in a row with group and ends.
    """

    def __init__(
        self,
        box: Box,
        tested: ValuesByTest,
        table: str,
        grouped: GroupedBox = UNGROUPED,
        *,
        values: bool = False,
        suffix: str = "",
        bucketed: bool = False,
    ) -> None:
        tests, spread = tested.tests, grouped.test
        self.name = f"{box.id}{'_' if suffix else ''}{suffix}"
        self.bucketed = bucketed
        self.box, self.key, self._tests, self._values, self._table = box, grouped.key, tests, values, table
        self._spread = spread
        extra = frozenset() if spread is None else frozenset([spread])
        self._null = Group(frozenset(test.id for test in tests if _passes_null(test)))
        self._inside = [Group(way | extra) for way in tested.ways]
        self._outside = Group(frozenset())
        self.groups = tuple(dict.fromkeys([*self._inside, *([] if spread is None else [self._outside])]))
        self._state = column(f"{box.id}_state", table) if box.state is not None and spread is None else None

    def _column(self, end: str, group: Group) -> Tree:
        return column(f"{self.name}_{end}{self._inside.index(group)}", self._table)

    def reach(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        plan = list(groups)
        if len(plan) == len(self.groups):
            return TRUE
        mine = [group for group in plan if group in self._inside]
        if self._reached:
            ways = [sql("COALESCE(:r, FALSE)", r=self._column("r", group)) for group in mine]
        if self._open:
            ways += [column(f"{self.name}_open", self._table)] if mine else []
        if not self._reached:
            ways = [sql("COALESCE(:s, 0) > 0", s=self._column("s", group)) for group in mine]
        if self._outside in plan and self._spread is not None:
            ways.append(negate(column(f"{self.name}_inside", self._table)))
        valued = any(not group.holds & self._null_tests for group in plan)
        if self.box.beyond and valued:
            node = column(f"{self.box.id}_node", self._table)
            ways.append(exp.In(this=node, expressions=[string(label) for label in self.box.beyond]))
        if self._state is not None:
            ways = [every([self._bounded, some(ways)]), self._is("some")]
            ways += [self._is("any")] if valued else []
            # The result of an analyst's function of NULL is not always known here.
            unknown = any(test.comparison is None and test.null is None for test in self._tests)
            if self._null in plan or unknown:
                ways += [self._is("all"), *([self._is("ends")] if self.box.beside else [])]
        return some(ways)

    def share(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        plan = [group for group in groups if group in self._inside]
        share = plus(sql("COALESCE(:s, 0)", s=self._column("s", group)) for group in plan)
        if self._state is None:
            return share
        null = self._null in plan
        if self.box.point is not None:
            first = column(self.keys[0], self._table)
            return when(sql(":k IS NULL", k=first), ONE if null else ZERO, share)
        mine = len(plan) - null
        return unknown_share(self._state, share, mine, max(len(self._inside) - 1, 1), null=null, beside=self.box.beside)

    @property
    def counts_attained(self) -> bool:
        """Whether the values that the box attains are counted: buckets are not values."""
        return self.box.attained and not self.bucketed

    def count_attained(self, groups: Iterable[Group]) -> Tree | None:
        """See `Domain`."""
        if not self.counts_attained:
            return None
        plan = set(groups)
        parts = [self._column("t", group) for group in self._inside if group in plan]
        if self._spread is not None and self._outside in plan:
            parts.append(column(f"{self.name}_apart", self._table))
        total = counts(sql("COALESCE(:t, 0)", t=count) for count in parts)
        if self.box.state is None:
            return total
        state = column(f"{self.box.id}_state", self._table)

        def is_(*states: str) -> Tree:
            return exp.In(this=state.copy(), expressions=[string(state) for state in states])

        nothing = exp.Literal.number(0)
        if not self.box.beside:
            return when(is_("none"), total, nothing)
        if self.key is not None:  # NULL is listed
            return when(is_("none", "ends", "some"), total, nothing)
        nulls = exp.Literal.number(int(self._null in plan))
        unknown = when(is_("some"), nulls, nothing)
        return when(is_("none"), total, when(is_("ends"), counts([total, nulls]), unknown))

    def parts(self) -> list[Part]:
        """See `Domain`."""
        if self._state is not None:
            return self._nullable_parts()
        if self.box.shape == "group":
            return self._grouped_parts()
        parts = []
        for group in self._inside:
            low, high, middle = (self._column(end, group) for end in "lhm")
            open_ = some([self._is("some"), self._is("any")])
            if self._open:
                open_ = column(f"{self.name}_open", self._table)
            reach = self.reach([group])
            if self._open:  # by a listed value, or by any in a box that is not known; not by NULL
                reach = every([reach, some([sql(":l IS NOT NULL", l=low), open_])])
            null = column(f"{self.name}_z", self._table) if self._open else FALSE
            parts.append(Part(group, reach, self.share([group]), low, high, middle, open_, null))
        return parts

    def _grouped_parts(self) -> list[Part]:
        """The parts of format anatomy: a group's values are listed, NULL among them."""
        parts = []
        for group in self._inside:
            low, high, middle = (self._column(end, group) for end in "lhm")
            valued, null = (sql("COALESCE(:x, 0)", x=self._column(end, group)) for end in "vy")
            parts.append(Part(group, sql(":x > 0", x=valued), valued, low, high, middle))
            parts.append(Part(group, sql(":x > 0", x=null), null, None, None, None))
        return parts

    def _nullable_parts(self) -> list[Part]:
        """The parts where rows may be NULL: NULL is a separate part, outside the reach and share of others."""
        valued = [group for group in self._inside if not group.holds & self._null_tests]
        unknown, parts = some([self._is("some"), self._is("any")]), []
        for group in valued:
            low, high, middle = (self._column(end, group) for end in "lhm")
            part, known_share = self._column("s", group), sql("COALESCE(:s, 0)", s=self._column("s", group))
            reach = some([every([self._bounded, sql("COALESCE(:s, 0) > 0", s=part)]), unknown])
            if self.box.point is not None:
                shown: Tree = when(sql(":k IS NULL", k=column(self.keys[0], self._table)), ZERO, known_share)
            else:
                assert self._state is not None
                shown = unknown_share(self._state, known_share, 1, len(valued), null=False, beside=self.box.beside)
            parts.append(Part(group, reach, shown, low, high, middle, unknown))
        null = self._null if self._null in self._inside else self._inside[0]
        nullable = [
            self._is("all"),
            self._is("some"),
            *([self._is("ends")] if self.box.beside else []),
        ]
        parts.append(Part(null, some(nullable), ZERO, None, None, None))
        return parts

    @property
    def _bounded(self) -> Tree:
        """Values that are not NULL are those of the lookup."""
        return some([self._is("none"), *([self._is("ends")] if self.box.beside else [])])

    @property
    def _null_tests(self) -> frozenset[int]:
        """The tests that NULL alone passes."""
        return frozenset(
            test.id for test in self._tests if test.comparison is not None and test.comparison.op == "null"
        )

    def _is(self, state: str) -> Tree:
        return sql(":s = :v", s=self._state, v=string(state)) if self._state is not None else FALSE

    def columns(self) -> dict[str, Tree]:
        """Columns read from each row, as trees over the view: the box itself."""
        return {f"{self.box.id}_{part}": tree for part, tree in self.box.parts.items()}

    @property
    def keys(self) -> list[str]:
        """The columns of the box that the lookup is joined by."""
        names = [f"{self.box.id}_{part}" for part in self.box.parts]
        return [*names, f"{self.box.id}_state"] if self._spread is not None and self.box.state is not None else names

    @property
    def given(self) -> list[str]:
        """The columns of the lookup other than keys."""
        name = self.name
        ends = ["s", *(["r"] if self._reached else []), *("lhm" if self._values else "")]
        ends += ["t"] if self.counts_attained else []
        ends += [*"vy"] if self._values and self.box.shape == "group" else []
        names = [f"{name}_{end}{j}" for j in range(len(self._inside)) for end in ends]
        names += [f"{name}_key", f"{name}_inside"] if self.key is not None else []
        names += [f"{name}_size"] if self.box.shape == "group" else []
        names += [f"{name}_apart"] if self.counts_attained and self.key is not None else []
        return [*names, *([f"{name}_open", f"{name}_z"] if self._open else [])]

    @property
    def _open(self) -> bool:
        return self.key is not None and self.box.state is not None

    @property
    def _reached(self) -> bool:
        """Whether the groups that a box reaches are counted separately: some may take no part of it."""
        return self._open or self.bucketed

    def number_of(self, holds: frozenset[int]) -> int:
        """The number of the group in which these tests hold."""
        extra = frozenset() if self._spread is None else frozenset([self._spread])
        return self._inside.index(Group(holds | extra))

    @property
    def known_groups(self) -> list[frozenset[int]]:
        """The tests that hold in each group of values, NULL left out unless a value has the same tests."""
        spread = frozenset() if self._spread is None else frozenset([self._spread])
        return [group.holds - spread for group in self._inside]

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self._inside)

    @property
    def plain(self) -> bool:
        """Whether of each box the share of each group is all that is asked."""
        return self.key is None and not self._values and self.box.shape == "interval"

    def way(self, value: Tree) -> Tree:
        """The number of the group that a value is in."""
        turns = [
            exp.If(
                this=every(t.on(value) if t.id in group.holds else negate(t.on(value)) for t in self._tests),
                true=exp.Literal.number(j),
            )
            for j, group in enumerate(self._inside)
        ]
        return exp.Case(ifs=turns) if self._tests else exp.Literal.number(0)

    @property
    def null_number(self) -> int:
        """The number of the group of NULL."""
        return self.number_of(self._null.holds)

    def table(self, members: str, *, whole: bool) -> exp.Select:
        """The lookup's rows, from the unrolled boxes: the keys of the box, the group's key, and the shares.

        Args:
            members: the table of unrolled boxes: the keys, ``v`` and its weight ``w``, and ``u``: the box is not known.
            whole: the GROUP BY asks for the column itself, so that a test is decided within each group.
        """
        value, weight, name = column("v", "m"), column("w", "m"), self.name
        keys = [column(key, "m") for key in self.keys]
        expressions: dict[str, Tree] = dict(zip(self.keys, keys, strict=True))
        total: Tree = sql("SUM(:w)", w=weight)
        grouped = len(keys)
        if self.key is not None:
            grouped += 1
            expressions[f"{name}_key"] = on(self.key, self.box.id, value)
            over = exp.Window(this=sql("SUM(:t)", t=total), partition_by=[key.copy() for key in keys])
            inside = FALSE if self.box.point is not None else sql("SUM(:w) = :o", w=weight, o=over)
            if self.bucketed:  # lengths do not add up to the last digit; a single key is the whole box
                inside = sql("1 = :o", o=exp.Window(this=sql("COUNT(*)"), partition_by=[key.copy() for key in keys]))
            if (
                self._open and self.box.point is None and not null_only(self.key)
            ):  # it may have a value that no row shows
                inside = every([inside, sql("NOT BOOL_OR(:u)", u=column("u", "m"))])
            expressions[f"{name}_inside"] = inside
            if self._open:
                expressions[f"{name}_open"] = FALSE if whole else sql("BOOL_OR(:u)", u=column("u", "m"))
                expressions[f"{name}_z"] = sql("BOOL_OR(:v IS NULL)", v=value)
            total = over
        if self.box.shape == "group":
            expressions[f"{name}_size"] = total
        # Of a range only the ends are attained, of a set every member.
        ends = [exp.EQ(this=value.copy(), expression=column(f"{self.box.id}_{end}", "m")) for end in ("lo", "hi")]
        hit = TRUE if self.box.shape == "set" else some(ends)
        if (
            self.box.beside and self.key is not None
        ):  # where some rows are NULL, at least a row is: nothing else is known of unknown boxes
            hit = some([every([negate(column("u", "m")), hit]), sql(":v IS NULL", v=value)])
        hit = counter(hit)
        if self.counts_attained and self.key is not None:
            mine = sql("SUM(:h)", h=hit)
            over = exp.Window(this=sql("SUM(:m)", m=mine), partition_by=[key.copy() for key in keys])
            expressions[f"{name}_apart"] = sql("CAST(:a - :m AS BIGINT)", a=over, m=mine)
        # Each value's group is computed once, below; the rest are sums by the group's number.
        way = self.way(column("v"))
        for j in range(len(self._inside)):
            mine = sql(":g = :j", g=column("way", "m"), j=exp.Literal.number(j))
            weight_inside = when(mine, weight, exp.Literal.number(0))
            expressions[f"{name}_s{j}"] = sql(
                "CAST(SUM(:w) AS DOUBLE) / NULLIF(CAST(:t AS DOUBLE), 0)", w=weight_inside, t=total
            )
            if self._reached:
                expressions[f"{name}_r{j}"] = sql("BOOL_OR(:m)", m=mine)
            if self.counts_attained:
                expressions[f"{name}_t{j}"] = sql("CAST(SUM(:h) AS BIGINT)", h=when(mine, hit, exp.Literal.number(0)))
            if self._values and self.box.shape == "group":
                for end, condition in (("v", sql(":v IS NOT NULL", v=value)), ("y", sql(":v IS NULL", v=value))):
                    weight_inside = when(every([mine, condition]), weight, exp.Literal.number(0))
                    expressions[f"{name}_{end}{j}"] = sql(
                        "CAST(SUM(:w) AS DOUBLE) / NULLIF(CAST(:t AS DOUBLE), 0)", w=weight_inside, t=total
                    )
            if self._values:
                low, high = (column(c, "m") for c in "lh") if self.bucketed else (value, value)
                # PostgreSQL has no MIN and MAX of booleans.
                first, last = ("BOOL_AND", "BOOL_OR") if self.box.field.kind == "boolean" else ("MIN", "MAX")
                expressions[f"{name}_l{j}"] = sql(f"{first}(:v)", v=when(mine, low))
                expressions[f"{name}_h{j}"] = sql(f"{last}(:v)", v=when(mine, high))
                middle = sql("(CAST(:l AS DOUBLE) + CAST(:h AS DOUBLE)) / 2", l=low, h=high) if self.bucketed else value
                weighed = sql(":w * CAST(:v AS DOUBLE)", w=weight, v=middle)
                valued = every([mine, sql(":v IS NOT NULL", v=value)]) if self.box.shape == "group" else mine
                mean = sql("SUM(:a) / NULLIF(SUM(:b), 0)", a=when(valued, weighed), b=when(valued, weight))
                expressions[f"{name}_m{j}"] = mean if self.box.numeric else exp.cast(exp.null(), "DOUBLE")
        base = exp.Select().select(sql("*")).from_(exp.to_table(members))
        base = base if self.bucketed else base.select(exp.alias_(way, "way", quoted=True))
        query = exp.Select().select(*(exp.alias_(tree, alias, quoted=True) for alias, tree in expressions.items()))
        query = query.from_(base.subquery("m"))
        return query.group_by(*(exp.Literal.number(i + 1) for i in range(grouped))) if grouped else query


def _passes_null(test: ValueTest) -> bool:
    return test.null is True or (test.comparison is not None and test.comparison.op == "null")


def null_only(key: Tree) -> bool:
    """Whether a GROUP BY term depends only on whether the box is NULL."""
    whole = exp.Paren(this=key.copy())
    box_columns = [node for node in whole.find_all(exp.Column) if node.table == "_box"]
    parents = [node.find_ancestor(exp.Is, exp.Func, exp.Binary, exp.Case) for node in box_columns]
    return bool(box_columns) and all(
        isinstance(parent, exp.Is) and isinstance(parent.expression, exp.Null) and parent.this.unnest() is node
        for node, parent in zip(box_columns, parents, strict=True)
    )


def keeps_null_apart(key: Tree) -> bool:
    """Whether no value of the column is in the group of NULL.

    That holds if the term is NULL exactly where the column is, or is a test for NULL.
    """
    return null_only_with_column(key) or null_only(key)
