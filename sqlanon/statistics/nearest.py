"""Finds the numbers of atoms with sums nearest to given cells: least squares over a hierarchy of sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs


GRAIN = 2.0**-20
"""Numbers are multiples of it, so that every engine adds them exactly."""
MOST_SUM = 2**32
"""Sums of such numbers are exact below it."""
STEPS = 1000
"""Steps of the method of conjugate gradients, at most."""
NEAR = 1e-9
"""The sums of differences that are left are at most so large, as a part of those at the beginning."""


def fit_atoms(of: Longs, result: Doubles, weight: Doubles, start: Doubles) -> Doubles:
    """The numbers of atoms that minimize the sum of weight x (result - sum of the atoms)^2 over the cells.

    Args:
        of: int64[margins, atoms], the cell of each atom in each margin; -1: none.
        result: float64[cells], the given numbers.
        weight: float64[cells], how much a cell counts each time that a margin has it.
        start: float64[atoms], where the search begins; without a cell of its own an atom stays near it.

    Returns:
        float64[atoms], multiples of `GRAIN`.

    Cost: for each step of the method of conjugate gradients (Hestenes and Stiefel 1952) two scans of the atoms for each
    margin; the number of steps grows with the square root of the largest cell's part of all cells.
    """
    fitted = start.astype(np.float64).copy()
    rest = _gather(of, weight * (result - _add(of, fitted, len(result))))
    move, size = rest.copy(), float(rest @ rest)
    enough = size * NEAR**2
    for _ in range(STEPS):
        if size <= enough or size == 0.0:
            break
        curved = _gather(of, weight * _add(of, move, len(result)))
        length = size / float(move @ curved)
        fitted += length * move
        rest -= length * curved
        before, size = size, float(rest @ rest)
        move = rest + size / before * move
    exact: Doubles = np.rint(fitted / GRAIN) * GRAIN
    return exact


def _add(of: Longs, atoms: Doubles, cells: int) -> Doubles:
    """The sum of the atoms of each cell; a cell of several margins has the same atoms in each."""
    sums = np.zeros(cells)
    for row in of:
        inside = row >= 0
        cell_sums = np.bincount(row[inside], atoms[inside], cells)
        listed = np.bincount(row[inside], minlength=cells) > 0
        sums[listed] = cell_sums[listed]
    return sums


def _gather(of: Longs, cells: Doubles) -> Doubles:
    """The sum over the margins of the number of each atom's cell."""
    gathered = np.zeros(of.shape[1])
    for row in of:
        gathered += np.where(row >= 0, cells[row], 0.0)
    return gathered
