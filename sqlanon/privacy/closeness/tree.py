"""The values of a column as a tree whose edges all cost the same.

Earth mover's distances of shares are sums over its edges.

The mass moved over an edge is the difference of the masses below it (see `sqlanon.privacy.closeness.kernels`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlanon.privacy.counts import GroupShares

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles

_CELLS = 1 << 22
"""Groups x nodes that are looked at together."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Values as leaves of a tree whose edges all cost the same.

    Attributes:
        node: of each value.
        parent: of each node, -1 for a root; nodes come before their parents.
        edges: on the way between the two values that are farthest apart, by the paper's distance of 1.
    """

    node: Sequence[int]
    parent: Sequence[int]
    edges: int

    @property
    def chain(self) -> bool:
        """Whether it is an order."""
        return all(up == node + 1 for node, up in enumerate(self.parent[:-1])) and len(self.parent) == len(self.node)

    @property
    def star(self) -> bool:
        """Whether all values are under one root."""
        return all(up == len(self.node) for up in self.parent[:-1]) and len(self.parent) == len(self.node) + 1

    def distances(self, shares: GroupShares) -> Doubles:
        """Distance of each group to the table, float64[groups].

        Cost: groups x nodes, and memory for some millions of these.
        """
        import numpy as np

        groups, nodes = int(shares.group.max(initial=-1)) + 1, len(self.parent)
        place, table = np.array(self.node), np.zeros(nodes)
        np.add.at(table, place, shares.reference)
        moved, step = np.zeros(groups), max(_CELLS // nodes, 1)
        for first in range(0, groups, step):
            past = min(first + step, groups)
            begin, end = np.searchsorted(shares.group, (first, past))
            flow = np.zeros((past - first, nodes)) - table
            np.add.at(flow, (shares.group[begin:end] - first, place[shares.value[begin:end]]), shares.share[begin:end])
            if self.chain:
                moved[first:past] = np.abs(np.cumsum(flow, axis=1)[:, :-1]).sum(axis=1)
                continue
            for node, up in enumerate(self.parent):
                if up >= 0:
                    flow[:, up] += flow[:, node]
                    moved[first:past] += np.abs(flow[:, node])
        return moved / self.edges

    def distance(self, shares: Mapping[int, Fraction], table: Mapping[int, Fraction]) -> Fraction:
        """The distance of the shares of one group to those of the table, by the number of the value; exactly."""
        flow, moved = [Fraction(0)] * len(self.parent), Fraction(0)
        for value, share in table.items():
            flow[self.node[value]] += shares.get(value, Fraction(0)) - share
        for node, up in enumerate(self.parent):
            if up >= 0:
                flow[up] += flow[node]
                moved += abs(flow[node])
        return moved / self.edges


def hierarchy_tree(texts: Sequence[str | None], levels: Sequence[tuple[str, ...]]) -> Tree:
    """The tree of a hierarchy above these values.

    NULL and values that the hierarchy lacks are directly under the root, at the depth of all others.
    """
    height = len(levels[0]) - 1
    paths = {path[0]: path for path in levels}
    by_level: list[dict[tuple[int, tuple[object, ...]], None]] = [{} for _ in range(height + 1)]
    known_paths = []
    for i, text in enumerate(texts):
        path: tuple[object, ...] = paths.get(text, ()) if text is not None else ()
        path = path or (*(("alone", i),) * height, levels[0][height])
        known_paths.append(path)
        for level, nodes in enumerate(by_level):
            nodes[level, path[level:]] = None
    number = {key: place for place, key in enumerate(key for level in by_level for key in level)}
    parent = [
        number[level + 1, key[1][1:]] if level < height else -1 for level, keys in enumerate(by_level) for key in keys
    ]
    return Tree([number[0, path] for path in known_paths], parent, 2 * height)
