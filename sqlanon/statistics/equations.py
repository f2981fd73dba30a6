"""Equations between published cells: each cell is the sum of cells of the margin a level below in one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.statistics.system import System, group_atoms

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class Equations:
    """Sums of cells.

    Attributes:
        total: int64[equations], the class of the sum.
        at, part: the classes that add up to it: those of equation i are ``part[at[i]:at[i + 1]]``.
    """

    total: Longs
    at: Longs
    part: Longs

    def __len__(self) -> int:
        return len(self.total)

    def parts(self, equation: int) -> Longs:
        """The classes of an equation, without the sum."""
        return self.part[self.at[equation] : self.at[equation + 1]]


def list_equations(system: System) -> Equations:
    """The equations of cells with the cells one published level below, each once.

    Cost: a sort of the atoms for each margin and column.
    """
    class_of = _find_classes(system)
    equation_set: dict[tuple[int, ...], None] = {}
    for levels, classes in class_of.items():
        for column, level in enumerate(levels):
            below = [(*levels[:column], lower, *levels[column + 1 :]) for lower in range(level - 1, -1, -1)]
            finer = next((class_of[margin] for margin in below if margin in class_of), None)
            if finer is None:
                continue
            listed = (classes >= 0) & (finer >= 0)
            totals, parts = np.divmod(np.unique(classes[listed] * len(system) + finer[listed]), len(system))
            starts = np.flatnonzero(np.diff(totals, prepend=-1))
            for total, inside in zip(totals[starts].tolist(), np.split(parts, starts[1:]), strict=True):
                if len(inside) > 1:
                    equation_set[total, *inside.tolist()] = None
    sizes = [len(equation) - 1 for equation in equation_set]
    return Equations(
        np.array([equation[0] for equation in equation_set], np.int64),
        np.cumsum([0, *sizes]).astype(np.int64),
        np.array([part for equation in equation_set for part in equation[1:]], np.int64),
    )


def find_parts(system: System) -> dict[int, Longs]:
    """Of each class that other classes divide among them the fewest that do."""
    parts_of: dict[int, Longs] = {}
    if system.times is not None:
        return parts_of
    equations = list_equations(system)
    if not len(equations):
        return parts_of
    # Sets of atoms are equal where these sums are, but for a chance of 2^-62 for each pair.
    mark = system.sums(np.random.default_rng(0).integers(1, 2**62, len(system.atoms.count), dtype=np.int64))
    whole = np.add.reduceat(mark[equations.part], equations.at[:-1])
    for equation in np.flatnonzero(whole == mark[equations.total]).tolist():
        total, parts = int(equations.total[equation]), equations.parts(equation)
        if total not in parts_of or len(parts) < len(parts_of[total]):
            parts_of[total] = parts
    return parts_of


def _find_classes(system: System) -> dict[tuple[int, ...], Longs]:
    """Of each margin the class of each atom; -1: no published cell has it."""
    margins, of_cell = np.unique(system.levels, axis=1, return_inverse=True)
    first = system.member[system.at[system.listed]]
    classes: dict[tuple[int, ...], Longs] = {}
    for margin in range(margins.shape[1]):
        levels = tuple(margins[:, margin].tolist())
        group, cells = group_atoms(system.atoms, levels), np.flatnonzero(of_cell.reshape(-1) == margin)
        class_of_group = np.full(int(group.max()) + 1, -1, np.int64)
        class_of_group[group[first[cells]]] = system.listed[cells]
        classes[levels] = class_of_group[group]
    return classes
