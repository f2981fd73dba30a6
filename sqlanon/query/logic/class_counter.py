"""How many rows of a class satisfy a formula, at least and at most, by the values that its rows are known to have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.logic.formula import Compiler, Formula, Group, both, either, place, restrict, tests_in
from sqlanon.query.sql.sqltree import Tree, counts, greatest, is_false, is_true, least, less, times, when


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


def factored(formula: Formula) -> Formula:
    """The formula with what all of its parts have in common taken out: (p AND q) OR (p AND r) as p AND (q OR r)."""
    if not isinstance(formula, tuple):
        return formula
    inner, join, outer = ("and", either, both) if formula[0] == "or" else ("or", both, either)
    parts = [part[1] if isinstance(part, tuple) and part[0] == inner else frozenset([part]) for part in formula[1]]
    common = frozenset.intersection(*parts)
    return outer([*common, join(outer(part - common) for part in parts)]) if common else formula


class ClassCounter:
    """Counts the rows of a class.

    Args:
        compiler: of formulas.
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler

    def count_class(self, formula: Formula, rows: Tree) -> Count:
        """See `count`, of a formula that may ask exact columns: they leave a rest of it for each row.

        Args:
            formula: the formula, of tests that ask one box each, and of at most `MOST_EXACT` exact ones.
            rows: the number of rows of the class.
        """
        rests: list[Formula] = []
        case = self._case(formula, sorted(tests_in(formula) & self._compiler.exact.keys()), rests)
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
        return ways[0] if ways[0] == ways[1] else when(self._compiler.exact[tests[0]], *ways)

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
            apart = self._compiler.components(parts)
            if len(apart) > 1:
                found = [self.count(part[0] if len(part) == 1 else (kind, frozenset(part)), rows) for part in apart]
                tight = all(one.tight for one in found) and not self._compiler.relaxed
                lows, highs = [one.low for one in found], [one.high for one in found]
                if kind == "or":
                    return Count(greatest(lows), least([rows, counts(highs)]), tight)
                others = times(exp.Literal.number(len(found) - 1), rows)
                return Count(greatest([exp.Literal.number(0), less(counts(lows), others)]), least(highs), tight)
            if len(self._compiler.boxes(formula)) > 1:
                return self._of_parts(formula, rows)
        return self._of_values(formula, rows)

    def _of_parts(self, formula: tuple[str, frozenset[Formula]], rows: Tree) -> Count:
        """See `count`: of a formula whose parts share columns.

        By its values, by Frechet's inequalities, and by the sums over what the values of one column leave of it.
        """
        ways = [self._of_values(formula, rows)]
        ways += [self._of_groups(formula, box, rows) for box in sorted(self._compiler.boxes(formula))]
        found = [self.count(part, rows) for part in sorted(formula[1], key=place)]
        lows, highs = [one.low for one in found], [one.high for one in found]
        if formula[0] == "or":
            ways.append(Count(greatest(lows), counts(highs)))
        else:
            others = times(exp.Literal.number(len(found) - 1), rows)
            ways.append(Count(less(counts(lows), others), least(highs)))
        return Count(greatest([one.low for one in ways]), least([one.high for one in ways]), tight=False)

    def _of_groups(self, formula: Formula, box: str, rows: Tree) -> Count:
        """See `count`: rows by their values of one column, each kind under what these leave of the formula."""
        domain, nothing = self._compiler.domains[box], exp.Literal.number(0)
        own = {test for test in tests_in(formula) if self._compiler.boxed.get(test) == box}
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
        whole = self._compiler.triple(formula)
        nothing: Tree = exp.Literal.number(0)
        passing, failing = [nothing], [nothing]
        boxes, known = sorted(self._compiler.boxes(formula)), False
        for box in boxes:
            domain = self._compiler.domains[box]
            own = {test for test in tests_in(formula) if self._compiler.boxed.get(test) == box}
            rests: dict[Formula, list[Group]] = {}
            for group in domain.groups:
                rests.setdefault(restrict(formula, {test: test in group.holds for test in own}), []).append(group)
            passed, failed = [], []
            for rest, groups in rests.items():
                attained = domain.attained(groups)
                if attained is None:
                    continue
                known, then = True, self._compiler.triple(rest)
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
