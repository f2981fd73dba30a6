"""Published cells from the view of readers: sums over the finest combinations that may occur.

Nothing here reads hidden numbers. A cell has a node of each column; above a leaf is a node at each level of the column,
and above all the total.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.statistics.links import OPEN, Links

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


HIDDEN = -1
"""The value of a hidden cell."""
UNBOUNDED = OPEN
"""The greatest value of an unbounded atom."""
MOST_VALUE = 2**52
"""Numbers of cells, at most."""
ROUNDS = 40
"""How often values are narrowed, at most; fewer rounds give wider bounds."""
Label = str | None
"""The text of a node; None: the source's NULL."""


@dataclass(frozen=True, slots=True)
class SeenColumn:
    """A column of published cells.

    Attributes:
        name: for messages.
        levels: number of levels below the total.
        above: for each leaf, the nodes at all levels, itself first; leaves that are not in it are their own nodes.
    """

    name: str
    levels: int
    above: Mapping[Label, tuple[Label, ...]]

    def node(self, leaf: Label, level: int) -> Label:
        """The node of a leaf at a level below the total."""
        if leaf is None or level == 0:
            return leaf
        path = self.above.get(leaf)
        return None if path is None else path[level]


@dataclass(frozen=True, slots=True)
class Cells:
    """Published cells as they were read.

    Attributes:
        levels: int64[columns, cells]; a column's number of levels is the total.
        labels: label of each cell in each column; None where it is the total.
        value: int64[cells], `HIDDEN` where it is not shown.
    """

    levels: Longs
    labels: tuple[Sequence[Label], ...]
    value: Longs


@dataclass(frozen=True, slots=True)
class SeenCells:
    """The published cells as sums over atoms, the combinations of leaves that may occur.

    Attributes:
        of: int64[margins, atoms], the cell of each atom in each margin; -1: none was published.
        value: int64[cells], `HIDDEN` where it is not shown.
        least: int64[atoms], the least value of each atom.
        atoms: the labels of each atom.
        places: the number of each tuple of labels.
        hidden: the least value of a hidden cell, unless the atoms say more.
        most: int64[atoms], the greatest value of each atom; None: nothing bounds it.
        ends: int64[cells] twice, the least and the greatest value of each cell that is `HIDDEN`; None: nothing is
            published about these.
        times: so many parts has each of ``atoms``; see `sqlanon.statistics.of_versions`. Those of one version follow
            those of the version before.
        links: further conditions of the atoms; None: there are none.
    """

    of: Longs
    value: Longs
    least: Longs
    atoms: tuple[tuple[Label, ...], ...]
    places: Mapping[tuple[Label, ...], int]
    hidden: int = 0
    most: Longs | None = None
    ends: tuple[Longs, Longs] | None = None
    times: int = 1
    links: Links | None = None

    def bounds(self) -> tuple[Longs, Longs]:
        """The least and the greatest value of each cell; `UNBOUNDED`: nothing bounds it."""
        low, high = self.ends or (np.full_like(self.value, self.hidden), np.full_like(self.value, UNBOUNDED))
        hidden = self.value == HIDDEN
        return np.where(hidden, low, self.value), np.where(hidden, high, self.value)


def list_atoms(of: Longs) -> Iterator[tuple[int, Longs]]:
    """The published cells of each margin with their atoms, ascending.

    Args:
        of: int64[margins, atoms], the cell of each atom; -1: none was published.

    Cost: a sort of the atoms for each margin.
    """
    for row in of:
        order = np.argsort(row, kind="stable")
        cells, starts = np.unique(row[order], return_index=True)
        pairs = zip(cells.tolist(), np.split(order, starts[1:]), strict=True)
        yield from ((cell, atoms) for cell, atoms in pairs if cell >= 0)


def build_seen(
    columns: Sequence[SeenColumn], cells: Cells, atoms: Sequence[tuple[Label, ...]], least: int
) -> SeenCells:
    """The system of published cells.

    Args:
        columns: the columns.
        cells: the cells, each once.
        atoms: the combinations of leaves that may occur.
        least: the least value of an atom.

    Raises:
        PolicyError: a cell is listed twice, or a number is negative.
        UnsupportedError: a number is too large.

    Cost: for each margin a sort of the atoms.
    """
    if len(cells.value) and int(cells.value.max()) > MOST_VALUE:
        raise UnsupportedError(f"numbers of cells are at most {MOST_VALUE}")
    if len(cells.value) and int(cells.value.min()) < HIDDEN:
        raise PolicyError("a cell has a negative number: counts have none")
    margins = np.unique(cells.levels, axis=1).T if len(cells.value) else np.zeros((0, len(columns)), np.int64)
    cell_keys = np.zeros(len(cells.value), np.int64)
    keys = np.zeros((len(margins), len(atoms)), np.int64)
    for place, column in enumerate(columns):
        node_numbers: dict[tuple[int, Label], int] = {}
        pairs = zip(cells.levels[place].tolist(), cells.labels[place], strict=True)
        nodes = np.array([node_numbers.setdefault(pair, len(node_numbers)) for pair in pairs], np.int64)
        radix = len(node_numbers) + 1
        if int(max(cell_keys.max(initial=0), keys.max(initial=0))) >= UNBOUNDED // radix:
            raise UnsupportedError("the columns have too many combinations of values")
        cell_keys = cell_keys * radix + nodes
        leaves = [atom[place] for atom in atoms]
        at_level = [
            np.array([node_numbers.get((level, column.node(leaf, level)), radix - 1) for leaf in leaves], np.int64)
            for level in range(column.levels)
        ]
        at_level.append(np.full(len(atoms), node_numbers.get((column.levels, None), radix - 1), np.int64))
        for margin, levels in enumerate(margins):
            keys[margin] = keys[margin] * radix + at_level[int(levels[place])]
    order = np.argsort(cell_keys, kind="stable")
    if (cell_keys[order][1:] == cell_keys[order][:-1]).any():
        raise PolicyError("a cell is listed twice")
    places = np.minimum(np.searchsorted(cell_keys[order], keys), max(len(cell_keys) - 1, 0))
    matches = order[places] if len(cell_keys) else np.zeros_like(keys)
    of = np.where(cell_keys[matches] == keys, matches, -1) if len(cell_keys) else np.full_like(keys, -1)
    numbers = {atom: place for place, atom in enumerate(atoms)}
    return SeenCells(of, cells.value, np.full(len(atoms), least, np.int64), tuple(atoms), numbers)


@dataclass(frozen=True, slots=True)
class AtomRanges:
    """Possible values of each atom, by sums of whole numbers alone.

    Attributes:
        low, high: int64[atoms]; `UNBOUNDED`: nothing bounds it.
        wrong: cells with a number that no table has.
    """

    low: Longs
    high: Longs
    wrong: Longs


def narrow(seen: SeenCells, fixed: Mapping[int, int] | None = None) -> AtomRanges:
    """Narrow each atom, by a shown cell and the ends of the cell's other atoms, until nothing changes.

    Args:
        seen: the cells.
        fixed: values of atoms that are known besides.

    Cost: at most `ROUNDS` scans of the atoms for each margin.
    """
    cells, (bottom, top) = len(seen.value), seen.bounds()
    low, high = seen.least.copy(), np.full(len(seen.least), UNBOUNDED, np.int64)
    if seen.most is not None:
        high = seen.most.copy()
    for atom, value in (fixed or {}).items():
        low[atom] = high[atom] = value
    wrong = np.zeros(cells, bool)
    for _ in range(ROUNDS):
        before = (low.copy(), high.copy())
        for row in seen.of:
            inside = np.flatnonzero(row >= 0)
            inside = inside[(top[row[inside]] < UNBOUNDED) | (bottom[row[inside]] > 0)]
            if not len(inside):
                continue
            cell = row[inside]
            bounded = high[inside] < UNBOUNDED
            ends = np.where(bounded, high[inside], 0)
            least, most, free = (np.zeros(cells, np.int64) for _ in range(3))
            np.add.at(least, cell, low[inside])
            np.add.at(most, cell, ends)
            np.add.at(free, cell, (~bounded).astype(np.int64))
            wrong[cell] |= (least[cell] > top[cell]) | ((free[cell] == 0) & (most[cell] < bottom[cell]))
            if wrong.any():
                return AtomRanges(low, high, np.flatnonzero(wrong))
            closed = top[cell] < UNBOUNDED
            most_left = np.where(closed, top[cell] - (least[cell] - low[inside]), UNBOUNDED)
            high[inside] = np.minimum(high[inside], most_left)
            alone = free[cell] - ~bounded == 0
            low[inside] = np.where(alone, np.maximum(low[inside], bottom[cell] - (most[cell] - ends)), low[inside])
            crossed = low[inside] > high[inside]
            if crossed.any():
                return AtomRanges(low, high, np.unique(cell[crossed]))
        if seen.links is not None:
            low, high = seen.links.narrow(low, high)
            crossed = low > high
            if crossed.any():
                return AtomRanges(low, high, np.unique(seen.of[:, crossed][seen.of[:, crossed] >= 0]))
        if (low == before[0]).all() and (high == before[1]).all():
            break
    empty = np.setdiff1d(np.flatnonzero(seen.value > 0), seen.of)
    return AtomRanges(low, high, empty)
