"""Attacks on the sums of a release of counts: readers who bound sensitive cells, and contributors who bound others.

They compute with linear programs, and share nothing with the certificate but what it says is demanded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.engines.rows import read_integer
from sqlanon.results.counts import SumsReader
from sqlanon.statistics.amounts import Range
from sqlanon.statistics.joined import Joined, Key
from sqlanon.statistics.kept import Kept
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.seen import HIDDEN, UNBOUNDED, Label, Narrowed, narrow
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.shifted import Shifted, shift_sums
from sqlanon.statistics.sum_tables import CONTRIBUTORS
from sqlanon.statistics.summed import ShapeSum
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.engines.base import Row


NOTHING = [0, 0, 0]
"""Of a cell without rows the sum, and by how much it must be able to be larger and smaller."""
MOST_PERSONS = 200
"""Contributors who are looked for, at most, drawn at random."""


def attack_sums(
    scratch: Scratch,
    shape: Shape,
    kept_tables: Kept,
    joined: Joined,
    order: Sequence[int],
    seconds: Callable[[], float],
) -> tuple[SumsReader, ...]:
    """Bound the sums of sensitive cells, and the contributions of those who dominate them.

    Args:
        scratch: the database of the private tables.
        shape: the published columns, margins and measures.
        kept_tables: the private tables.
        joined: the view, as a reader has it.
        order: the place of each column of the release among those of the readers.
        seconds: time left, in seconds.

    Cost: linear programs for each sensitive cell, and for each person who is looked for.
    """
    attacks = []
    if shape.neighbour is not None:
        wholes = scratch.table("wholes")
        scratch.execute("statistics/whole_atoms", wholes=wholes, atoms=kept_tables.atoms, **shape.context())
        kept_tables = replace(kept_tables, atoms=wholes)
    for summed, tables in zip(shape.sums, kept_tables.sums, strict=True):
        target = _read_target(scratch, shape, summed, (kept_tables, joined, order))
        rows = scratch.fetch(
            "statistics/sum_read", table=tables.contributors, columns=list(CONTRIBUTORS), order=["person", "atom"]
        )
        hidden = joined.seen.value == HIDDEN
        # The sums as they would be if cells with a demand of their own were hidden, and no others.
        naive = (target.up > 0) | (target.down > 0)
        attacks.append(target.read("naive", naive, seconds, promised=False))
        attacks.append(target.read("outsider", hidden, seconds, promised=True))
        attacks.append(target.read_contributors(rows, hidden, seconds, promised=shape.insiders))
    return tuple(attacks)


def add_sums(versions: Sequence[tuple[SumsReader, ...]]) -> tuple[SumsReader, ...]:
    """Readers of the new rows of each version as one kind.

    Args:
        versions: of each version the readers of all columns, in the same order.
    """
    readers_of_sums = []
    for kind in zip(*versions, strict=True):
        first, readers = kind[0], [reader.readers for reader in kind]
        sought, exact, near = (sum(getattr(reader, what) for reader in kind) for what in ("sought", "exact", "near"))
        many = sum(readers) if first.name == "contributor" else max(readers)
        readers_of_sums.append(SumsReader(first.measure, first.name, many, sought, exact, near, first.promised))
    return tuple(readers_of_sums)


@dataclass(frozen=True)
class _Target:
    """A column's sums, and what is demanded of them; atoms are those of the readers."""

    name: str
    joined: Joined
    rows: Narrowed
    of: Range
    value: Longs
    up: Longs
    down: Longs
    atoms: tuple[Longs, Longs, Longs]
    places: Longs

    def read(self, name: str, hidden: Flags, seconds: Callable[[], float], *, promised: bool) -> SumsReader:
        """A reader without rows, who sees all cells but some."""
        seen = self._shift(hidden)
        reach = Reach(seen.seen, seconds=seconds)
        exact = near = 0
        sought = self._sought()
        for cell, atoms in sought.items():
            low, high = seen.span(reach, atoms)
            exact += low == high
            near += low > self.value[cell] - self.down[cell] or high < self.value[cell] + self.up[cell]
        return SumsReader(self.name, name, 1, len(sought), exact, near, promised)

    def read_contributors(
        self, rows: Sequence[Row], hidden: Flags, seconds: Callable[[], float], *, promised: bool
    ) -> SumsReader:
        """A contributor who knows the largest other contribution to every atom, and looks for a person's."""
        boxes: dict[int, list[tuple[int, ...]]] = {}
        for row in rows:
            person, *box = map(read_integer, row)
            boxes.setdefault(person, []).append(tuple(box))
        persons = sorted(boxes)
        if len(persons) > MOST_PERSONS:
            persons = sorted(random.Random(0).sample(persons, MOST_PERSONS))  # noqa: S311 - no secret
        exact = near = 0
        for person in persons:
            person_cells = np.array(boxes[person], np.int64)
            places = self.places[person_cells[:, 0]]
            low, high = self._ends(self._shift(hidden), places, seconds)
            value = int(self.atoms[0][places].sum())
            exact += low == high
            near += high < value + int(person_cells[:, 1].sum()) or low > value + int(person_cells[:, 4].sum())
        return SumsReader(self.name, "contributor", len(persons), len(persons), exact, near, promised)

    def _ends(self, seen: Shifted, places: Longs, seconds: Callable[[], float]) -> tuple[int, int]:
        value, low, high = self.atoms
        top = seen.seen.most if seen.seen.most is not None else np.full(len(value), UNBOUNDED, np.int64)
        least = np.maximum(value + low - seen.base, 0)
        most = np.minimum(value + high - seen.base, top)
        least[places], most[places] = 0, top[places]
        narrowed = replace(seen, seen=replace(seen.seen, least=least, most=most))
        return narrowed.span(Reach(narrowed.seen, seconds=seconds), places)

    def _shift(self, hidden: Flags) -> Shifted:
        return shift_sums(self.joined.seen.of, self.value, hidden, self.rows, self.of)

    def _sought(self) -> dict[int, Longs]:
        """The atoms of each cell with a demand."""
        atoms_by_cell: dict[int, Longs] = {}
        for row in self.joined.seen.of:
            for cell in np.unique(row[row >= 0]).tolist():
                if (self.up[cell] or self.down[cell]) and cell not in atoms_by_cell:
                    atoms_by_cell[cell] = np.flatnonzero(row == cell)
        return atoms_by_cell


def _read_target(
    scratch: Scratch, shape: Shape, shape_sum: ShapeSum, seen: tuple[Kept, Joined, Sequence[int]]
) -> _Target:
    kept_tables, joined, order = seen
    tables, many, context = kept_tables.sums[shape_sum.place - 1], len(shape.columns), shape.context()
    places = np.argsort(order).tolist()
    truth: dict[Key, list[int]] = {}
    for row in scratch.fetch(
        "statistics/true_sums", cells=kept_tables.cells, needs=tables.needs, place=shape_sum.place, **context
    ):
        nodes = [
            (
                read_integer(row[index]),
                label_of(row[many + index]) if row[index] != shape.columns[index].levels else None,
            )
            for index in range(many)
        ]
        truth[tuple(nodes[place] for place in places)] = [read_integer(cell) for cell in row[2 * many :]]
    # Nobody came to the other cells of a version.
    value, up, down = np.array([truth.get(key, NOTHING) for key in joined.keys], np.int64).T
    atoms = np.zeros((3, len(joined.seen.least)), np.int64)
    numbers: dict[int, int] = {}
    for row in scratch.fetch(
        "statistics/true_limits", atoms=kept_tables.atoms, limits=tables.limits, place=shape_sum.place, **context
    ):
        labels = [label_of(cell) for cell in row[:many]]
        atom, *limits = (read_integer(cell) for cell in row[many:])
        place = joined.seen.places[tuple(labels[place] for place in places)]
        numbers[atom] = place
        atoms[:, place] = limits
    of_atom = np.zeros(1 + max(numbers, default=0), np.int64)
    of_atom[list(numbers)] = list(numbers.values())
    rows = narrow(joined.seen)
    return _Target(
        shape_sum.name,
        joined,
        rows,
        Range(shape_sum.low, shape_sum.high),
        value,
        up,
        down,
        (atoms[0], atoms[1], atoms[2]),
        of_atom,
    )


def label_of(key: object) -> Label:
    """The label of a private key: `v` and the text, or `n` for NULL."""
    return None if key == "n" else str(key)[1:]
