"""Information loss of a partition, from the definitions; exact fractions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.domains import Quasi, Table, as_fraction, is_finite

Classes = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Losses:
    """What a `LossReport` says, as exact numbers."""

    ncp: Fraction
    gcp: Fraction
    dm: int
    c_avg: Fraction
    lm: Fraction
    il1: Fraction
    il_inf: Fraction
    il_sum: Fraction
    weighted_max_ncp: Fraction
    avg_ncp: Fraction
    weighted_avg_volume: Fraction
    columns: dict[str, dict[str, Fraction]]


Share = Callable[[Quasi, Sequence[int], int], Fraction]
"""What a class loses in one column: the third argument is 0 for NCP, 1 for LM."""


def ncp(column: Quasi, rows: Sequence[int]) -> Fraction:
    """NCP of one attribute in one class: 0 constant, 1 NULL and values mixed, else its share of the domain."""
    return spread(column, rows, 0)


def either(column: Quasi, rows: Sequence[int], _: int) -> Fraction:
    """In format suppressed a cell is the value, or nothing."""
    return Fraction(len({column.codes[row] for row in rows}) > 1)


def lm(column: Quasi, rows: Sequence[int]) -> Fraction:
    """LM of one attribute in one class: as NCP, but ``(|u| - 1) / (|A| - 1)`` for sets and nodes."""
    return spread(column, rows, 1)


def spread(column: Quasi, rows: Sequence[int], less: int) -> Fraction:
    """`ncp` or, with 1, `lm`."""
    codes = {column.codes[row] for row in rows}
    if len(codes) == 1:
        return Fraction(0)
    if 0 in codes:
        return Fraction(1)
    values = [column.domain[code - 1] for code in sorted(codes)]
    if column.kind == "hierarchy":
        return Fraction(column.tree.under(*column.tree.common(values)) - less, column.size - less)
    if column.kind == "nominal":
        return Fraction(len(codes) - less, column.size - less)
    if column.kind == "text":
        return Fraction(max(codes) - min(codes), column.size - 1)
    return _place(column, values[-1]) - _place(column, values[0])


def _place(column: Quasi, value: Any) -> Fraction:
    """Where a number lies in its domain's finite range, from 0 to 1; -inf at 0, +inf and NaN at 1, as positions do."""
    if not is_finite(value):
        return Fraction(0) if value < 0 else Fraction(1)
    assert column.finite_range is not None
    low, high = column.finite_range
    return Fraction(0) if low == high else (as_fraction(value) - low) / (high - low)


def volume(table: Table, rows: Sequence[int], share: Share) -> Fraction:
    """Product of a class's NCP over the attributes.

    One of a single value counts as that value's share of its domain.
    """
    product = Fraction(1)
    for column in table.quasi:
        single = len({column.codes[row] for row in rows}) == 1
        product *= Fraction(1, max(column.size, 1)) if single else share(column, rows, 0)
    return product


def width(column: Quasi, rows: Sequence[int]) -> Fraction | None:
    """How wide a class is in a column's own units, None where it has no width.

    Numbers as they are, days, steps of ordered text, leaves of the node, values of the set.
    """
    codes = {column.codes[row] for row in rows}
    if codes == {0}:
        return Fraction(0)
    if 0 in codes:
        return None
    values = [column.domain[code - 1] for code in sorted(codes)]
    if column.kind == "hierarchy":
        return Fraction(column.tree.under(*column.tree.common(values)))
    if column.kind == "nominal":
        return Fraction(len(codes))
    if len(codes) == 1:
        return Fraction(0)
    if column.kind == "text":
        return Fraction(max(codes) - min(codes))
    if not (is_finite(values[0]) and is_finite(values[-1])):
        return None
    low, high = as_fraction(values[0]), as_fraction(values[-1])
    day = 86_400 * 10**6 if isinstance(values[0], dt.datetime) else 1
    return (high - low) / day


def losses(table: Table, classes: Classes, k: int, share: Share = spread) -> Losses:
    """All metrics of a partition."""
    weights = sum(column.weight for column in table.quasi)
    columns = {
        column.name: {
            "ncp": sum((len(rows) * share(column, rows, 0) for rows in classes), Fraction(0)) / table.rows,
            "lm": sum((len(rows) * share(column, rows, 1) for rows in classes), Fraction(0)) / table.rows,
        }
        for column in table.quasi
    }
    weighted = {
        name: sum((column.weight * columns[column.name][name] for column in table.quasi), Fraction(0)) / weights
        for name in ("ncp", "lm")
    }
    extents = [
        sum((column.weight * share(column, rows, 0) for column in table.quasi), Fraction(0)) / weights
        for rows in classes
    ]
    plain = [
        sum((share(column, rows, 0) for column in table.quasi), Fraction(0)) / len(table.quasi) for rows in classes
    ]
    return Losses(
        ncp=sum((len(rows) * each for rows, each in zip(classes, plain, strict=True)), Fraction(0)) / table.rows,
        gcp=weighted["ncp"],
        dm=sum(len(rows) ** 2 for rows in classes),
        c_avg=Fraction(table.rows, len(classes) * k),
        lm=weighted["lm"],
        il1=sum(extents, Fraction(0)) / len(classes),
        il_inf=max(extents),
        il_sum=sum(extents, Fraction(0)),
        weighted_max_ncp=max(len(rows) * each for rows, each in zip(classes, extents, strict=True)),
        avg_ncp=sum(plain, Fraction(0)) / len(classes),
        weighted_avg_volume=sum((len(rows) * volume(table, rows, share) for rows in classes), Fraction(0)) / table.rows,
        columns=columns,
    )


FURTHER: dict[str, Callable[[Table, Classes], Fraction]] = {}
"""Metrics that reports have beside those of `Losses`: extensions add theirs here, as they do to the registry."""
