"""Groups that an answer does not list: values of a GROUP BY column that the release does not show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.listed_boxes import null_only
from sqlanon.query.boxes.outcomes import outcomes
from sqlanon.query.boxes.unroll import ROWS
from sqlanon.query.logic.formula import restrict
from sqlanon.query.logic.number_line import Piece
from sqlanon.query.logic.value_tests import ValueTest, is_computed
from sqlanon.query.parse.scope import Scope
from sqlanon.query.rewrite.box_rows import BoxRows
from sqlanon.query.rewrite.final_select import with_tables
from sqlanon.query.rewrite.query_plan import QueryPlan
from sqlanon.query.sql.sqltree import (
    TRUE,
    Tree,
    column,
    every,
    is_false,
    negate,
    number,
    own,
    select,
    some,
    sql,
)
from sqlanon.query.where.constants import fit_steps


def select_unlisted(scope: Scope, plan: QueryPlan, rows: BoxRows) -> exp.Select | None:
    """A query that counts the rows which some consistent source puts into a group that the answer does not list.

    Args:
        scope: the names.
        plan: the conditions and the terms of GROUP BY.
        rows: the box rows.

    Returns:
        A single row with a number, 0 where every group is listed; None: that is known without asking.
    """
    ways = [way for box in plan.spread for way in _ways(scope.box(box), plan, rows)]
    possible = some(ways)
    if is_false(possible):
        return None
    query = select([sql("COUNT(*)")], ROWS, where=[possible])
    needed = {node.name for node in query.find_all(exp.Table)}
    tables = [(name, tree.copy()) for name, tree in rows.tables if name in needed]
    query.set("with_", with_tables(tables, query))
    return query


def _ways(box: Box, plan: QueryPlan, rows: BoxRows) -> Iterator[Tree]:
    """When a row may have a value of a box that is listed nowhere, and pass WHERE with it."""
    spread = plan.spread[box.id]
    if box.state is None or null_only(spread.key) or (box.point is None and box.shape in ("node", "order")):
        return  # every group is listed: of values, of declared values, or of NULL and not NULL
    hidden = TRUE if box.point is not None else sql(":s IN ('some', 'any')", s=column(f"{box.id}_state"))
    formula = plan.conditions[0]
    mine = [test for test in rows.domains.tests if test.box == box.id]
    # Conditions that the rows cannot decide without lookups may hold.
    looked_up = {lookup.box.id for lookup in rows.domains.lookups} - {box.id}
    holding = {test.id: True for test in rows.domains.tests if test.box in looked_up}
    holding |= {spread.inside: True for spread in plan.spread.values()}
    table = f"_values_{box.id}"
    for holds, size in _runs(box, mine).items():
        signs = {test.id: test.id in holds for test in mine}
        rest = rows.domains.compiler.triple(restrict(formula, signs | holding)).possible
        if not is_false(rest):
            listed = None if spread.bucket is not None else _lists_fewer(table, mine, holds, size)
            yield every([hidden, own(rest), listed if listed is not None else TRUE])
    if box.point is not None:  # of other formats, NULL is listed wherever it is possible
        signs = {test.id: test.comparison is None or test.comparison.op == "null" for test in mine}
        rest = rows.domains.compiler.triple(restrict(formula, signs | holding)).possible
        null = select([exp.Literal.number(1)], exp.to_table(table).as_("z"), where=[sql("z.v IS NULL")])
        yield every([own(rest), exp.Not(this=exp.Exists(this=null))])


def _runs(box: Box, tests: Sequence[ValueTest]) -> dict[frozenset[int], Fraction | None]:
    """Combinations of tests for a value that is not NULL, and the number of values of each.

    The number is None if it has no bound.
    """
    comparisons = [test.comparison for test in tests if test.comparison is not None]
    sizes: dict[frozenset[int], Fraction | None] = {}
    if box.shape == "interval" and not is_computed(tests):
        for holds, piece in box.pieces(comparisons):
            size = _size(piece, box.step)
            before = sizes.get(holds, Fraction(0))
            sizes[holds] = None if size is None or before is None else before + size
        return sizes
    equal = {test.id for test in tests if test.comparison is not None and test.comparison.op == "="}
    null = {test.id for test in tests if test.comparison is not None and test.comparison.op == "null"}
    return {holds: Fraction(1) if holds & equal else None for holds in outcomes(box, tests) or () if not holds & null}


def _size(piece: Piece, step: Fraction | None) -> Fraction | None:
    """How many values a run has; None: it has no end, or values that cannot be counted."""
    if step is None or not isinstance(piece.low, Fraction) or not isinstance(piece.high, Fraction):
        return None
    inside = fit_steps(piece, step)
    assert isinstance(inside.low, Fraction)
    assert isinstance(inside.high, Fraction)
    return max(Fraction(0), (inside.high - inside.low) / step + 1)


def _lists_fewer(table: str, tests: Sequence[ValueTest], holds: frozenset[int], size: Fraction | None) -> Tree | None:
    """Whether fewer values are listed than there are under these tests; None: there is no end of them."""
    if size is None:
        return None
    value = column("v", "z")
    under = [test.on(value) if test.id in holds else negate(test.on(value)) for test in tests]
    query = select(
        [sql("COUNT(DISTINCT :v)", v=value)],
        exp.to_table(table).as_("z"),
        where=[*under, sql("z.v IS NOT NULL")],
    )
    return exp.LT(this=query.subquery(), expression=number(size))
