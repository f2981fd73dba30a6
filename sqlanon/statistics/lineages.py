"""The cells of a new lineage and of all earlier versions, as one system.

A block is the new rows of a version, or the rows that wait. Blocks share no row. Readers have numbers of cells over
consecutive blocks: one block for each version, and all blocks so far where a lineage begins. So atoms are the finest
combinations of each block, and numbers of earlier versions are cells that no witness changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import Atoms, PublishedCells, System, group_atoms, weigh

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs


@dataclass(frozen=True, slots=True)
class Blocks:
    """The finest combinations of each block.

    Attributes:
        atoms: the combinations.
        of: int64[atoms], the block of each, from 0.
        finest: the margins of whole tables at their finest levels.
    """

    atoms: Atoms
    of: Longs
    finest: Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Window:
    """Cells of the rows of some blocks in a row.

    Attributes:
        since: the first block.
        until: the last block.
        cells: the cells; each is given by an atom of these blocks.
        shown: bool[cells], whether readers have the numbers.
        floor: readers know that these blocks have so many rows together.
    """

    since: int
    until: int
    cells: PublishedCells
    shown: Flags
    floor: int = 1


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell: its atoms, how many finest cells it has, whether few persons are in it, and its levels."""

    members: Longs
    least: int
    small: bool
    levels: tuple[int, ...]


def build_lineages(blocks: Blocks, windows: Sequence[Window], whole: PublishedCells, secret: bytes) -> System:
    """The system of all versions; its published cells are those of the beginning of the new lineage.

    Args:
        blocks: the atoms.
        windows: the cells of earlier versions, and others of which nothing is published, with small ones among them.
        whole: the cells of all rows.
        secret: key for the order of equal levels.

    Cost: a sort of the atoms for each window and margin.
    """
    number_of_members: dict[bytes, int] = {}
    members: list[Longs] = []
    least: list[int] = []
    small: list[bool] = []
    levels: list[tuple[int, ...]] = []
    for cell in (cells := [*_list_cells(blocks, _everything(blocks, whole))]):
        number_of_members.setdefault(cell.members.tobytes(), len(number_of_members))
    listed = np.array([number_of_members[cell.members.tobytes()] for cell in cells], np.int64)
    many = len(number_of_members)
    fixed: dict[int, bool] = {}
    floors: dict[int, int] = {}
    totals = tuple(whole.levels.max(axis=1).tolist())
    for window in windows:
        window_cells = list(_list_cells(blocks, window))
        for cell, is_shown in zip(window_cells, window.shown.tolist(), strict=True):
            number = number_of_members.setdefault(cell.members.tobytes(), len(number_of_members))
            fixed[number] = fixed.get(number, False) or is_shown
            if cell.levels == totals:
                floors[number] = max(floors.get(number, 1), window.floor)
        cells += window_cells
    for cell in cells:
        number = number_of_members[cell.members.tobytes()]
        if number == len(members):
            members.append(cell.members)
            least.append(cell.least)
            small.append(cell.small)
            levels.append(cell.levels)
        least[number] = max(least[number], cell.least)
        small[number] = small[number] or cell.small
        levels[number] = max(levels[number], cell.levels, key=sum)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(some) for some in members], dtype=np.int64)])
    member, count = np.concatenate(members), len(members)
    is_fixed = np.array([fixed.get(number, False) for number in range(count)], bool)
    first_of = {of: place for place, of in reversed(list(enumerate(map(tuple, whole.levels.T.tolist()))))}
    heights = [sum(own_levels) for own_levels in levels]
    return System(
        blocks.atoms,
        starts,
        member,
        np.add.reduceat(blocks.atoms.count[member], starts[:-1]),
        np.array(least, np.int64),
        np.array(small, bool),
        np.array([weigh(height, some, secret) for height, some in zip(heights, members, strict=True)]),
        np.array([first_of[own_levels] for own_levels in levels], np.int64),
        np.array(heights, np.int64),
        listed,
        whole.levels,
        is_fixed,
        (np.arange(count) >= many) & ~is_fixed,
        floor=np.array([floors.get(number, 1) for number in range(count)], np.int64),
    )


def _everything(blocks: Blocks, whole: PublishedCells) -> Window:
    return Window(0, int(blocks.of.max(initial=0)), whole, np.zeros(len(whole.first), bool))


def _list_cells(blocks: Blocks, window: Window) -> Iterator[_Cell]:
    """The cells of a window, in their order."""
    atoms, cells = blocks.atoms, window.cells
    inside_window = (blocks.of >= window.since) & (blocks.of <= window.until)
    numbers = int(blocks.of.max(initial=0)) + 1
    parts = [(levels, group_atoms(atoms, levels) * numbers + blocks.of) for levels in blocks.finest]
    by_margin: dict[tuple[int, ...], tuple[Longs, Longs, Longs, list[Longs]]] = {}
    for index, first in enumerate(cells.first.tolist()):
        levels = tuple(cells.levels[:, index].tolist())
        if levels not in by_margin:
            group = np.where(inside_window, group_atoms(atoms, levels), -1)
            order = np.argsort(group, kind="stable")
            ends = np.searchsorted(group[order], np.arange(int(group.max()) + 2))
            finer = [part for finest, part in parts if all(a <= b for a, b in zip(finest, levels, strict=True))]
            by_margin[levels] = group, order, ends, finer
        group, order, ends, finer = by_margin[levels]
        members = order[ends[group[first]] : ends[group[first] + 1]].astype(np.int64)
        least = max([1, *(len(np.unique(part[members])) for part in finer)])
        yield _Cell(members, least, bool(cells.small[index]), levels)
