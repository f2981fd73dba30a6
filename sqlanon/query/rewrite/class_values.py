"""Counts the rows of classes, as input of the bounds of a class."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.query.logic.class_counter import Venn
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import CLASS_ROWS, RowPart, find_attaining
from sqlanon.query.rewrite.box_rows import BoxRows
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.rewrite.share_bounds import is_share
from sqlanon.query.sql.sqltree import (
    Tree,
    column,
    counter,
    counts,
    named,
    sql,
    string,
)


class ClassValues:
    """The columns of ``_found`` that count rows of a class, and trees over them.

    Args:
        scope: the names.
        plan: the plan of the query.
        rows: the rows.
    """

    def __init__(self, scope: Scope, plan: QueryPlan, rows: BoxRows) -> None:
        self._scope, self._plan, self._rows = scope, plan, rows

    def columns(self) -> list[Tree]:
        """Counts of the rows' classes.

        They are the rows that satisfy each condition, all rows, those in a group, and the row that represents them.
        """
        rows, plan = self._rows, self._plan
        if not rows.counts:
            return []
        columns: dict[str, Tree] = {CLASS_ROWS: column(CLASS_ROWS)}
        for i, count in rows.counts.items():
            columns |= {f"least{i}": count.low, f"most{i}": count.high}
        cells = {i: venn for i, venn in rows.venns.items() if venn is not None}
        if cells:
            columns |= {f"class_{class_column.name}": class_column for class_column in rows.class_columns}
        for i, venn in cells.items():
            columns |= {f"{name}{i}": tree for name, tree in _cells(venn).items()} | {f"sort{i}": rows.sorts[i]}
        if rows.divided:
            group = [*rows.class_columns, *(tree.copy() for tree in plan.keys)]
            if any(a.ratio is not None and is_share(a.ratio) for a in plan.aggregates):
                columns |= {f"class_{class_column.name}": class_column for class_column in rows.class_columns}
            columns |= self._parts(group, "", {a.term for a in plan.aggregates if a.kind == "count"})
            for i, count in rows.counts.items():
                if count.case is not None:
                    terms = {a.term for a in plan.aggregates if a.kind == "count" and a.condition == i}
                    columns |= self._parts([*group, count.case], f"_{i}", terms)
        return [named(tree, name) for name, tree in columns.items()]

    def ends_of(self, condition: int, term: str | None, count: Tree) -> Mapping[str, Tree]:
        """``fewest`` and ``most`` of some rows of a class that satisfy a condition.

        They follow from those of the whole class, where all other rows may be among the rest.
        """
        if condition not in self._rows.counts:
            return {}
        part = turn = None
        if self._rows.divided:
            suffix = "" if self._rows.counts[condition].case is None else f"_{condition}"
            part = column(f"{_part(term)}{suffix}")
            turn = sql(":t = 1", t=column(f"turn{suffix}"))
        ends = dict(find_attaining(self._scope.released).ends(RowPart(condition, term, count, part, turn)))
        if condition in self._rows.matched:
            ends |= zip(("floor", "ceiling"), map(exp.Literal.number, self._rows.matched[condition]), strict=True)
        if self._rows.venns.get(condition) is not None:
            ends |= {name: column(f"{name}{condition}") for name in ("sort", "cells", "attained")}
            ends["class_rows"] = column(CLASS_ROWS)
        return ends

    def _parts(self, group: Sequence[Tree], suffix: str, terms: Collection[str | None]) -> dict[str, Tree]:
        """Number of rows of a class in a group, or with a value of an exact term, and the row that represents them.

        It is a row that WHERE does not leave out, if there is any.
        """
        parts: dict[str | None, Tree] = {None: column("n")}
        parts |= {term: self.count_known(term) for term in sorted(term for term in terms if term is not None)}
        columns: dict[str, Tree] = {
            f"{_part(term)}{suffix}": exp.Window(
                this=sql("SUM(:n)", n=part), partition_by=[key.copy() for key in group]
            )
            for term, part in parts.items()
        }
        turn_order = sql("CASE WHEN :p THEN 0 ELSE 1 END", p=self._rows.possible(0))
        order = exp.Order(expressions=[exp.Ordered(this=turn_order)]) if suffix else None
        columns[f"turn{suffix}"] = exp.Window(
            this=sql("ROW_NUMBER()"), partition_by=[key.copy() for key in group], order=order
        )
        return columns

    def count_known(self, term: str) -> Tree:
        """How many rows have a value of an exact term."""
        if self._rows.is_partial(term, self._plan):
            return column(f"{term}_n")
        return sql("CASE WHEN :x IS NULL THEN 0 ELSE :n END", x=column(term), n=column("n"))


def _cells(venn: Venn) -> dict[str, Tree]:
    """The reach of a class's boxes in the cells of a condition, as a text, and the number of attained values in all."""
    reach = [counter(tree) for kinds in venn.reach for tree in kinds]
    attained = [sql("COALESCE(:a, 0)", a=tree) for kinds in venn.attained for tree in kinds]
    texts = [exp.cast(tree.copy(), "TEXT") for tree in (*reach, *attained)]
    return {"cells": exp.ConcatWs(expressions=[string(","), *texts]), "attained": counts(attained)}


def _part(term: str | None) -> str:
    """The column that counts a class's rows in a group, or those with a value of an exact term."""
    return "part" if term is None else f"{term}_part"
