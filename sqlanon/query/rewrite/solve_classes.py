"""Solves the exact numbers of rows of classes, where closed forms may be too wide.

First the different cells of cut classes are read: classes with the same small numbers share an answer, so that there
are few. The solver of `sqlanon.query.logic.venn_cells` counts each, and the numbers become a table of the statement
that answers the query.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from sqlanon.engines.base import Statement
from sqlanon.query.logic.class_counter import Venn
from sqlanon.query.logic.venn_cells import MOST_CELLS, Cells, Solver
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.box_rows import BoxRows
from sqlanon.query.rewrite.class_bounds import rough_aggregates, terms_of_counts
from sqlanon.query.rewrite.class_counts import SolvedCounts, cell_texts
from sqlanon.query.rewrite.final_select import with_tables
from sqlanon.query.rewrite.ordered_aggregates import FOUND
from sqlanon.query.rewrite.query_plan import Aggregate
from sqlanon.query.rewrite.row_values import RowValues
from sqlanon.query.rewrite.sums import select_found
from sqlanon.query.sql.sqltree import column, select, sql
from sqlanon.sqltext.trees import port_tree

MOST_CLASSES = 1_000
"""Most different classes of a condition that the solver counts."""


def solve_classes(scope: Scope, rows: BoxRows) -> BoxRows:
    """The rows with the solver's results for conditions with closed forms that need not be exact.

    Args:
        scope: the names.
        rows: the box rows.

    Cost: a statement for each such condition and version, about as long as the query itself.
    """
    beside = tuple(solve_classes(scope, rows_beside) for rows_beside in rows.beside)
    solved: dict[int, SolvedCounts] = {}
    notes = list(itertools.chain(*(rows_beside.notes for rows_beside in beside)))
    for i, venn in rows.venns.items():
        if venn is None:
            notes.append(f"a condition has more than {MOST_CELLS} cells")
            continue
        terms = terms_of_counts(rows.plan)[i]
        texts = set().union(*(_texts(scope, _of_count(rows, i, term), i) for term in terms))
        if len(texts) > MOST_CLASSES:
            notes.append(f"a condition cuts more than {MOST_CLASSES} different classes")
            continue
        solved[i] = _solve(venn, sorted(texts))
        if not solved[i].complete:
            notes.append("a class has too many attained values")
    counts = {
        i: replace(count, tight=True) if i in solved and solved[i].complete else count
        for i, count in rows.counts.items()
    }
    solved = {i: solution for i, solution in solved.items() if solution.found}
    return replace(
        rows,
        counts=counts,
        solved=solved,
        venns={i: venn for i, venn in rows.venns.items() if i in solved},
        notes=tuple(dict.fromkeys(notes)),
        rough=rough_aggregates(scope, rows.plan, rows.domains, counts).union(
            *(rows_beside.rough for rows_beside in beside)
        ),
        beside=beside,
    )


def _of_count(rows: BoxRows, condition: int, term: str | None) -> BoxRows:
    """The rows of a single count under a condition, and of WHERE, which rows have to satisfy: others are not read."""
    counts = {i: count for i, count in rows.counts.items() if i in (0, condition)}
    alone = Aggregate(-1, "rows" if term is None else "count", condition, term=term)
    plan = replace(rows.plan, aggregates=(alone,))
    return replace(rows, plan=plan, counts=counts, venns={condition: rows.venns[condition]})


def _texts(scope: Scope, rows: BoxRows, condition: int) -> list[str]:
    """The texts of the different cells of a condition, at most `MOST_CLASSES` + 1."""
    venn = rows.venns[condition]
    assert venn is not None
    keys = [column(f"g{i}") for i in range(len(rows.plan.keys))]
    row = RowValues(scope, rows.plan, rows).of(rows.plan.aggregates[0])
    classes = [column(f"class_{class_column.name}") for class_column in rows.class_columns]
    tables = [
        *rows.tables,
        (FOUND, select_found(scope, rows, keys, {0, condition})),
        *cell_texts(row, venn.sorts, keys, classes),
    ]
    listed = select([sql("*")], tables[-1][0]).limit(MOST_CLASSES + 1)
    listed.set("with_", with_tables(tables, listed))
    text = port_tree(listed, scope.engine.dialect).sql(dialect=scope.engine.dialect)
    query = Statement("query/cells", text)
    return scope.released.once(
        ("query/cells", text), lambda: [str(cell) for (cell,) in scope.engine.fetch(query, max_rows=MOST_CLASSES + 1)]
    )


def _solve(venn: Venn, texts: Sequence[str]) -> SolvedCounts:
    """The numbers of each class."""
    solver, numbers, complete = Solver(venn.good), {}, True
    for text in texts:
        cells = _read(venn, text)
        if not cells.few:
            complete = False
            continue
        alone = [end for sort in range(len(venn.sorts)) for end in solver.alone(sort, cells.reach)]
        numbers[text] = (*solver.solve(cells), *alone)
    return SolvedCounts(venn.sorts, numbers, complete)


def _read(venn: Venn, text: str) -> Cells:
    """The cells that a text means, see `cell_texts`."""
    first, *rows = text.split("|")
    digits = iter(map(int, first.split(",")))
    reach = tuple(tuple(next(digits) == 1 for _ in kinds) for kinds in venn.reach)
    attained = tuple(tuple(next(digits) for _ in kinds) for kinds in venn.attained)
    return Cells(tuple(map(int, rows)), reach, attained)
