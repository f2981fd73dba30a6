"""Rows of classes that a condition cuts, with results joined from the kept table of the classes.

A condition over boxes has one result for all rows of a class. So it is computed for each cut class, and the rows of
these classes, grouped by class and exact terms, get the results by a join. See
`sqlanon.query.rewrite.settled_classes` for all other classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.query.boxes.box import VIEW
from sqlanon.query.boxes.kept_classes import ClassTable
from sqlanon.query.boxes.unroll import ROWS
from sqlanon.query.logic.class_counter import Count, Venn
from sqlanon.query.logic.formula import Triple
from sqlanon.query.rewrite.settled_classes import RowColumns, SettledConditions
from sqlanon.query.sql.sqltree import ONE, ZERO, Tree, column, named, negate, number, select, sql, table_of, when

CUT = "_cut_classes"
"""A row for each class that some condition cuts, with the results of the conditions."""
SETTLED = "_settled_rows"
"""The rows of all other classes, by the conditions that they satisfy."""


@dataclass(frozen=True)
class Results:
    """The results of the conditions for the rows of a query.

    Attributes:
        triples: possible, certain and share, of each condition.
        counts: how many rows of a class satisfy a condition, for some conditions.
    """

    triples: tuple[Triple, ...]
    counts: Mapping[int, Count]

    def list_named(self) -> Iterator[tuple[str, int, Tree]]:
        """Every result: the name of its column, the number of the condition, and the SQL."""
        for i, triple in enumerate(self.triples):
            yield f"possible_{i}", i, triple.possible
            yield f"certain_{i}", i, triple.certain
            yield f"share_{i}", i, triple.share
        for i, count in self.counts.items():
            yield f"low_{i}", i, count.low
            yield f"high_{i}", i, count.high

    def read(self) -> Results:
        """The results as columns of the rows."""
        triples = tuple(
            Triple(*(column(f"{end}_{i}") for end in ("possible", "certain", "share")))
            for i, _ in enumerate(self.triples)
        )
        counts = {
            i: replace(count, low=column(f"low_{i}"), high=column(f"high_{i}")) for i, count in self.counts.items()
        }
        return Results(triples, counts)


def are_of_classes(results: Results, boxes: Iterable[str], rows: str, venns: Iterable[Venn | None]) -> bool:
    """Whether the results are the same for all rows of a class, and all that the query reads of its boxes.

    Args:
        results: the results, over the rows.
        boxes: the columns that rows have of their boxes.
        rows: the column with the number of rows of the class.
        venns: the cells of conditions for the solver, which reads boxes.
    """
    class_columns = {*boxes, rows}
    read_names = {node.name for _, _, tree in results.list_named() for node in tree.find_all(exp.Column)}
    by_row = any(count.case is not None for count in results.counts.values())
    return read_names <= class_columns and not by_row and all(venn is None for venn in venns)


def join_cut(
    settled: SettledConditions,
    view: exp.Select,
    classes: ClassTable,
    shown: RowColumns,
    reached: tuple[Sequence[Tree], Sequence[Tree]],
    results: Results | None,
) -> list[tuple[str, exp.Expr]]:
    """The tables of the rows: those of cut classes by class, and of others by the conditions that they satisfy.

    Args:
        settled: the settled conditions.
        view: the columns read from every row of the release: boxes, exact terms, and those of the class.
        classes: the kept table.
        shown: names of the columns.
        reached: conditions under which some row of a class may satisfy a condition of the query, and under which a row
            may.
        results: the results of the conditions, over the columns of the boxes; None: the rows get the boxes.
    """
    rows, (of_class, of_row) = shown.rows[0], reached
    of_classes = view.copy()
    wanted_columns = {*shown.boxes, *shown.classes}
    of_classes.set(
        "expressions", [expression for expression in of_classes.expressions if expression.alias in wanted_columns]
    )
    of_classes.append("expressions", named(column(classes.rows, VIEW), rows))
    of_classes.set("from_", exp.From(this=table_of(classes.table, VIEW)))
    passed: list[tuple[str, Tree]]
    of_settled: list[tuple[str, Tree]]
    if results is None:
        passed = [(name, column(name)) for name in shown.boxes]
        of_settled = [(name, exp.null()) for name in shown.boxes]
    else:
        passed = [(name, tree) for name, _, tree in results.list_named()]
        of_settled = [(name, _select_settled(settled, name, i, tree, rows)) for name, i, tree in results.list_named()]
    listed = [*map(column, (*shown.classes, rows)), *(named(tree, name) for name, tree in passed)]
    cut = select(listed, of_classes.subquery("v"), where=[*of_class, settled.cut])
    names = [name for name, _ in passed]
    union = exp.Union(
        this=_of_cut(settled, view, shown, of_row, names),
        expression=_aggregate_settled(settled, shown, of_settled),
        distinct=False,
    )
    return [(CUT, cut), (SETTLED, _group_settled(settled, view, shown, of_row)), (ROWS, union)]


def _select_settled(settled: SettledConditions, name: str, condition: int, tree: Tree, rows: str) -> Tree:
    """A result for the rows of settled classes."""
    if condition not in settled.certain:
        return tree  # a constant
    sign = column(f"d{condition}", "s")
    ends = {"low": (column(rows, "w"), number(0)), "high": (column(rows, "w"), number(0)), "share": (ONE, ZERO)}
    end = name.partition("_")[0]
    return when(sign, *ends[end]) if end in ends else sign


def _of_cut(
    settled: SettledConditions, view: exp.Select, shown: RowColumns, reached: Sequence[Tree], names: Sequence[str]
) -> exp.Select:
    """The rows of cut classes."""
    group_columns = [*shown.held, *shown.classes]
    grouped = select(
        [
            *map(column, group_columns),
            named(sql("COUNT(*)"), "n"),
            *(named(tree, name) for name, tree in shown.sums.items()),
        ],
        view.copy().subquery("v"),
        where=[*reached, settled.cut],
        group=[number(i) for i, _ in enumerate(group_columns, 1)],
    )
    expressions = [column(name, "r") for name in (*group_columns, "n", *shown.sums)]
    expressions += [named(exp.cast(exp.null(), "BOOLEAN"), name) for name in settled.names]
    expressions += [column(name, "c") for name in (shown.rows[0], *names)]
    pairs = [exp.NullSafeEQ(this=column(name, "r"), expression=column(name, "c")) for name in shown.classes]
    query = select(expressions, grouped.subquery("r"))
    query.set("joins", [exp.Join(this=exp.to_table(CUT).as_("c"), on=exp.and_(*pairs))])
    return query


def _group_settled(
    settled: SettledConditions, view: exp.Select, shown: RowColumns, reached: Sequence[Tree]
) -> exp.Select:
    """The rows of settled classes, by exact terms and the conditions that they satisfy."""
    keys = {name: column(name) for name in shown.held}
    keys |= dict(zip(settled.names, settled.certain.values(), strict=True))
    expressions = [*(named(tree.copy(), name) for name, tree in keys.items()), named(sql("COUNT(*)"), "n")]
    expressions += [named(tree, name) for name, tree in shown.sums.items()]
    numbers = [number(i) for i, _ in enumerate(keys, 1)]
    return select(expressions, view.copy().subquery("v"), where=[*reached, negate(settled.cut)], group=numbers)


def _aggregate_settled(
    settled: SettledConditions, shown: RowColumns, conditions: Sequence[tuple[str, Tree]]
) -> exp.Select:
    """The rows of settled classes, with the number of rows that satisfy the same conditions: they are one class.

    That number comes by a join: DuckDB would group the rows of the view twice for a window over the groups.
    """
    rows = shown.rows[0]
    signs = [column(name) for name in settled.names]
    whole = select([*signs, named(sql("CAST(SUM(n) AS BIGINT)"), rows)], SETTLED, group=signs)
    expressions = [column(name, "s") for name in shown.held] + [named(exp.null(), name) for name in shown.classes]
    expressions += [column(name, "s") for name in ("n", *shown.sums, *settled.names)]
    expressions += [column(rows, "w"), *(named(tree, name) for name, tree in conditions)]
    query = select(expressions, exp.to_table(SETTLED).as_("s"))
    pairs = [exp.EQ(this=column(name, "s"), expression=column(name, "w")) for name in settled.names]
    query.set("joins", [exp.Join(this=whole.subquery("w"), on=exp.and_(*pairs))])
    return query
