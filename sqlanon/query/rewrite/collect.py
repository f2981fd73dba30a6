"""Makes the plan of a bound query from facts about the release; no rows are read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from sqlanon.query.boxes.range_facts import unrollable
from sqlanon.query.logic.formula import both
from sqlanon.query.logic.value_tests import ValueTest, is_computed
from sqlanon.query.normalize.expression_subqueries import Scalar
from sqlanon.query.parse.bind import BoundQuery
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.group_aggregates import regroup
from sqlanon.query.rewrite.group_by import common_keys, spread_of
from sqlanon.query.rewrite.mixed_keys import split_mixed
from sqlanon.query.rewrite.notes import Notes
from sqlanon.query.rewrite.outputs import read_outputs
from sqlanon.query.rewrite.query_plan import QueryPlan, Spread
from sqlanon.query.sql.sqltree import Tree, column


def collect(bound: BoundQuery, *, distribution: bool = False, sharp: bool = False) -> QueryPlan:
    """Columns and tests that a query needs of the rows, and the outputs of the query.

    Args:
        bound: the query.
        distribution: the distribution of aggregates over the sources too, so that sums are read value by value.
        sharp: other queries calculate with the answer, so that the bounds have to hold to the last digit.

    Raises:
        RefusedQueryError: a piece of the query has no answer over ranges.
    """
    text = bound.query.text
    bound = split_mixed(bound)
    if bound.scope.released.left_out and bound.scope.linked:
        refuse(
            text,
            None,
            f"the release leaves {bound.scope.released.left_out} rows of its source out, and a join that repeats rows "
            "gives their number no bound",
        )
    if bound.scope.released.as_of_source and (bound.groups or bound.scope.linked):
        refuse(
            text,
            None,
            "of the source itself (--as-of-source) there are bounds of counts without groups and joins",
        )
    notes = Notes(bound.scope, bound.where, grouped=bool(bound.groups))
    keys: list[Tree] = []
    spread: dict[str, Spread] = {}
    for term, (key, derive) in zip(bound.groups, common_keys(bound.scope, bound.groups), strict=True):
        if boxes_in(term):
            box = boxes_in(key)[0]
            if box not in spread or spread[box].key != key:
                box, bucket = spread_of(bound.scope, key, spread, notes.predicates)
                spread[box] = Spread(key, notes.predicates.fresh(), bucket)
            keys.append(derive(column(f"{box}_key")))
        else:
            bound.scope.check_key(term)
            keys.append(notes.terms.column(term))
            notes.raw.add(keys[-1].name)
    notes.spread.update(spread)
    again = None
    if bound.regroup is None:
        shown = read_outputs(bound, notes, sharp=sharp)
    else:
        again, shown = regroup(bound, notes, sharp=sharp)
    present = notes.aggregate(exp.Count(this=exp.Star())) if bound.groups else None
    if not notes.aggregates and any(node.find(Scalar) for _, node in bound.items):
        notes.aggregate(exp.Count(this=exp.Star()))  # the single row of the values of subqueries
    if not notes.aggregates:
        refuse(text, None, "a release has no rows of persons to show: ask for aggregates, such as count(*)")
    tests = notes.predicates.tests()
    spread = {box: _decide_spread(bound.scope, bucket, box, tests.boxed.values()) for box, bucket in spread.items()}
    loose = {
        node.name
        for triple in tests.loose.values()
        for tree in (triple.possible, triple.certain, triple.share)
        for node in tree.find_all(exp.Column)
    }
    inside = [box_spread.inside for box_spread in spread.values()]
    if distribution:
        notes.raw |= notes.summed
    return QueryPlan(
        conditions=tuple(both([formula, *inside]) for formula in notes.conditions),
        tests=tests,
        terms=notes.terms.named,
        keys=tuple(keys),
        spread=spread,
        raw=frozenset(notes.raw | (loose & notes.partial)),
        partial=frozenset(notes.partial),
        summed=frozenset(notes.summed),
        values=frozenset(notes.values),
        means=frozenset(notes.means),
        aggregates=tuple(notes.aggregates.values()),
        present=present,
        outputs=shown,
        checks=tuple(notes.checks),
        filters=notes.filters(),
        direct=notes.direct(bound.items) if again is None else {},
        regroup=again,
    )


def _decide_spread(scope: Scope, spread: Spread, box: str, tests: Collection[ValueTest]) -> Spread:
    """The groups of a box, value by value in place of steps where a test of it is decided value by value.

    Raises:
        RefusedQueryError: the ranges have too many values.
    """
    if spread.bucket is None or not is_computed([test for test in tests if test.box == box]):
        return spread
    if not unrollable(scope, scope.box(box)):
        refuse(
            scope.text,
            spread.key,
            f"the ranges of column {scope.box(box).field.name} have too many values to decide a condition value by "
            "value within steps; compare the column itself with constants, or ask without GROUP BY",
        )
    return replace(spread, bucket=None)
