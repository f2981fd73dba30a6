"""Blocks of atoms that no published cell connects: a block says nothing about another block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.program import Box, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]

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


def divide(rows: Longs, sums: Box, box: Box) -> list[Block]:
    """The blocks of a system.

    Args:
        rows: int64[margins, atoms], the row of each atom in each margin; the number of rows: none.
        sums: the ends of each row.
        box: the ends of each atom.

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
        label = label[label]
        if (label == before).all():
            break
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    return [_make_block(rows, sums, box, atoms) for atoms in np.split(order, starts[1:]) if len(atoms)]


def _make_block(rows: Longs, sums: Box, box: Box, atoms: Longs) -> Block:
    block_rows = rows[:, atoms]
    block_rows = block_rows[(block_rows < len(sums.low)).any(axis=1)]
    used_cells, numbers = np.unique(block_rows, return_inverse=True)
    known_cells = used_cells[used_cells < len(sums.low)]
    program = Program(numbers.reshape(block_rows.shape), Box(sums.low[known_cells], sums.high[known_cells]))
    return Block(atoms, program, Box(box.low[atoms], box.high[atoms]), known_cells)


def block_of(blocks: Sequence[Block], many: int) -> Longs:
    """The block of each atom."""
    numbers = np.full(many, -1, np.int64)
    for number, block in enumerate(blocks):
        numbers[block.atoms] = number
    return numbers
