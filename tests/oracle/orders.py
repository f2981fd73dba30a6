"""The orders of the one-dimensional framework.

Rows by their place on a curve, by centres, or by the leaves of a tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from tests.oracle.domains import SCALE, Quasi, Table
from tests.oracle.hilbert import place
from tests.oracle.mondrian import mondrian
from tests.oracle.requirements import Privacy

Point = tuple[int, ...]

WORD = 63
"""Bits of the longest key that is one number; of a longer one the line keeps this many leading bits."""

CENTRES, SHARE, MOST_SAMPLED, ROUNDS = 512, 10, 50_000, 8
"""Centres; per cent of the rows, at most so many, that they are found from; steps of Lloyd's iteration."""

ONE_TREE, TREE_ROWS = 65_536, 2_048
"""Rows of a table with one tree, at most, and of a part of a larger one."""

FINE = 20
"""Bits an axis by which centres are numbered along the curve."""


@dataclass(frozen=True)
class Ordered:
    """Rows in an order.

    Args:
        rows: row numbers.
        line: for each of them its place on a line, if the order has one.
        span: the last place there can be.
    """

    rows: list[int]
    line: list[int] | None = None
    span: int = 0


def tie(table: Table, row: int) -> Any:
    """What rows that an order does not distinguish are sorted by."""
    return (table.codes[row], table.occurrence[row], table.sa_codes[row], row)


def places(column: Quasi) -> list[int]:
    """Where every value that the domain holds lies on the column's axis; a hierarchy holds all leaves of its file."""
    if column.kind in ("nominal", "hierarchy"):
        return [i * SCALE // max(column.size - 1, 1) for i in range(column.size)]
    return column.positions


def axis(column: Quasi) -> list[int]:
    """Where every row lies; with NULLs, they are at 0 and the values in the upper half."""
    own = places(column)
    found = []
    for value, code in zip(column.values, column.codes, strict=True):
        if value is None:
            found.append(0)
            continue
        at = own[column.tree.leaves.index(value) if column.kind == "hierarchy" else code - 1]
        found.append((SCALE + at) // 2 if column.has_null else at)
    return found


def held(column: Quasi) -> set[int]:
    """All places of an axis, also those of leaves that no row has."""
    own = places(column)
    return {0, *((SCALE + at) // 2 for at in own)} if column.has_null else set(own)


def cell(at: int, bits: int) -> int:
    """The cell of a grid of ``2^bits`` a side."""
    return at * 2**bits // (SCALE + 1)


def count_grid_bits(table: Table) -> int:
    """The fewest bits that give every place of every axis a cell of its own."""
    for bits in range(1, 21):
        if all(len({cell(at, bits) for at in held(c)}) == len(held(c)) for c in table.quasi):
            return bits
    return 21


def by_spread(table: Table) -> list[int]:
    """The columns, those first whose rows lie farthest from their median."""

    def spread(j: int) -> int:
        at = sorted(axis(table.quasi[j]))
        median = at[(len(at) - 1) // 2]
        return sum(abs(x - median) for x in at)

    columns = sorted(range(len(table.quasi)), key=lambda j: (-spread(j), j))
    return [j for j in columns if held(table.quasi[j]) != {0}] or columns[:1]  # a constant is no axis


def hilbert(table: Table, _: int, __: int = 1) -> Ordered:
    """Along the Hilbert curve through the grid."""
    bits, turned = count_grid_bits(table), by_spread(table)
    axes = [axis(table.quasi[j]) for j in turned]
    keys = [place(tuple(cell(at, bits) for at in point), bits) for point in zip(*axes, strict=True)]
    rows = sorted(range(table.rows), key=lambda r: (keys[r], tie(table, r)))
    total = len(axes) * bits
    if total <= WORD:
        return Ordered(rows, [keys[r] for r in rows], 2**total - 1)
    return Ordered(rows, [keys[r] >> (total - WORD) for r in rows], 2**WORD - 1)


def idistance(table: Table, seed: int, _: int = 1, count: int = CENTRES) -> Ordered:
    """By the nearest of a few centres, then by the distance from it."""
    n, d = table.rows, len(table.quasi)
    points = list(zip(*(axis(column) for column in table.quasi), strict=True))
    size = min(max(n * SHARE // 100, min(n, count)), MOST_SAMPLED)
    drawn = np.random.default_rng(seed).choice(n, size=size, replace=False).tolist()
    along = sorted(range(n), key=lambda r: table.codes[r])
    centres = find_centres([points[along[i]] for i in drawn], count)
    step = isqrt(d * SCALE**2 * 2**16) + 1  # distances have 8 binary digits behind the point
    keys = []
    for point in points:
        near = nearest(point, centres)
        keys.append(near * step + isqrt(square(point, centres[near]) * 2**16))
    rows = sorted(range(n), key=lambda r: (keys[r], tie(table, r)))
    return Ordered(rows, [keys[r] for r in rows], len(centres) * step)


def square(one: Point, other: Point) -> int:
    """Squared distance."""
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def nearest(point: Point, centres: Sequence[Point]) -> int:
    """The nearest centre, the first of several."""
    return min(range(len(centres)), key=lambda c: (square(point, centres[c]), c))


def along_curve(points: Sequence[Point]) -> list[Point]:
    """Distinct points along the curve; the end of the scale shares the last cell."""
    last = 2**FINE - 1
    return sorted(set(points), key=lambda p: (place(tuple(min(x, last) for x in p), FINE), p))


def find_centres(sample: Sequence[Point], count: int) -> list[Point]:
    """Lloyd's iteration from distinct points evenly along the curve; means are rounded down."""
    distinct = along_curve(sample)
    count = min(count, len(distinct))
    centres = [distinct[i * len(distinct) // count] for i in range(count)]
    for _ in range(ROUNDS):
        own: dict[int, list[Point]] = defaultdict(list)
        near = {point: nearest(point, centres) for point in distinct}
        for point in sample:
            own[near[point]].append(point)
        moved = [
            tuple(sum(axis) // len(axis) for axis in zip(*own[c], strict=True)) if own[c] else centre
            for c, centre in enumerate(centres)
        ]
        if moved == centres:
            break
        centres = moved
    return along_curve(centres)


def tree(table: Table, seed: int, leaf: int = 1) -> Ordered:
    """By the leaves of Mondrian's loss cut, grown to equal rows.

    Of a large table, part by part along the Hilbert curve.

    Leaves of the parts have at most ``leaf`` rows, or equal ones; rows of a leaf follow the curve.
    """
    curve = hilbert(table, seed).rows
    along = {row: i for i, row in enumerate(curve)}
    size, least = (len(curve), 1) if len(curve) <= ONE_TREE else (TREE_ROWS, leaf)
    parts = [curve[at : at + size] for at in range(0, len(curve), size)]
    leaves = [rows for part in parts for rows in mondrian(table, Privacy(k=1), "strict", "loss", least, part)]
    return Ordered([row for rows in leaves for row in sorted(rows, key=lambda r: along[r])])


def canonical(table: Table) -> list[int]:
    """By codes in column order."""
    return sorted(range(table.rows), key=lambda r: tie(table, r))


ORDERS = {"hilbert": hilbert, "idistance": idistance, "tree": tree}
"""Every order by name: of a table, a seed, and the rows of a tree's leaf."""
