"""Estimates the cost of a search before it begins, and refuses one that would exceed the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import System
from sqlanon.statistics.unserved import UnservedError
from sqlanon.statistics.work import ENTRIES_OF_PROGRAM, MOST_READ

if TYPE_CHECKING:
    from sqlanon.arrays import Flags


MOST_FORESEEN = 800_000_000
"""Entries of the matrices of all programs where persons have several rows, at most; about a minute of one core."""
ROWS_OF_READING = 300
"""A program of patterns reads the matrix once for so many rows."""

READINGS = 6
"""A program of sums reads the matrix so many times."""
ENTRIES_OF_CELL = 2_000_000
"""Programs of atoms near a small cell cost so much together, where those of all atoms cost more."""

MOST_CHANGED = 200_000_000
"""Numbers of cells and combinations in the tables that contributors need, at most; about a minute of one core."""


def most_entries(system: System) -> int:
    """Entries of the matrices of all programs of a run, at most."""
    return MOST_READ if system.times is None else MOST_FORESEEN


def affords_all_atoms(system: System) -> bool:
    """Whether programs of all atoms are used: next to a release of rows not where those of one cell cost too much."""
    return not _is_among_classes(system) or _price_cell(system) <= ENTRIES_OF_CELL


def _is_among_classes(system: System) -> bool:
    """Whether the atoms are patterns of parts of a release of rows."""
    return system.wholes is not None and system.wholes.places is not None


def _price_cell(system: System) -> int:
    """Entries that programs of all atoms read for both ends of a small cell."""
    return 2 * (1 + len(system.member) * len(system) // ROWS_OF_READING)


def check_cost(system: System, contributors: int, must: Flags) -> None:
    """The tables of all contributors, and where persons have several rows all programs, cost no more than they may.

    A table serves one contributor, more or less, as others have what they have: each needs two programs. A small cell
    needs two as well; next to a release of rows, where its classes stay as they are, few tables serve several cells,
    and all classes are rows of each program. Where that is too much, programs of the atoms near a small cell are used,
    and contributors are not counted, as multiples of the tables that small cells need serve most of them; the cost that
    others have ends the search at its limit.

    Args:
        system: the cells.
        contributors: how many need programs.
        must: bool[classes], which must be hidden.

    Raises:
        UnservedError: they would; it names the margin with the largest share of such cells.
    """
    rows = system if system.wholes is None else system.wholes.system
    changed = 2 * contributors * (len(rows) + len(rows.atoms.count))
    if changed > MOST_CHANGED:
        hidden = int(must[system.listed].sum())
        raise UnservedError(
            _find_margin(system, must), exhausted=True, foreseen=True, able=hidden * MOST_CHANGED // changed
        )
    if system.times is None:
        return
    small, nearby = int(system.small.sum()), not affords_all_atoms(system)
    programs = 0 if nearby and small else 2 * contributors
    left = MOST_FORESEEN - programs * (ENTRIES_OF_PROGRAM + READINGS * len(rows.member))
    # Levels are proposed at which programs of all atoms end.
    able = max(left, 0) // _price_cell(system) if _is_among_classes(system) else None
    most = max(left, 0) // ENTRIES_OF_CELL if nearby else able
    if left < 0 or (most is not None and most < small):
        raise UnservedError(_find_margin(system, must), exhausted=True, foreseen=True, able=able)


def _find_margin(system: System, must: Flags) -> int:
    """A cell of the margin with the largest share of cells that must be hidden, of equal ones that with most cells."""
    _, margin = np.unique(system.levels, axis=1, return_inverse=True)
    margin = margin.reshape(-1)
    many = np.bincount(margin)
    share = np.bincount(margin, must[system.listed]) / many
    worst = max(range(len(many)), key=lambda place: (share[place], many[place]))
    return int(np.flatnonzero(margin == worst)[0])
