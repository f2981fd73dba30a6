"""Top-down specialization, naively: every round looks at every node of every cut, one row at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from tests.oracle.domains import SCALE, Table
from tests.oracle.lattice import generalized, height, leaves
from tests.oracle.requirements import Privacy, meets

Classes = list[list[int]]


def tds(table: Table, privacy: Privacy) -> Classes:
    """The classes, in any order."""
    return specialized(table, privacy)[0]


def specialized(
    table: Table, privacy: Privacy, target: Sequence[object] | None = None
) -> tuple[Classes, list[list[int]]]:
    """The classes; of every column and row the level of its node in the cut."""
    every = range(table.rows)
    cut = [[height(column)] * table.rows for column in table.quasi]
    failed: set[tuple[int, int, int]] = set()
    while True:
        classes = grouped(table, cut)
        smallest = min(map(len, classes))
        found = []
        for j, column in enumerate(table.quasi):
            nodes: dict[object, list[int]] = {}
            for row in every:
                nodes.setdefault(generalized(column, cut[j][row], row), []).append(row)
            for rows in nodes.values():
                level, code = cut[j][rows[0]], min(column.codes[row] for row in rows)
                if level == 0 or (j, level, code) in failed:
                    continue
                children: dict[object, list[int]] = {}
                for row in rows:
                    children.setdefault(generalized(column, level - 1, row), []).append(row)
                whole = max(leaves(column, level, rows[0]), 1)
                volume = column.weight * sum(
                    len(child) * round(math.log2(whole / max(leaves(column, level - 1, child[0]), 1)) * SCALE)
                    for child in children.values()
                )
                after = [
                    one if row in rows else level
                    for row, (one, level) in enumerate(zip([level - 1] * table.rows, cut[j], strict=True))
                ]
                gain: Fraction | int = 0
                if target is not None:
                    split = min(map(len, grouped(table, [*cut[:j], after, *cut[j + 1 :]])))
                    gain = Fraction(information(target, rows, children.values()), max(smallest - split, 1))
                found.append(((gain, volume, -j, -code), (j, level, code), after))
        if not found:
            return classes, cut
        _, node, after = max(found)
        then = [*cut[: node[0]], after, *cut[node[0] + 1 :]]
        if all(meets(table, rows, privacy) for rows in grouped(table, then)):
            cut = then
        else:
            failed.add(node)


def grouped(table: Table, cut: list[list[int]]) -> Classes:
    """Rows of equal nodes in every column."""
    found: dict[object, list[int]] = {}
    for row in range(table.rows):
        key = tuple(generalized(column, levels[row], row) for column, levels in zip(table.quasi, cut, strict=True))
        found.setdefault(key, []).append(row)
    return list(found.values())


def information(target: Sequence[object], rows: list[int], children: Iterable[list[int]]) -> int:
    """What dividing the rows of a node makes known of the target, in bits of a row, times `SCALE`."""

    def entropy(some: list[int]) -> float:
        counts = Counter(target[row] for row in some)
        return sum(count / len(some) * math.log2(len(some) / count) for count in counts.values())

    return round((entropy(rows) - sum(len(child) / len(rows) * entropy(child) for child in children)) * SCALE)
