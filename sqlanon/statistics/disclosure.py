"""Measures disclosure by published tables: the possible numbers of each hidden cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.joined_tables import JoinedSystem
from sqlanon.statistics.person_bounds import list_steps, narrow_persons
from sqlanon.statistics.program import Box, Program
from sqlanon.statistics.reach import WHOLE, ContradictionError, Reach
from sqlanon.statistics.reader_cells import HIDDEN, UNBOUNDED, SeenCells, list_atoms
from sqlanon.statistics.rows import build_rows
from sqlanon.statistics.spans import find_spans

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers that a hidden cell can have.

    Attributes:
        cell: place of the cell.
        low, high: no table has less or more; None: nothing bounds it.
        reached: tables of whole numbers were found at both ends, so that no reader has narrower bounds.
    """

    cell: int
    low: int
    high: int | None
    reached: bool

    @property
    def exact(self) -> bool:
        """It is disclosed."""
        return self.low == self.high


def disclose(seen: SeenCells, seconds: Callable[[], float]) -> list[Interval]:
    """The interval of each hidden cell, in their order.

    Args:
        seen: the published cells.
        seconds: time left, in seconds; when it is over, intervals are wider, and not reached.

    Raises:
        ContradictionError: no table has all shown numbers; it names cells that show it.

    Cost: that of `find_spans` for the sets of atoms that hidden cells have.
    """
    try:
        reach = Reach(seen, seconds=seconds)
        whole = reach.check()
    except ContradictionError as error:
        raise ContradictionError(_find_proof(seen, seconds, error.cells)) from error
    sets: dict[bytes, Longs] = {}
    of_cell: dict[int, bytes] = {}
    for cell, atoms in list_atoms(seen.of):
        if seen.value[cell] == HIDDEN:
            of_cell[cell] = atoms.tobytes()
            sets.setdefault(of_cell[cell], atoms)
    spans = dict(zip(sets, find_spans(seen, reach, list(sets.values()), seconds), strict=True))
    bottom, _ = seen.bounds()
    intervals: dict[int, Interval] = {}
    for cell, key in of_cell.items():
        low, high, reached = spans[key]
        intervals[cell] = Interval(cell, max(low, int(bottom[cell])), high, reached and whole)
    empty = [cell for cell in np.flatnonzero(seen.value == HIDDEN).tolist() if cell not in intervals]
    if empty and seen.hidden > 0:
        raise ContradictionError(np.array(empty, np.int64))
    return [
        intervals.get(cell, Interval(cell, 0, 0, reached=whole))
        for cell in np.flatnonzero(seen.value == HIDDEN).tolist()
    ]


def disclose_persons(joined: JoinedSystem) -> list[Interval]:
    """The interval of each hidden cell, where numbers are of persons who have several rows.

    A whole has at least the persons of each part, and at most their sum. Readers may know more: none is reached.

    Raises:
        ContradictionError: no persons have all shown numbers; it names cells that show it.

    Cost: that of `narrow_persons`.
    """
    seen = joined.seen
    low, high = seen.bounds()
    levels = np.array([[level for level, _ in key] for key in joined.keys], np.int64).T
    low, high = narrow_persons(list_steps(levels, seen.of), low, high)
    wrong = np.flatnonzero(low > high)
    if len(wrong):
        raise ContradictionError(wrong)
    return [
        Interval(cell, int(low[cell]), None if high[cell] >= UNBOUNDED else int(high[cell]), reached=False)
        for cell in np.flatnonzero(seen.value == HIDDEN).tolist()
    ]


def _find_proof(seen: SeenCells, seconds: Callable[[], float], some: Longs) -> Longs:
    """Cells with numbers that no table has together; else cells for which the others leave nothing."""
    every = np.arange(len(seen.least))
    rows, sums, cells, links = build_rows(seen, every, np.zeros(len(every), np.int64))
    program, box = Program(rows, sums, links), Box(seen.least, np.full(len(every), UNBOUNDED, np.int64))
    solved = program.solve(np.zeros(len(every), np.int64), box, seconds)
    if solved.table is None and solved.multipliers is not None and program.contradicts(box, solved.multipliers):
        return np.unique(cells[np.abs(solved.multipliers[: len(cells)]) > WHOLE])
    return some
