"""Demands of sums: by how much the sums of a column must be able to change in other tables.

A change is an integer for each atom, in the least unit of the column. There are two kinds of demands. A sensitive cell
must be able to be larger and smaller by its protection level, for readers outside of it (Hundepool et al. 2010,
"Handbook on Statistical Disclosure Control", 4.2.2). A contributor who dominates atoms must be able to have p % more,
and p % less, in all of them at once, against every other contributor: then no union of hidden cells of a contributor
shows more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Longs


MOST_UNIT = 10**6
"""Changes are solved in a unit, a power of ten, such that the largest atom has about so many."""
PER_ATOM = ("value", "low", "high", "least", "most")
"""Attributes of each atom."""
ENDS = (True, False)
"""More, and less."""


@dataclass(frozen=True, slots=True)
class Contributor:
    """A person who dominates atoms.

    Attributes:
        atoms: int64[k], all atoms that have rows of the person, in ascending order.
        more: int64[2, k], the least and the greatest change of each, such that the person can have more in all.
        less: int64[2, k], the same such that the person can have less.
    """

    atoms: Longs
    more: Longs
    less: Longs

    def box(self, *, more: bool) -> Longs:
        """Least and greatest change of each atom at an end."""
        return self.more if more else self.less


@dataclass(frozen=True, slots=True)
class Amounts:
    """A column's sums.

    Attributes:
        value: int64[atoms], the sums.
        low, high: int64[atoms], the least and the greatest change that agrees with the knowledge of each contributor.
        least, most: int64[atoms], the same for readers who contribute nothing: what the range of the column allows.
        up, down: int64[classes], how much larger and smaller the sum of a class must be able to be; 0: not demanded.
        sensitive: bool[classes], a rule forbids to show the class.
        contributors: who dominates atoms.
    """

    value: Longs
    low: Longs
    high: Longs
    least: Longs
    most: Longs
    up: Longs
    down: Longs
    sensitive: npt.NDArray[np.bool_]
    contributors: tuple[Contributor, ...]

    def extend(self, atoms: int) -> Amounts:
        """The same with further atoms without rows."""
        if not atoms:
            return self
        longer: dict[str, Any] = {name: np.append(getattr(self, name), np.zeros(atoms, np.int64)) for name in PER_ATOM}
        return replace(self, **longer)

    @property
    def unit(self) -> int:
        """The unit in which changes are solved."""
        largest = int(np.abs(self.value).max(initial=0))
        unit = 1
        while largest > unit * MOST_UNIT:
            unit *= 10
        return unit

    def find_demands(self, *, more: bool) -> Longs:
        """What classes demand at an end."""
        return self.up if more else self.down


def find_sensitive(amounts: Sequence[Amounts], classes: int) -> npt.NDArray[np.bool_]:
    """bool[classes], which a rule of a column forbids to show; the columns may have the first classes only."""
    sensitive = np.zeros(classes, bool)
    for amount in amounts:
        sensitive[: len(amount.sensitive)] |= amount.sensitive
    return sensitive


@dataclass(frozen=True, slots=True)
class Range:
    """Between which numbers a column's sum is, per counted row: rows times ``low``, and rows times ``high``."""

    low: int
    high: int

    def change(self, value: Longs, count: Longs) -> tuple[Longs, Longs]:
        """The least and the greatest change of sums, where atoms have such counts."""
        return self.low * count - value, self.high * count - value
