"""Information loss of a partition, from the definitions; exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.domains import Quasi, Table, as_fraction, is_finite

Classes = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Losses:
    """What a `LossReport` says, as exact numbers."""

    gcp: Fraction
    dm: int
    c_avg: Fraction
    lm: Fraction
    columns: dict[str, dict[str, Fraction]]


def ncp(column: Quasi, rows: Sequence[int]) -> Fraction:
    """NCP of one attribute in one class: 0 constant, 1 NULL and values mixed, else its share of the domain."""
    return _share(column, rows, 0)


def lm(column: Quasi, rows: Sequence[int]) -> Fraction:
    """LM of one attribute in one class: as NCP, but ``(|u| - 1) / (|A| - 1)`` for sets and nodes."""
    return _share(column, rows, 1)


def _share(column: Quasi, rows: Sequence[int], less: int) -> Fraction:
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


def losses(table: Table, classes: Classes, k: int) -> Losses:
    """All metrics of a partition."""
    weights = sum(column.weight for column in table.quasi)
    columns = {
        column.name: {
            "ncp": sum((len(rows) * ncp(column, rows) for rows in classes), Fraction(0)) / table.rows,
            "lm": sum((len(rows) * lm(column, rows) for rows in classes), Fraction(0)) / table.rows,
        }
        for column in table.quasi
    }
    weighted = {
        name: sum((column.weight * columns[column.name][name] for column in table.quasi), Fraction(0))
        / weights
        for name in ("ncp", "lm")
    }
    return Losses(
        gcp=weighted["ncp"],
        dm=sum(len(rows) ** 2 for rows in classes),
        c_avg=Fraction(table.rows, len(classes) * k),
        lm=weighted["lm"],
        columns=columns,
    )
