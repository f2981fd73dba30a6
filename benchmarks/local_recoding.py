"""Local recoding as ARX 3.9.2 does it, on arrays: to compare with, as ARX itself is not here.

It is `optimizeIterativeFast` after a search with a suppression limit of 100 % and gsFactor 0: again and again that node
of the lattice is taken which loses least in all rows that are left, the geometric mean of the columns, among the nodes
with at least a share of the whole table in groups of k rows. These groups are published at the node. A share of 1 % is
ARX's default (100 iterations). On Adult with 8 columns it is ARX's own release: as many classes of the same sizes and
the same losses (`MEASURED`).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.01
"""Of all rows, kept by each node at least."""


@dataclass(frozen=True, slots=True)
class Release:
    """What is known of a release.

    Attributes:
        classes: how many.
        smallest, largest: rows of a class.
        gcp_of_sets: mean of (values of the class - 1) / (values of the table - 1).
    """

    classes: int
    smallest: int
    largest: int
    gcp_of_sets: float


MEASURED = {
    ("adult", 30_162, 10): Release(2_289, 10, 45, 0.0442),
    ("adult", 30_162, 50): Release(484, 50, 144, 0.1224),
}
"""Releases of ARX 3.9.2 itself, by table, rows and k; 8 columns, measured outside in 2026."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A hierarchy.

    Attributes:
        number: of each leaf, by its text.
        nodes: per level, int64[leaves], the number of the leaf's node.
        lost: per level, float64[leaves], LM of the leaf's node.
    """

    number: dict[str, int]
    nodes: Sequence[NDArray[np.int64]]
    lost: Sequence[NDArray[np.float64]]


def read_tree(file: Path) -> Tree:
    """A hierarchy in ARX's format, a line for each leaf."""
    with file.open(encoding="utf-8", newline="") as lines:
        paths = [[cell.strip() for cell in line] for line in csv.reader(lines, delimiter=";") if line]
    nodes, lost = [], []
    for level in range(len(paths[0])):
        _, node, leaves = np.unique([path[level] for path in paths], return_inverse=True, return_counts=True)
        nodes.append(node.astype(np.int64))
        lost.append((leaves[node] - 1) / max(len(paths) - 1, 1))
    return Tree({path[0]: place for place, path in enumerate(paths)}, nodes, lost)


@dataclass(frozen=True, slots=True)
class Recoding:
    """A release of local recoding.

    Attributes:
        group: int64[n], class of each row; -1: suppressed.
        loss: LM of the published nodes.
    """

    group: NDArray[np.int64]
    loss: float

    def describe(self, leaves: NDArray[np.int64]) -> Release:
        """What can be compared with a release of ARX; ``leaves``: the table int64[d, n]."""
        kept = self.group >= 0
        size, values = np.bincount(self.group[kept]), 0.0
        for column in leaves:
            pairs = np.unique(self.group[kept] * (column.max() + 1) + column[kept]) // (column.max() + 1)
            values += ((np.bincount(pairs) - 1) @ size) / max(len(np.unique(column)) - 1, 1) + (~kept).sum()
        return Release(len(size), int(size.min()), int(size.max()), float(values / leaves.size))


def recode_locally(leaves: NDArray[np.int64], trees: Sequence[Tree], k: int, share: float = SHARE) -> Recoding:
    """ARX's release of the table int64[d, n] of leaf numbers.

    Cost: rows x columns for each node that is tried, those of less loss than the node that is taken.
    """
    d, n = leaves.shape
    records, place, count = np.unique(leaves, axis=1, return_inverse=True, return_counts=True)
    nodes = np.array(list(product(*(range(len(tree.nodes)) for tree in trees))))
    rest, group, classes, total = np.arange(len(count)), np.full(len(count), -1, np.int64), 0, 0.0
    while count[rest].sum() >= k:
        rows = count[rest]
        needed = min(share * n, rows.sum())
        labels = [
            [np.unique(node[records[j, rest]], return_inverse=True)[1] for node in t.nodes] for j, t in enumerate(trees)
        ]
        lost = [[lost[records[j, rest]] for lost in tree.lost] for j, tree in enumerate(trees)]
        means = [np.log1p([level @ rows / rows.sum() for level in levels]) for levels in lost]
        for levels in nodes[np.argsort(sum(mean[nodes[:, j]] for j, mean in enumerate(means)), kind="stable")]:
            key = np.zeros(len(rest), np.int64)
            for j, level in enumerate(levels):
                key = key * (labels[j][level].max() + 1) + labels[j][level]
            label = np.unique(key, return_inverse=True)[1]
            kept = np.bincount(label, weights=rows)[label] >= k
            if kept.any() and rows[kept].sum() >= needed:
                break
        total += sum(float(lost[j][level][kept] @ rows[kept]) for j, level in enumerate(levels))
        group[rest[kept]] = classes + np.unique(label[kept], return_inverse=True)[1]
        classes, rest = int(group.max()) + 1, rest[~kept]
    total += d * int(count[rest].sum())  # fewer than k rows are suppressed
    return Recoding(group[place.reshape(-1)], total / (n * d))
