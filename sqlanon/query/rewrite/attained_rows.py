"""Narrows bounds by attained values: every shown end of a range and member of a set belongs to some row.

It does so for counts, and for sums and extremes of ranges; over the rows of a class, or the candidates of a row's box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.query.logic.formula import tests_in
from sqlanon.query.parse.scope import Scope
from sqlanon.query.release import ReaderRelease
from sqlanon.query.rewrite.class_bounds import asks_ends, by_row, counts_rows, is_counted, list_held_terms
from sqlanon.query.rewrite.query_plan import Aggregate, QueryPlan
from sqlanon.query.sql.sqltree import Tree, column, sql, times, when

CLASS_ROWS = "class_rows"
"""The column of the rows that has the number of rows of their class, or of the candidates of their box."""


@dataclass(frozen=True)
class RowPart:
    """Some rows of a class or box.

    Attributes:
        condition: the number of the condition under which they are counted.
        term: the exact term for counts of values; None: rows are counted.
        count: the number of rows.
        part: the number of rows of the class in the same group; None: these rows.
        turn: whether these rows are the ones that count for all of them; None: where ``part`` is None.
    """

    condition: int
    term: str | None
    count: Tree
    part: Tree | None = None
    turn: Tree | None = None


class AttainingRows(Protocol):
    """The rows that attain the shown ends and members.

    Attributes:
        reached: some consistent source has the bounds of a count that are tight in each class or box.
        whole: all rows of a class are known to have the class's ends and members.
        matched: the number of boxes that each row fits, where rows are matched with boxes; 0: rows make classes.
    """

    @property
    def reached(self) -> bool: ...

    @property
    def whole(self) -> bool: ...

    @property
    def matched(self) -> int: ...

    def narrows(self, scope: Scope, plan: QueryPlan) -> bool:
        """Whether attained values narrow some aggregate."""

    def members(self) -> Tree:
        """The number of rows that attain the ends, where rows are grouped by class or box."""

    def ends(self, rows: RowPart) -> Mapping[str, Tree]:
        """How many rows satisfy the condition: ``fewest`` and ``most``, and ``each``, how often each is counted."""


@dataclass(frozen=True)
class Classes:
    """The rows that are alike in all quasi columns attain the ends together."""

    reached: bool = True
    whole: bool = True
    matched: int = 0

    def narrows(self, scope: Scope, plan: QueryPlan) -> bool:
        """Whether attained values narrow some aggregate: not where a join repeats rows or leaves some out.

        Conditions on columns that the release shows as they are narrow counts alone: the rows of a class that pass
        these are known, and it is unknown which of them have the class's ends.
        """
        if scope.joins or not any(box.attained for box in scope.boxes.values()):
            return False
        return any(
            is_counted(plan.conditions[a.condition], plan)
            and (
                asks_ends(a, plan)
                or (counts_rows(a) and tests_in(plan.conditions[a.condition]) - plan.tests.exact.keys())
            )
            for whole in plan.aggregates
            for a in whole.parts
        )

    def members(self) -> Tree:
        """All rows of the class."""
        return sql("COUNT(*)")

    def ends(self, rows: RowPart) -> Mapping[str, Tree]:
        """They follow from those of the whole class, where all other rows may be among the rest."""
        i = rows.condition
        part = rows.count if rows.part is None else rows.part
        rows_elsewhere = sql(":w - :n", w=column(CLASS_ROWS), n=part)
        fewest = sql("GREATEST(:l - (:o), 0)", l=column(f"least{i}"), o=rows_elsewhere)
        most = sql("LEAST(:h, :n)", h=column(f"most{i}"), n=part)
        if rows.turn is not None:
            fewest, most = (when(rows.turn, end, exp.Literal.number(0)) for end in (fewest, most))
        return {"fewest": fewest, "most": most}


@dataclass(frozen=True)
class Candidates:
    """Every box is the least cover of its k candidates, and every row is a candidate for k boxes.

    Over all boxes, k times as many candidates as rows satisfy a condition. The number of each box follows as that of a
    class of k rows does. No source need have the ends of the sum over all boxes.
    """

    k: int
    reached: bool = False
    whole: bool = False

    @property
    def matched(self) -> int:
        """As many as a box has candidates."""
        return self.k

    def narrows(self, scope: Scope, plan: QueryPlan) -> bool:
        """Not where exact columns are asked, which say nothing about the other candidates."""
        by_rows = any(by_row(formula, plan) for formula in plan.conditions)
        attained = any(box.attained for box in scope.boxes.values())
        plain = attained and not scope.joins and not plan.means and not by_rows and not list_held_terms(plan)
        row_counts = [a for whole in plan.aggregates for a in whole.parts if a.kind == "rows"]
        return plain and any(tests_in(plan.conditions[a.condition]) for a in row_counts)

    def members(self) -> Tree:
        """The candidates of a box."""
        return exp.Literal.number(self.k)

    def ends(self, rows: RowPart) -> Mapping[str, Tree]:
        """Those of the candidates, for rows alone."""
        if rows.term is not None:
            return {}
        columns = {"fewest": f"least{rows.condition}", "most": f"most{rows.condition}"}
        ends = {end: times(rows.count, column(name)) for end, name in columns.items()}
        return {**ends, "each": exp.Literal.number(self.k)}


def find_attaining(released: ReaderRelease) -> AttainingRows:
    """The rows that attain the shown ends and members of a release."""
    return Classes() if released.candidates is None else Candidates(released.candidates)


def attains_distinct(scope: Scope, a: Aggregate, plan: QueryPlan) -> bool:
    """Whether distinct values are counted over whole classes that attain the ends and members they show.

    Each class qualifies as a whole or not at all.
    """
    box = a.box
    if a.kind != "distinct" or box is None or not box.attained or box.field.kind == "float":
        return False
    plain = find_attaining(scope.released).whole and box.shape in ("interval", "set") and box.point is None
    return plain and not scope.joins and not plan.keys and not by_row(plan.conditions[a.condition], plan)
