"""Tiny systems of cells, made without a database, and what a brute-force reader finds in them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sqlanon.statistics.system import Atoms, PublishedCells, System, build_system
from tests.oracle.table_reader import Cell


@dataclass(frozen=True)
class Tiny:
    """Counts of combinations, the tables by which they are published, and their cells.

    Attributes:
        counts: of each combination of codes.
        tables: the columns of each table.
        cells: the published cells: of each column the code, or None for the total.
        within: of each cell its places in ``counts``.
        value: the number of each cell.
    """

    counts: Mapping[tuple[int, ...], int]
    tables: tuple[tuple[int, ...], ...]
    cells: tuple[Cell, ...]
    within: Mapping[Cell, tuple[int, ...]]
    value: Mapping[Cell, int]

    def system(self, threshold: int, secret: bytes = b"key") -> System:
        codes = np.array(list(self.counts), np.int64).T
        count = np.array(list(self.counts.values()), np.int64)
        atoms = Atoms(
            tuple(row[np.newaxis] for row in codes), count, np.where(count == 1, np.arange(len(count)) + 1, -1)
        )
        levels = np.array([[1 if code is None else 0 for code in cell] for cell in self.cells], np.int64).T
        first = np.array([self.within[cell][0] for cell in self.cells], np.int64)
        small = np.array([self.value[cell] < threshold for cell in self.cells])
        finest = [tuple(0 if at in own else 1 for at in range(len(codes))) for own in self.tables]
        return build_system(atoms, PublishedCells(levels, first, small), finest, secret)

    def parts(self, cell: Cell) -> int:
        """How many finest cells of one table it has, at most, counted by the definition."""
        found = 1
        for own in self.tables:
            if all(code is None or at in own for at, code in enumerate(cell)):
                places = list(self.counts)
                inside = {tuple(places[place][at] for at in own) for place in self.within[cell]}
                found = max(found, len(inside))
        return found

    def shown(self, hidden: Sequence[bool]) -> dict[Cell, int | None]:
        """What the view has of each cell."""
        return {cell: None if hide else self.value[cell] for cell, hide in zip(self.cells, hidden, strict=True)}


def tiny(counts: Mapping[tuple[int, ...], int], tables: Sequence[Sequence[int]] | None = None) -> Tiny:
    """A tiny table; without ``tables`` one of all columns."""
    kept = {codes: n for codes, n in counts.items() if n}
    columns = len(next(iter(kept)))
    own = tuple(tuple(one) for one in tables) if tables else (tuple(range(columns)),)
    within: dict[Cell, list[int]] = {}
    for table in own:
        for size in range(len(table) + 1):
            for by in itertools.combinations(table, size):
                for place, codes in enumerate(kept):
                    cell = tuple(code if at in by else None for at, code in enumerate(codes))
                    places = within.setdefault(cell, [])
                    if place not in places:
                        places.append(place)
    cells = tuple(within)
    numbers = list(kept.values())
    value = {cell: sum(numbers[place] for place in places) for cell, places in within.items()}
    return Tiny(kept, own, cells, {cell: tuple(sorted(places)) for cell, places in within.items()}, value)


def drawn(seed: object, shape: Sequence[int], most: int = 5) -> dict[tuple[int, ...], int]:
    """Counts from 0 to ``most``."""
    draw = random.Random(str(seed))
    return {codes: draw.randrange(most + 1) for codes in itertools.product(*map(range, shape))}
