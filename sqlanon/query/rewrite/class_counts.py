"""Bounds counts of rows class by class, where closed forms may be too wide.

Of `a = 1 OR d = 'x'`, a row with d = 'x' satisfies the condition, and of the others those with a = 1: the remainders
of a condition after its exact columns divide the rows of a class into sorts. The exact numbers of each different class
are joined from the solver (`sqlanon.query.rewrite.solve_classes`); unsolved classes have the numbers of closed forms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.query.rewrite.ordered_aggregates import FOUND, Apart
from sqlanon.query.sql.sqltree import Tree, column, counts, named, plus, select, sql, string, when

Row = Mapping[str, Tree]


@dataclass(frozen=True)
class SolvedCounts:
    """The exact numbers of rows that satisfy a condition, for each different class that the condition cuts.

    Attributes:
        sorts: the sorts of rows that the condition leaves open.
        found: by the text of a class's cells (`cell_texts`): the least and the largest number, then of each sort
            whether another row counts, at least and at most.
        complete: no class is missing.
    """

    sorts: tuple[int, ...]
    found: Mapping[str, tuple[int, ...]]
    complete: bool = True


def sum_classes(
    name: str,
    parts: Mapping[str, tuple[Row, SolvedCounts | None]],
    keys: Sequence[Tree],
    classes: Sequence[Tree],
    others: Mapping[str, Tree] | None = None,
) -> list[tuple[str, exp.Expr]]:
    """Tables, the last of them with a row for each class in each group.

    Args:
        name: name of the last table.
        parts: by a letter, the contribution of a row to a count, and the solver's results. The ends of the count are
            the columns ``l`` and ``h`` after the letter.
        keys: the groups.
        classes: the columns of a class.
        others: other columns.
    """
    expressions = dict(others or {})
    tables: list[tuple[str, exp.Expr]] = []
    joined: dict[str, SolvedCounts] = {}
    for letter, (row, solved) in parts.items():
        low, high = (sql("SUM(:x)", x=row[end]) for end in ("fewest", "most"))
        expressions |= {f"{letter}l": low, f"{letter}h": high}
        if solved is not None:
            joined[letter] = solved
            expressions |= {
                f"{letter}_{column_name}": tree for column_name, tree in cell_columns(row, solved.sorts).items()
            }
    listed = [*keys, *(named(tree, column_name) for column_name, tree in expressions.items())]
    first = f"{name}_cut" if joined else name
    tables.append((first, select(listed, FOUND, where=[column("p0")], group=[*keys, *classes])))
    if not joined:
        return tables
    shown: list[Tree] = [
        *(column(key.name, "c") for key in keys),
        *(column(column_name, "c") for column_name in others or {}),
    ]
    joins = []
    for letter in parts:
        ends: list[Tree] = [column(f"{letter}{end}", "c") for end in "lh"]
        if letter in joined:
            table = f"_solved{name}_{letter}"
            tables.insert(0, (table, _values(joined[letter])))
            ends = [_exact(letter, index, end, joined[letter]) for index, end in enumerate(ends)]
            on = exp.EQ(this=column("cells", f"s{letter}"), expression=_text(letter, joined[letter].sorts))
            joins.append(exp.Join(this=exp.to_table(table).as_(f"s{letter}"), on=on, side="LEFT"))
        shown += [named(tree, f"{letter}{end}") for tree, end in zip(ends, "lh", strict=True)]
    last = select(shown, exp.to_table(first).as_("c"))
    last.set("joins", joins)
    return [*tables, (name, last)]


def cell_texts(
    row: Row, sorts: Sequence[int], keys: Sequence[Tree], classes: Sequence[Tree]
) -> list[tuple[str, exp.Expr]]:
    """Tables, the last of them with the different cells of classes with bounds that do not meet, as texts.

    For each column, a text has for each kind of values whether the box has some, then the number of attained values of
    each, then the numbers of rows of each sort, and of others (`sqlanon.query.logic.venn_cells.Cells`).
    """
    low, high = (sql("SUM(:x)", x=row[end]) for end in ("fewest", "most"))
    expressions = {
        "l": low,
        "h": high,
        **{f"x_{column_name}": tree for column_name, tree in cell_columns(row, sorts).items()},
    }
    listed = [named(tree, column_name) for column_name, tree in expressions.items()]
    cut = select(listed, FOUND, where=[column("p0")], group=[*keys, *classes])
    open_ = sql(":l < :h AND :m > 0", l=column("l", "c"), h=column("h", "c"), m=counts(_numbers("x", sorts)))
    text = select([named(_text("x", sorts), "cells")], exp.to_table("_cut").as_("c"), where=[open_], distinct=True)
    return [("_cut", cut), ("_cells", text)]


def cell_columns(row: Row, sorts: Sequence[int]) -> dict[str, Tree]:
    """The columns of a class in a group for exact numbers: the cells, and the rows of each sort.

    Rows of the class that are left out, because none of them can be in the answer, are among the others.
    """
    zero = exp.Literal.number(0)
    many = [sql("COALESCE(SUM(:x), 0)", x=when(_is_sort(row, sort), row["count"], zero)) for sort in sorts]
    fixed = when(exp.In(this=row["sort"].copy(), expressions=_numerals(sorts)), zero)
    return {
        "cells": sql("MIN(:x)", x=row["cells"]),
        "most": sql("MIN(:x)", x=row["attained"]),
        **{f"m{sort}": tree for sort, tree in zip(sorts, many, strict=True)},
        "rest": sql("MIN(:w) - (:m)", w=row["class_rows"], m=plus(tree.copy() for tree in many)),
        **{
            end[0]: sql("COALESCE(SUM(:x), 0)", x=exp.Case(ifs=list(fixed.args["ifs"]), default=row[end].copy()))
            for end in ("fewest", "most")
        },
    }


def count_classes(
    number: int, row: Row, keys: Sequence[Tree], classes: Sequence[Tree], solved: SolvedCounts | None = None
) -> Apart:
    """The columns of a COUNT, over a table of classes.

    Args:
        number: number of the aggregate.
        row: the contribution of a row to the count.
        keys: the groups.
        classes: the columns of a class.
        solved: the solver's results.
    """
    estimate = {"e": sql("SUM(:n * :s)", n=row["count"], s=row["share"])}
    tables = sum_classes(f"_classes_{number}", {"c": (row, solved)}, keys, classes, estimate)
    low, high = (sql("COALESCE(SUM(:x), 0)", x=column(end)) for end in ("cl", "ch"))
    return tables, {
        f"e{number}": sql("GREATEST(LEAST(COALESCE(SUM(e), 0.0), :h), :l)", h=high, l=low),
        f"l{number}": low,
        f"h{number}": high,
        f"u{number}": exp.Literal.number(0),
    }


def _numerals(sorts: Sequence[int]) -> list[Tree]:
    return [exp.Literal.number(sort) for sort in sorts]


def _is_sort(row: Row, sort: int) -> Tree:
    return exp.EQ(this=row["sort"].copy(), expression=exp.Literal.number(sort))


def _numbers(letter: str, sorts: Sequence[int]) -> list[Tree]:
    return [column(f"{letter}_m{sort}", "c") for sort in sorts]


def _text(letter: str, sorts: Sequence[int]) -> Tree:
    """The text of the cells of a class."""
    most = column(f"{letter}_most", "c")
    rows = [*_numbers(letter, sorts), column(f"{letter}_rest", "c")]
    parts = [exp.cast(sql("LEAST(:m, :a)", m=many, a=most), "TEXT") for many in rows]
    return exp.ConcatWs(expressions=[string("|"), column(f"{letter}_cells", "c"), *parts])


def _exact(letter: str, end: int, closed: Tree, solved: SolvedCounts) -> Tree:
    """An end of a class in a group: as the solver found it, else as the closed forms have it."""
    table, most = f"s{letter}", column(f"{letter}_most", "c")
    more = [
        sql("GREATEST(:m - :a, 0) * :x", m=many, a=most, x=column(f"{'ab'[end]}{sort}", table))
        for sort, many in zip(solved.sorts, _numbers(letter, solved.sorts), strict=True)
    ]
    total = plus([column(f"{letter}_{'fm'[end]}", "c"), column(("low", "high")[end], table), *more])
    return sql("COALESCE(:f, :c)", f=total, c=closed)


def _values(solved: SolvedCounts) -> exp.Select:
    """The table of the solver's results."""
    rows = [
        exp.Tuple(expressions=[string(text), *(exp.Literal.number(end) for end in ends)])
        for text, ends in solved.found.items()
    ]
    names = ["cells", "low", "high", *(f"{end}{sort}" for sort in solved.sorts for end in "ab")]
    alias = exp.TableAlias(
        this=exp.to_identifier("v"), columns=[exp.to_identifier(name, quoted=True) for name in names]
    )
    return select([sql("*")], exp.Values(expressions=rows, alias=alias))
