"""The lattice: levels of every quasi column, their nodes, and the cost of publishing a code at a level.

A column with a hierarchy has the hierarchy's levels, from the value (0) to the root. Without a hierarchy it has two:
the value, and ``*``. NULL is a value of its own at every level but the last, which hides it as it hides the others.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import SCALE
from sqlanon.table.domain import Domain
from sqlanon.table.tree import hierarchy_of, tree_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs


def levels_of(domain: Domain) -> int:
    """How many levels a column has."""
    return hierarchy_of(domain).height + 1 if domain.reading.treatment == "hierarchy" else 2


def nodes_of(quasi: Sequence[Domain]) -> int:
    """How many nodes the lattice of these columns has."""
    return math.prod(levels_of(domain) for domain in quasi)


@dataclass(frozen=True, slots=True)
class Column:
    """The levels of a column.

    Attributes:
        name, code: of the column, and of the codes in the work table.
        node: int32[levels, codes], the first code of the node of each code.
        extra: int64[levels, codes], the cost of suppressing a row less that of publishing it at the level.
        base: int64[levels], the cost of publishing all rows at the level.
    """

    name: str
    code: str
    node: Ints
    extra: Longs
    base: Longs


@dataclass(frozen=True)
class Lattice:
    """All combinations of levels, one for each column."""

    columns: tuple[Column, ...]

    @cached_property
    def nodes(self) -> npt.NDArray[np.int16]:
        """int16[nodes, d], in the order of the levels as numbers."""
        levels = [len(column.node) for column in self.columns]
        grid = np.indices(levels, dtype=np.int16)
        return np.ascontiguousarray(grid.reshape(len(levels), -1).T)

    @cached_property
    def top(self) -> tuple[int, ...]:
        """The node that hides everything."""
        return tuple(len(column.node) - 1 for column in self.columns)

    @cached_property
    def base(self) -> Longs:
        """int64[nodes]: the metric of each node without suppressed rows; no node scores less."""
        bound = np.zeros(len(self.nodes), np.int64)
        for j, column in enumerate(self.columns):
            bound += column.base[self.nodes[:, j]]
        return bound

    @cached_property
    def ascending(self) -> Longs:
        """The nodes by ascending `base`, then height, then levels."""
        return np.lexsort((np.arange(len(self.nodes)), self.nodes.sum(axis=1), self.base)).astype(np.int64)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far apart in `nodes` two neighbouring levels of each column are."""
        levels = [len(column.node) for column in self.columns]
        return tuple(math.prod(levels[j + 1 :]) for j in range(len(levels)))

    def number(self, node: Sequence[int]) -> int:
        """The place of a node in `nodes`."""
        return sum(map(operator.mul, node, self.strides))

    def tables(self) -> list[Ints]:
        """Of each column, `Column.node`."""
        return [column.node for column in self.columns]


def lattice_of(quasi: Sequence[Domain], counts: Sequence[Longs], metric: str) -> Lattice:
    """The lattice of the quasi columns.

    Args:
        quasi: the columns.
        counts: of each, the rows of every code.
        metric: ``loss`` (LM: Iyengar 2002, weighted), ``entropy`` (non-uniform entropy: Gionis and Tassa 2009),
            ``height`` (the sum of the levels); ``dm`` and ``c_avg`` have no cost by column.
    """
    rows = int(counts[0].sum())
    weights = sum(domain.reading.spec.weight for domain in quasi)
    # Sums over all rows fit 64 bits.
    scale = min(SCALE, (1 << 62) // max(rows * weights * 64, 1))
    return Lattice(tuple(_column(domain, count, metric, scale) for domain, count in zip(quasi, counts, strict=True)))


def _column(domain: Domain, count: Longs, metric: str, scale: int) -> Column:
    node, leaves = nodes_and_leaves(domain)
    weight, height = domain.reading.spec.weight, len(node) - 1
    extra = np.zeros(node.shape, np.int64)
    full = np.zeros(domain.codes, np.int64)
    if metric == "loss":
        full[:] = weight * scale
        most = max(domain.size - 1, 1)
        extra[:] = full - np.maximum(leaves - 1, 0) * scale // most * weight
        extra[height] = 0 if domain.codes > 1 else full
    elif metric == "entropy":
        bits = [_bits(level, count, scale) * weight for level in node]
        extra[:] = bits
        full = bits[0]
    elif metric == "height":
        extra[:] = height - np.arange(height + 1)[:, None]
        full[:] = height
    return Column(
        domain.reading.name,
        domain.code,
        node,
        extra,
        np.array([int(((full - level) * count).sum()) for level in extra], np.int64),
    )


def _bits(node: Ints, count: Longs, scale: int) -> Longs:
    """Of every code, the information of the node in bits: log2 of the rows of the table over those of the node."""
    rows = np.bincount(node, weights=count, minlength=len(node)).astype(np.int64)
    total = int(count.sum())
    return np.array([round(math.log2(total / rows[first]) * scale) if rows[first] else 0 for first in node], np.int64)


def nodes_and_leaves(domain: Domain) -> tuple[Ints, Longs]:
    """Of every level and code, the first code of the node, and the leaves of the node (0: NULL alone)."""
    null = int(domain.has_null)
    if domain.reading.spec.hierarchy is None:
        value, leaves = np.arange(domain.codes), np.ones(domain.codes, np.int64)
        leaves[:null] = 0
        node = np.array([value, np.zeros_like(value)], np.int32)
        return node, np.array([leaves, np.full(domain.codes, max(domain.size, 1))])
    tree = tree_of(domain)
    node = np.zeros((len(tree.node), domain.codes), np.int32)
    size = np.zeros(node.shape, np.int64)
    node[:, null:], size[:, null:] = np.array(tree.node) + null, np.array(tree.leaves)
    node[-1] = 0
    size[-1] = domain.size
    return node, size
