"""Metrics of Goldberger & Tassa (2010) from their definitions: row by row, cell by cell, over sets of values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.domains import Quasi, Table

Value = Any
"""A value of a quasi column as what makes it equal to others; None is NULL."""


@dataclass(frozen=True)
class Cell:
    """What a release shows of a row in a column.

    The values that it may have, and the level over the height of the hierarchy.
    """

    values: frozenset[Value]
    level: float


Show = Callable[[Quasi, Sequence[int]], Cell]
"""The cell of a class in a column."""


def key(column: Quasi, row: int) -> Value:
    return column.keys[row]


def everything(column: Quasi) -> Cell:
    values = [column.key(leaf) for leaf in column.tree.leaves] if column.kind == "hierarchy" else column.domain_keys
    return Cell(frozenset([*values, *([None] if column.has_null else [])]), 1.0)


def shown(column: Quasi, rows: Sequence[int]) -> Cell:
    """What formats show that publish boxes: the range, the set, or the least node.

    All there is for NULL together with values.
    """
    own = {key(column, row) for row in rows}
    if None in own and len(own) > 1:
        return everything(column)
    if column.kind == "hierarchy" and own != {None}:
        level, label = column.tree.common([column.values[row] for row in rows])
        return node(column, level, label)
    if len(own) > 1 and column.kind != "nominal":
        low, high = min(own), max(own)
        own = {other for other in column.domain_keys if low <= other <= high}
    return Cell(frozenset(own), float(len(own) > 1))


def node(column: Quasi, level: int, label: str) -> Cell:
    under = [leaf for leaf in column.tree.leaves if column.tree.paths[leaf][level] == label]
    return Cell(frozenset(map(column.key, under)), level / (len(column.levels[0]) - 1))


def hidden(column: Quasi, rows: Sequence[int]) -> Cell:
    """Format suppressed: the value, or nothing."""
    own = {key(column, row) for row in rows}
    return Cell(frozenset(own), 0.0) if len(own) == 1 else everything(column)


def exact(column: Quasi, rows: Sequence[int]) -> Cell:
    """Every row shows its own value: called with one row."""
    (row,) = rows
    return Cell(frozenset([key(column, row)]), 0.0)


def information(
    table: Table,
    classes: Sequence[Sequence[int]],
    groups: Sequence[Sequence[int]],
    show: Show = shown,
    suppressed: Sequence[int] = (),
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """The metrics of a release, and of every sensitive column.

    Args:
        table: the source.
        classes: the method's.
        groups: rows that publish the same: without those that are left out.
        show: the cell of a class.
        suppressed: rows that are left out or starred.
    """
    n, r = table.rows, len(table.quasi)
    cells: list[list[Cell]] = [[everything(column) for column in table.quasi] for _ in range(n)]
    for rows in classes:
        own = [show(column, rows) for column in table.quasi] if show is not exact else []
        for row in set(rows) - set(suppressed):
            cells[row] = own or [exact(column, [row]) for column in table.quasi]
    own_keys = [[key(column, row) for row in range(n)] for column in table.quasi]
    am = sum(math.prod(len(cell.values) for cell in row) for row in cells) / n
    lost, levels, bits = [], [], []
    for j, column in enumerate(table.quasi):
        size = len(everything(column).values)
        counts = Counter(own_keys[j])
        for row in range(n):
            cell = cells[row][j]
            lost.append((len(cell.values) - 1) / (size - 1) if size > 1 else 0)
            levels.append(cell.level)
            bits.append(math.log2(sum(counts[value] for value in cell.values) / counts[own_keys[j][row]]))
    plain = {"am": am, "lm_values": sum(lost) / (n * r), "level": sum(levels) / (n * r), "mi_loss": sum(bits) / (n * r)}
    return plain, [_of_value(table, one, cells, own_keys, groups, suppressed) for one in range(len(table.sensitive))]


def _of_value(
    table: Table,
    which: int,
    cells: list[list[Cell]],
    own: list[list[Value]],
    groups: Sequence[Sequence[int]],
    suppressed: Sequence[int],
) -> dict[str, float]:
    n, r = table.rows, len(table.quasi)
    said = [codes[which] for codes in table.sa_codes]
    after, before = [], []
    for j in range(r):
        known: dict[Any, tuple[int, Counter[Any]]] = {}
        for kept, seen in (
            (after, [cells[row][j].values for row in range(n)]),
            (before, [frozenset([value]) for value in own[j]]),
        ):
            terms = []
            for row, values in enumerate(seen):
                if values not in known:
                    inside = [said[i] for i in range(n) if own[j][i] in values]
                    known[values] = len(inside), Counter(inside)
                size, counts = known[values]
                terms.append(math.log2(counts[said[row]] / size))
            kept.append(-sum(terms) / n)
    source = entropy(said)
    shared = [source - one for one in after]
    of_groups = [entropy([said[row] for row in rows]) for rows in groups]
    left = n - sum(map(len, groups))
    unlike = 0
    for rows in groups:
        counts = Counter(said[row] for row in rows if row not in suppressed)
        unlike += sum(counts.values()) - max(counts.values(), default=0)
    return {
        "pmi_loss": sum(after) / r,
        "pmi_lost": (sum(after) - sum(before)) / r,
        "pmi_max": max(shared),
        "pmi_l2": math.sqrt(sum(one**2 for one in shared) / r),
        "cm": (unlike + len(set(suppressed))) / n,
        "sensitive_entropy": sum(of_groups) / len(groups),
        "sensitive_entropy_rows": (
            sum(len(rows) * one for rows, one in zip(groups, of_groups, strict=True)) + left * source
        )
        / n,
    }


def entropy(values: Sequence[Any]) -> float:
    counts = Counter(values)
    return -sum(c / len(values) * math.log2(c / len(values)) for c in counts.values())
