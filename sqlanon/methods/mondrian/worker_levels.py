"""The upper levels of a Mondrian tree, with the help of an engine's workers.

Workers count the frequency sets of open partitions, and this process chooses the cuts.

A level is one pass over the rows. The data sent here grow with open partitions and with values of columns, and not
with the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef, Workers
from sqlanon.kernels.extent import WORD_END, Geometry
from sqlanon.methods.base import Context
from sqlanon.methods.mondrian.kernels import Checks, Slots, Tree, count_slots, cut_slots, find_leaves, make_slots
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy.base import beyond_rows, least_rows
from sqlanon.table.work import check_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags, Ints, Longs
    from sqlanon.table.work import Packing

    Arrays = Sequence[npt.NDArray[np.generic]]

MOST_SLOTS = 1 << 20
"""So many slots, of all open partitions, are counted at a time: about 16 bytes for each of them and each column."""
MOST_HELD = 1 << 22
"""So many numbers of rows of a sensitive value in a slot, 8 bytes each."""


@dataclass(frozen=True, slots=True)
class Levels:
    """A tree of cuts with leaves that are small enough, or cannot be cut.

    Attributes:
        tree: the cuts.
        begin: int32[m], of every node the rows before it, from left to right: the name of the partition.
        open: bool[m], leaves that nobody has tried to cut.
    """

    tree: Tree
    begin: Ints
    open: Flags


def can_count(context: Context, fits: int) -> bool:
    """Whether workers' counts suffice for cuts, and are small for a level of large partitions.

    A large partition has more than ``fits`` rows.
    """
    shapes = [requirement.shape for requirement in beyond_rows(context.requirements)]
    if any(shape.kind not in ("frequency", "distinct") or shape.within for shape in shapes):
        return False
    slots = max(context.encoded.rows // fits, 1) * sum(domain.codes for domain in context.encoded.quasi)
    counters = sum(context.encoded.sensitive[value].codes for value in {shape.value for shape in shapes})
    return slots <= MOST_SLOTS and slots * counters <= MOST_HELD


def _checks(context: Context) -> tuple[Checks, list[int]]:
    """The requirements of sensitive values, and the places of their columns."""
    shapes = [requirement.shape for requirement in beyond_rows(context.requirements)]
    columns = sorted({shape.value for shape in shapes})
    sizes = [context.encoded.sensitive[value].codes for value in columns]
    rows = [(shape.kind == "distinct", shape.p, shape.q, columns.index(shape.value)) for shape in shapes]
    return (
        Checks(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), np.array(rows, np.int64).reshape(-1, 4)),
        columns,
    )


def grow_levels(context: Context, workers: Workers, packed: TableRef, fits: int, most_levels: int) -> Levels:
    """Cut by the least loss until no partition that can be cut has more than ``fits`` rows, where `can_count` says so.

    After the last level larger partitions stay open.

    Args:
        context: the run.
        workers: of the engine.
        packed: the rows, as `Work.select_packed` makes them.
        fits: rows of a partition that somebody else divides.
        most_levels: how many levels there are, at most.

    Raises:
        DatabaseError: workers have counted fewer or more rows than a partition has.

    Cost: a pass over the rows for each level that has a partition of more rows, O(n d^2) in the workers.
    """
    geometry, k = kernel_input.make_geometry(context), least_rows(context.requirements)
    packing, (checks, sensitive) = context.encoded.staged.packing, _checks(context)
    base = np.concatenate([[0], np.cumsum(kernel_input.list_sizes(context))])
    nodes = _Nodes(context.encoded.rows)
    level = 0
    while level < most_levels and (
        open_nodes := [node for node in nodes.leaves() if nodes.open[node] and nodes.size[node] > fits]
    ):
        context.progress.update(level, 0, f"levels, {len(open_nodes)} open partitions")
        counting = _PartitionCounts(packing, nodes.tree(), np.array(open_nodes), base, geometry, checks.base, sensitive)
        slots = _count_slots(context, workers, packed, counting, f"slots_{level}")
        for p, node in enumerate(open_nodes):
            # A row is in a slot of every attribute, and there once for every sensitive column.
            check_rows(nodes.size[node] * len(geometry.facts), int(slots.size[p].sum()))
            check_rows(nodes.size[node] * len(geometry.facts) * len(sensitive), int(slots.held[p].sum()))
            attribute, cut, left_slots = cut_slots(slots, p, base, geometry, k, checks)
            if attribute < 0:
                nodes.open[node] = False
            else:
                nodes.divide(node, attribute, cut, left_slots)
        level += 1
    return Levels(nodes.tree(), np.array(nodes.begin, np.int32), np.array(nodes.open, np.bool_))


def _count_slots(context: Context, workers: Workers, packed: TableRef, counting: _PartitionCounts, name: str) -> Slots:
    """The slots of all rows: workers add up those of some rows each, SQL those of all."""
    scratch, words, d = context.scratch, counting.words, len(counting.geometry.facts)
    table = scratch.table(name)
    lows, highs, sets = (
        [f"lo{j}" for j in range(d)],
        [f"hi{j}" for j in range(d)],
        [f"m{w}" for w in range(words)],
    )
    columns = [("part", "integer"), ("slot", "integer"), ("held", "integer"), ("n", "bigint")]
    columns += [(column, "integer") for column in (*lows, *highs)] + [(column, "bigint") for column in sets]
    workers.map_arrays(
        scratch.sql("blocks/rows", table=packed, columns=counting.packing.words), counting, table, columns
    )
    query = scratch.sql("mondrian/slots", slots=table, lows=lows, highs=highs, sets=sets)
    part, slot, value_held, n, *rest = scratch.fetch_arrays(
        query, [*["int32"] * 3, "int64", *["int32"] * (2 * d), *["int64"] * words]
    )
    scratch.drop(table)
    slots, whole = counting.slots(), np.less(value_held, 0)
    slots.held[part[~whole], slot[~whole], value_held[~whole]] = n[~whole]
    part, slot = part[whole], slot[whole]
    slots.size[part, slot] = n[whole]
    for j in range(d):
        slots.low[part, slot, j], slots.high[part, slot, j] = rest[j][whole], rest[d + j][whole]
    for w in range(words):
        slots.sets[part, slot, w] = rest[2 * d + w][whole]
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
        """Cut a leaf; ``left`` rows are in the left half."""
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
        return Tree(*(np.array(column, np.int32) for column in (self.attribute, self.cut, self.left, self.right)))


@dataclass(frozen=True, slots=True)
class _PartitionCounts:
    """Function of workers from packed rows to their slots: partition, slot, -1, rows, box, sets.

    For each sensitive value in a slot it returns a further row, without a box.

    Attributes:
        packing: where the codes are.
        tree: the cuts so far.
        chosen: the leaves with slots to count.
        base: int64[d + 1], see `cut_slots`.
        geometry: the attributes.
        within: see `Checks.base`.
        sensitive: the places of the columns that are checked.
    """

    packing: Packing
    tree: Tree
    chosen: Longs
    base: Longs
    geometry: Geometry
    within: Longs
    sensitive: Sequence[int]

    @property
    def words(self) -> int:
        """Words of the sets."""
        return int(self.geometry.facts[:, WORD_END].max(initial=0))

    def slots(self) -> Slots:
        """Slots without rows."""
        return make_slots(
            len(self.chosen), int(self.base[-1]), len(self.geometry.facts), self.words, int(self.within[-1])
        )

    def __call__(self, columns: Arrays) -> Arrays:
        """Count some rows. Cost: see `count_slots`."""
        d = len(self.geometry.facts)
        codes = self.packing.codes(columns)  # type: ignore[arg-type]
        quasi = np.stack(codes[:d])
        sensitive = np.array([codes[d + c] for c in self.sensitive], np.int32).reshape(-1, quasi.shape[1])
        place = np.full(len(self.tree.attribute), -1, np.int32)
        place[self.chosen] = np.arange(len(self.chosen))
        slots = self.slots()
        part = place[find_leaves(quasi, self.tree)]
        count_slots(quasi, sensitive, part, self.base, self.geometry.facts, self.within, slots)
        full, held_slots = np.nonzero(slots.size), np.nonzero(slots.held)
        box = [side[*full, j] for side in (slots.low, slots.high) for j in range(d)]
        sets = [slots.sets[*full, w] for w in range(self.words)]
        empty = np.zeros(len(held_slots[0]), np.int64)
        return (
            *(np.concatenate(pair).astype(np.int32) for pair in zip(full, held_slots[:2], strict=True)),
            np.concatenate([np.full(len(full[0]), -1), held_slots[2]]).astype(np.int32),
            np.concatenate([slots.size[full], slots.held[held_slots]]),
            *(np.concatenate([column, empty]).astype(np.int32) for column in box),
            *(np.concatenate([column, empty]) for column in sets),
        )
