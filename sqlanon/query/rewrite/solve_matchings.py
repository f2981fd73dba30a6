"""Bounds counts over boxes of single rows, by all matchings of rows and boxes at once.

Each box by itself counts its candidates, and their sum is divided by k (`sqlanon.query.rewrite.attained_rows`). But a
row has the same values in all of its boxes, which a linear program over all boxes uses
(`sqlanon.query.logic.matchings`). Over many rows it gains nothing, so that only small releases are solved.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import Statement
from sqlanon.engines.rows import read_integer
from sqlanon.errors import UnsupportedError
from sqlanon.query.boxes.box import VIEW, Box
from sqlanon.query.boxes.range_facts import is_finite
from sqlanon.query.boxes.value_cells import Shown, ValueCells, divide_values, read_shown
from sqlanon.query.logic.formula import Formula, restrict, tests_in
from sqlanon.query.logic.matchings import MOST_PAIRS, Matchings, Span, count_pairs
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.attained_rows import find_attaining
from sqlanon.query.rewrite.box_rows import BoxRows
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.sql.sqltree import column, named, select, sql, table_of
from sqlanon.sqltext.trees import port_tree

MOST_ROWS = 1_000
"""Most rows of a release: over more the bounds of single boxes were as narrow (docs/query.md)."""


def solve_matchings(scope: Scope, rows: BoxRows) -> BoxRows:
    """The rows with the numbers of all matchings, of counts without GROUP BY.

    Args:
        scope: the names.
        rows: the box rows.

    Cost: for each condition a statement and two linear programs of at most `MOST_PAIRS` pairs of a box and a value.
    """
    if not find_attaining(scope.released).matched or rows.plan.keys:
        return rows
    beside = tuple(solve_matchings(scope, rows_beside) for rows_beside in rows.beside)
    counted_conditions = dict.fromkeys(
        a.condition for a in rows.plan.aggregates if a.kind == "rows" and a.ratio is None
    )
    to_bound = [i for i in counted_conditions if i in rows.counts and tests_in(rows.plan.conditions[i])]
    notes = list(itertools.chain(rows.notes, *(rows_beside.notes for rows_beside in beside)))
    matched: dict[int, tuple[int, int]] = {}
    for i in to_bound:
        bound = _bound(scope, rows.plan, rows.plan.conditions[i])
        if isinstance(bound, str):
            notes.append(bound)
        else:
            matched[i] = bound
    return replace(rows, matched=matched, notes=tuple(dict.fromkeys(notes)), beside=beside)


def _bound(scope: Scope, plan: QueryPlan, formula: Formula) -> tuple[int, int] | str:
    """The least and the largest number of rows that satisfy a condition, or why the program was not used."""
    whole = select([sql("COUNT(*)")], table_of(scope.released.view.ref, VIEW))
    if read_integer(scope.fact("query/rows", whole)) > MOST_ROWS:
        return f"the release has more than {MOST_ROWS:,} rows"
    tests = [plan.tests.boxed[test] for test in sorted(tests_in(formula))]
    boxes = [scope.box(name) for name in sorted({test.box for test in tests})]
    comparisons = {box.id: [test.comparison for test in tests if test.box == box.id] for box in boxes}
    computed = any(part is None or part.op == "other" for comparison in comparisons.values() for part in comparison)
    if computed or not all(box.attained and box.shape in ("interval", "set") and not box.values for box in boxes):
        return "a condition asks more than comparisons with constants of columns with ranges or sets"
    shown = _read(scope, boxes) if all(is_finite(scope, box) for box in boxes) else None
    if shown is None:
        return "a box has values that are not known"
    cells = [
        divide_values(
            box,
            {comparison[index] for comparison in shown},
            [comparison for comparison in comparisons[box.id] if comparison is not None],
        )
        for index, box in enumerate(boxes)
    ]
    spans: dict[tuple[Span, ...], int] = {
        tuple(cell.spans[value] for cell, value in zip(cells, box, strict=True)): count for box, count in shown.items()
    }
    if count_pairs(spans) > MOST_PAIRS:
        return f"the boxes have more than {MOST_PAIRS:,} values"
    try:
        program = Matchings(spans, find_attaining(scope.released).matched)
    except UnsupportedError:
        return "HiGHS is not installed: sqlanon[statistics]"
    return program.bound(_find_satisfying(formula, cells))


def _read(scope: Scope, boxes: Sequence[Box]) -> Mapping[tuple[Shown, ...], int] | None:
    """The different boxes in some columns with their numbers of rows; None: the values of one are not known."""
    trees = [
        [*([box.parts["set"]] if box.shape == "set" else [box.parts["lo"], box.parts["hi"]])]
        + ([box.state] if box.state is not None else [])
        for box in boxes
    ]
    expressions = [tree.copy() for box_trees in trees for tree in box_trees]
    listed = [named(tree, f"v{i}") for i, tree in enumerate(expressions)]
    inner = select(listed, scope.view()).subquery("r")
    keys = [column(f"v{i}", "r") for i in range(len(expressions))]
    text = port_tree(
        select([*keys, sql("COUNT(*)")], inner, group=[key.copy() for key in keys]), scope.engine.dialect
    ).sql(dialect=scope.engine.dialect)
    query = Statement("query/boxes", text)
    rows: list[Any] = scope.released.once(
        ("query/boxes", text), lambda: list(scope.engine.fetch(query, max_rows=MOST_ROWS))
    )
    counts: dict[tuple[Shown, ...], int] = {}
    for row in rows:
        position, values = 0, []
        for box, tree in zip(boxes, trees, strict=True):
            is_known, shown_value = read_shown(box, row[position : position + len(tree)])
            if not is_known:
                return None
            values.append(shown_value)
            position += len(tree)
        counts[tuple(values)] = counts.get(tuple(values), 0) + int(row[-1])
    return counts


def _find_satisfying(formula: Formula, cells: Sequence[ValueCells]) -> set[tuple[int, ...]]:
    """The combinations of cells that satisfy a formula."""
    tests = tests_in(formula)
    points = set()
    for point in itertools.product(*(range(len(cell.holds)) for cell in cells)):
        holds = frozenset().union(*(cell.holds[index] for cell, index in zip(cells, point, strict=True)))
        if restrict(formula, {test: test in holds for test in tests}) is True:
            points.add(point)
    return points
