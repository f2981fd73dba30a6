"""A binary tree of cuts of codes that places rows in blocks, and such a tree of the rows of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import Statement, TableRef
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.table.work import Packing

MOST_LEVELS = 64
"""Levels of a tree that a query goes down, at most: an engine's optimizer has limits of its own."""
LEAST_SHARE = 8
"""A cut of a sample leaves at least one row in so many on each side.

A block of few rows might not meet the requirements.
"""


@dataclass(slots=True)
class BlockTree:
    """Cuts, and the names of blocks. The first node has all rows.

    Attributes:
        attribute: of each node the column that is cut, from 0; less than 0: the node is a leaf.
        cut: the first half of the rows has codes up to this one.
        below: the node of the first half; the second half's is the next one.
        name: of a leaf, the first of its blocks.
        spread: how many blocks a leaf has, whose names follow one another; its rows are spread over them by row ids.
        part: of each node a further number that goes with its rows; empty: there is none.
    """

    attribute: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    name: list[int] = field(default_factory=list)
    spread: list[int] = field(default_factory=list)
    part: Sequence[int] = ()

    @classmethod
    def of(cls, attribute: Ints, cut: Ints, below: Ints, name: Longs, spread: Longs, part: Longs | Ints) -> BlockTree:
        """The tree of arrays."""
        return cls(*(array.tolist() for array in (attribute, cut, below, name, spread, part)))

    def add(self) -> int:
        """A new leaf, of one block."""
        for column, value in zip(
            (self.attribute, self.cut, self.below, self.name, self.spread), (-1, 0, 0, 0, 1), strict=True
        ):
            column.append(value)
        return len(self.attribute) - 1

    @property
    def blocks(self) -> int:
        """Blocks of all leaves, of which some may have the same."""
        blocks = zip(self.attribute, self.name, self.spread, strict=True)
        return sum(spread for _, spread in {(name, spread) for attribute, name, spread in blocks if attribute < 0})

    def count_levels(self) -> int:
        """Cuts from the first node to the lowest leaf. A node has a larger number than the node above it."""
        level = [0] * len(self.attribute)
        for node, attribute in enumerate(self.attribute):
            if attribute >= 0:
                level[self.below[node]] = level[self.below[node] + 1] = level[node] + 1
        return max(level)

    def read_placed(self, scratch: Scratch, rows: TableRef, columns: Sequence[str], packing: Packing) -> Statement:
        """The query of the block, the row id and the columns of each row, and of the part where there is one.

        Args:
            scratch: the run.
            rows: row ids, words and other columns.
            columns: words, and others.
            packing: where the codes of the tree's attributes are.

        Cost: for each row and level some array elements.
        """
        # Arrays of templates begin with the engine's first number, and so do nodes there.
        first = scratch.engine.capabilities.first_element
        places = [(*packing.places[j], (1 << packing.bits[j]) - 1) if j >= 0 else (0, 0, 0) for j in self.attribute]
        word, shift, mask = zip(*places, strict=True)
        below = [self.below[node] if j >= 0 else node for node, j in enumerate(self.attribute)]
        return scratch.sql(
            "blocks/placed",
            rows=rows,
            columns=["rid", *columns],
            words=packing.words,
            levels=self.count_levels(),
            root=first,
            tree={
                "word": word,
                "shift": shift,
                "mask": mask,
                "cut": self.cut,
                "below": [node + first for node in below],
                "name": self.name,
                "spread": self.spread,
                "part": self.part,
            },
        )


def cut_sample(codes: Ints, axes: Sequence[Longs], blocks: int) -> BlockTree:
    """Cut a sample into leaves of near rows, about equally many, as Mondrian does: the widest column, near the middle.

    A leaf of rows that are equal, or nearly all are, has as many blocks as is its share of the rows.

    Args:
        codes: int32[d, n] of the sample.
        axes: of each column the places of codes on one scale, ascending.
        blocks: how many.

    Returns:
        The tree with blocks from 0 on.

    Cost: O(d n log n log b) for n rows and b blocks.
    """
    tree = BlockTree()
    waiting = [(tree.add(), np.arange(codes.shape[1]), blocks, 0)]
    name = 0
    while waiting:
        node, rows, parts, level = waiting.pop()
        divisible = parts > 1 and level < MOST_LEVELS
        best = _choose_cut(codes[:, rows], axes, parts // 2 / parts) if divisible else None
        if best is None:
            tree.name[node], tree.spread[node] = name, parts
            name += parts
            continue
        attribute, cut = best
        below = tree.add()
        tree.add()
        tree.attribute[node], tree.cut[node], tree.below[node] = attribute, cut, below
        first = codes[attribute, rows] <= cut
        share = min(max(round(parts * float(np.count_nonzero(first)) / len(rows)), 1), parts - 1)
        waiting += [(below + 1, rows[~first], parts - share, level + 1), (below, rows[first], share, level + 1)]
    return tree


def _choose_cut(codes: Ints, axes: Sequence[Longs], share: float) -> tuple[int, int] | None:
    """A column, and the last code of the first half, of about this share of the rows.

    It is the widest column of those that leave enough rows on both sides; None: in every column nearly all rows are
    equal.
    """
    n = codes.shape[1]
    cuts: list[tuple[int, int, int]] = []
    for attribute, axis in enumerate(axes):
        there, numbers = np.unique(codes[attribute], return_counts=True)
        if len(there) < 2:
            continue
        before = np.cumsum(numbers)[:-1]
        place = int(np.abs(before - share * n).argmin())
        if min(before[place], n - before[place]) * LEAST_SHARE >= n:
            cuts.append((int(axis[there[-1]] - axis[there[0]]), -attribute, int(there[place])))
    if not cuts:
        return None
    _, attribute, cut = max(cuts)
    return -attribute, cut
