"""The classes of nodes, from cells in memory: each node from the smallest roll-up that was kept of a finer node."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.compiled import expect
from sqlanon.kernels.requirements import Counters, Demands, make_counters, satisfied
from sqlanon.methods.base import Context
from sqlanon.methods.fulldomain.cells import Cells, attach, read_cells
from sqlanon.methods.fulldomain.checker import NodeClasses, SuppressedClasses, least_of, stars_rows
from sqlanon.methods.fulldomain.kernels.lattice import add_up, group, make_maps, mark_meeting, room_of
from sqlanon.methods.fulldomain.levels import Lattice
from sqlanon.methods.fulldomain.population import PeopleInMemory
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy.population import of_population

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags, Ints, Longs


KEPT = 4
"""Roll-ups have so many times the cells of the table together, at most."""


class InMemory:
    """See `Checker`."""

    execution = "kernel"

    def __init__(self, context: Context, lattice: Lattice, metric: str) -> None:
        expect(group, mark_meeting)
        self._context, self._lattice, self._counts_classes = context, lattice, metric == "c_avg"
        self._cells = read_cells(context)
        self._least = least_of(context)
        self._maps = make_maps(lattice.tables())
        self._nodes = lattice.tables()
        self._counted = bool(self._cells.sensitive)
        # Records are also distinguished by counted columns: further columns, always at their only level.
        wide = [np.arange(int(column.max(initial=0)) + 1, dtype=np.int32)[None] for column in self._cells.sensitive]
        self._wide = make_maps([*self._nodes, *wide])
        population = context.encoded.population
        self._people = PeopleInMemory(context, lattice, population) if population else None
        self._room = room_of(len(self._cells.rows), self._wide.words)
        self._whole = kernel_input.whole_table(context) if self._counted else kernel_input.WholeTable()
        self._kept: list[tuple[npt.NDArray[np.int16], Cells]] = [(np.zeros(len(self._nodes), np.int16), self._cells)]
        self._left = KEPT * len(self._cells.rows)
        self._open = _OpenNode.empty()

    def check(self, node: tuple[int, ...]) -> NodeClasses:
        """See `Checker.check`. Cost: linear in the cells of the roll-up; with more than k asked, in the rows."""
        levels = np.array(node, np.int16)
        source = min((cells for node, cells in self._kept if (node <= levels).all()), key=lambda cells: len(cells.rows))
        rolled = self._roll_up(source, levels)
        if 2 * len(rolled.rows) <= len(source.rows) and len(rolled.rows) <= self._left:
            self._kept.append((levels, rolled))
            self._left -= len(rolled.rows)
        self._open = opened = self._make_open(node, levels, rolled)
        size = opened.size
        return NodeClasses(int(size[size < self._least].sum()), self._sum_classes(size), self.count_suppressed(0))

    def _roll_up(self, source: Cells, levels: npt.NDArray[np.int16]) -> Cells:
        """The cells of a node from those of a finer node."""
        n, room = len(source.rows), self._room
        codes = np.concatenate([source.codes, np.array(source.sensitive, np.int32).reshape(-1, n)])
        room.rows[:n] = np.arange(n, dtype=np.int32)
        groups = group(codes, n, self._wide, np.append(levels, np.zeros(len(source.sensitive), np.int16)), room)
        add_up(n, groups, room, source.rows)
        first = room.first[:groups]
        return Cells(
            np.array(
                [
                    node[level][column[first]]
                    for node, level, column in zip(self._nodes, levels, source.codes, strict=True)
                ]
            ),
            [column[first] for column in source.sensitive],
            room.size[:groups].copy(),
        )

    def _make_open(self, node: tuple[int, ...], levels: npt.NDArray[np.int16], rolled: Cells) -> _OpenNode:
        n, room = len(rolled.rows), self._room
        if self._counted:
            room.rows[:n] = np.arange(n, dtype=np.int32)
            groups = group(rolled.codes, n, self._maps, levels, room)
            add_up(n, groups, room, rolled.rows)
            label, first, size = room.group[:n].copy(), room.first[:groups].copy(), room.size[:groups].copy()
        else:
            label, first, size = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32), rolled.rows
        holds = size >= self._least
        opened = _OpenNode(node, rolled, label, first, size, holds)
        if self._counted:
            # Only classes of enough rows are counted.
            numbered = np.where(holds[label], label, -1).astype(np.int32)
            failing = np.zeros(len(size), np.bool_)
            demands, counters = self._demands(rolled, int(size[holds].max(initial=0)))
            mark_meeting(demands, counters, numbered, rolled.rows, len(size), failing)
            holds &= failing
        if self._people is not None:
            opened.people = people = self._people.of(levels, rolled.codes[:, first])
            for requirement in of_population(self._context.requirements):
                holds &= requirement.holds(size, people, self._people.rows)
        return opened

    def _demands(self, cells: Cells, most: int) -> tuple[Demands, Counters]:
        demands = kernel_input.demands(self._context, cells.sensitive, len(cells.rows), self._whole)
        return demands, make_counters(demands, most)

    def meets(self, joined: int) -> bool:
        opened = self._open
        gone = self._find_suppressed(joined)
        if self._people is not None:
            left_out, outside = int(opened.size[gone].sum()), self._people.rows - int(opened.people[~gone].sum())
            compared = of_population(self._context.requirements)
            allowed = all(requirement.allows_outside(left_out, outside) for requirement in compared)
            if not (allowed and stars_rows(self._context)):
                return allowed
        rows = opened.cells.rows
        if not self._counted:
            return int(opened.size[gone].sum()) >= self._least
        records = np.flatnonzero(gone[opened.label]).astype(np.int32)
        expanded = np.repeat(records, rows[records])
        demands, counters = self._demands(opened.cells, len(expanded))
        return bool(satisfied(demands, expanded, np.arange(len(expanded)), counters))

    def joinable(self, most: int) -> int:
        opened = self._open
        total = int(opened.size[~opened.holds].sum()) + np.cumsum(opened.size[opened.others])
        return int(np.searchsorted(total, most, side="right"))

    def count_suppressed(self, joined: int) -> SuppressedClasses:
        opened = self._open
        gone = self._find_suppressed(joined)
        size, first = opened.size[gone], opened.first[gone]
        extra = sum(
            (
                column.extra[level][codes[first]]
                for column, level, codes in zip(self._lattice.columns, opened.node, opened.cells.codes, strict=True)
            ),
            start=np.zeros(len(size), np.int64),
        )
        return SuppressedClasses(int(size.sum()), int((size * extra).sum()), self._sum_classes(size))

    def _sum_classes(self, size: Longs) -> int:
        """See `SuppressedClasses.of_classes`."""
        return -len(size) if self._counts_classes else int((size * size).sum())

    def _find_suppressed(self, joined: int) -> Flags:
        """Which classes of the open node are suppressed."""
        gone = ~self._open.holds
        if joined:
            gone[self._open.others[:joined]] = True
        return gone

    def assign(self, joined: int, starred: bool) -> tuple[TableRef, int | None, int]:
        opened, cells, n = self._open, self._cells, len(self._cells.rows)
        gone = self._find_suppressed(joined)
        keys = [column[opened.first] for column in reversed(opened.cells.codes)]
        order = np.lexsort(keys)
        order = order[~gone[order]]
        number = np.full(len(opened.size), len(order) if starred else -1, np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        # Cells and classes are grouped together: the class of a cell is that of its group.
        levels = np.array(opened.node, np.int16)
        at_node = np.concatenate([cells.codes, opened.cells.codes[:, opened.first]], axis=1)
        room = room_of(at_node.shape[1], self._maps.words)
        room.rows[:] = np.arange(at_node.shape[1], dtype=np.int32)
        groups = group(at_node, at_node.shape[1], self._maps, levels, room)
        of_group = np.empty(groups, np.int32)
        of_group[room.group[n:]] = number
        label = of_group[room.group[:n]]
        kept_cells = np.flatnonzero(label >= 0)
        table, _ = attach(self._context, cells, kept_cells.astype(np.int32), label[kept_cells], cells.rows[kept_cells])
        star = len(order) if starred and gone.any() else None
        return table, star, len(order) + (star is not None)


@dataclass
class _OpenNode:
    """The classes of a node.

    Attributes:
        node: the levels.
        cells: the cells, by counted columns as well.
        label: int32[m], the class of each.
        first: int32[classes], a cell of each class.
        size: int64[classes], rows.
        holds: bool[classes], whether the class meets the requirements.
        people: int64[classes], rows of the population, if there is one.
    """

    node: tuple[int, ...]
    cells: Cells
    label: Ints
    first: Ints
    size: Longs
    holds: Flags
    people: Longs = field(default_factory=lambda: np.zeros(0, np.int64))

    @cached_property
    def others(self) -> npt.NDArray[np.intp]:
        """The classes that meet the requirements, by ascending rows and codes."""
        order = np.lexsort([*(column[self.first] for column in reversed(self.cells.codes)), self.size])
        return order[self.holds[order]]

    @classmethod
    def empty(cls) -> _OpenNode:
        """No node."""
        none = np.zeros(0, np.int32)
        cells = Cells(none.reshape(0, 0), [], np.zeros(0, np.int64))
        return cls((), cells, none, none, np.zeros(0, np.int64), np.zeros(0, np.bool_))
