"""Tables of the oracle as the one-dimensional kernels take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.rows import Rows
from sqlanon.methods.arrays import rows_of
from tests.oracle.domains import Table
from tests.properties.kernel import geometry, product_codes


def in_order(table: Table, order: Sequence[int] | None = None) -> tuple[Rows, Geometry]:
    """The rows in an order (as they stand, without one), and the geometry."""
    order = range(table.rows) if order is None else order
    columns = [product_codes(column) for column in table.quasi]
    codes = np.array([[column[row] for row in order] for column in columns], np.int32)
    shape, _ = geometry(table)
    return rows_of(codes, np.array(order, np.int32), shape), shape


def by_first(first: np.ndarray, rows: Sequence[int]) -> list[tuple[int, ...]]:
    """Classes from marks where they begin."""
    classes: list[list[int]] = []
    for row, begins in zip(rows, first.tolist(), strict=True):
        if begins:
            classes.append([])
        classes[-1].append(row)
    return [tuple(rows) for rows in classes]


def by_number(group: Sequence[int] | np.ndarray) -> list[list[int]]:
    """Classes from the number of each row's class."""
    classes: dict[int, list[int]] = {}
    for row, number in enumerate(np.asarray(group).tolist()):
        classes.setdefault(number, []).append(row)
    return [classes[number] for number in sorted(classes)]
