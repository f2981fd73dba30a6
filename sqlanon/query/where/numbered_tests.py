"""The tests of a query's predicates, each numbered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from sqlanon.query.boxes.box import Box
from sqlanon.query.functions.comparisons import OPPOSITE, SIGNS
from sqlanon.query.logic.formula import ATOMS, Formula, Triple, either, tests_in
from sqlanon.query.logic.number_line import Comparison
from sqlanon.query.logic.value_tests import ValueTest, on
from sqlanon.query.parse.scope import Scope
from sqlanon.query.sql.sqltree import FALSE, ONE, TRUE, Tree, less, negate
from sqlanon.query.where.constants import Constants
from sqlanon.query.where.terms import Terms

NEGATED = {SIGNS[kind]: SIGNS[opposite] for kind, opposite in OPPOSITE.items()} | {
    "null": "known",
    "known": "null",
    "in": "not in",
    "not in": "in",
}
"""The sign of the opposite comparison, by sign."""


@dataclass(frozen=True)
class Tests:
    """The tests of a query, each predicate once.

    Attributes:
        boxed: tests of a box.
        exact: tests that are known of every row: a boolean column of the rows each.
        loose: tests over several boxes, or over values that an interval shows only roughly.
        relaxed: the tests have to be taken separately, so that bounds are sound and not tight.
        atoms: the predicates over boxed columns that a formula was made of.
    """

    boxed: Mapping[int, ValueTest]
    exact: Mapping[int, Tree]
    loose: Mapping[int, Triple]
    relaxed: bool
    atoms: Mapping[Formula, frozenset[str]] = field(default_factory=dict)

    def alone(self, *parts: Formula) -> Tests:
        """The same for the conjunction of some formulas, as if the query asked nothing else."""
        atoms = frozenset().union(*(self.atoms.get(part, frozenset()) for part in parts))
        used_tests = frozenset().union(*(tests_in(part) for part in parts))
        return replace(self, relaxed=bool(used_tests & self.loose.keys()) or len(atoms) > ATOMS)


class NumberedTests:
    """Numbers the tests of predicates: of boxes, of rows, and over several boxes.

    Args:
        scope: the names.
        terms: names of exact expressions.
        constants: constants that columns are compared with.
    """

    def __init__(self, scope: Scope, terms: Terms, constants: Constants) -> None:
        self._scope, self._terms, self._constants = scope, terms, constants
        self._numbers: dict[tuple[str, bool], int] = {}
        self.boxed: dict[int, ValueTest] = {}
        self.exact: dict[int, Tree] = {}
        self.loose: dict[int, Triple] = {}

    def fresh(self) -> int:
        """The number of a test that belongs to no predicate."""
        return self.number(f"# {len(self._numbers)}", True)

    def all_of(self, atoms: set[str], atoms_of: Mapping[Formula, frozenset[str]]) -> Tests:
        """The tests so far; ``atoms``: the predicates over boxed columns, ``atoms_of``: those of each formula."""
        exact = {number: self._terms.column(tree) for number, tree in self.exact.items()}
        relaxed = bool(self.loose) or len(atoms) > ATOMS
        return Tests(dict(self.boxed), exact, dict(self.loose), relaxed, dict(atoms_of))

    def complement(self, test: int) -> Formula:
        """The tests that hold exactly where a test does not: the opposite comparison, or NULL."""
        number = self.number(f"# not {test}", True)
        if test in self.exact:
            self.exact[number] = exp.Not(this=exp.Paren(this=self.exact[test].copy()))
        elif test in self.loose:
            loose = self.loose[test]
            self.loose[number] = Triple(negate(loose.certain), negate(loose.possible), less(ONE, loose.share))
        else:
            boxed_test = self.boxed[test]
            compared, box = boxed_test.comparison, self._scope.box(boxed_test.box)
            tree = exp.Not(this=exp.Paren(this=boxed_test.tree.copy()))
            if compared is None or compared.op == "other":
                self.boxed[number] = ValueTest(
                    number, boxed_test.box, tree, null=None if boxed_test.null is None else not boxed_test.null
                )
            elif compared.op in ("null", "known"):
                opposite = Comparison(number, NEGATED[compared.op])
                self.boxed[number] = ValueTest(number, boxed_test.box, tree, opposite, null=compared.op == "known")
            else:
                null = exp.Is(this=box.value, expression=exp.null())
                not_null = exp.And(this=tree, expression=exp.Not(this=null.copy()))
                self.boxed[number] = ValueTest(
                    number,
                    boxed_test.box,
                    exp.Paren(this=not_null),
                    Comparison(number, NEGATED[compared.op], compared.at, compared.among),
                    null=False,
                )
                return either([number, self.add(box, null, "null", None)])
        return number

    def add(self, box: Box, node: exp.Expr, op: str, constant: Any, *, positive: bool | None = None) -> int:  # noqa: ANN401
        """Number a test; if ``op`` is "", even the result for NULL is unknown.

        If ``positive`` is None, ``op`` has the sign.
        """
        number = self.number(f"{box.id} {op} {self.text(node)}", positive is not False)
        if number not in self.boxed:
            if op in ("null", "known"):
                tree: Tree = exp.Is(this=box.value, expression=exp.null())
                tree = tree if op == "null" else exp.Not(this=tree)
            else:
                tree = exp.Is(this=exp.Paren(this=node.copy()), expression=FALSE if positive is False else TRUE)
            null = (
                op == "null"
                if op or box.state is None
                else self._constants.holds_for_null(box, on(tree, box.id, self._null_of(box)))
            )
            self.boxed[number] = ValueTest(number, box.id, tree, Comparison(number, op, constant) if op else None, null)
        return number

    def _null_of(self, box: Box) -> Tree:
        """NULL in the type of the source's column."""
        if box.field.kind == "enum":
            return exp.cast(exp.null(), "TEXT")
        return exp.cast(
            exp.null(),
            exp.DataType.build(box.field.source_type, dialect=self._scope.engine.dialect, udt=True),
        )

    def add_exact(self, node: exp.Expr, positive: bool) -> int:
        """Number a test that is known of every row."""
        number = self.number(self.text(node), positive)
        self.exact[number] = exp.Is(this=exp.Paren(this=node.copy()), expression=TRUE if positive else FALSE)
        return number

    def add_loose(self, node: exp.Expr, positive: bool, triple: Triple) -> int:
        """Number a test over several boxes."""
        number = self.number(self.text(node), positive)
        self.loose[number] = triple
        return number

    def text(self, node: exp.Expr) -> str:
        """The predicate in the engine's dialect: in another, different ones may have the same text."""
        return node.sql(dialect=self._scope.engine.dialect)

    def number(self, key: str, positive: bool) -> int:
        """The number of a test by its text and sign; each is numbered once."""
        # From 2 on: 0 and 1 would equal FALSE and TRUE as parts of a formula.
        return self._numbers.setdefault((key, positive), len(self._numbers) + 2)
