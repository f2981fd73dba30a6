"""Readers of counts whose lineages end, who have all versions of all lineages, and look for few newcomers in a cell.

The rows of each version until the last lineage began are blocks without a common row. Readers have numbers of cells of
some blocks in a row: of one block, and of all blocks so far where a lineage began. All of this is one system, over the
combinations of each block. They know more than a view says: to which cells the rows came with which a lineage begins,
and the new rows of a cell that stopped, where these are not hidden themselves. The certificate is of them, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.classes import label_of
from sqlanon.attack.versions import NewRows
from sqlanon.engines.rows import read_integer
from sqlanon.errors import UnsupportedError
from sqlanon.statistics.joined_tables import MOST_ATOMS, JoinedSystem, Key
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, Label, SeenCells, SeenColumn, list_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.engines.base import Row, TableRef
    from sqlanon.statistics.past_versions import PastTables
    from sqlanon.statistics.shape import Shape
    from sqlanon.table.scratch import Scratch

Window = tuple[int, int]
"""The first and the last of some versions in a row."""
Known = Mapping[tuple[Window, Key], bool]
"""Of the cells of some rows that readers know of whether they have the number."""
MOST_CELLS = 1_000_000
"""Cells of earlier versions that are read, at most."""


@dataclass(frozen=True, slots=True)
class Lineages:
    """The rows of all versions until the last lineage began, as a reader of all has them.

    Attributes:
        rows: the system; its cells are those of each version, and of some versions in a row.
        insiders: of each person who is alone in a cell the number of the only combination, the version first.
    """

    rows: NewRows
    insiders: Mapping[int, Mapping[tuple[Label, ...], int]]


def see_lineages(
    scratch: Scratch,
    shape: Shape,
    tables: tuple[PastTables, TableRef],
    joined: JoinedSystem,
    columns: Sequence[SeenColumn],
    order: Sequence[int],
) -> Lineages:
    """All versions until the last lineage began, as one system.

    Args:
        scratch: the database of the private tables.
        shape: the published columns, margins and measures.
        tables: those of all lineages; and the cells of the last beginning.
        joined: the view, as a reader has it.
        columns: the columns of the readers.
        order: the place of each column of the release among those of the readers.

    Raises:
        UnsupportedError: there are too many combinations.

    Cost: a grouping of the combinations for each margin, and for each two versions.
    """
    past, cells = tables
    places = np.argsort(order).tolist()
    number = {labels: place for place, labels in enumerate(joined.seen.atoms)}
    keys = [f"v{column.place}_0" for column in shape.columns]
    rows = scratch.fetch(
        "statistics/sum_read",
        max_rows=MOST_ATOMS,
        table=past.atoms,
        columns=["batch", "n", "persons", *keys],
        order=["batch", "atom"],
    )
    blocks = sorted({read_integer(row[0]) for row in rows})
    if len(blocks) * len(number) > MOST_ATOMS:
        raise UnsupportedError(f"the versions have more than {MOST_ATOMS:,} combinations of values together")
    counts = np.zeros((2, len(blocks), len(number)), np.int64)
    for row in rows:
        labels = [label_of(cell) for cell in row[3:]]
        place = blocks.index(read_integer(row[0])), number[tuple(labels[place] for place in places)]
        counts[:, *place] += [read_integer(row[1]), read_integer(row[2])]
    levels = [f"{part}{column.place}" for part in "lk" for column in shape.columns]
    knowledge: dict[tuple[Window, Key], bool] = {}
    for table, window in ((past.cells, ["since", "batch"]), (cells, [])):
        listed = scratch.fetch(
            "statistics/sum_read",
            max_rows=MOST_CELLS,
            table=table,
            columns=["hidden", *levels, *window],
            order=[*window, *levels],
        )
        for row in listed:
            versions = tuple(map(read_integer, row[-2:])) if window else (blocks[0], blocks[-1])
            knowledge[(versions[0], versions[1]), _key_of(row[1:], shape, places)] = read_integer(row[0]) == 0
    margins = [tuple(margin[place] for place in places) for margin in shape.margins]
    finest = [tuple(levels[place] for place in places) for levels in shape.finest]
    return _Blocks(columns, joined.seen.atoms, blocks, counts, shape.threshold).see(margins, finest, knowledge)


def _key_of(row: Row, shape: Shape, places: Sequence[int]) -> Key:
    many = len(shape.columns)
    nodes = []
    for place in places:
        level = read_integer(row[place])
        nodes.append((level, label_of(row[many + place]) if level < shape.columns[place].levels else None))
    return tuple(nodes)


@dataclass(frozen=True)
class _Blocks:
    """Rows and persons by block and combination: int64[2, blocks, combinations]."""

    columns: Sequence[SeenColumn]
    combinations: Sequence[tuple[Label, ...]]
    blocks: Sequence[int]
    counts: Longs
    threshold: int

    def see(self, margins: Sequence[tuple[int, ...]], finest: Sequence[tuple[int, ...]], knowledge: Known) -> Lineages:
        """The system; see `see_lineages`."""
        groups = {levels: self._group(levels) for levels in dict.fromkeys([*margins, *finest])}
        possible = np.ones(self.counts.shape[1:], bool)
        for levels in finest:  # combinations of which a block lists no cell are empty
            group = groups[levels]
            for block, rows in enumerate(self.counts[0]):
                possible[block] &= np.bincount(group, weights=rows)[group] > 0
        block_of, combination = np.nonzero(possible)
        of: list[Longs] = []
        value: list[int] = []
        shown: list[bool] = []
        persons: list[int] = []
        for window in self._windows():
            inside = (block_of >= window[0]) & (block_of <= window[1])
            n, people = self.counts[:, window[0] : window[1] + 1].sum(axis=1)
            versions = self.blocks[window[0]], self.blocks[window[1]]
            for levels in margins:
                group = groups[levels]
                total, owners = (np.bincount(group, weights=numbers).astype(np.int64) for numbers in (n, people))
                cells = np.flatnonzero(total)
                cell_of = np.full(len(total), -1, np.int64)
                cell_of[cells] = len(value) + np.arange(len(cells))
                of.append(np.where(inside, cell_of[group[combination]], -1))
                first = np.unique(group, return_index=True)[1][cells]
                keys = [self._key(levels, place) for place in first.tolist()]
                shown += [knowledge.get((versions, key), False) for key in keys]
                value += total[cells].tolist()
                persons += owners[cells].tolist()
        numbers = np.array(value, np.int64)
        atoms = tuple(
            (str(self.blocks[block]), *self.combinations[place])
            for block, place in zip(block_of.tolist(), combination.tolist(), strict=True)
        )
        ends = np.ones(len(numbers), np.int64), np.full(len(numbers), UNBOUNDED, np.int64)
        seen = SeenCells(
            np.stack(of),
            np.where(shown, numbers, HIDDEN),
            np.zeros(len(atoms), np.int64),
            atoms,
            {atom: place for place, atom in enumerate(atoms)},
            ends=ends,
        )
        few = (np.array(persons) > 0) & (np.array(persons) < self.threshold)
        small, alone = _choose(seen.of, few)
        people = self.counts[1][block_of, combination]
        n = self.counts[0][block_of, combination]
        insiders = {atom: {atoms[atom]: int(n[atom])} for atom in alone if people[atom] == 1}
        return Lineages(NewRows(seen, numbers, small), insiders)

    def _windows(self) -> Iterator[Window]:
        many = len(self.blocks)
        yield from ((since, upto) for since in range(many) for upto in range(since, many))

    def _group(self, levels: Sequence[int]) -> Longs:
        """The cell of each combination in a margin: numbers from 0."""
        numbers: dict[Key, int] = {}
        keys = (self._key(levels, place) for place in range(len(self.combinations)))
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)

    def _key(self, levels: Sequence[int], place: int) -> Key:
        labels = self.combinations[place]
        return tuple(
            (level, column.node(label, level) if level < column.levels else None)
            for column, label, level in zip(self.columns, labels, levels, strict=True)
        )


def _choose(of: Longs, few: Flags) -> tuple[Flags, list[int]]:
    """The cells of few persons, each set of atoms once; and the atoms that are all of one."""
    small, alone = np.zeros(len(few), bool), set()
    sets: set[bytes] = set()
    for cell, atoms in list_atoms(of):
        if not few[cell]:
            continue
        if atoms.tobytes() not in sets:
            sets.add(atoms.tobytes())
            small[cell] = True
        if len(atoms) == 1:
            alone.add(int(atoms[0]))
    return small, sorted(alone)
