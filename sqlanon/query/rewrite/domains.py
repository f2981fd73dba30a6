"""Divides the values of every box by the tests of a query: the domains that formulas are compiled over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.interval import Interval
from sqlanon.query.boxes.listed_boxes import Lookup
from sqlanon.query.boxes.outcomes import MOST_GROUPS, outcomes
from sqlanon.query.boxes.range_facts import MOST_VALUES, unrollable
from sqlanon.query.boxes.set_constants import SetConstants
from sqlanon.query.boxes.values_by_test import GroupedBox, ValuesByTest
from sqlanon.query.logic.formula import Compiler, Domain, tests_in
from sqlanon.query.logic.number_line import UNORDERED
from sqlanon.query.logic.value_tests import ValueTest, is_computed
from sqlanon.query.parse.scope import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.rewrite.query_plan import QueryPlan


@dataclass(frozen=True)
class Domains:
    """The boxes of a query, divided.

    Attributes:
        of: the domains of each box, by id: a single domain, or one for each test where tests have to be taken apart.
        tests: the tests that a formula uses.
        compiler: formulas to SQL over them.
        tight: bounds of counts are reached by some consistent source, as far as the tests go.
    """

    of: Mapping[str, tuple[Domain, ...]]
    tests: tuple[ValueTest, ...]
    compiler: Compiler
    tight: bool

    @property
    def lookups(self) -> list[Lookup]:
        """The domains with listed values."""
        return [domain for box_domains in self.of.values() for domain in box_domains if isinstance(domain, Lookup)]


def divide(scope: Scope, plan: QueryPlan) -> list[Domains]:
    """Divide the boxes of a query by tests.

    If the query has filters, each condition has a separate division, else all conditions share a division.

    Args:
        scope: the names.
        plan: the plan of the query, with the tests.

    Raises:
        RefusedQueryError: too many predicates over a listed column.
    """
    if not plan.filters:
        return [_divide(scope, plan)]
    divisions = []
    for i, formula in enumerate(plan.conditions):
        tests = plan.tests.alone(plan.conditions[0], *plan.filters[:i][-1:])
        alone = replace(plan, conditions=(formula,), tests=tests)
        divisions.append(_divide(scope, alone, f"f{i}_"))
    return divisions


def _divide(scope: Scope, plan: QueryPlan, prefix: str = "") -> Domains:
    """See `divide`.

    ``prefix`` distinguishes the lists of several conditions; boxes that a condition does not ask are left out.
    """
    branches = [
        branch.formula
        for whole in plan.aggregates
        for a in whole.parts
        if a.value is not None
        for branch in a.value.branches
    ]
    used_tests = frozenset().union(*(tests_in(formula) for formula in [*plan.conditions, *branches]))
    tests = tuple(test for number, test in plan.tests.boxed.items() if number in used_tests)
    tight = not plan.tests.relaxed and not scope.released.form.facts.paired
    by_name: dict[str, Domain] = {}
    of: dict[str, tuple[Domain, ...]] = {}
    boxed: dict[int, str] = {spread.inside: box for box, spread in plan.spread.items()}
    every = not prefix or bool(used_tests & plan.tests.loose.keys())  # a test over several boxes reads their columns
    for box in scope.boxes.values():
        box_tests = [test for test in tests if test.box == box.id]
        if not every and not box_tests:
            continue
        # A value of a box that is not known may pass any predicates but not any set of them.
        line = box.shape == "interval" and not is_computed(box_tests)
        tight &= (box.state is None or line or simple(box_tests)) and not box.beyond
        parts: dict[str, list[ValueTest]] = {}
        if _apart(box, box_tests, plan):
            tight = False
            parts = {f"{box.id} {test.id}": [test] for test in box_tests}
        by_part = {name: _domain(scope, box, part, f"{prefix}{part[0].id}", plan) for name, part in parts.items()}
        rest = [] if parts else box_tests
        if rest or every:
            by_part[box.id] = _domain(scope, box, rest, prefix, plan)
        boxed |= {test.id: name for name, part_tests in {**parts, box.id: rest}.items() for test in part_tests}
        by_name |= by_part
        of[box.id] = tuple(by_part.values())
        spread = plan.spread.get(box.id)
        # The values of a bucket come near to its ends, but do not always reach them.
        if spread is not None and spread.bucket is not None:
            tight &= box.id not in plan.values and box.state is None
        # Of a box that is not known, no more is decided within a group of several values than that it may be.
        lookup = by_part.get(box.id)
        if isinstance(lookup, Lookup) and lookup.key is not None:
            tight &= box.state is None or whole(lookup)
    plan_tests = plan.tests
    compiler = Compiler(plan_tests.exact, boxed, by_name, plan_tests.loose, relaxed=plan_tests.relaxed)
    return Domains(of, tests, compiler, tight)


def join_domains(divided: Sequence[Domains]) -> Domains:
    """The domains of several conditions; formulas are compiled by those of their own."""
    if len(divided) == 1:
        return divided[0]
    of: dict[str, tuple[Domain, ...]] = {}
    for division in divided:
        for box, domains in division.of.items():
            of[box] = of.get(box, ()) + domains
    tests = tuple(dict.fromkeys(test for division in divided for test in division.tests))
    return Domains(of, tests, divided[0].compiler, all(division.tight for division in divided))


def _apart(box: Box, tests: Sequence[ValueTest], plan: QueryPlan) -> bool:
    """Whether each test of a box has to be taken by itself."""
    if box.id in plan.spread or len(tests) < 2:
        return False
    return plan.tests.relaxed or outcomes(box, tests) is None


def _domain(scope: Scope, box: Box, tests: Sequence[ValueTest], suffix: str, plan: QueryPlan) -> Domain:
    spread = plan.spread.get(box.id)
    if spread is None and box.shape == "interval" and not is_computed(tests):
        meant = box if box.id in plan.means else replace(box, mean=None)
        return Interval(meant, [c for test in tests if (c := test.comparison) is not None], "")
    if spread is None and box.shape == "set" and simple(tests):
        return SetConstants(box, tests, "", suffix)
    ways = outcomes(box, tests)
    if ways is None:
        refuse(
            scope.text,
            None,
            f"column {box.field.name} is compared in more than {MOST_GROUPS} ways at once; ask fewer questions of it",
        )
    bucket = spread.bucket if spread is not None else None
    key = bucket.key if bucket is not None else spread.key if spread is not None else None
    inside = spread.inside if spread is not None else None
    values = box.id in plan.values
    if values and spread is None and box.shape == "interval" and not unrollable(scope, box):
        refuse(
            scope.text,
            None,
            f"the ranges of column {box.field.name} hold more than {MOST_VALUES:,} values together; aggregate another "
            "column under this condition, or this one under comparisons with constants",
        )
    grouped = GroupedBox(inside, key)
    tested = ValuesByTest(ways, tests)
    return Lookup(box, tested, "", grouped, values=values, suffix=suffix, bucketed=bucket is not None)


def simple(tests: Sequence[ValueTest]) -> bool:
    """Whether the tests ask for constants and NULL only, so that it is known which of them hold together."""
    return all(test.comparison is not None and test.comparison.op in UNORDERED for test in tests)


def whole(lookup: Lookup) -> bool:
    """Whether GROUP BY asks for the column itself."""
    return lookup.key is not None and isinstance(lookup.key, exp.Column) and not lookup.bucketed
