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

MOST_CHANGED = 200_000_000
"""Numbers of cells and combinations in the tables that contributors need, at most; about a minute of one core."""


def most_entries(system: System) -> int:
    """Entries of the matrices of all programs of a run, at most."""
    return MOST_READ if system.times is None else MOST_FORESEEN


def check_cost(system: System, contributors: int, must: Flags) -> None:
    """The tables of all contributors, and where persons have several rows all programs, cost no more than they may.

    A table serves one contributor, more or less, as others have what they have: each needs two programs. A small cell
    needs two as well; next to a release of rows, where its classes stay as they are, few tables serve several cells,
    and all classes are rows of each program.

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
    left = MOST_FORESEEN - 2 * contributors * (ENTRIES_OF_PROGRAM + READINGS * len(rows.member))
    able = None
    if system.wholes is not None and system.wholes.places is not None:
        able = max(left, 0) // (2 * (1 + len(system.member) * len(system) // ROWS_OF_READING))
    if left < 0 or (able is not None and able < int(system.small.sum())):
        raise UnservedError(_find_margin(system, must), exhausted=True, foreseen=True, able=able)


def _find_margin(system: System, must: Flags) -> int:
    """A cell of the margin with the largest share of cells that must be hidden, of equal ones that with most cells."""
    _, margin = np.unique(system.levels, axis=1, return_inverse=True)
    margin = margin.reshape(-1)
    many = np.bincount(margin)
    share = np.bincount(margin, must[system.listed]) / many
    worst = max(range(len(many)), key=lambda place: (share[place], many[place]))
    return int(np.flatnonzero(margin == worst)[0])
