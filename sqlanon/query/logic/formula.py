"""WHERE as a monotone formula over tests, and its compilation to SQL: possible, certain, and the share of the box.

SQL's logic has three values, but WHERE takes only TRUE. Every NOT is pushed down to the predicates. Then a conjunction
is TRUE exactly when all of its parts are, and a disjunction when one is. So each predicate, with its sign, becomes a
*test* that either holds or does not, and NULL needs no value of its own.

A row's box is a product: every combination of its columns' values is possible. So formulas over different columns are
independent, and a formula whose parts share a column is split by what that column's values decide: a decision diagram
with columns as variables, memoized on the rest of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.query.sql.sqltree import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Tree,
    counts,
    every,
    greatest,
    indicator,
    is_false,
    is_true,
    least,
    less,
    negate,
    plus,
    some,
    times,
    when,
)

ATOMS = 12
"""Predicates over boxed columns up to which the bounds of a COUNT are tight."""

MOST_EXACT = 4
"""Tests of exact columns in one condition up to which the rows of a class are counted by what it attains."""

Formula = bool | int | tuple[str, frozenset["Formula"]]
"""TRUE, FALSE, a test's number, or ('and' | 'or', parts)."""


@dataclass(frozen=True)
class Triple:
    """SQL results of a formula for one row.

    They say whether some value of the box satisfies it, whether all do, and the share that does.
    """

    possible: Tree
    certain: Tree
    share: Tree


ALWAYS = Triple(TRUE, TRUE, ONE)
NEVER = Triple(FALSE, FALSE, ZERO)


@dataclass(frozen=True)
class Group:
    """Values of one column that decide the same tests alike; ``holds``: the tests that are TRUE for them."""

    holds: frozenset[int]


@dataclass(frozen=True)
class Part:
    """Values of one column under one group, for aggregates of that column.

    Attributes:
        group: which tests hold for them.
        reach: the box has some of them.
        share: how much of the box they are.
        low, high, middle: the smallest, the largest and the mean value of them in the box; None: NULL is the value.
        open: a boolean tree: nothing bounds them.
        null: a boolean tree: NULL is among them.
    """

    group: Group
    reach: Tree
    share: Tree
    low: Tree | None
    high: Tree | None
    middle: Tree | None
    open: Tree = FALSE
    null: Tree = FALSE


class Domain(Protocol):
    """How the values of one box divide, as SQL over the rows of the rewritten query."""

    groups: tuple[Group, ...]

    def columns(self) -> dict[str, Tree]:
        """What is read of each row for the box, by name, as trees over the view."""

    def reach(self, groups: Iterable[Group]) -> Tree:
        """The box has values of these groups."""

    def share(self, groups: Iterable[Group]) -> Tree:
        """The part of the box that they take."""

    def attained(self, groups: Iterable[Group]) -> Tree | None:
        """Number of values of these groups that some row of the class is known to have, as a whole number.

        None if the release does not say.
        """

    def parts(self) -> list[Part]:
        """The groups for aggregates of the column itself."""


def both(parts: Iterable[Formula]) -> Formula:
    """The conjunction, simplified."""
    return _join("and", parts, unit=True)


def either(parts: Iterable[Formula]) -> Formula:
    """The disjunction, simplified."""
    return _join("or", parts, unit=False)


def _join(kind: str, parts: Iterable[Formula], *, unit: bool) -> Formula:
    kept: set[Formula] = set()
    for part in parts:
        if isinstance(part, bool):
            if part is not unit:
                return not unit
        elif isinstance(part, tuple) and part[0] == kind:
            kept |= part[1]
        else:
            kept.add(part)
    if not kept:
        return unit
    return next(iter(kept)) if len(kept) == 1 else (kind, frozenset(kept))


def factored(formula: Formula) -> Formula:
    """The formula with what all of its parts have in common taken out: (p AND q) OR (p AND r) as p AND (q OR r)."""
    if not isinstance(formula, tuple):
        return formula
    inner, join, outer = ("and", either, both) if formula[0] == "or" else ("or", both, either)
    parts = [part[1] if isinstance(part, tuple) and part[0] == inner else frozenset([part]) for part in formula[1]]
    common = frozenset.intersection(*parts)
    return outer([*common, join(outer(part - common) for part in parts)]) if common else formula


def build(node: exp.Expr, leaf: Callable[[exp.Expr, bool], Formula], *, positive: bool = True) -> Formula:
    """The formula that is TRUE exactly when the predicate is TRUE (``positive``) or FALSE.

    Args:
        node: a predicate in SQL.
        leaf: gives the formula of a predicate without AND, OR and NOT, under its sign.
        positive: the sign.
    """
    if isinstance(node, exp.Paren):
        return build(node.this, leaf, positive=positive)
    if isinstance(node, exp.Not):
        return build(node.this, leaf, positive=not positive)
    if isinstance(node, exp.And | exp.Or):
        parts = [build(child, leaf, positive=positive) for child in (node.left, node.right)]
        return both(parts) if isinstance(node, exp.And) is positive else either(parts)
    if isinstance(node, exp.Boolean):
        return bool(node.this) is positive
    if isinstance(node, exp.Null):
        return False
    return leaf(node, positive)


def tests_in(formula: Formula) -> frozenset[int]:
    """The tests of a formula."""
    if isinstance(formula, bool):
        return frozenset()
    if isinstance(formula, int):
        return frozenset([formula])
    return frozenset().union(*(tests_in(part) for part in formula[1]))


def restrict(formula: Formula, known: Mapping[int, bool]) -> Formula:
    """The rest of a formula when some tests are decided."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return known.get(formula, formula)
    parts = [restrict(part, known) for part in formula[1]]
    return both(parts) if formula[0] == "and" else either(parts)


@dataclass(frozen=True)
class Count:
    """Least and largest number of rows of a class that satisfy a formula.

    Attributes:
        low, high: the numbers, over all rows of the class.
        tight: each is reached by some consistent source.
        case: where exact columns are asked as well: the number of what is left of the formula for a row of these
            values; the numbers are then of that rest. None: it is the same for all rows.
        kinds: where several rests are open: the least number of rows that satisfy all of these, the largest that
            satisfy one of them, and whether a row's rest is one of them.
    """

    low: Tree
    high: Tree
    tight: bool = True
    case: Tree | None = None
    kinds: tuple[Tree, Tree, Tree] | None = None


class Compiler:
    """Formulas to SQL over the rows of the rewritten query.

    Args:
        exact: tests that are known of every row: a boolean column each.
        boxed: the box of every other test.
        domains: how the values of each box divide.
        loose: tests that span boxes: already three trees each.
        relaxed: take every test as independent of the others: sound, and not tight.
    """

    def __init__(
        self,
        exact: Mapping[int, Tree],
        boxed: Mapping[int, str],
        domains: Mapping[str, Domain],
        loose: Mapping[int, Triple],
        *,
        relaxed: bool,
    ) -> None:
        self._exact, self._boxed, self._domains, self._loose = exact, boxed, domains, loose
        self._relaxed = relaxed
        self._known: dict[Formula, Triple] = {}

    def triple(self, formula: Formula) -> Triple:
        """Possible, certain and share of a formula."""
        if isinstance(formula, bool):
            return ALWAYS if formula else NEVER
        if formula not in self._known:
            self._known[formula] = self._compile(formula)
        return self._known[formula]

    def count_class(self, formula: Formula, rows: Tree) -> Count:
        """See `count`, of a formula that may ask exact columns: they leave a rest of it for each row.

        Args:
            formula: the formula, of tests that ask one box each, and of at most `MOST_EXACT` exact ones.
            rows: the number of rows of the class.
        """
        rests: list[Formula] = []
        case = self._case(formula, sorted(tests_in(formula) & self._exact.keys()), rests)
        found = [self.count(rest, rows) for rest in rests]
        if len(found) == 1:
            return found[0]
        low, high = (
            exp.Case(
                ifs=[
                    exp.If(this=exp.EQ(this=case.copy(), expression=exp.Literal.number(i)), true=tree.copy())
                    for i, tree in enumerate(ends)
                ]
            )
            for ends in ([one.low for one in found], [one.high for one in found])
        )
        open_ = [i for i, rest in enumerate(rests) if not isinstance(rest, bool)]
        kinds = None
        if len(open_) > 1:
            left = exp.In(this=case.copy(), expressions=[exp.Literal.number(i) for i in open_])
            all_, any_ = (self.count(join([rests[i] for i in open_]), rows) for join in (both, either))
            kinds = all_.low, any_.high, left
        return Count(low, high, len(open_) < 2 and all(one.tight for one in found), case, kinds)

    def _case(self, formula: Formula, tests: Sequence[int], rests: list[Formula]) -> Tree:
        """The number of what a row's exact columns leave of a formula, among the rests, which it adds to."""
        if not tests:
            if formula not in rests:
                rests.append(formula)
            return exp.Literal.number(rests.index(formula))
        ways = [self._case(restrict(formula, {tests[0]: sign}), tests[1:], rests) for sign in (True, False)]
        return ways[0] if ways[0] == ways[1] else when(self._exact[tests[0]], *ways)

    def count(self, formula: Formula, rows: Tree) -> Count:
        """How many rows of a class satisfy a formula, by the values that some row of it is known to have.

        Different values of one column are of different rows: one for each that satisfies the formula, one for each that
        does not. Parts of a formula that share no column are combined as Frechet's inequalities have it, which no other
        bound improves, as any row may have any combination of the values of different columns.

        Args:
            formula: the formula, of tests that ask one box each: others may be decided differently for each row of a
                class.
            rows: the number of rows of the class.
        """
        formula = factored(formula)
        if isinstance(formula, tuple):
            kind, parts = formula
            apart = self._components(parts)
            if len(apart) > 1:
                found = [self.count(part[0] if len(part) == 1 else (kind, frozenset(part)), rows) for part in apart]
                tight = all(one.tight for one in found) and not self._relaxed
                lows, highs = [one.low for one in found], [one.high for one in found]
                if kind == "or":
                    return Count(greatest(lows), least([rows, counts(highs)]), tight)
                others = times(exp.Literal.number(len(found) - 1), rows)
                return Count(greatest([exp.Literal.number(0), less(counts(lows), others)]), least(highs), tight)
            if len(self._boxes(formula)) > 1:
                return self._of_parts(formula, rows)
        return self._of_values(formula, rows)

    def _of_parts(self, formula: tuple[str, frozenset[Formula]], rows: Tree) -> Count:
        """See `count`: of a formula whose parts share columns.

        By its values, by Frechet's inequalities, and by the sums over what the values of one column leave of it.
        """
        ways = [self._of_values(formula, rows)]
        ways += [self._of_groups(formula, box, rows) for box in sorted(self._boxes(formula))]
        found = [self.count(part, rows) for part in sorted(formula[1], key=_place)]
        lows, highs = [one.low for one in found], [one.high for one in found]
        if formula[0] == "or":
            ways.append(Count(greatest(lows), counts(highs)))
        else:
            others = times(exp.Literal.number(len(found) - 1), rows)
            ways.append(Count(less(counts(lows), others), least(highs)))
        return Count(greatest([one.low for one in ways]), least([one.high for one in ways]), tight=False)

    def _of_groups(self, formula: Formula, box: str, rows: Tree) -> Count:
        """See `count`: rows by their values of one column, each kind under what these leave of the formula."""
        domain, nothing = self._domains[box], exp.Literal.number(0)
        own = {test for test in tests_in(formula) if self._boxed.get(test) == box}
        rests: dict[Formula, list[Group]] = {}
        for group in domain.groups:
            rests.setdefault(restrict(formula, {test: test in group.holds for test in own}), []).append(group)
        lows, highs = [], []
        for rest, groups in rests.items():
            if rest is False:
                continue
            others = [group for group in domain.groups if group not in groups]
            here, there = domain.attained(groups), domain.attained(others)
            least_in = when(domain.reach(others), nothing if here is None else here, rows)
            most_in = when(domain.reach(groups), rows if there is None else less(rows, there), nothing)
            then = self.count(rest, rows)
            lows.append(greatest([nothing, less(counts([least_in, then.low]), rows)]))
            highs.append(least([most_in, then.high]))
        return Count(counts(lows), counts(highs)) if lows else Count(nothing, nothing)

    def _of_values(self, formula: Formula, rows: Tree) -> Count:
        """See `count`: of a formula by itself."""
        whole = self.triple(formula)
        nothing: Tree = exp.Literal.number(0)
        passing, failing = [nothing], [nothing]
        boxes, known = sorted(self._boxes(formula)), False
        for box in boxes:
            domain = self._domains[box]
            own = {test for test in tests_in(formula) if self._boxed.get(test) == box}
            rests: dict[Formula, list[Group]] = {}
            for group in domain.groups:
                rests.setdefault(restrict(formula, {test: test in group.holds for test in own}), []).append(group)
            passed, failed = [], []
            for rest, groups in rests.items():
                attained = domain.attained(groups)
                if attained is None:
                    continue
                known, then = True, self.triple(rest)
                # A value decides the formula alone where the other columns' values all leave it TRUE, or FALSE.
                passed += [] if is_false(then.certain) else [when(then.certain, attained, nothing)]
                failed += [] if is_true(then.possible) else [when(then.possible, nothing, attained)]
            passing += [counts(passed)] if passed else []
            failing += [counts(failed)] if failed else []
        tight = len(boxes) < 2 or not known
        return Count(
            when(whole.certain, rows, greatest(passing)),
            when(whole.possible, less(rows, greatest(failing)), nothing),
            tight,
        )

    def by_part(self, formula: Formula, box: str) -> list[tuple[Part, Triple]]:
        """For every part of one column's values, the result of the rest of the formula there."""
        own = {test for test in tests_in(formula) if self._boxed.get(test) == box}
        return [
            (part, self.triple(restrict(formula, {test: test in part.group.holds for test in own})))
            for part in self._domains[box].parts()
        ]

    def by_parts(self, formula: Formula, boxes: Sequence[str]) -> list[tuple[dict[str, Part], Triple]]:
        """For every combination of parts of several columns' values, the result of the rest of the formula there."""
        if not boxes:
            return [({}, self.triple(formula))]
        own = {test for test in tests_in(formula) if self._boxed.get(test) == boxes[0]}
        found = []
        for part in self._domains[boxes[0]].parts():
            rest = restrict(formula, {test: test in part.group.holds for test in own})
            if rest is not False:
                found += [({boxes[0]: part, **others}, triple) for others, triple in self.by_parts(rest, boxes[1:])]
        return found

    def apart(self, formula: Formula, box: str) -> bool:
        """Whether a formula is what one box must satisfy, and what the others must, and nothing that mixes them."""
        parts = formula[1] if isinstance(formula, tuple) and formula[0] == "and" else frozenset([formula])
        return all(
            {self._boxed.get(test) == box for test in tests_in(part)} in (set(), {True}, {False}) for part in parts
        )

    def _compile(self, formula: Formula) -> Triple:
        if isinstance(formula, int):
            if formula in self._exact:
                return Triple(self._exact[formula], self._exact[formula], indicator(self._exact[formula]))
            return self._loose[formula] if formula in self._loose else self._branch(formula, self._boxed[formula])
        assert isinstance(formula, tuple)
        kind, parts = formula
        found = [
            self.triple(part[0]) if len(part) == 1 else self._decide_shared((kind, frozenset(part)))
            for part in self._components(parts)
        ]
        if kind == "and":
            return Triple(
                every(t.possible for t in found),
                every(t.certain for t in found),
                times(*(t.share for t in found)),
            )
        return Triple(
            some(t.possible for t in found),
            some(t.certain for t in found),
            less(ONE, times(*(less(ONE, t.share) for t in found))),
        )

    def _boxes(self, formula: Formula) -> frozenset[str]:
        return frozenset(self._boxed[test] for test in tests_in(formula) if test in self._boxed)

    def _components(self, parts: frozenset[Formula]) -> list[list[Formula]]:
        """Parts that share no column lie in different components; in an order that does not change from run to run."""
        ordered = sorted(parts, key=_place)
        if self._relaxed:
            return [[part] for part in ordered]
        components: list[tuple[set[str], list[Formula]]] = []
        for part in ordered:
            boxes = set(self._boxes(part))
            members = [part]
            apart = []
            for other in components:
                if other[0] & boxes:
                    boxes |= other[0]
                    members = other[1] + members
                else:
                    apart.append(other)
            components = [*apart, (boxes, members)]
        return [members for _, members in components]

    def _decide_shared(self, formula: tuple[str, frozenset[Formula]]) -> Triple:
        """A formula all of whose parts hang together: decide the column that most of them share."""
        if formula in self._known:
            return self._known[formula]
        counts: dict[str, int] = {}
        for part in formula[1]:
            for box in self._boxes(part):
                counts[box] = counts.get(box, 0) + 1
        box = min(counts, key=lambda name: (-counts[name], name))
        self._known[formula] = self._branch(formula, box)
        return self._known[formula]

    def _branch(self, formula: Formula, box: str) -> Triple:
        domain = self._domains[box]
        own = {test for test in tests_in(formula) if self._boxed.get(test) == box}
        rests: dict[Formula, list[Group]] = {}
        for group in domain.groups:
            rest = restrict(formula, {test: test in group.holds for test in own})
            rests.setdefault(rest, []).append(group)
        possible, certain, shares = [], [], []
        for rest, groups in rests.items():
            then = self.triple(rest)
            reach = domain.reach(groups)
            possible.append(every([reach, then.possible]))
            certain.append(some([negate(reach), then.certain]))
            if then is not NEVER:
                shares.append(times(domain.share(groups), then.share))
        return Triple(some(possible), every(certain), plus(shares))


def _place(formula: Formula) -> tuple[int, ...]:
    return tuple(sorted(tests_in(formula)))
