"""Constants of a query as the engine compares them with a column: evaluated there once, in the column's own type.

What engines read differently, or would round before they compare, is refused: a bound must hold for the answer that the
source gives in the same engine.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError
from sqlanon.query.boxes import Box
from sqlanon.query.refuse import refuse
from sqlanon.query.scope import Scope
from sqlanon.query.terms import Tree, sql

_QUOTED = {
    "integer": "DECIMAL(38, 10)",
    "decimal": "DECIMAL(38, 10)",
    "float": "DOUBLE",
    "date": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


class Constants:
    """The constants of one query, each evaluated once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, Any] = {}

    def value(self, box: Box, constant: exp.Expr) -> Any:  # noqa: ANN401 - whatever the engine's value is
        """A constant's value; None: NULL.

        Args:
            box: the column that it is compared with.
            constant: an expression without columns.

        Raises:
            Refused: it is of another type than the column, or would be rounded to it.
        """
        kind, zoned = box.field.kind, "TIME ZONE" in box.field.source_type.upper()
        textual = kind in ("text", "enum")
        quoted = isinstance(constant, exp.Literal) and constant.is_string
        if quoted and textual:
            return constant.this
        node = constant
        if quoted:
            stamp = "TIMESTAMPTZ" if zoned else "TIMESTAMP"
            node = exp.cast(constant.copy(), stamp if kind == "timestamp" else _QUOTED.get(kind, "TEXT"))
        if kind == "float" and box.field.source_type.upper() in ("REAL", "FLOAT", "FLOAT4"):
            node = _single(node, quoted=quoted)
        value = self._fetch(box, node, constant)
        moment = isinstance(value, datetime.date)
        if zoned and moment and getattr(value, "tzinfo", None) is None:
            value = self._fetch(box, exp.cast(node.copy(), "TIMESTAMPTZ"), constant)
        elif not zoned and getattr(value, "tzinfo", None) is not None:
            self._refused(box, constant, "it has a time zone, and the column has none")
        if not textual and value is not None and isinstance(value, bool) is not (kind == "boolean"):
            self._refused(box, constant, "one of them is a boolean")
        if (
            quoted
            and kind == "date"
            and isinstance(value, datetime.datetime)
            and value.time() != datetime.time()
        ):
            self._refused(
                box, constant, "text is read as a date here; write TIMESTAMP '...' to compare with a time"
            )
        if quoted and isinstance(value, Decimal) and box.step is not None and value % _decimal(box):
            self._refused(
                box, constant, "text is rounded to the column's type by some engines; write it without quotes"
            )
        return value

    def _fetch(self, box: Box, node: exp.Expr, written: exp.Expr) -> Any:  # noqa: ANN401 - an engine's value
        text = exp.Select().select(node.copy()).sql(dialect=self._scope.engine.dialect)
        if text not in self._known:
            try:
                self._known[text] = self._scope.engine.fetch(Statement("query/constant", text))[0][0]
            except DatabaseError:
                self._refused(box, written, "the engine cannot read it as one")
        return self._known[text]

    def _refused(self, box: Box, written: exp.Expr, why: str) -> None:
        told = (
            f"column {box.field.name} ({box.field.source_type}) is compared with a constant of its own type"
        )
        refuse(self._scope.text, written, f"{told}: {why}")


def _single(node: exp.Expr, *, quoted: bool) -> Tree:
    """What a column of single precision is compared with: some engines round the constant, others widen the column."""
    small = exp.cast(node.copy(), "REAL")
    if quoted:
        return exp.cast(small, "DOUBLE")
    return sql("CASE WHEN :s = :c THEN CAST(:s AS DOUBLE) ELSE CAST(:c AS DOUBLE) END", s=small, c=node)


def _decimal(box: Box) -> Decimal:
    assert box.step is not None
    return Decimal(box.step.numerator) / Decimal(box.step.denominator)
