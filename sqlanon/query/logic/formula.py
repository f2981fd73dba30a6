"""WHERE as a monotone formula over tests, and its compilation to SQL: possible, certain, and the share of the box.

SQL's logic has three values, but WHERE takes only TRUE. Every NOT is pushed down to the predicates. Then a conjunction
is TRUE exactly when all parts are, and a disjunction when any part is. So each predicate, with a sign, becomes a
*test* that either holds or does not, and NULL needs no separate value.

A row's box is a product: every combination of the columns' values is possible. So formulas over different columns are
independent, and a formula with parts that share a column is split by the values of that column: a decision diagram
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
    every,
    indicator,
    less,
    negate,
    plus,
    some,
    times,
)

ATOMS = 12
"""Predicates over boxed columns up to which the bounds of a COUNT are tight."""

MOST_EXACT = 4
"""Tests of exact columns in a condition up to which the rows of a class are counted by attained values."""

Formula = bool | int | tuple[str, frozenset["Formula"]]
"""TRUE, FALSE, a test's number, or ('and' | 'or', parts)."""


@dataclass(frozen=True)
class Triple:
    """SQL results of a formula for a row.

    They say whether some value of the box satisfies it, whether all do, and the share that does.
    """

    possible: Tree
    certain: Tree
    share: Tree


ALWAYS = Triple(TRUE, TRUE, ONE)
NEVER = Triple(FALSE, FALSE, ZERO)


@dataclass(frozen=True)
class Group:
    """Values of a column that decide the same tests alike; ``holds``: the tests that are TRUE for them."""

    holds: frozenset[int]


@dataclass(frozen=True)
class Part:
    """Values of a column under a group, for aggregates of that column.

    Attributes:
        group: the tests that hold for the values.
        reach: the box has some of them.
        share: their share of the box.
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
    """Division of the values of a box, as SQL over the rows of the rewritten query."""

    groups: tuple[Group, ...]

    def columns(self) -> dict[str, Tree]:
        """Columns read from each row for the box, by name, as trees over the view."""

    def reach(self, groups: Iterable[Group]) -> Tree:
        """The box has values of these groups."""

    def share(self, groups: Iterable[Group]) -> Tree:
        """The part of the box that they take."""

    def count_attained(self, groups: Iterable[Group]) -> Tree | None:
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
    joined: set[Formula] = set()
    for part in parts:
        if isinstance(part, bool):
            if part is not unit:
                return not unit
        elif isinstance(part, tuple) and part[0] == kind:
            joined |= part[1]
        else:
            joined.add(part)
    if not joined:
        return unit
    return next(iter(joined)) if len(joined) == 1 else (kind, frozenset(joined))


def build(node: exp.Expr, leaf: Callable[[exp.Expr, bool], Formula], *, positive: bool = True) -> Formula:
    """The formula that is TRUE exactly when the predicate is TRUE (``positive``) or FALSE.

    Args:
        node: a predicate in SQL.
        leaf: gives the formula of a predicate without AND, OR and NOT, under a sign.
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


def restrict(formula: Formula, decided: Mapping[int, bool]) -> Formula:
    """The rest of a formula when some tests are decided."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return decided.get(formula, formula)
    parts = [restrict(part, decided) for part in formula[1]]
    return both(parts) if formula[0] == "and" else either(parts)


class Compiler:
    """Formulas to SQL over the rows of the rewritten query.

    Args:
        exact: tests that are known of every row: a boolean column each.
        boxed: the box of every other test.
        domains: division of the values of each box.
        loose: tests that span boxes: already three trees each.
        relaxed: take every test as independent of the others: sound, and not tight.
        keep: gives the trees in place of a result, for results that are made of it.
    """

    def __init__(
        self,
        exact: Mapping[int, Tree],
        boxed: Mapping[int, str],
        domains: Mapping[str, Domain],
        loose: Mapping[int, Triple],
        *,
        relaxed: bool,
        keep: Callable[[Triple], Triple] = lambda triple: triple,
    ) -> None:
        self.exact, self.boxed, self.domains, self._loose = exact, boxed, domains, loose
        self.relaxed, self._keep = relaxed, keep
        self._known: dict[Formula, Triple] = {}

    def keeping(self, keep: Callable[[Triple], Triple]) -> Compiler:
        """The same with another ``keep``."""
        return Compiler(self.exact, self.boxed, self.domains, self._loose, relaxed=self.relaxed, keep=keep)

    def triple(self, formula: Formula) -> Triple:
        """Possible, certain and share of a formula."""
        if isinstance(formula, bool):
            return ALWAYS if formula else NEVER
        if formula not in self._known:
            self._known[formula] = self._keep(self._compile(formula))
        return self._known[formula]

    def by_part(self, formula: Formula, box: str) -> list[tuple[Part, Triple]]:
        """For every part of a column's values, the result of the rest of the formula there."""
        box_tests = {test for test in tests_in(formula) if self.boxed.get(test) == box}
        return [
            (part, self.triple(restrict(formula, {test: test in part.group.holds for test in box_tests})))
            for part in self.domains[box].parts()
        ]

    def by_parts(self, formula: Formula, boxes: Sequence[str]) -> list[tuple[dict[str, Part], Triple]]:
        """For every combination of parts of several columns' values, the result of the rest of the formula there."""
        if not boxes:
            return [({}, self.triple(formula))]
        box_tests = {test for test in tests_in(formula) if self.boxed.get(test) == boxes[0]}
        triples = []
        for part in self.domains[boxes[0]].parts():
            rest = restrict(formula, {test: test in part.group.holds for test in box_tests})
            if rest is not False:
                triples += [
                    ({boxes[0]: part, **other_parts}, triple) for other_parts, triple in self.by_parts(rest, boxes[1:])
                ]
        return triples

    def apart(self, formula: Formula, box: str) -> bool:
        """Whether a formula is a conjunction of parts about the box and parts about others, none of them mixed."""
        parts = formula[1] if isinstance(formula, tuple) and formula[0] == "and" else frozenset([formula])
        return all(
            {self.boxed.get(test) == box for test in tests_in(part)} in (set(), {True}, {False}) for part in parts
        )

    def _compile(self, formula: Formula) -> Triple:
        if isinstance(formula, int):
            if formula in self.exact:
                return Triple(self.exact[formula], self.exact[formula], indicator(self.exact[formula]))
            return self._loose[formula] if formula in self._loose else self._branch(formula, self.boxed[formula])
        assert isinstance(formula, tuple)
        kind, parts = formula
        triples = [
            self.triple(part[0]) if len(part) == 1 else self._decide_shared((kind, frozenset(part)))
            for part in self.components(parts)
        ]
        if kind == "and":
            return Triple(
                every(t.possible for t in triples),
                every(t.certain for t in triples),
                times(*(t.share for t in triples)),
            )
        return Triple(
            some(t.possible for t in triples),
            some(t.certain for t in triples),
            less(ONE, times(*(less(ONE, t.share) for t in triples))),
        )

    def boxes(self, formula: Formula) -> frozenset[str]:
        """The boxes that a formula asks."""
        return frozenset(self.boxed[test] for test in tests_in(formula) if test in self.boxed)

    def components(self, parts: frozenset[Formula]) -> list[list[Formula]]:
        """Parts that share no column lie in different components; in an order that does not change from run to run."""
        ordered = sorted(parts, key=place)
        if self.relaxed:
            return [[part] for part in ordered]
        components: list[tuple[set[str], list[Formula]]] = []
        for part in ordered:
            boxes = set(self.boxes(part))
            members = [part]
            apart = []
            for component in components:
                if component[0] & boxes:
                    boxes |= component[0]
                    members = component[1] + members
                else:
                    apart.append(component)
            components = [*apart, (boxes, members)]
        return [members for _, members in components]

    def _decide_shared(self, formula: tuple[str, frozenset[Formula]]) -> Triple:
        """The triple of a formula with connected parts: decide the column that most of them share."""
        if formula in self._known:
            return self._known[formula]
        counts: dict[str, int] = {}
        for part in formula[1]:
            for box in self.boxes(part):
                counts[box] = counts.get(box, 0) + 1
        box = min(counts, key=lambda name: (-counts[name], name))
        self._known[formula] = self._keep(self._branch(formula, box))
        return self._known[formula]

    def _branch(self, formula: Formula, box: str) -> Triple:
        domain = self.domains[box]
        box_tests = {test for test in tests_in(formula) if self.boxed.get(test) == box}
        rests: dict[Formula, list[Group]] = {}
        for group in domain.groups:
            rest = restrict(formula, {test: test in group.holds for test in box_tests})
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


def place(formula: Formula) -> tuple[int, ...]:
    """Sort key for the parts of a formula."""
    return tuple(sorted(tests_in(formula)))
