"""Boxes whose values are listed: sets, nodes of a hierarchy, declared orders, groups of anatomy, and boxes that GROUP BY spreads.

A small set of constants is asked of each array directly. Everything else goes through a *lookup*: each distinct box is
unrolled into its values once, the tests are computed on the values by the engine itself, and one row a box (or a box and a
group's key) tells which part of the box each group of values takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from sqlglot import exp

from sqlanon.query.boxes import Box
from sqlanon.query.formula import Group, Part
from sqlanon.query.intervals import Comparison, measure, pieces_of
from sqlanon.query.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    column,
    every,
    indicator,
    negate,
    number,
    plus,
    some,
    sql,
    string,
    when,
    with_columns,
)

MOST_GROUPS = 64
"""Ways in which the tests of one listed column may turn out together, before they are taken one by one."""


@dataclass(frozen=True)
class Test:
    """A predicate on one box under its sign; ``tree`` holds exactly when it does, over the box's value."""

    id: int
    box: str
    tree: Tree
    comparison: Comparison | None = None

    def on(self, value: Tree) -> Tree:
        """The test of one value."""
        return on(self.tree, self.box, value)


def on(tree: Tree, box: str, value: Tree) -> Tree:
    """``tree`` with a value in place of the box's column."""
    return with_columns(tree, lambda node: value if node.table == "_box" and node.name == box else None)


def outcomes(box: Box, tests: Sequence[Test]) -> list[frozenset[int]] | None:
    """Which tests can hold together for a value of the box, or for NULL; None: too many ways to list.

    A value is one of the constants that it is compared with, or none of them; nothing is known of other predicates.
    """
    if box.shape == "interval":
        comparisons = [test.comparison for test in tests if test.comparison is not None]
        if len(comparisons) == len(tests):
            ways = [holds for holds, _ in pieces_of(comparisons, box.step, box.field.kind)]
            return list(dict.fromkeys([*ways, frozenset(c.id for c in comparisons if c.op == "null")]))
    equal = [
        t.comparison
        for t in tests
        if t.comparison is not None and t.comparison.op in ("=", "<>", "null", "known")
    ]
    free = [test.id for test in tests if test.comparison not in equal]
    constants = {c.at for c in equal if c.at is not None}
    if (len(constants) + 2) * 2 ** len(free) > MOST_GROUPS:
        return None
    found = []
    for at in [*sorted(constants, key=str), None, "null"]:
        known = frozenset(
            c.id
            for c in equal
            if (at == "null" and c.op == "null")
            or (
                at != "null"
                and (c.op == "known" or (c.op == "=" and c.at == at) or (c.op == "<>" and c.at != at))
            )
        )
        found += [
            known | frozenset(i for i, is_in in zip(free, chosen, strict=True) if is_in)
            for chosen in product((False, True), repeat=len(free))
        ]
    return list(dict.fromkeys(found))


class Contained:
    """See `sqlanon.query.formula.Domain`: sets, asked for a few constants."""

    def __init__(self, box: Box, tests: Sequence[Test], table: str, suffix: str = "") -> None:
        self.name = f"{box.id}{'_' if suffix else ''}{suffix}"
        self._table, self._set = table, box.parts["set"]
        self._state = column(f"{box.id}_state", table) if box.state is not None else None
        self._point = box.point is not None
        equal = [test.comparison for test in tests if test.comparison is not None]
        constants = sorted({str(c.at) for c in equal if c.at is not None})
        of: dict[Group, list[str | None]] = {}
        for at in [*constants, None]:
            holds = frozenset(c.id for c in equal if c.op == "known" or (c.op == "=" and c.at == at)
                              or (c.op == "<>" and c.at != at))  # fmt: skip
            of.setdefault(Group(holds), []).append(at)
        self._of = of
        self._constants = constants
        self._null = Group(frozenset(c.id for c in equal if c.op == "null"))
        self.groups = tuple(dict.fromkeys([*of, *([self._null] if self._state is not None else [])]))

    def columns(self) -> dict[str, Tree]:
        """What the rows have to tell, as trees over the view: which constants a set has, and its size, not the set."""
        found = {
            f"{self.name}_c{i}": sql("LIST_CONTAINS(:s, :c)", s=self._set, c=string(constant))
            for i, constant in enumerate(self._constants)
        }
        return found | {f"{self.name}_size": sql("ARRAY_LENGTH(:s)", s=self._set)}

    def _has(self, constant: str) -> Tree:
        return column(f"{self.name}_c{self._constants.index(constant)}", self._table)

    @property
    def _size(self) -> Tree:
        return column(f"{self.name}_size", self._table)

    def _count(self, groups: Sequence[Group]) -> Tree:
        """How many members are in the groups."""
        wanted = [at for group in groups for at in self._of.get(group, ())]
        if None not in wanted:
            return plus(indicator(self._has(at)) for at in wanted if at is not None)
        others = [indicator(self._has(at)) for at in self._constants if at not in wanted]
        size = sql("CAST(:n AS DOUBLE)", n=self._size)
        return sql(":n - :o", n=size, o=plus(others)) if others else size

    def reach(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        wanted = list(groups)
        if len(wanted) == len(self.groups):
            return TRUE
        listed = [at for group in wanted for at in self._of.get(group, ())]
        if None in listed:
            inside = sql(":n > 0", n=self._count(wanted))
        else:
            inside = some(self._has(at) for at in listed if at is not None)
        if self._state is None:
            return inside
        ways = [every([self._is("none"), sql("COALESCE(:x, FALSE)", x=inside)])]
        if listed:
            ways += [self._is("some"), self._is("any")]
        if self._null in wanted:
            ways += [self._is("all"), self._is("some")]
        return some(ways)

    def share(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        wanted = list(groups)
        if len(wanted) == len(self.groups):
            return ONE
        known = sql(":c / :n", c=self._count(wanted), n=self._size)
        if self._state is None:
            return known
        mine, null = sum(group in self._of for group in wanted), self._null in wanted
        if self._point:
            shown = every(
                [sql(":n IS NOT NULL", n=self._size), sql("COALESCE(:c > 0, FALSE)", c=self._count(wanted))]
            )
            return indicator(some([shown, *([sql(":n IS NULL", n=self._size)] if null else [])]))
        return unknown_share(self._state, known, mine, len(self._of), null=null)

    def parts(self) -> list[Part]:
        """A set of names is no number."""
        raise AssertionError

    def _is(self, state: str) -> Tree:
        return sql(":s = :v", s=self._state, v=string(state)) if self._state is not None else FALSE


def unknown_share(state: Tree, known: Tree, mine: int, all_of: int, *, null: bool) -> Tree:
    """A share where NULL may be: every group counts the same in a box that is not known."""
    tree = exp.Case(
        this=state.copy(),
        ifs=[
            exp.If(this=string("none"), true=known),
            exp.If(this=string("all"), true=ONE if null else ZERO),
            exp.If(
                this=string("some"), true=number(Fraction(mine + null, all_of + 1)) if mine + null else ZERO
            ),
        ],
        default=number(Fraction(mine, all_of)) if mine else ZERO,
    )
    return exp.cast(tree, "DOUBLE")


class Lookup:
    """See `sqlanon.query.formula.Domain`: a box whose groups of values were counted beforehand.

    Args:
        box: the column.
        ways: which tests hold together, one group each.
        tests: the tests.
        table: where the rows are read.
        spread: the number of the test that holds within the key of a GROUP BY; None: no GROUP BY of this column.
        key: the expression of the box that the GROUP BY asks for.
        values: aggregates of the column itself are wanted.
        suffix: tells lookups of one box apart.
    """

    def __init__(
        self, box: Box, ways: Sequence[frozenset[int]], tests: Sequence[Test], table: str,
        spread: int | None = None, key: Tree | None = None, *, values: bool = False, suffix: str = "",
    ) -> None:  # fmt: skip
        self.name = f"{box.id}{'_' if suffix else ''}{suffix}"
        self.box, self.key, self._tests, self._values, self._table = box, key, tests, values, table
        self._spread = spread
        extra = frozenset() if spread is None else frozenset([spread])
        self._null = Group(
            frozenset(t.id for t in tests if t.comparison is not None and t.comparison.op == "null")
        )
        self._inside = [Group(way | extra) for way in ways]
        self._outside = Group(frozenset())
        self.groups = tuple(dict.fromkeys([*self._inside, *([] if spread is None else [self._outside])]))
        self._state = column(f"{box.id}_state", table) if box.state is not None and spread is None else None

    def _column(self, end: str, group: Group) -> Tree:
        return column(f"{self.name}_{end}{self._inside.index(group)}", self._table)

    def reach(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        wanted = list(groups)
        if len(wanted) == len(self.groups):
            return TRUE
        mine = [group for group in wanted if group in self._inside]
        if self._spread is not None and self.box.state is not None:
            ways = [self._column("r", group) for group in mine]
            ways += [column(f"{self.name}_open", self._table)] if mine else []
        else:
            ways = [sql("COALESCE(:s, 0) > 0", s=self._column("s", group)) for group in mine]
        if self._outside in wanted and self._spread is not None:
            ways.append(negate(column(f"{self.name}_inside", self._table)))
        if self._state is not None:
            ways = [every([self._is("none"), some(ways)]), self._is("some"), self._is("any")]
            # What a function of the analyst's makes of NULL is not known here.
            if self._null in wanted or any(test.comparison is None for test in self._tests):
                ways.append(self._is("all"))
        return some(ways)

    def share(self, groups: Iterable[Group]) -> Tree:
        """See `Domain`."""
        wanted = [group for group in groups if group in self._inside]
        known = plus(sql("COALESCE(:s, 0)", s=self._column("s", group)) for group in wanted)
        if self._state is None:
            return known
        null = self._null in wanted
        if self.box.point is not None:
            first = column(self.keys[0], self._table)
            return when(sql(":k IS NULL", k=first), ONE if null else ZERO, known)
        mine = len(wanted) - null
        return unknown_share(self._state, known, mine, max(len(self._inside) - 1, 1), null=null)

    def parts(self) -> list[Part]:
        """See `Domain`."""
        found = []
        for group in self._inside:
            low, high, middle = (self._column(end, group) for end in "lhm")
            open_ = some([self._is("some"), self._is("any")])
            if self._open:
                open_ = column(f"{self.name}_open", self._table)
            reach = self.reach([group])
            if self._open:  # by a listed value, or by any in a box that is not known; not by NULL
                reach = every([reach, some([sql(":l IS NOT NULL", l=low), open_])])
            null = column(f"{self.name}_z", self._table) if self._open else FALSE
            found.append(Part(group, reach, self.share([group]), low, high, middle, open_, null))
        return found

    def _is(self, state: str) -> Tree:
        return sql(":s = :v", s=self._state, v=string(state)) if self._state is not None else FALSE

    def columns(self) -> dict[str, Tree]:
        """What the rows have to tell, as trees over the view: the box itself."""
        return {f"{self.box.id}_{part}": tree for part, tree in self.box.parts.items()}

    @property
    def keys(self) -> list[str]:
        """The columns of the box that the lookup is joined by."""
        names = [f"{self.box.id}_{part}" for part in self.box.parts]
        return (
            [*names, f"{self.box.id}_state"]
            if self._spread is not None and self.box.state is not None
            else names
        )

    @property
    def given(self) -> list[str]:
        """The columns of the lookup that are not its keys."""
        name = self.name
        ends = ["s", *(["r"] if self._open else []), *("lhm" if self._values else "")]
        own = [f"{name}_{end}{j}" for j in range(len(self._inside)) for end in ends]
        own += [f"{name}_key", f"{name}_inside"] if self.key is not None else []
        own += [f"{name}_size"] if self.box.shape == "group" else []
        return [*own, *([f"{name}_open", f"{name}_z"] if self._open else [])]

    @property
    def _open(self) -> bool:
        return self.key is not None and self.box.state is not None

    def table(self, members: str, *, whole: bool) -> exp.Select:
        """The lookup's rows, from the unrolled boxes: the keys of the box, the group's key, and the shares.

        Args:
            members: the table of unrolled boxes: the keys, ``v`` and its weight ``w``, and ``u``: the box is not known.
            whole: the GROUP BY asks for the column itself, so that a test is decided within each of its groups.
        """
        value, weight, name = column("v", "m"), column("w", "m"), self.name
        keys = [column(key, "m") for key in self.keys]
        chosen: dict[str, Tree] = dict(zip(self.keys, keys, strict=True))
        total: Tree = sql("SUM(:w)", w=weight)
        grouped = len(keys)
        if self.key is not None:
            grouped += 1
            chosen[f"{name}_key"] = on(self.key, self.box.id, value)
            over = exp.Window(this=sql("SUM(:t)", t=total), partition_by=[key.copy() for key in keys])
            inside = FALSE if self.box.point is not None else sql("SUM(:w) = :o", w=weight, o=over)
            chosen[f"{name}_inside"] = inside
            if self._open:
                chosen[f"{name}_open"] = FALSE if whole else sql("BOOL_OR(:u)", u=column("u", "m"))
                chosen[f"{name}_z"] = sql("BOOL_OR(:v IS NULL)", v=value)
            total = over
        if self.box.shape == "group":
            chosen[f"{name}_size"] = total
        # Each value's group is computed once, below; the rest are sums by its number.
        turns = [
            exp.If(this=every(t.on(column("v")) if t.id in group.holds else negate(t.on(column("v"))) for t in self._tests),
                   true=exp.Literal.number(j))
            for j, group in enumerate(self._inside)
        ]  # fmt: skip
        way: Tree = exp.Case(ifs=turns) if self._tests else exp.Literal.number(0)
        for j in range(len(self._inside)):
            mine = sql(":g = :j", g=column("way", "m"), j=exp.Literal.number(j))
            counted = when(mine, weight, exp.Literal.number(0))
            chosen[f"{name}_s{j}"] = sql("CAST(SUM(:w) AS DOUBLE) / CAST(:t AS DOUBLE)", w=counted, t=total)
            if self._open:
                chosen[f"{name}_r{j}"] = sql("BOOL_OR(:m)", m=mine)
            if self._values:
                chosen[f"{name}_l{j}"] = sql("MIN(:v)", v=when(mine, value))
                chosen[f"{name}_h{j}"] = sql("MAX(:v)", v=when(mine, value))
                weighed = sql(":w * CAST(:v AS DOUBLE)", w=weight, v=value)
                mean = sql("SUM(:a) / NULLIF(SUM(:b), 0)", a=when(mine, weighed), b=when(mine, weight))
                chosen[f"{name}_m{j}"] = mean if self.box.numeric else exp.null()
        base = exp.Select().select(sql("*"), exp.alias_(way, "way", quoted=True)).from_(exp.to_table(members))
        made = exp.Select().select(*(exp.alias_(tree, own, quoted=True) for own, tree in chosen.items()))
        made = made.from_(base.subquery("m"))
        return made.group_by(*(exp.Literal.number(i + 1) for i in range(grouped))) if grouped else made


def constants_of(box: Box) -> Mapping[str, Tree]:
    """Values that stand in the keys of a box that has none, so that keys are never NULL and join by equality."""
    kind = box.field.kind
    plain: dict[str, Tree] = {
        "integer": exp.Literal.number(0), "decimal": exp.Literal.number(0), "float": exp.Literal.number(0),
        "boolean": FALSE, "date": exp.cast(string("1970-01-01"), "DATE"),
        "timestamp": exp.cast(string("1970-01-01 00:00:00"), "TIMESTAMP"),
    }  # fmt: skip
    return {
        part: plain.get(kind, string("")) if part in ("lo", "hi") else string("")
        for part in box.parts
        if part != "set"
    }


def steps(box: Box, lo: Tree, hi: Tree) -> tuple[Tree, Tree, Tree]:
    """First and last whole number of a box, and the value that a number ``i`` stands for."""
    place = column("i", "s")
    if box.field.kind == "date":
        return (*(exp.cast(measure(end, "date") or end, "BIGINT") for end in (lo, hi)),
                sql("CAST('1970-01-01' AS DATE) + CAST(:i AS INTEGER)", i=place))  # type: ignore[return-value]  # fmt: skip
    if box.field.kind == "boolean":
        return (*(exp.cast(end.copy(), "INTEGER") for end in (lo, hi)), sql(":i = 1", i=place))  # type: ignore[return-value]
    # PostgreSQL has no series of small integers.
    return exp.cast(lo.copy(), "BIGINT"), exp.cast(hi.copy(), "BIGINT"), place
