"""Divides a system into blocks: sets of atoms that no published cell connects, so that each is solved alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.program import Box, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.arrays import Longs
    from sqlanon.statistics.links import Links


MOST_TABLES = 64
"""Tables of a block that are kept, at most."""


class Block:
    """Connected atoms, with the tables of them that were found.

    Args:
        atoms: int64[n], their places.
        program: the cells over them.
        box: their ends.
        rows: int64[rows of the program], which of all rows they are.
    """

    def __init__(self, atoms: Longs, program: Program, box: Box, rows: Longs) -> None:
        self.atoms, self.program, self.box, self.rows = atoms, program, box, rows
        self._tables: list[Longs] = []

    def keep(self, table: Longs) -> None:
        """Remember a table of whole numbers that has all sums."""
        if len(self._tables) < MOST_TABLES:
            self._tables.append(table)

    def cheapest(self, cost: Longs) -> Longs | None:
        """The kept table of least cost."""
        return min(self._tables, key=lambda table: int(cost @ table), default=None)


def divide(rows: Longs, sums: Box, box: Box, links: Links | None = None) -> list[Block]:
    """The blocks of a system.

    Args:
        rows: int64[margins, atoms], the row of each atom in each margin; the number of rows: none.
        sums: the ends of each row.
        box: the ends of each atom.
        links: the conditions of the last rows, which are no sums of atoms.

    Cost: scans of the atoms for each margin, as many as atoms of a block are steps apart.
    """
    many, none = rows.shape[1], len(sums.low)
    label = np.arange(many)
    while many:
        before = label.copy()
        for row in rows:
            least = np.full(none + 1, many)
            np.minimum.at(least, row, label)
            least[none] = many
            label = np.minimum(label, least[row])
        if links is not None:
            least = np.full(len(links.low), many)
            np.minimum.at(least, links.row, label[links.atom])
            np.minimum.at(label, links.atom, least[links.row])
        label = label[label]
        if (label == before).all():
            break
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return [_make_block(rows, sums, box, atoms, links) for atoms in np.split(order, starts[1:]) if len(atoms)]


def _make_block(rows: Longs, sums: Box, box: Box, atoms: Longs, links: Links | None) -> Block:
    none = len(sums.low)
    block_rows = rows[:, atoms]
    block_rows = block_rows[(block_rows < none).any(axis=1)]
    known_cells = np.unique(block_rows[block_rows < none])
    inside = None
    if links is not None:
        first, is_inside = none - len(links.low), np.zeros(len(links.unit), bool)
        is_inside[atoms] = True
        linked = np.unique(links.row[is_inside[links.atom]])
        known_cells, inside = np.concatenate([known_cells, first + linked]), links.pick(atoms, linked)
    numbers = np.searchsorted(known_cells, block_rows)
    program = Program(numbers, Box(sums.low[known_cells], sums.high[known_cells]), inside)
    return Block(atoms, program, Box(box.low[atoms], box.high[atoms]), known_cells)


def block_of(blocks: Sequence[Block], many: int) -> Longs:
    """The block of each atom."""
    numbers = np.full(many, -1, np.int64)
    for number, block in enumerate(blocks):
        numbers[block.atoms] = number
    return numbers
