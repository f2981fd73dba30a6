"""Terms of GROUP BY over columns with ranges: some are spread over values or steps, the others are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.buckets import Bucket, bucket_of
from sqlanon.query.boxes.range_facts import MOST_VALUES, beyond_doubles, count_listed
from sqlanon.query.boxes.runs import MOST_RUNS, Runs, key_by_way, number_ways
from sqlanon.query.functions.calendar_keys import common_key
from sqlanon.query.logic.formula import restrict, tests_in
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.condition_codes import (
    MOST_CONDITIONS,
    asks_conditions_alone,
    code_of,
    conditions_of,
    result_of,
    with_results,
)
from sqlanon.query.sql.sqltree import Tree
from sqlanon.query.where.predicates import Predicates


def common_keys(scope: Scope, terms: Sequence[Tree]) -> list[tuple[Tree, Callable[[Tree], Tree]]]:
    """For each term of GROUP BY the grouping expression, and the term by the value of that.

    Several terms of a column have a common expression: a step of the calendar, or a number for their conditions.
    """
    common: list[tuple[Tree, Callable[[Tree], Tree]]] = []
    for term in terms:
        names = boxes_in(term)
        same = [term for term in terms if len(names) == 1 and boxes_in(term) == names and _reads_one(term)]
        several = len(same) > 1 and _reads_one(term)
        key = common_key(same, scope.box(names[0]).value) if several else None
        if key is not None:
            common.append((key, partial(_by_step, term, key)))
            continue
        conditions = list(dict.fromkeys(condition for alike in same for condition in conditions_of(alike)))
        coded = several and len(set(same)) > 1 and all(map(asks_conditions_alone, same))
        if coded and len(conditions) <= MOST_CONDITIONS:
            common.append((code_of(conditions), partial(_by_code, term, conditions)))
        else:
            common.append((term, lambda value: value))
    return common


def _by_step(term: Tree, key: Tree, value: Tree) -> Tree:
    """A term by the value of the common key."""
    if term == key:
        return value
    whole = exp.Paren(this=term.copy())
    for node in list(whole.find_all(exp.Column)):
        node.replace(value.copy())
    expression: Tree = whole.this
    return expression


def _by_code(term: Tree, conditions: Sequence[exp.Expr], value: Tree) -> Tree:
    """A term by the number of its conditions and those of other terms."""
    results = {condition: result_of(value, place, len(conditions)) for place, condition in enumerate(conditions)}
    return with_results(term, results)


def _reads_one(term: Tree) -> bool:
    return all(node.table == "_box" for node in term.find_all(exp.Column))


def spread_of(
    scope: Scope, term: Tree, others: Collection[str], predicates: Predicates
) -> tuple[str, Bucket | Runs | None]:
    """The box that a term of GROUP BY spreads, and the steps or runs, if any.

    Args:
        scope: the names.
        term: the bound term, over a box.
        others: boxes that earlier terms spread.
        predicates: the tests of the query, to which those of the term are added.

    Raises:
        RefusedQueryError: the term mixes columns, or has no groups that can be listed.
    """
    box = scope.box(boxes_in(term)[0])
    if len(boxes_in(term)) > 1 or any(node.table != "_box" for node in term.find_all(exp.Column)):
        refuse(scope.text, term, "a GROUP BY term over a column with ranges can hold no other column")
    scope.check_recoded(box, term)
    if box.id in others:
        refuse(
            scope.text,
            term,
            f"column {box.field.name} is grouped by twice; group by the finer expression alone",
        )
    bucket = bucket_of(term, box) if box.point is None else None
    if bucket is not None and box.field.kind == "integer" and beyond_doubles(scope, box):
        bucket = None  # the engine's own steps jump there: value by value
    if bucket is not None and box.field.kind == "date" and count_listed(scope, box) <= MOST_VALUES:
        bucket = None  # value by value, which bounds the rest of a query more narrowly
    if bucket is not None:
        _narrow(scope, term, box, bucket)
    elif box.shape == "interval" and (runs := _runs_of(scope, term, box, predicates)) is not None:
        return box.id, runs
    elif box.shape == "interval" and box.field.kind not in ("integer", "date", "boolean"):
        step = "date_trunc('month', {0})" if box.field.kind == "timestamp" else "floor({0} / 10)"
        reason = f"column {box.field.name} ({box.field.source_type}) has no countable values to group by; "
        if box.field.kind == "text" or box.point is not None:
            refuse(scope.text, term, f"{reason}count ranges of it with count(*) FILTER (WHERE ...)")
        refuse(scope.text, term, f"{reason}group by steps of it, such as {step.format(box.field.name)}")
    elif box.shape == "interval":
        _narrow(scope, term, box)
    return box.id, bucket


def _runs_of(scope: Scope, term: Tree, box: Box, predicates: Predicates) -> Runs | None:
    """The runs that a term is made of; None: it asks for more than conditions, or the values can be listed."""
    listed = box.field.kind in ("integer", "date", "boolean") and count_listed(scope, box) <= MOST_VALUES
    term = _write_searched(term)
    conditions = [] if listed or box.point is not None else list(dict.fromkeys(conditions_of(term)))
    if not conditions or not asks_conditions_alone(term):
        return None
    decisions = [
        (condition, predicates.formula(condition), predicates.formula(exp.Not(this=exp.Paren(this=condition))))
        for condition in conditions
    ]
    tests = sorted(frozenset().union(*(tests_in(formula) for _, *signs in decisions for formula in signs)))
    cuts = [
        comparison
        for test in tests
        if (comparison := predicates.comparison(test)) is not None and comparison.op != "other"
    ]
    ways = number_ways(box, cuts) if len(cuts) == len(tests) else {}
    if not 0 < len(ways) <= MOST_RUNS:
        return None

    def decide(holds: frozenset[int]) -> Tree:
        test_signs = {test: test in holds for test in tests}
        results: dict[exp.Expr, Tree] = {}
        for condition, true, false in decisions:
            sure = [restrict(formula, test_signs) is True for formula in (true, false)]
            results[condition] = exp.Boolean(this=sure[0]) if any(sure) else exp.cast(exp.null(), "BOOLEAN")
        return with_results(term, results)

    null = decide(frozenset(cut.id for cut in cuts if cut.op == "null"))
    if all(cut.op in ("null", "known") for cut in cuts):
        return Runs(term, tuple(cuts), ways)
    return Runs(key_by_way(box.value, [decide(holds) for holds in ways], null), tuple(cuts), ways)


def _write_searched(term: Tree) -> Tree:
    """A term with ``CASE WHEN x = 1 ..`` in place of ``CASE x WHEN 1 ..``."""
    paren = exp.Paren(this=term.copy())
    for case in [node for node in paren.find_all(exp.Case) if node.this is not None]:
        for turn in case.args["ifs"]:
            turn.set("this", exp.EQ(this=case.this.copy(), expression=turn.this.copy()))
        case.set("this", None)
    whole: Tree = paren.this
    return whole


def _narrow(scope: Scope, term: Tree, box: Box, bucket: Bucket | None = None) -> None:
    """Boxes are unrolled value by value, or step by step: refuse those that would fill the memory."""
    listed = count_listed(scope, box, bucket)
    if not math.isfinite(listed) and box.field.kind in ("date", "timestamp"):
        refuse(
            scope.text,
            term,
            f"column {box.field.name} has infinite ends, which are in no step; count ranges of it with count(*) FILTER "
            "(WHERE ...)",
        )
    if not listed <= MOST_VALUES:
        step = "floor({0} / 1000)" if box.numeric else "date_trunc('month', {0})"
        unit, wider = ("steps", "larger steps") if bucket is not None else ("values", "steps of it")
        refuse(
            scope.text,
            term,
            f"the ranges of column {box.field.name} hold more than {MOST_VALUES:,} {unit} to group by; group by "
            f"{wider}, such as {step.format(box.field.name)}",
        )
