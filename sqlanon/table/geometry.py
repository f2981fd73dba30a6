"""From domains to the facts and tables that kernels measure boxes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import MASK_LIMIT, ORDERED, SCALE, SET, SPAN, TREE, Geometry
from sqlanon.table.domain import Domain
from sqlanon.table.encode import by_code
from sqlanon.table.scratch import Scratch
from sqlanon.table.tree import Tree, tree_of

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


def kind_of(domain: Domain) -> int:
    """How extents of an attribute are measured."""
    if domain.reading.treatment == "hierarchy":
        return TREE
    if domain.reading.treatment == "nominal":
        return SET if domain.size <= MASK_LIMIT else SPAN
    return ORDERED


def geometry_of(scratch: Scratch, quasi: Sequence[Domain]) -> Geometry:
    """The facts and tables of attributes; positions come from the domain tables, an integer a code."""
    facts = np.zeros((len(quasi), 9), dtype=np.int64)
    tables: list[Longs] = []
    start = bits = 0
    ordered = [domain for domain in quasi if kind_of(domain) == ORDERED]
    positions = by_code(scratch, "table/domain_positions", ordered, "int32")
    for j, domain in enumerate(quasi):
        kind = kind_of(domain)
        table = np.zeros(0, dtype=np.int64)
        levels = column_bits = 0
        if kind == ORDERED:
            code, pos = next(positions)
            table = np.zeros(domain.codes, dtype=np.int64)
            table[code] = pos
        elif kind == TREE:
            tree = tree_of(domain)
            levels, table = len(tree.node) - 1, _pack_levels(tree)
        else:
            table = np.arange(domain.codes + 2, dtype=np.int64) * SCALE // max(domain.size, 1)
        if kind == SET:
            column_bits = max(domain.size, 1) + domain.has_null
            if column_bits > 64 - bits % 64:  # a set that does not fit into the open word begins a new one
                bits = -(-bits // 64) * 64
        weight = domain.reading.spec.weight
        words = (bits // 64, -(-(bits + column_bits) // 64)) if column_bits else (0, 0)
        facts[j] = (kind, max(domain.size, 1), domain.has_null, weight, start, levels, *words, bits % 64)
        tables.append(table)
        start += len(table)
        bits += column_bits
        if column_bits > 64:  # its last word is its own as well
            bits = -(-bits // 64) * 64
    return Geometry(facts, np.concatenate(tables) if start else np.zeros(1, dtype=np.int64))


def _pack_levels(tree: Tree) -> Longs:
    """Levels above the leaves, bottom up: node numbers by leaf, then the extent of that node by leaf."""
    size = len(tree.node[0])
    parts = [
        part for level in range(1, len(tree.node)) for part in (tree.node[level], tree.leaves[level] * SCALE // size)
    ]
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)
