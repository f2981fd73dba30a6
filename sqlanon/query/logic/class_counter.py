"""Least and largest number of rows of a class that satisfy a formula, by values that the rows are known to have."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.logic.formula import Compiler, Formula, Group, both, either, restrict, tests_in
from sqlanon.query.logic.venn_cells import MOST_CELLS
from sqlanon.query.sql.sqltree import Tree, counts, greatest, is_false, is_true, least, less, times, when


@dataclass(frozen=True)
class Count:
    """Least and largest number of rows of a class that satisfy a formula.

    Attributes:
        low, high: the numbers, over all rows of the class.
        tight: each is reached by some consistent source.
        case: where exact columns are asked as well: number of the rest of the formula for a row of these values; the
            numbers are then of that rest. None: it is the same for all rows.
    """

    low: Tree
    high: Tree
    tight: bool = True
    case: Tree | None = None


@dataclass(frozen=True)
class Venn:
    """The cells of a condition, see `sqlanon.query.logic.venn_cells`.

    Attributes:
        sorts: the number in `Count.case` of each sort of rows that the condition leaves open.
        good: the cells of each sort that satisfy the rest of the condition.
        reach: for each column and kind of values, whether the box has some.
        attained: for each column and kind, the number of values that some row is known to have.
    """

    sorts: tuple[int, ...]
    good: tuple[frozenset[tuple[int, ...]], ...]
    reach: tuple[tuple[Tree, ...], ...]
    attained: tuple[tuple[Tree, ...], ...]


def factor_out(formula: Formula) -> Formula:
    """The formula with the common factor of all parts taken out: (p AND q) OR (p AND r) as p AND (q OR r)."""
    if not isinstance(formula, tuple):
        return formula
    inner, join, outer = ("and", either, both) if formula[0] == "or" else ("or", both, either)
    parts = [part[1] if isinstance(part, tuple) and part[0] == inner else frozenset([part]) for part in formula[1]]
    common = frozenset.intersection(*parts)
    return outer([*common, join(outer(part - common) for part in parts)]) if common else formula


class ClassCounter:
    """Counts the rows of a class.

    Args:
        compiler: compiler of formulas.
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler

    def count_class(self, formula: Formula, rows: Tree) -> Count:
        """See `count`, of a formula that may ask exact columns: they leave a rest of the formula for each row.

        Args:
            formula: the formula, of tests that ask a single box each, and of at most `MOST_EXACT` exact tests.
            rows: the number of rows of the class.
        """
        rests: list[Formula] = []
        case = self._case(formula, sorted(tests_in(formula) & self._compiler.exact.keys()), rests)
        class_counts = [self.count(rest, rows) for rest in rests]
        if len(class_counts) == 1:
            return class_counts[0]
        low, high = (
            exp.Case(
                ifs=[
                    exp.If(this=exp.EQ(this=case.copy(), expression=exp.Literal.number(i)), true=tree.copy())
                    for i, tree in enumerate(ends)
                ]
            )
            for ends in (
                [class_count.low for class_count in class_counts],
                [class_count.high for class_count in class_counts],
            )
        )
        open_ = sum(not isinstance(rest, bool) for rest in rests)
        return Count(low, high, open_ < 2 and all(class_count.tight for class_count in class_counts), case)

    def draw_cells(self, formula: Formula) -> Venn | None:
        """The cells of a formula, from which an exact solver counts.

        None if they are too many, or if tests are taken separately.

        Args:
            formula: as in `count_class`.
        """
        rests: list[Formula] = []
        self._case(formula, sorted(tests_in(formula) & self._compiler.exact.keys()), rests)
        open_ = [i for i, rest in enumerate(rests) if not isinstance(rest, bool)]
        boxes = sorted(frozenset().union(*(self._compiler.boxes(rests[i]) for i in open_)))
        columns: list[list[tuple[dict[int, bool], list[Group]]]] = []
        for box in boxes:
            kinds: dict[tuple[Formula, ...], tuple[dict[int, bool], list[Group]]] = {}
            for group in self._compiler.domains[box].groups:
                box_tests = (test for test in tests_in(formula) if self._compiler.boxed.get(test) == box)
                signs = {test: test in group.holds for test in box_tests}
                kind = tuple(restrict(rests[i], signs) for i in open_)
                kinds.setdefault(kind, (signs, []))[1].append(group)
            columns.append(list(kinds.values()))
        if not open_ or self._compiler.relaxed or math.prod(map(len, columns)) > MOST_CELLS:
            return None
        good: list[frozenset[tuple[int, ...]]] = []
        for i in open_:
            cells = itertools.product(*(range(len(kinds)) for kinds in columns))
            satisfied = []
            for cell in cells:
                signs = {
                    t: sign for kinds, index in zip(columns, cell, strict=True) for t, sign in kinds[index][0].items()
                }
                if restrict(rests[i], signs) is True:
                    satisfied.append(cell)
            good.append(frozenset(satisfied))
        domains = [self._compiler.domains[box] for box in boxes]
        nothing = exp.Literal.number(0)
        return Venn(
            tuple(open_),
            tuple(good),
            tuple(
                tuple(domain.reach(groups) for _, groups in kinds)
                for domain, kinds in zip(domains, columns, strict=True)
            ),
            tuple(
                tuple(domain.count_attained(groups) or nothing for _, groups in kinds)
                for domain, kinds in zip(domains, columns, strict=True)
            ),
        )

    def _case(self, formula: Formula, tests: Sequence[int], rests: list[Formula]) -> Tree:
        """The number among ``rests`` of the rest that a row's exact columns leave of a formula; new rests are added."""
        if not tests:
            if formula not in rests:
                rests.append(formula)
            return exp.Literal.number(rests.index(formula))
        ways = [self._case(restrict(formula, {tests[0]: sign}), tests[1:], rests) for sign in (True, False)]
        return ways[0] if ways[0] == ways[1] else when(self._compiler.exact[tests[0]], *ways)

    def count(self, formula: Formula, rows: Tree) -> Count:
        """Count the rows of a class that satisfy a formula, by the values that some row is known to have.

        Different values of a column belong to different rows: a row for each value that satisfies the formula, and for
        each that does not. Parts of a formula that share no column are combined by Frechet's inequalities, which no
        other bound improves, as any row may have any combination of the values of different columns. Of parts that
        share columns the numbers are not always as narrow as those of the cells (`draw_cells`).

        Args:
            formula: the formula, of tests that ask a single box each: others may be decided differently for each row of
                a class.
            rows: the number of rows of the class.
        """
        formula = factor_out(formula)
        if isinstance(formula, tuple):
            kind, parts = formula
            apart = self._compiler.components(parts)
            if len(apart) > 1:
                part_counts = [
                    self.count(part[0] if len(part) == 1 else (kind, frozenset(part)), rows) for part in apart
                ]
                tight = all(part_count.tight for part_count in part_counts) and not self._compiler.relaxed
                lows, highs = (
                    [part_count.low for part_count in part_counts],
                    [part_count.high for part_count in part_counts],
                )
                if kind == "or":
                    return Count(greatest(lows), least([rows, counts(highs)]), tight)
                excess = times(exp.Literal.number(len(part_counts) - 1), rows)
                return Count(greatest([exp.Literal.number(0), less(counts(lows), excess)]), least(highs), tight)
        return self._of_values(formula, rows)

    def _of_values(self, formula: Formula, rows: Tree) -> Count:
        """See `count`: of a formula by itself."""
        whole = self._compiler.triple(formula)
        nothing: Tree = exp.Literal.number(0)
        passing, failing = [nothing], [nothing]
        boxes, has_attained = sorted(self._compiler.boxes(formula)), False
        for box in boxes:
            domain = self._compiler.domains[box]
            box_tests = {test for test in tests_in(formula) if self._compiler.boxed.get(test) == box}
            rests: dict[Formula, list[Group]] = {}
            for group in domain.groups:
                rests.setdefault(restrict(formula, {test: test in group.holds for test in box_tests}), []).append(group)
            passed, failed = [], []
            for rest, groups in rests.items():
                attained = domain.count_attained(groups)
                if attained is None:
                    continue
                has_attained, then = True, self._compiler.triple(rest)
                # A value decides the formula alone where the other columns' values all leave it TRUE, or FALSE.
                passed += [] if is_false(then.certain) else [when(then.certain, attained, nothing)]
                failed += [] if is_true(then.possible) else [when(then.possible, nothing, attained)]
            passing += [counts(passed)] if passed else []
            failing += [counts(failed)] if failed else []
        tight = len(boxes) < 2 or not has_attained
        return Count(
            when(whole.certain, rows, greatest(passing)),
            when(whole.possible, less(rows, greatest(failing)), nothing),
            tight,
        )
