"""Constants of a query as the engine compares them with a column: evaluated there once, in the column's type.

Constants that engines read differently, or would round before comparing, are refused: a bound must hold for the answer
that the source gives in the same engine.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError
from sqlanon.query.boxes.box import Box
from sqlanon.query.logic.number_line import FINITE, Piece, measure
from sqlanon.query.parse.scope import Scope
from sqlanon.query.refusal import refuse
from sqlanon.query.sql.sqltree import Tree, number, sql
from sqlanon.query.sql.types import is_zoned

_SINGLE = ("REAL", "FLOAT", "FLOAT4")
_BITS = {
    "TINYINT": 7,
    "SMALLINT": 15,
    "INTEGER": 31,
    "BIGINT": 63,
    "HUGEINT": 127,
    "UTINYINT": 8,
    "USMALLINT": 16,
    "UINTEGER": 32,
    "UBIGINT": 64,
    "UHUGEINT": 128,
}
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*")
_FEW_DIGITS = re.compile(r"\d{1,7}", re.ASCII)
"""Of which floating point numbers of single precision hold every digit."""
_QUOTED = {
    "integer": "DECIMAL(38, 10)",
    "decimal": "DECIMAL(38, 10)",
    "float": "DOUBLE",
    "date": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


class Constants:
    """The constants of a query, each evaluated once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, Any] = {}

    def value(self, box: Box, constant: exp.Expr) -> Any:  # noqa: ANN401 - whatever the engine's value is
        """A constant's value; None: NULL.

        Args:
            box: the column that it is compared with.
            constant: an expression without columns.

        Raises:
            RefusedQueryError: it is of another type than the column, or would be rounded to it.
        """
        kind, zoned = box.field.kind, is_zoned(box.field.source_type)
        textual = kind in ("text", "enum")
        quoted = isinstance(constant, exp.Literal) and constant.is_string
        if quoted and textual:
            return constant.this
        if (whole := _whole(constant)) is not None and kind in ("integer", "decimal", "float"):
            return float(whole) if kind == "float" else whole
        node = constant
        if quoted:
            node = exp.cast(constant.copy(), _stamp(box) if kind == "timestamp" else _QUOTED.get(kind, "TEXT"))
        value = self._fetch(box, node, constant)
        # Drivers give infinite values such a year.
        last = isinstance(value, datetime.date) and value.year in (datetime.MINYEAR, datetime.MAXYEAR)
        if last and not self._fetch(box, sql(FINITE, m=measure(node, "timestamp") or node), constant):
            self._refuse(box, constant, "it is infinite; compare with a time that is not")
        if quoted and kind in ("integer", "decimal") and value is not None:
            if not _NUMBER.fullmatch(constant.name):
                self._refuse(box, constant, "it is not a number in digits")
            value = Decimal(constant.name)  # with all of them
        if not textual and value is not None and isinstance(value, bool) is not (kind == "boolean"):
            self._refuse(box, constant, "one of them is a boolean")
        if textual and isinstance(value, str):
            return self._fetch(box, exp.cast(node.copy(), "TEXT"), constant)  # padding is no part of a text
        if kind == "float" and isinstance(value, int | Decimal | float):
            single = box.field.source_type.upper() in _SINGLE
            double = _single(node, quoted=quoted) if single else exp.cast(node.copy(), "DOUBLE")
            return self._fetch(box, double, constant)
        if isinstance(value, float):
            return self._fetch(box, exp.cast(node.copy(), "DOUBLE"), constant)  # all digits of a single one
        moment = isinstance(value, datetime.date)
        if zoned and moment and getattr(value, "tzinfo", None) is None:
            value = self._fetch(box, exp.cast(node.copy(), "TIMESTAMPTZ"), constant)
        if isinstance(value, datetime.datetime) and not zoned:
            same = sql("CAST(:c AS TIMESTAMP) = :c", c=node)
            if not self._fetch(box, same, constant):
                self._refuse(box, constant, "it has more digits than microseconds")
        if quoted and kind == "date" and isinstance(value, datetime.datetime) and value.time() != datetime.time():
            self._refuse(box, constant, "text is read as a date here; write TIMESTAMP '...' to compare with a time")
        if quoted and isinstance(value, Decimal) and box.step is not None and Fraction(value) % box.step:
            self._refuse(box, constant, "text is rounded to the column's type by some engines; write it without quotes")
        return value

    def is_zoned(self, box: Box, constant: exp.Expr) -> bool:
        """Whether a constant is a time with a zone."""
        if isinstance(constant, exp.Literal):
            return False
        return getattr(self._fetch(box, constant, constant), "tzinfo", None) is not None

    def equal(self, box: Box, constant: exp.Expr, value: Any) -> Piece | None:  # noqa: ANN401 - an engine's value
        """The run of a column's exact values that the engine takes for equal to a floating point constant.

        It rounds both to a type of floating point numbers before it compares them, and rounding never falls: a value
        below the run is smaller than the constant.

        Args:
            box: a column of exact numbers.
            constant: the constant of the comparison.
            value: the constant's value, as `value` has it.

        Returns:
            The run, which may hold no value of the column; None: they are compared as they are.

        Raises:
            RefusedQueryError: the engine rounds in another way than to the nearest.
        """
        if box.field.kind not in ("integer", "decimal") or not isinstance(value, float) or not math.isfinite(value):
            return None
        shown = self._scope.engine.describe(
            exp.Select().select(constant.copy()).sql(dialect=self._scope.engine.dialect)
        )
        narrow = sql("CAST(0.1 AS DECIMAL(5, 2)) = CAST(0.1 AS REAL)")
        single = shown[0].upper() in _SINGLE and bool(self._fetch(box, narrow, constant))
        run = invert_rounding(value, single=single)
        if box.step is None:
            return run
        run = fit_steps(run, box.step)
        assert isinstance(run.low, Fraction)
        assert isinstance(run.high, Fraction)
        bound = _bound(box)
        for end, inside in (
            (run.low, True),
            (run.high, True),
            (run.low - box.step, False),
            (run.high + box.step, False),
        ):
            if (inside and run.low > run.high) or abs(end) > bound:
                continue
            kind = exp.DataType.build(box.field.source_type, dialect=self._scope.engine.dialect)
            same = exp.EQ(this=exp.cast(number(end), kind), expression=exp.Paren(this=constant.copy()))
            if bool(self._fetch(box, same, constant)) is not inside:
                self._refuse(box, constant, "it is rounded before it is compared; write it without an exponent or cast")
        return run

    def holds_for_null(self, box: Box, tree: Tree) -> bool | None:
        """Whether a test of a column holds where the column is NULL; None: the engine does not evaluate it there.

        Args:
            box: the column.
            tree: the test, with NULL in place of the column.
        """
        text = exp.Select().select(tree.copy()).sql(dialect=self._scope.engine.dialect)
        key = ("query/null", box.field.name, text)

        def ask() -> bool | None:
            try:
                return bool(self._scope.engine.fetch(Statement("query/null", text))[0][0])
            except DatabaseError:
                return None

        return self._scope.released.once(key, ask)

    def _fetch(self, box: Box, node: exp.Expr, tree: exp.Expr) -> Any:  # noqa: ANN401 - an engine's value
        text = exp.Select().select(node.copy()).sql(dialect=self._scope.engine.dialect)
        if text not in self._known:
            try:
                self._known[text] = self._scope.engine.fetch(Statement("query/constant", text))[0][0]
            except DatabaseError:
                self._refuse(box, tree, "the engine cannot read it as one")
        return self._known[text]

    def _refuse(self, box: Box, node: exp.Expr, why: str) -> None:
        expected = f"column {box.field.name} ({box.field.source_type}) is compared with a constant of its own type"
        refuse(self._scope.text, node, f"{expected}: {why}")


def _whole(constant: exp.Expr) -> int | None:
    """The value of a whole number in a few digits, which is the same on every engine and in every type of numbers."""
    sign = isinstance(constant, exp.Neg)
    digits = constant.this if sign else constant
    if not isinstance(digits, exp.Literal) or digits.is_string or not _FEW_DIGITS.fullmatch(digits.name):
        return None
    return -int(digits.name) if sign else int(digits.name)


def _single(node: exp.Expr, *, quoted: bool) -> Tree:
    """The constant to compare with single precision: some engines round the constant, others widen the column."""
    small = exp.cast(node.copy(), "REAL")
    if quoted:
        return exp.cast(small, "DOUBLE")
    return sql("CASE WHEN :s = :c THEN CAST(:s AS DOUBLE) ELSE CAST(:c AS DOUBLE) END", s=small, c=node)


def invert_rounding(value: float, *, single: bool) -> Piece:
    """The real numbers that round to ``value``, to the nearest floating point number; ties go to a last bit of 0."""
    bits, least_exponent, largest = (24, -149, 2.0**128) if single else (53, -1074, math.inf)
    exact = Fraction(value)
    exponent = max(math.frexp(value)[1] - bits, least_exponent) if value else least_exponent
    gap = Fraction(2) ** exponent
    even = (exact / gap) % 2 == 0
    # Below a power of two, the numbers lie twice as close.
    closer = gap / 2 if abs(exact) == gap * 2 ** (bits - 1) and exponent > least_exponent else gap
    below, above = (closer, gap) if value > 0 else (gap, closer)
    assert abs(value) < largest
    return Piece(exact - below / 2, exact + above / 2, (even, even))


def fit_steps(run: Piece, step: Fraction) -> Piece:
    """The run's first and last multiple of a step; the last is below the first where it has none."""
    assert isinstance(run.low, Fraction)
    assert isinstance(run.high, Fraction)
    low, high = math.ceil(run.low / step), math.floor(run.high / step)
    low += not run.closed[0] and low * step == run.low
    high -= not run.closed[1] and high * step == run.high
    return Piece(low * step, high * step)


def _bound(box: Box) -> Fraction:
    """No value of the column's type lies beyond it."""
    kind = box.field.source_type.upper()
    if box.field.kind == "integer":
        return Fraction(2 ** _BITS.get(kind, 63) - 1)
    digits = kind.partition("(")[2].partition(",")[0].strip()
    assert box.step is not None
    return Fraction(box.step * (10 ** int(digits) - 1))


def _stamp(box: Box) -> exp.DataType:
    """The column's type of timestamps, without its digits.

    Some engines round stored values to these digits, and constants not.
    """
    kind = exp.DataType.build(box.field.source_type, dialect="duckdb")
    kind.set("expressions", [])
    return kind
