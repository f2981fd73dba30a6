"""UNION without ALL: merges rows that are equal in every consistent source.

Values that are known are compared as they are. Cells with bounds are the same where both are exact and equal, and
different where their bounds do not meet; for all others the number of rows depends on the source.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sqlanon.query.answer import Answer, Bounded
from sqlanon.query.refusal import refuse
from sqlanon.query.value_order import ValueOrder, is_compared_by_bytes, is_finer

MOST_ALIKE = 1_000
"""Rows that agree in all known values and are compared with one another."""


def check_equality(text: str, values: ValueOrder) -> None:
    """Refuse columns with equal values that the database does not show alike.

    Raises:
        RefusedQueryError: a text column with a collation under which different texts are equal, or a column of a joined
            table.
    """
    for query, released in zip(values.queries, values.releases, strict=True):
        unlike = set()
        if released is not None:
            unlike = {
                field.name.lower()
                for field in released.fields
                if not field.deterministic
                or is_finer(field)
                or not is_compared_by_bytes(values.engine, released, field)
            }
        for _, node in query.items:
            unlike_column = next((n for n in node.find_all(exp.Column) if n.name.lower() in unlike), None)
            if unlike_column is not None:
                refuse(
                    text,
                    unlike_column,
                    f"equal values of column {unlike_column.name} may be shown differently, or different ones alike: "
                    "write UNION ALL",
                )
            if query.joins and node.find(exp.Column) is not None and not node.find(exp.AggFunc):
                refuse(text, node, "a UNION of joins is not answered: write UNION ALL")


def drop_duplicates(text: str, answer: Answer) -> Answer:
    """The rows of an answer without repetitions.

    Args:
        text: the query, for messages.
        answer: rows of several SELECTs below one another.

    Raises:
        RefusedQueryError: columns of different types, or rows that are the same in some sources and not in others.
    """
    plain = [name for name in answer.columns if name not in answer.aggregates]
    for name in plain:
        if len({_family(row[name]) for row in answer.rows if row[name] is not None}) > 1:
            refuse(text, None, f"the SELECTs of a UNION give column {name} different types: cast it to one of them")
        if any(isinstance(row[name], list | dict | tuple) for row in answer.rows):
            refuse(text, None, f"column {name} has values of several parts, which are not merged: write UNION ALL")
    rows: list[Any] = []
    certain: list[bool] = []
    groups: dict[tuple[object, ...], list[int]] = {}
    for row, sure in zip(answer.rows, answer.certain, strict=True):
        alike = groups.setdefault(tuple(_token(row[name]) for name in plain), [])
        same = None
        for index in alike:
            verdict = _are_same([(rows[index][name], row[name]) for name in answer.aggregates])
            if verdict is None or len(alike) > MOST_ALIKE:
                refuse(
                    text,
                    None,
                    "two rows of the UNION may be the same in some sources and not in others, so that their number has "
                    "no bounds: write UNION ALL, or give each SELECT a column of its own",
                )
            same = index if verdict else same
        if same is None:
            alike.append(len(rows))
            rows.append(row)
            certain.append(sure)
        else:
            certain[same] = certain[same] or sure
    return replace(answer, rows=tuple(rows), certain=tuple(certain))


def _family(value: object) -> object:
    """Types with values that are equal where the database holds them equal."""
    if isinstance(value, datetime.datetime):
        return datetime.datetime, value.tzinfo is None
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal
    return type(value)


def _token(value: object) -> object:
    """A value that is equal in Python to equal values: NaN is a single value."""
    if isinstance(value, float | Decimal) and math.isnan(value):
        return "NaN", float
    return value


def _are_same(pairs: Sequence[tuple[Bounded, Bounded]]) -> bool | None:
    """Whether two rows have the same values in every source; False: in none, None: it depends."""
    verdicts = [_are_equal(first, second) for first, second in pairs]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _are_equal(first: Bounded, other: Bounded) -> bool | None:
    if first.undefined_possible or other.undefined_possible:
        return None
    ends = (first.low, first.high, other.low, other.high)
    if any(end is not None and _family(end) != _family(ends[0]) for end in ends) or None in ends:
        return None
    if any(isinstance(end, float | Decimal) and math.isnan(end) for end in ends):
        return None
    if any(_is_below(low, high) for low, high in ((first.high, other.low), (other.high, first.low))):
        return False
    # Sums of floating point values that are equal here may differ in the source by their order.
    exact = first.exact and other.exact and first.low == other.low
    return True if exact and _family(first.low) is Decimal else None


def _is_below(first: Any, other: Any) -> bool:  # noqa: ANN401 - numbers, texts or times
    """Whether a value is below another, for floating point values by more than their rounding."""
    slack = 1e-9 * max(abs(first), abs(other), 1.0) if isinstance(first, float) else 0
    return bool(first < other - slack if slack else first < other)
