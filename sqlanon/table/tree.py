"""A hierarchy as arrays: which node covers a leaf at every level, and how many leaves it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.column_spec import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.arrays import Longs
    from sqlanon.engines.base import TableRef
    from sqlanon.table.domain import Domain
    from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Tree:
    """Levels bottom up, level 0 being the leaves. Arrays are indexed by leaf number (in-order).

    Attributes:
        node: per level, int64[leaves], the first leaf of the leaf's node: a node's number.
        leaves: per level, int64[leaves], leaves of that node.
        label: per level, the label of each leaf's node.
    """

    node: list[Longs]
    leaves: list[Longs]
    label: list[list[str]]


def tree_of(domain: Domain) -> Tree:
    """The tree of a column with a hierarchy."""
    return as_tree(hierarchy_of(domain))


def hierarchy_of(domain: Domain) -> Hierarchy:
    """The hierarchy of a column that has one."""
    hierarchy = domain.reading.spec.hierarchy
    assert isinstance(hierarchy, Hierarchy)
    return hierarchy


def flat_share(quasi: Sequence[Domain]) -> float:
    """The share of quasi columns that publish a value or nothing: of two values, or with a hierarchy of one level."""
    flat = sum(
        domain.codes <= 2 or (domain.reading.treatment == "hierarchy" and hierarchy_of(domain).height == 1)
        for domain in quasi
    )
    return flat / max(len(quasi), 1)


def as_tree(hierarchy: Hierarchy) -> Tree:
    """A hierarchy of a policy as arrays."""
    import numpy as np

    count = len(hierarchy.levels)
    nodes, sizes, labels = [], [], []
    for level in range(hierarchy.height + 1):
        label = [path[level] for path in hierarchy.levels]
        changes = np.array(
            [i == 0 or path[level:] != hierarchy.levels[i - 1][level:] for i, path in enumerate(hierarchy.levels)], bool
        )
        if level == 0:
            changes[:] = True
        starts = np.flatnonzero(changes)
        lengths = np.diff(np.append(starts, count))
        nodes.append(np.repeat(starts, lengths).astype(np.int64))
        sizes.append(np.repeat(lengths, lengths).astype(np.int64))
        labels.append(label)
    return Tree(nodes, sizes, labels)


def load_nodes(scratch: Scratch, domain: Domain) -> TableRef:
    """A scratch table of nodes, a row each: low and high code, level, leaves, extent, label."""
    import numpy as np

    tree = tree_of(domain)
    shift = int(domain.has_null)
    count = len(tree.node[0])
    rows: list[tuple[object, ...]] = []
    for level in range(len(tree.node)):
        for first in np.unique(tree.node[level]):
            leaves = int(tree.leaves[level][first])
            extent = leaves * (1 << 20) // count
            rows.append(
                (int(first) + shift, int(first) + leaves - 1 + shift, level, leaves, extent, tree.label[level][first])
            )
    table = scratch.table(f"{domain.code}_nodes")
    text = scratch.engine.capabilities.text_type
    columns = [
        ("low", "INTEGER"),
        ("high", "INTEGER"),
        ("level", "INTEGER"),
        ("leaves", "INTEGER"),
        ("extent", "BIGINT"),
        ("label", text),
    ]
    scratch.engine.load_rows(table, columns, rows)
    return table


def load_ancestors(scratch: Scratch, domain: Domain) -> TableRef:
    """A scratch table (level, code, low, high).

    For every code of a value, and every level below the root, it has the node's codes.
    """
    import numpy as np

    tree, shift = tree_of(domain), int(domain.has_null)
    below = range(len(tree.node) - 1)
    leaves = len(tree.node[0])
    low = np.concatenate([tree.node[level] for level in below] or [np.zeros(0, np.int64)]) + shift
    width = np.concatenate([tree.leaves[level] for level in below] or [np.zeros(0, np.int64)])
    table = scratch.table(f"{domain.code}_ancestors")
    scratch.engine.load_arrays(
        table,
        {
            "level": np.repeat(np.arange(len(below)), leaves).astype(np.int32),
            "code": np.tile(np.arange(leaves) + shift, len(below)).astype(np.int32),
            "low": low.astype(np.int32),
            "high": (low + width - 1).astype(np.int32),
        },
    )
    return table
