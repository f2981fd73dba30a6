"""Full-domain generalization, naively: all nodes, all classes, one row at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from tests.oracle.domains import SCALE, Quasi, Table
from tests.oracle.requirements import Privacy, meets

Node = tuple[int, ...]
Classes = list[list[int]]


def height(column: Quasi) -> int:
    """The last level of a column."""
    return len(column.levels[0]) - 1 if column.kind == "hierarchy" else 1


def generalized(column: Quasi, level: int, row: int) -> object:
    """What a row is published as at a level; nodes of one label under different parents differ."""
    value = column.values[row]
    if level == height(column):
        return "*"
    if value is None:
        return None
    if column.kind == "hierarchy":
        return column.tree.paths[value][level:]
    return column.codes[row]


def leaves(column: Quasi, level: int, row: int) -> int:
    """How many values a row may have had, for a reader of its level."""
    if level == height(column):
        return column.size
    if column.values[row] is None:
        return 0
    if column.kind != "hierarchy":
        return 1
    path = column.tree.paths[column.values[row]]
    return sum(other[level:] == path[level:] for other in column.tree.paths.values())


def cost(column: Quasi, level: int, row: int, metric: str) -> tuple[int, int]:
    """What publishing a row at a level costs, and what suppressing it does, in the units of the product."""
    n = len(column.values)
    if metric == "height":
        return level, height(column)
    if metric == "entropy":
        bits = [
            round(
                math.log2(n / sum(generalized(column, at, other) == generalized(column, at, row) for other in range(n)))
                * SCALE
            )
            for at in (0, level)
        ]
        return (bits[0] - bits[1]) * column.weight, bits[0] * column.weight
    full = column.weight * SCALE
    if level == height(column):
        alone = len(set(column.codes)) == 1
        hidden = column.kind != "hierarchy" and alone
        return (0 if hidden or (column.kind == "hierarchy" and column.size + column.has_null == 1) else full), full
    return max(leaves(column, level, row) - 1, 0) * SCALE // max(column.size - 1, 1) * column.weight, full


def groups(table: Table, node: Node, rows: Iterable[int]) -> Classes:
    """The classes of some rows at a node, in the order of their first rows."""
    found: dict[tuple[object, ...], list[int]] = {}
    for row in rows:
        key = tuple(generalized(column, level, row) for column, level in zip(table.quasi, node, strict=True))
        found.setdefault(key, []).append(row)
    return list(found.values())


def nodes(table: Table) -> list[Node]:
    """All nodes."""
    return list(product(*(range(height(column) + 1) for column in table.quasi)))


@dataclass(frozen=True)
class Published:
    """A node as it would be published."""

    node: Node
    score: int
    classes: Classes
    gone: list[int]

    @property
    def key(self) -> tuple[int, int, Node]:
        return self.score, sum(self.node), self.node


def small_first(table: Table, classes: Classes) -> Classes:
    """By rows, then by the least codes."""
    return sorted(classes, key=lambda rows: (len(rows), min(table.codes[row] for row in rows)))


def published(table: Table, privacy: Privacy, node: Node, metric: str, most: int, starred: bool) -> Published | None:
    """A node within the limit, or None; classes join a starred one that is no lawful class, the smallest first."""
    classes = groups(table, node, range(table.rows))
    gone = [row for rows in classes if not meets(table, rows, privacy) for row in rows]
    kept = small_first(table, [rows for rows in classes if meets(table, rows, privacy)])
    while starred and gone and not meets(table, gone, privacy):
        if not kept:
            return None
        gone += kept.pop(0)
    if len(gone) > most or not kept:
        return None
    if metric == "dm":
        score = sum(len(rows) ** 2 for rows in kept) + len(gone) * table.rows
    elif metric == "c_avg":  # rows / (classes x k): the most classes are best, the starred one among them
        score = -len(kept) - (starred and bool(gone))
    else:
        score = sum(
            cost(column, level, row, metric)[row in set(gone)]
            for column, level in zip(table.quasi, node, strict=True)
            for row in range(table.rows)
        )
    return Published(node, score, kept, gone)


def best(table: Table, privacy: Privacy, metric: str, most: int, starred: bool) -> Published:
    """The best of all nodes."""
    found = (published(table, privacy, node, metric, most, starred) for node in nodes(table))
    return min((one for one in found if one is not None), key=lambda one: one.key)


def minimal(table: Table, privacy: Privacy, most: int, starred: bool) -> list[Node]:
    """Nodes that can be published within the limit, without suppressing all rows, while no such node is below them."""
    enough = {
        node
        for node in nodes(table)
        if published(table, privacy, node, "loss", min(most, table.rows - 1), starred) is not None
    }
    return sorted(
        node for node in enough if not any(other != node and all(map(int.__le__, other, node)) for other in enough)
    )


def ascending(table: Table) -> list[Node]:
    """All nodes in the order of the local search."""

    def key(node: Node) -> tuple[int, int, Node]:
        return (
            sum(
                cost(c, level, row, "loss")[0]
                for c, level in zip(table.quasi, node, strict=True)
                for row in range(table.rows)
            ),
            sum(node),
            node,
        )

    return sorted(nodes(table), key=key)


def local(table: Table, privacy: Privacy, divide: str = "values", most: int = 0) -> Classes:
    """Nodes by ascending loss, each keeps the classes of the rest that meet the requirements."""
    order = ascending(table)
    if most:
        order = [*order[:-1][:most], order[-1]]
    rest = sorted(range(table.rows), key=lambda row: (table.codes[row], table.sa_codes[row]))
    if not table.sensitive:
        privacy = replace(privacy, l=None, distinct_l=None)
    l = Fraction(privacy.l or 1)  # noqa: E741 - the papers' symbol
    alone = l > 1 and len(table.sensitive) == 1 and (privacy.distinct_l or 1) <= 1
    made: Classes = []
    for node in order:
        for rows in groups(table, node, rest):
            after = [row for row in rest if row not in set(rows)]
            if 0 < len(after) < privacy.k and len(rows) < len(rest) and not (alone and divide == "values"):
                continue
            whole = meets(table, rows, privacy) and (
                not alone or not after or (divide != "values" and _eligible(table, after, l))
            )
            if alone and not whole and divide == "values":
                rows = _part(table, rows, rest, privacy.k, l)  # noqa: PLW2901 - a part of the group
                whole = bool(rows)
            if whole and not 0 < len(rest) - len(rows) < privacy.k:
                made.append(rows)
                taken = set(rows)
                rest = [row for row in rest if row not in taken]
    if rest:
        while not meets(table, rest, privacy):
            rest = made.pop() + rest
        made.append(rest)
    return made


def _eligible(table: Table, rows: Sequence[int], l: Fraction) -> bool:  # noqa: E741 - the papers' symbol
    counts = Counter(table.sa_codes[row] for row in rows)
    return max(counts.values()) * l <= len(rows)


def _part(table: Table, group: list[int], rest: list[int], k: int, l: Fraction) -> list[int]:  # noqa: E741
    """The rows of a group that a class takes: as many of one value as can be, and no more rows than that needs."""
    counts = Counter(table.sa_codes[row] for row in group)
    outside = Counter(table.sa_codes[row] for row in rest)
    for h in range(max(counts.values()), 0, -1):
        size = max(k, math.ceil(h * l))
        after = len(rest) - size
        if h > len(group) / l or after < 0 or 0 < after < k:
            continue
        bound = math.floor(after / l)
        if any(outside[value] > bound for value in outside if value not in counts):
            continue
        must = {value: max(outside[value] - bound, 0) for value in counts}
        may = {value: min(counts[value], h) for value in counts}
        if any(must[value] > may[value] for value in counts) or not sum(must.values()) <= size <= sum(may.values()):
            continue
        take = dict(must)
        while sum(take.values()) < size:
            able = [value for value in counts if take[value] < may[value]]
            take[max(able, key=lambda value: outside[value] - take[value])] += 1
        rows = []
        for row in group:
            if take[table.sa_codes[row]] > 0:
                take[table.sa_codes[row]] -= 1
                rows.append(row)
        return rows
    return []
