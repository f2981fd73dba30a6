"""Demands of programs over changes of atoms, and limits of these changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.statistics.system import System

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Demand:
    """A cell that is to have another value, or atoms that are.

    Attributes:
        cell: the class of the cell; -1: none.
        most: greatest change of the value; None: any.
        fewest: least change of the value; None: any.
        fixed: atoms that an insider knows.
        between: atoms with other limits of the change than those of the system: place, least and greatest change.
        kept: atoms with a least change besides: place and change.
    """

    cell: int
    most: int | None
    fewest: int | None
    fixed: tuple[int, ...] = ()
    between: tuple[tuple[int, int, int], ...] = ()
    kept: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much numbers may change.

    Attributes:
        low, high: float64[atoms], the least and the greatest change of each atom; the latter may be infinite.
        shrinks: float64[classes], by how much each class may shrink; infinite where its atoms say it.
        unit: changes are solved in this unit, so that the numbers of the programs are not too large.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    shrinks: npt.NDArray[np.float64]
    unit: int = 1


def lower_bounds(system: System) -> npt.NDArray[np.float64]:
    """The least change of each atom: float64[atoms]; an atom that is a whole published cell keeps its least value."""
    least = -system.atoms.count.astype(np.float64)
    single = np.diff(system.at) == 1
    atoms, floors = system.member[system.at[:-1][single]], -(-system.floors()[single] // system.first_times()[single])
    np.maximum.at(least, atoms, floors - system.atoms.count[atoms])
    return least


def count_limits(system: System) -> Limits:
    """Counts are not negative, and no published cell falls below its least value, which is 1 of most."""
    single = np.diff(system.at) == 1
    shrinks = np.where(single, np.inf, (system.value - system.floors()).astype(np.float64))
    return Limits(lower_bounds(system), np.full(len(system.atoms.count), np.inf), shrinks)


def split_growth(low: Any, high: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:  # noqa: ANN401 - a number or an array
    """The least and the greatest growth of what changes between two ends, and the same of how much it shrinks."""
    return (np.maximum(low, 0.0), np.maximum(high, 0.0)), (np.maximum(-high, 0.0), np.maximum(-low, 0.0))
