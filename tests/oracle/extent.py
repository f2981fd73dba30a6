"""Extent of one attribute in a set of rows, and the loss L that Mondrian's cuts compare."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.domains import SCALE, Quasi, Table

EXACT_SETS = 256
"""Nominal columns of more values than this count a set by its span of codes."""


def extent(column: Quasi, rows: Sequence[int]) -> int:
    """How wide a class is in one attribute, from 0 to `SCALE`."""
    own = column.codes
    codes = frozenset([own[row] for row in rows])
    if len(codes) == 1:
        return 0
    found = column.known_extents.get(codes)
    if found is None:
        found = column.known_extents[codes] = _extent(column, codes)
    return found


def _extent(column: Quasi, codes: frozenset[int]) -> int:
    if 0 in codes:
        return SCALE
    if column.kind == "hierarchy":
        values = [column.domain[code - 1] for code in sorted(codes)]
        return column.tree.under(*column.tree.common(values)) * SCALE // column.size
    if column.kind == "nominal":
        size = len(codes) if column.size <= EXACT_SETS else max(codes) - min(codes) + 1
        return size * SCALE // column.size
    return column.positions[max(codes) - 1] - column.positions[min(codes) - 1]


def loss(table: Table, rows: Sequence[int]) -> int:
    """L(P): rows times the weighted sum of extents."""
    return len(rows) * sum(column.weight * extent(column, rows) for column in table.quasi)
