"""Attacks on the sums of a release of counts: readers who bound sensitive cells, and contributors who bound others.

They compute with linear programs, and share nothing with the certificate but what it says is demanded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.classes import label_of, see_classes
from sqlanon.engines.rows import read_integer
from sqlanon.results.counts import SumsReader
from sqlanon.statistics.amounts import Range
from sqlanon.statistics.joined_tables import JoinedSystem, Key
from sqlanon.statistics.joint import Combinations, Joint, join_sums
from sqlanon.statistics.private_tables import KeptTables
from sqlanon.statistics.reach import Reach
from sqlanon.statistics.reader_cells import UNBOUNDED, AtomRanges, SeenCells, narrow
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.shifted_sums import shift_sums
from sqlanon.statistics.sum_columns import ShapeSum
from sqlanon.statistics.sum_tables import CONTRIBUTORS
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.engines.base import Row


NOTHING = [0, 0, 0]
"""Of a cell without rows the sum, and by how much it must be able to be larger and smaller."""
MOST_PERSONS = 200
"""Contributors who are looked for, at most, drawn at random."""


def attack_sums(
    scratch: Scratch,
    shape: Shape,
    kept_tables: KeptTables,
    joined: JoinedSystem,
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
    attacks, beside = [], None
    if shape.neighbour is not None:
        beside = see_classes(scratch, shape, kept_tables.atoms, joined, order)
        wholes = scratch.table("wholes")
        scratch.execute("statistics/whole_atoms", wholes=wholes, atoms=kept_tables.atoms, **shape.context())
        kept_tables = replace(kept_tables, atoms=wholes)
    for summed, tables in zip(shape.sums, kept_tables.sums, strict=True):
        target = _read_target(scratch, shape, summed, (kept_tables, joined, order))
        rows = scratch.fetch(
            "statistics/sum_read", table=tables.contributors, columns=list(CONTRIBUTORS), order=["person", "atom"]
        )
        joint = target.join(joined.seen)
        attacks.append(target.read_naive(seconds))
        attacks.append(target.read("outsider", joint, seconds))
        if beside is not None:
            joint = target.join(beside.seen, Combinations(joined.seen.of, beside.whole))
            attacks.append(target.read("rows", joint, seconds))
        attacks.append(target.read_contributors(rows, joint, seconds, promised=shape.insiders))
    return tuple(attacks)


def add_sums(versions: Sequence[tuple[SumsReader, ...]]) -> tuple[SumsReader, ...]:
    """Readers of the new rows of each version as one kind.

    Args:
        versions: of each version the readers of all columns; those of classes of rows are of the first version alone.
    """
    readers_of_sums = []
    kinds: dict[tuple[str, str], list[SumsReader]] = {}
    for reader in (reader for of_version in versions for reader in of_version):
        kinds.setdefault((reader.measure, reader.name), []).append(reader)
    for kind in kinds.values():
        first, readers = kind[0], [reader.readers for reader in kind]
        sought, exact, near = (sum(getattr(reader, what) for reader in kind) for what in ("sought", "exact", "near"))
        many = sum(readers) if first.name == "contributor" else max(readers)
        readers_of_sums.append(SumsReader(first.measure, first.name, many, sought, exact, near, first.promised))
    return tuple(readers_of_sums)


@dataclass(frozen=True)
class _Target:
    """A column's sums, and what is demanded of them; atoms are those of the readers."""

    name: str
    joined: JoinedSystem
    rows: AtomRanges
    of: Range
    value: Longs
    up: Longs
    down: Longs
    atoms: tuple[Longs, Longs, Longs]
    places: Longs

    def join(self, seen: SeenCells, parts: Combinations | None = None) -> Joint:
        """Rows and sums as one system: a reader looks at both."""
        return join_sums(seen, [(self.value, self.of)], parts)

    def read_naive(self, seconds: Callable[[], float]) -> SumsReader:
        """A reader of the sums as they would be if cells with a demand of their own were hidden, and no others."""
        hidden = (self.up > 0) | (self.down > 0)
        shifted = shift_sums(self.joined.seen.of, self.value, hidden, self.rows, self.of)
        reach = Reach(shifted.seen, seconds=seconds)
        return self._count("naive", lambda atoms: shifted.span(reach, atoms), promised=False)

    def read(self, name: str, joint: Joint, seconds: Callable[[], float]) -> SumsReader:
        """A reader without rows of his own."""
        reach = Reach(joint.seen, seconds=seconds)
        return self._count(name, lambda combinations: joint.span(reach, 0, combinations), promised=True)

    def _count(self, name: str, span: Callable[[Longs], tuple[int, int]], *, promised: bool) -> SumsReader:
        exact = near = 0
        sought = self._sought()
        for cell, atoms in sought.items():
            low, high = span(atoms)
            exact += low == high
            near += low > self.value[cell] - self.down[cell] or high < self.value[cell] + self.up[cell]
        return SumsReader(self.name, name, 1, len(sought), exact, int(near), promised)

    def read_contributors(
        self, rows: Sequence[Row], joint: Joint, seconds: Callable[[], float], *, promised: bool
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
        value, below, above = self.atoms
        for person in persons:
            person_cells = np.array(boxes[person], np.int64)
            places = self.places[person_cells[:, 0]]
            least, most = value + below, value + above
            least[places], most[places] = -UNBOUNDED, UNBOUNDED
            own_joint = joint.within(0, least, most)
            low, high = own_joint.span(Reach(own_joint.seen, seconds=seconds), 0, places)
            person_value = int(value[places].sum())
            is_near = high < person_value + int(person_cells[:, 1].sum())
            is_near |= low > person_value + int(person_cells[:, 4].sum())
            # Where others than the two largest have rows in the cells, their sum does not say what the person has.
            exact += is_near and low == high
            near += is_near
        return SumsReader(self.name, "contributor", len(persons), len(persons), exact, int(near), promised)

    def _sought(self) -> dict[int, Longs]:
        """The atoms of each cell with a demand."""
        atoms_by_cell: dict[int, Longs] = {}
        for row in self.joined.seen.of:
            for cell in np.unique(row[row >= 0]).tolist():
                if (self.up[cell] or self.down[cell]) and cell not in atoms_by_cell:
                    atoms_by_cell[cell] = np.flatnonzero(row == cell)
        return atoms_by_cell


def _read_target(
    scratch: Scratch, shape: Shape, shape_sum: ShapeSum, seen: tuple[KeptTables, JoinedSystem, Sequence[int]]
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
