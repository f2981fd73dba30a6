"""Persons of the rows that a query asks for, where persons have several rows: bounds by cells that cover the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.query.answer import Bounded
from sqlanon.query.counts.shown_cells import read_persons
from sqlanon.statistics.person_bounds import list_steps, narrow_persons
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, SeenCells, narrow

if TYPE_CHECKING:
    from sqlanon.arrays import Flags, Longs
    from sqlanon.engines.base import Engine
    from sqlanon.query.counts.release import ReleasedCounts
    from sqlanon.statistics.reader_cells import SeenColumn


class PersonReader:
    """The persons of a table.

    Args:
        engine: the database.
        released: the release.
        columns: those of the table.
        measure: the published number of persons.
        rows: the published rows over the same finest cells; None: they are not published.

    Raises:
        PolicyError: the view is not as a release has it.

    Cost: the view is read once; scans of the cells, once for the table.
    """

    def __init__(
        self,
        engine: Engine,
        released: ReleasedCounts,
        columns: Sequence[SeenColumn],
        measure: str,
        rows: SeenCells | None,
    ) -> None:
        seen, levels = read_persons(engine, released, columns, measure)
        self.seen, self._of = seen, seen.of
        hidden = seen.value == HIDDEN
        low, high = np.where(hidden, 1, seen.value), np.where(hidden, UNBOUNDED, seen.value)
        if rows is not None:
            order, most = [rows.places[atom] for atom in seen.atoms], _most_rows(rows)
            for cell_of_atom, other in zip(seen.of, rows.of, strict=True):
                high[cell_of_atom] = np.minimum(high[cell_of_atom], most[other[order]])
        self._low, self._high = narrow_persons(list_steps(levels, seen.of), low, high)
        if (self._low > self._high).any():
            raise PolicyError(f"{released.view.ref} has numbers that contradict each other: it is not as published")
        self._size = [np.bincount(row, minlength=len(self._low)) for row in self._of]
        finest = [row for row, size in zip(self._of, self._size, strict=True) if (size[row] == 1).all()]
        self._most_of_atom = np.min([self._high[row] for row in finest], axis=0)

    def count(self, inside: Flags) -> Bounded:
        """The persons with a row in some finest cells.

        Args:
            inside: bool[atoms].
        """
        if not inside.any():
            return Bounded(0, 0, 0, tight=True, exact=True)
        low, high = 1, self._cover(inside)
        total = int(inside.sum())
        for row, size in zip(self._of, self._size, strict=True):
            within = np.bincount(row[inside], minlength=len(size))
            whole = np.flatnonzero((within == size) & (size > 0))
            low = max(low, int(self._low[whole].max(initial=1)))
            for cell in np.flatnonzero(within == total):
                high = min(high, int(self._high[cell]))
                rest = (row == cell) & ~inside
                if rest.any():
                    low = max(low, int(self._low[cell]) - self._cover(rest))
        if high >= UNBOUNDED:
            return Bounded(None, low, None, tight=False)
        exact = low == high
        return Bounded((low + high) // 2, low, high, tight=exact, exact=exact)

    def _cover(self, inside: Flags) -> int:
        """Persons of some finest cells, at most: those of the cells of a margin that are in them, and of the others."""
        best = UNBOUNDED
        for row, size in zip(self._of, self._size, strict=True):
            within = np.bincount(row[inside], minlength=len(size))
            whole = (within == size) & (size > 0)
            rest = inside & ~whole[row]
            parts = [*self._high[whole].tolist(), *self._most_of_atom[rest].tolist()]
            best = min(best, sum(parts))
        return best


def _most_rows(rows: SeenCells) -> Longs:
    """int64[cells], the most rows of each cell."""
    high, most = narrow(rows).high, np.zeros(len(rows.value), np.int64)
    unbounded = np.zeros(len(rows.value), bool)
    for row in rows.of:
        np.add.at(most, row, np.where(high < UNBOUNDED, high, 0))
        np.logical_or.at(unbounded, row, high >= UNBOUNDED)
    most = np.where(unbounded, UNBOUNDED, most)
    return np.where(rows.value == HIDDEN, most, rows.value)
