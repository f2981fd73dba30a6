"""From bound predicates to tests of a box: comparisons, IN, BETWEEN, LIKE, IS NULL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.boxes.range_facts import countable, is_finite
from sqlanon.query.functions.comparisons import MIRROR, SIGNS, is_equality, is_inequality
from sqlanon.query.functions.conditions import MIXED, mixes_floats
from sqlanon.query.functions.definition import NoEndsError
from sqlanon.query.functions.inverse import of_the_time_itself
from sqlanon.query.functions.registry import definition_of, needs_finite_times, null_with_column
from sqlanon.query.logic.formula import Formula, both, build, either, tests_in
from sqlanon.query.logic.number_line import Comparison, Piece, Place, literal, place
from sqlanon.query.logic.value_tests import ValueTest
from sqlanon.query.parse.scope import Scope, boxes_in
from sqlanon.query.parse.source_types import SourceTypes
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import FALSE, TRUE
from sqlanon.query.where.constants import Constants
from sqlanon.query.where.numbered_tests import NEGATED, NumberedTests, Tests
from sqlanon.query.where.several_columns import RowLeaves, compare
from sqlanon.query.where.terms import Terms

_MIRROR = {SIGNS[kind]: SIGNS[mirrored] for kind, mirrored in MIRROR.items()}
_KINDS = {sign: kind for kind, sign in SIGNS.items()}
_OWN_EQUALITY = re.compile(r"(.+\.)?(char|character|bpchar|citext)\b(?! varying)", re.IGNORECASE)
FEW = 8
"""Texts in IN up to which each is a separate test."""
MOST_RUNS = 200
"""Largest number of values in IN, neighbours merged, for a comparison with ranges.

The generated SQL has some 40 names for each.
"""


class Predicates:
    """Reads predicates into formulas over numbered tests; `tests` are those of all formulas so far.

    Args:
        scope: the names.
        terms: names of exact expressions.
        types: types of expressions in the source.
    """

    def __init__(self, scope: Scope, terms: Terms, types: SourceTypes) -> None:
        self._scope = scope
        self._types = types
        self._leaves = RowLeaves(scope, types, terms)
        self._constants = Constants(scope)
        self._atoms: set[str] = set()
        self._atoms_of: dict[Formula, frozenset[str]] = {}
        self._tests = NumberedTests(scope, terms, self._constants)

    def formula(self, predicate: exp.Expr | None) -> Formula:
        """The formula of a bound predicate; None is TRUE.

        Raises:
            RefusedQueryError: a predicate that boxes do not decide.
        """
        if predicate is None:
            return True
        before, self._atoms = self._atoms, set()
        formula = build(predicate, lambda node, positive: self._leaf(node, positive, predicate))
        self._atoms_of[formula] = self._atoms_of.get(formula, frozenset()) | self._atoms
        self._atoms |= before
        return formula

    def tests(self) -> Tests:
        """The tests of the formulas."""
        return self._tests.all_of(self._atoms, self._atoms_of)

    def comparison(self, test: int) -> Comparison | None:
        """The comparison with a constant that a test of a column with ranges is; None: it is none."""
        boxed_test = self._tests.boxed.get(test)
        return None if boxed_test is None else boxed_test.comparison

    def is_exact(self, formula: Formula) -> bool:
        """Whether it is known of every row whether a formula holds."""
        return tests_in(formula) <= set(self._tests.exact)

    def fresh(self) -> int:
        """The number of a test that belongs to no predicate."""
        return self._tests.fresh()

    def _leaf(self, node: exp.Expr, positive: bool, whole: exp.Expr) -> Formula:
        boxes = boxes_in(node)
        if not boxes:
            return self._tests.add_exact(node, positive)
        if isinstance(node, exp.Is) and _is_predicate(node.this):
            return self._decide(node, positive, whole)
        self._atoms.add(self._tests.text(node))
        return self._read_boxed(node, positive, whole)

    def _decide(self, node: exp.Is, positive: bool, whole: exp.Expr) -> Formula:
        """A predicate that IS TRUE, IS FALSE or IS NULL, which is never NULL itself."""
        true, false = (
            build(node.this, lambda part, sign: self._leaf(part, sign, whole), positive=sign) for sign in (True, False)
        )
        if isinstance(node.expression, exp.Boolean):
            positive_formula = true if node.expression.this else false
            return positive_formula if positive else self.complement(positive_formula)
        decided = either([true, false])
        return self.complement(decided) if positive else decided

    def complement(self, formula: Formula) -> Formula:
        """The formula that holds exactly where ``formula`` does not."""
        if isinstance(formula, bool):
            return not formula
        if isinstance(formula, int):
            return self._tests.complement(formula)
        parts = [self.complement(part) for part in sorted(formula[1], key=str)]
        return either(parts) if formula[0] == "and" else both(parts)

    def _read_boxed(self, node: exp.Expr, positive: bool, whole: exp.Expr) -> Formula:
        def again(part: exp.Expr, sign: bool) -> Formula:
            return self._read_boxed(part, sign, whole) if boxes_in(part) else self._tests.add_exact(part, sign)

        if isinstance(node, exp.Between):
            if node.args.get("symmetric"):
                refuse(self._scope.text, node, "BETWEEN SYMMETRIC is not answered; write the smaller end first")
            self._check_mixed(node, [node.args["low"], node.args["high"]])
            ends = exp.and_(
                exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()),
                exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()),
            )
            return build(ends, again, positive=positive)
        if isinstance(node, exp.In) and node.expressions:
            if self._is_long(node):
                box = self._scope.box(node.this.name)
                self._check_equality(box, node)
                return self._tests.add(box, node, "other", None, positive=positive)
            self._check_mixed(node, node.expressions)
            equal = [
                again(exp.EQ(this=node.this.copy(), expression=item.copy()), positive) for item in node.expressions
            ]
            together = self._together(node, equal, positive)
            if together is not None:
                return together
            return either(equal) if positive else both(equal)
        if (listed := _in_array(node)) is not None:
            return again(listed, positive is is_equality(node))
        if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
            return self._null_safe(node, positive, again)
        boxes = boxes_in(node)
        if len(boxes) == 1:
            box = self._scope.box(boxes[0])
            itself = None
            if box.field.kind == "timestamp" and box.shape == "interval":
                itself = of_the_time_itself(node, box.value, box.field.source_type)
            if itself is not None and not (needs_finite_times(node) and not is_finite(self._scope, box)):
                return build(itself, again, positive=positive)
            step_formula = self._compare(box, node, positive)
            if step_formula is not None:
                return step_formula
        for name in boxes:
            self._scope.check_recoded(self._scope.box(name), node)
        instead = "compare the column itself, a sum or a multiple of it, or abs(..) of one with a constant"
        try:
            loose = compare(self._leaves, node, positive)
        except NoEndsError as missing:
            refuse(
                self._scope.text,
                node if isinstance(missing.node, exp.Column) else missing.node,
                f"the ranges of a release do not decide this: {missing.reason}; {instead}",
            )
        if loose is None:
            refuse(self._scope.text, node, f"the ranges of a release do not decide this; {instead}")
        return self._tests.add_loose(node, positive, loose)

    def _null_safe(self, node: exp.Binary, positive: bool, again: Callable[[exp.Expr, bool], Formula]) -> Formula:
        same = positive is isinstance(node, exp.NullSafeEQ)
        left, right = (node.left, node.right) if boxes_in(node.left) else (node.right, node.left)
        boxes = boxes_in(left)
        if right.find(exp.Column) or len(boxes) > 1:
            refuse(self._scope.text, node, "IS DISTINCT FROM compares a column with a constant here")
        null = exp.Is(this=left.copy(), expression=exp.null())
        if self._constants.value(self._scope.box(boxes[0]), right) is None:
            return again(null, same)
        equal = again(exp.EQ(this=left.copy(), expression=right.copy()), same)
        return equal if same else either([equal, again(null, True)])

    def _compare(self, box: Box, node: exp.Expr, positive: bool) -> Formula | None:
        """A test of a box; None: only a rough test is possible."""
        listed = box.shape != "interval"
        if any(column.table != "_box" for column in node.find_all(exp.Column)):
            return None
        if isinstance(node, exp.Column):  # a boolean by itself; other types mean different things to engines
            if box.field.kind != "boolean":
                return None
            node = exp.EQ(this=node.copy(), expression=exp.true())
        if isinstance(node, exp.Is) and _is_value(node.this, box):
            if isinstance(node.expression, exp.Null):
                return self._tests.add(box, node, "null" if positive else "known", None)
            if isinstance(node.expression, exp.Boolean) and box.field.kind == "boolean":
                equal = self._read_boxed(
                    exp.EQ(this=node.this.copy(), expression=node.expression.copy()), positive, node
                )
                return (
                    equal
                    if positive
                    else either(
                        [equal, self._read_boxed(exp.Is(this=node.this.copy(), expression=exp.null()), True, node)]
                    )
                )
        self._check_equality(box, node)
        op = SIGNS.get(type(node))
        if op is not None:
            assert isinstance(node, exp.Binary)
            left, right = node.left.unnest(), node.right.unnest()
            if isinstance(right, exp.Any | exp.All):
                if not listed:
                    refuse(self._scope.text, node, "write the values out: column IN (...)")
                op = "other" if _is_value(left, box) else ""
                return self._tests.add(box, node, op, None, positive=positive)
            if _is_value(right, box) and not left.find(exp.Column):
                left, right, op = right, left, _MIRROR[op]
            collated = listed and right.find(exp.Collate) is not None
            plain = _is_value(left, box) and not right.find(exp.Column) and not collated
            # A day compared with a time of a zone begins where the session is: the engine decides, value by value.
            if plain and not (box.field.kind == "date" and not listed and self._constants.is_zoned(box, right)):
                return self._constant(box, op if positive else NEGATED[op], right)
        self._scope.check_recoded(box, node)
        if not listed and not countable(self._scope, box):
            return None
        # A function may make a value of NULL; the column itself, compared with anything, does not pass.
        definition = definition_of(node)
        strict = definition is not None and definition.null_in and isinstance(node, exp.Predicate)
        bare = strict and any(
            _is_value(side, box) or (not listed and null_with_column(side)) for side in (node.this, node.expression)
        )
        return self._tests.add(box, node, "other" if bare else "", None, positive=positive)

    def _check_mixed(self, node: exp.Expr, listed: Sequence[exp.Expr]) -> None:
        """Refuse a list that the engine casts to a type of floating point numbers, unlike separate comparisons."""
        if all(_is_plain(item.unnest()) for item in listed):
            return
        types = self._types.of_all([node.this, *listed], node)
        if mixes_floats(types):
            refuse(self._scope.text, node, MIXED)

    def _is_long(self, node: exp.In) -> bool:
        """Whether a list of texts is long enough for a single test in place of a test for each text.

        The column's values must be listed anyway.
        """
        if not (isinstance(node.this, exp.Column) and node.this.table == "_box" and len(node.expressions) > FEW):
            return False
        box = self._scope.box(node.this.name)
        texts = all(isinstance(item, exp.Literal) and item.is_string for item in node.expressions)
        return texts and box.field.kind == "text" and box.shape in ("node", "order")

    def _together(self, node: exp.In, equal: Sequence[Formula], positive: bool) -> int | None:
        """A single test in place of many comparisons of a column with a constant each.

        None if they are few, or not all of this form.
        """
        some = {part for part in equal if not (positive and part is False)}  # no value equals NULL
        tests = [self._tests.boxed.get(part) for part in some if type(part) is int]
        compared = [test.comparison for test in tests if test is not None and test.comparison is not None]
        op = "=" if positive else "<>"
        if (
            len(some) <= FEW
            or len(compared) < len(some)
            or any(comparison.op != op or comparison.at is None for comparison in compared)
        ):
            return None
        (name,) = boxes_in(node)
        box = self._scope.box(name)
        if box.shape not in ("interval", "set"):
            return None
        number = self._tests.number(f"{name} in {self._tests.text(node)}", positive)
        among = frozenset(comparison.at for comparison in compared if comparison.at is not None)
        comparison = Comparison(number, "in" if positive else "not in", among=among)
        runs = len(box.pieces([comparison])) // 2 if box.shape == "interval" else len(among)
        if runs > MOST_RUNS:
            refuse(
                self._scope.text,
                node,
                f"over a column that is published as ranges or sets a list has at most {MOST_RUNS} values, neighbours "
                "as one; compare with ranges, such as BETWEEN, or ask several queries",
            )
        tree = exp.Is(this=exp.Paren(this=node.copy()), expression=TRUE if positive else FALSE)
        self._tests.boxed[number] = ValueTest(number, name, tree, comparison, null=False)
        return number

    def _check_equality(self, box: Box, node: exp.Expr) -> None:
        if _OWN_EQUALITY.match(box.field.source_type) or not box.field.deterministic:
            refuse(
                self._scope.text,
                node,
                f"column {box.field.name} ({box.field.source_type}): values of this type are equal though their texts "
                "differ, and a release holds texts; count by the column instead",
            )

    def _constant(self, box: Box, op: str, constant: exp.Expr) -> Formula:
        value = self._constants.value(box, constant)
        if value is None:
            return False  # a comparison with NULL is never TRUE, whatever the sign
        if op in ("=", "<>"):
            self._scope.check_equality(box, constant)
        else:
            self._scope.check_order(box, constant)
        if box.shape != "interval":
            native = _KINDS[op](this=box.value, expression=constant.copy())
            if op in ("=", "<>") and isinstance(value, str):
                return self._tests.add(box, native, op, value)
            return self._tests.add(box, native, "other", None)
        run = self._constants.equal(box, constant, value)
        if run is not None:
            return self._in_run(box, op, run)
        position = place(value, box.field.kind)
        textual = box.field.kind in ("text", "enum")
        if position is None or isinstance(position, str) is not textual:
            refuse(
                self._scope.text,
                constant,
                f"column {box.field.name} ({box.field.source_type}) is compared with a constant of its own type",
            )
        return self._tests.add(box, _KINDS[op](this=box.value, expression=constant.copy()), op, position)

    def _in_run(self, box: Box, op: str, run: Piece) -> Formula:
        """A comparison with a constant that equals a whole run of the column's values."""

        def side(op: str, place: Place | None) -> Formula:
            assert place is not None
            return self._tests.add(box, _KINDS[op](this=box.value, expression=literal(place, box.field)), op, place)

        from_, to = (">=" if run.closed[0] else ">"), ("<=" if run.closed[1] else "<")
        if op == "=":
            return both([side(from_, run.low), side(to, run.high)])
        if op == "<>":
            return either([side(NEGATED[from_], run.low), side(NEGATED[to], run.high)])
        ends = {
            ">=": (from_, run.low),
            "<": (NEGATED[from_], run.low),
            "<=": (to, run.high),
            ">": (NEGATED[to], run.high),
        }
        return side(*ends[op])


def _is_value(node: exp.Expr, box: Box) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Column) and inner.table == "_box" and inner.name == box.id


def _is_predicate(node: exp.Expr) -> bool:
    """Whether it is a condition, which IS TRUE and the like may be asked of; not a column by itself."""
    return isinstance(node.unnest(), exp.Predicate | exp.Connector | exp.Not)


def _is_plain(node: exp.Expr) -> bool:
    """Whether it is NULL, a text, or a number without an exponent: of no floating point type."""
    node = node.this.unnest() if isinstance(node, exp.Neg) else node
    if isinstance(node, exp.Literal):
        return bool(node.is_string) or "e" not in node.name.lower()
    return isinstance(node, exp.Null)


def _in_array(node: exp.Expr) -> exp.Expr | None:
    """``= ANY (ARRAY[...])`` of constants as an IN, and ``<> ALL`` as the IN that it negates.

    None for another predicate.
    """
    equal = is_equality(node)
    if not (equal or is_inequality(node)):
        return None
    assert isinstance(node, exp.Binary)
    side = node.right
    values = side.this.unnest() if isinstance(side, exp.Any if equal else exp.All) else None
    if not isinstance(values, exp.Array) or not all(isinstance(v, exp.Literal | exp.Neg) for v in values.expressions):
        return None
    return exp.In(this=node.left.copy(), expressions=[value.copy() for value in values.expressions])
