"""The upper levels of a Mondrian tree in an engine's workers: they count the frequency sets of open partitions, this process chooses the cuts.

A level is one pass over the rows. What comes here grows with open partitions and with values of columns, and not with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef, Workers
from sqlanon.kernels.extent import WORD_END, Geometry
from sqlanon.kernels.level_cuts import Slots, Tree, count_slots, cut_slots, find_leaves, new_slots
from sqlanon.methods.base import Context
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy import least_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.table.work import Packing

    Arrays = Sequence[npt.NDArray[np.generic]]

MOST_SLOTS = 1 << 20
"""So many slots, of all open partitions, are counted at a time: about 16 bytes for each of them and each column."""


@dataclass(frozen=True, slots=True)
class Levels:
    """A tree of cuts whose leaves are small enough, or cannot be cut.

    Attributes:
        tree: the cuts.
        begin: int32[m], of every node the rows before it, from left to right: the name of its partition.
        size: int64[m], its rows.
        open: bool[m], leaves that nobody has tried to cut.
    """

    tree: Tree
    begin: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    open: npt.NDArray[np.bool_]

    @property
    def finished(self) -> bool:
        """Whether some leaves cannot be cut."""
        return bool(((self.tree.attribute < 0) & ~self.open).any())


def has_room(context: Context, fits: int) -> bool:
    """Whether the frequency sets of a level, whose partitions have more than ``fits`` rows each, are small."""
    values = sum(domain.codes for domain in context.encoded.quasi)
    return max(context.encoded.rows // fits, 1) * values <= MOST_SLOTS


def grow_levels(context: Context, workers: Workers, packed: TableRef, fits: int) -> Levels:
    """Cut by the least loss until no partition that can be cut has more than ``fits`` rows; the requirement is a number of rows.

    Args:
        context: the run.
        workers: of its engine.
        packed: its rows, as `Work.packed` makes them.
        fits: rows of a partition that somebody else divides.

    Cost: a pass over the rows for each level that has a partition of more rows, O(n d^2) in the workers.
    """
    geometry, k = kernel_input.geometry(context), least_rows(context.requirements)
    packing, d = context.encoded.staged.packing, len(context.encoded.quasi)
    base = np.concatenate([[0], np.cumsum(kernel_input.sizes(context))])
    nodes = _Nodes(context.encoded.rows)
    level = 0
    while chosen := [node for node in nodes.leaves() if nodes.open[node] and nodes.size[node] > fits]:
        context.progress.update(level, 0, f"levels, {len(chosen)} open partitions")
        counting = _Counting(packing, nodes.tree(), np.array(chosen), base, geometry)
        slots = _counted(context, workers, packed, counting, f"slots_{level}", d)
        for p, node in enumerate(chosen):
            attribute, cut, left = cut_slots(slots, p, base, geometry, k)
            if attribute < 0:
                nodes.open[node] = False
            else:
                nodes.divide(node, attribute, cut, left)
        level += 1
    return Levels(
        nodes.tree(), np.array(nodes.begin, np.int32), np.array(nodes.size, np.int64), np.array(nodes.open, np.bool_)
    )  # fmt: skip


def _counted(
    context: Context, workers: Workers, packed: TableRef, counting: _Counting, name: str, d: int
) -> Slots:  # fmt: skip
    """The slots of all rows: workers add up those of some rows each, SQL those of all."""
    scratch, words = context.scratch, counting.words
    table = scratch.table(name)
    box = [*(f"lo{j}" for j in range(d)), *(f"hi{j}" for j in range(d))]
    sets = [f"m{w}" for w in range(words)]
    columns = [
        ("part", "integer"),
        ("slot", "integer"),
        ("n", "bigint"),
        *((column, "integer") for column in box),
    ]
    columns += [(column, "bigint") for column in sets]
    workers.map_arrays(
        scratch.sql("blocks/rows", table=packed, columns=counting.packing.words), counting, table, columns
    )
    read = scratch.sql("mondrian/slots", slots=table, box=[(f"lo{j}", f"hi{j}") for j in range(d)], sets=sets)
    part, slot, n, *rest = scratch.fetch_arrays(
        read, ["int32", "int32", "int64", *["int32"] * (2 * d), *["int64"] * words]
    )
    scratch.drop(table)
    slots = new_slots(len(counting.chosen), int(counting.base[-1]), d, words)
    slots.size[part, slot] = n
    for j in range(d):
        slots.low[part, slot, j], slots.high[part, slot, j] = rest[2 * j], rest[2 * j + 1]
    for w in range(words):
        slots.sets[part, slot, w] = rest[2 * d + w]
    return slots


class _Nodes:
    """The tree while it grows."""

    def __init__(self, rows: int) -> None:
        self.attribute, self.cut, self.left, self.right = [-1], [0], [0], [0]
        self.begin, self.size, self.open = [0], [rows], [True]

    def leaves(self) -> list[int]:
        """Nodes that are not cut."""
        return [node for node, attribute in enumerate(self.attribute) if attribute < 0]

    def divide(self, node: int, attribute: int, cut: int, left: int) -> None:
        """Cut a leaf; ``left`` rows are in its left half."""
        self.attribute[node], self.cut[node] = attribute, cut
        begin, size = self.begin[node], self.size[node]
        for side, first, rows in ((self.left, begin, left), (self.right, begin + left, size - left)):
            side[node] = len(self.attribute)
            self.attribute.append(-1)
            for column in (self.cut, self.left, self.right):
                column.append(0)
            self.begin.append(first)
            self.size.append(rows)
            self.open.append(True)

    def tree(self) -> Tree:
        """The cuts."""
        return Tree(
            *(np.array(column, np.int32) for column in (self.attribute, self.cut, self.left, self.right))
        )


@dataclass(frozen=True, slots=True)
class _Counting:
    """Words of rows -> slots that have rows: partition, slot, rows, box, sets.

    Attributes:
        packing: where the codes are.
        tree: the cuts so far.
        chosen: the leaves whose slots are counted.
        base: int64[d + 1], see `cut_slots`.
        geometry: the attributes.
    """

    packing: Packing
    tree: Tree
    chosen: npt.NDArray[np.int64]
    base: npt.NDArray[np.int64]
    geometry: Geometry

    @property
    def words(self) -> int:
        """Words of the sets."""
        return int(self.geometry.facts[:, WORD_END].max(initial=0))

    def __call__(self, columns: Arrays) -> Arrays:
        d = len(self.geometry.facts)
        codes = np.stack(self.packing.codes(columns)[:d])  # type: ignore[arg-type]
        place = np.full(len(self.tree.attribute), -1, np.int32)
        place[self.chosen] = np.arange(len(self.chosen))
        slots = new_slots(len(self.chosen), int(self.base[-1]), d, self.words)
        count_slots(codes, place[find_leaves(codes, self.tree)], self.base, self.geometry.facts, slots)
        part, slot = np.nonzero(slots.size)
        box = [side[part, slot, j] for side in (slots.low, slots.high) for j in range(d)]
        return (
            part.astype(np.int32), slot.astype(np.int32), slots.size[part, slot], *box,
            *(slots.sets[part, slot, w] for w in range(self.words)),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placing:
    """Row ids and words -> the same, the name of the row's partition, whether it is open (1 or 0)."""

    packing: Packing
    levels: Levels
    d: int

    def __call__(self, columns: Arrays) -> Arrays:
        """Find the partitions of some rows. Cost: O(n depth)."""
        leaf = find_leaves(np.stack(self.packing.codes(columns[1:])[: self.d]), self.levels.tree)  # type: ignore[arg-type]
        return *columns, self.levels.begin[leaf], self.levels.open[leaf].astype(np.int32)


__all__ = ["Levels", "Placing", "grow_levels", "has_room"]
