"""Atoms outside of a program that would make its solution less: their values at the multipliers of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import System

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Ints, Longs


class Pricing:
    """The matrix of classes and atoms, by classes and by atoms.

    Args:
        system: the cells.
        row: int64[classes], the row of each class; -1: it has none.
    """

    def __init__(self, system: System, row: Longs) -> None:
        sizes, atoms = np.diff(system.at), len(system.atoms.count)
        times = np.ones(len(system.member), np.int64) if system.times is None else system.times
        inside = np.repeat(row >= 0, sizes)
        self._member, self._row = system.member[inside], np.repeat(row, sizes)[inside]
        self._times = times[inside].astype(np.float64)
        self._atoms = atoms
        self._order = np.argsort(self._member, kind="stable")
        self._starts = np.searchsorted(self._member[self._order], np.arange(atoms + 1))

    @property
    def entries(self) -> int:
        """How many entries the matrix has."""
        return len(self._member)

    def value(self, multipliers: Doubles) -> Doubles:
        """float64[atoms], the sum of the multipliers of an atom's rows.

        Cost: a scan of the matrix.
        """
        values = np.bincount(self._member, multipliers[self._row] * self._times, self._atoms)
        return values.astype(np.float64)

    def columns(self, atoms: Longs) -> tuple[Ints, Ints, Doubles]:
        """The columns of some atoms: where each begins, the rows, and how often each counts the atom."""
        lengths = self._starts[atoms + 1] - self._starts[atoms]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(self._starts[atoms] - ends + lengths, lengths)
        entries = self._order[places]
        return (ends - lengths).astype(np.int32), self._row[entries].astype(np.int32), self._times[entries]
