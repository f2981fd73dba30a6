"""Policy of a release of counts, as a frozen value; `sqlanon.spec` has those of releases of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class StatisticsTable:
    """A table of counts: its name, and the columns by which it counts."""

    name: str
    by: tuple[str, ...]


Measured = Literal["count", "persons"]
"""Counted units: rows, or distinct persons."""


@dataclass(frozen=True, slots=True)
class SumMeasure:
    """A column whose sums are published; several rows of a person are one contribution.

    Attributes:
        name: in the view.
        column: the summed column.
        low, high: the least and the greatest value of a row, as decimal texts; readers know them.
        percent: no contribution may be known to this many percent of it; parts of 10,000.
        dominant, share: cells of which the largest contributions, so many, are more than this share (parts of 10,000)
            are not shown; a share of 0: there is no such rule.
        absolute: values may be negative; contributions are then compared without their sign.
    """

    name: str
    column: str
    low: str
    high: str
    percent: int
    dominant: int = 2
    share: int = 0
    absolute: bool = False


Insiders = Literal["alone", "none"]
Bounds = Literal["exact", "none"]
Method = Literal["suppress", "cell_key", "round"]
"""How the numbers of cells are protected; `sqlanon.statistics.protections` has what each does."""
Rule = Literal["10_5"]
"""Published tables of perturbations."""
STATUS: Final[Mapping[Method, str]] = {"suppress": "hidden", "cell_key": "perturbed", "round": "rounded"}
"""The status of cells whose number is not the true one."""
CHANGED_PARTS: Final[Mapping[Method, tuple[str, ...]]] = {
    "cell_key": ("cells", "atoms", "noise", "chances"),
    "round": ("cells", "atoms", "witness"),
}
"""Suffixes of the names of a version's private tables, of methods that change numbers."""


@dataclass(frozen=True, slots=True)
class CellKeySpec:
    """Numbers with noise that depends on who is in the cell.

    Attributes:
        deviation: the noise, at most; a rule has its own.
        variance: of the noise; None: a rule.
        no_result: numbers from 1 to this one are never published.
        rule: a published table of perturbations, in place of one of largest entropy.
        additive: published are the sums that are nearest to the numbers with noise.
    """

    deviation: int
    variance: Fraction | None
    no_result: int = 0
    rule: Rule | None = None
    additive: bool = False
    method: Literal["cell_key"] = "cell_key"

    def changes(self, count: int) -> list[int]:
        """The noise that a number of this size may have, in ascending order."""
        able = range(-self.deviation, self.deviation + 1)
        return [change for change in able if count + change == 0 or count + change > self.no_result]

    @property
    def small(self) -> int:
        """The greatest number with noise that not all of the others have."""
        return self.deviation + self.no_result

    def spread(self, count: int) -> tuple[int, int]:
        """Variances of noise of mean 0 are above the first and below the second."""
        able = self.changes(count)
        less, more = [-change for change in able if change < 0], [change for change in able if change > 0]
        least = 0 if 0 in able else min(less, default=0) * min(more, default=0)
        return least, max(less, default=0) * max(more, default=0)


@dataclass(frozen=True, slots=True)
class RoundSpec:
    """Numbers that are rounded to multiples of a base, so that all sums hold."""

    base: int
    method: Literal["round"] = "round"


@dataclass(frozen=True, slots=True)
class StatisticsSpec:
    """A release of counts; its columns have the role ``quasi`` in `ReleaseSpec.columns`.

    Attributes:
        tables: the tables, which are protected together with all their margins.
        measures: name and counted unit of each published number.
        threshold: cells of fewer persons are small.
        insiders: ``alone``: who is the only person of a cell finds no other small one either.
        bounds: ``exact``: the bounds that readers can compute of hidden cells are published.
        sums: the columns whose sums are published.
        other: another protection than that cells are hidden.
        together: releases of rows of the same source that readers have as well.
        cohort: versions follow one another, each when at least so many persons are new; None: there is one version.
        cohort_every: a version of this age, in seconds, is followed when more than ``threshold`` persons are new.
        lineage_age: when the first version of a lineage has this age, in seconds, the next version begins another one.
        show: margins whose cells must be shown, each by its columns and their levels; without any the grand total.
    """

    tables: tuple[StatisticsTable, ...]
    measures: tuple[tuple[str, Measured], ...]
    threshold: int
    insiders: Insiders = "alone"
    bounds: Bounds = "exact"
    sums: tuple[SumMeasure, ...] = ()
    other: CellKeySpec | RoundSpec | None = None
    together: tuple[str, ...] = ()
    cohort: int | None = None
    cohort_every: int | None = None
    lineage_age: int | None = None
    show: tuple[tuple[tuple[str, int], ...], ...] = ()

    @property
    def numbers(self) -> tuple[tuple[str, str], ...]:
        """The name of each published number, and the source's column that it is of (``""``: of rows or persons)."""
        return (*((name, "") for name, _ in self.measures), *((summed.name, summed.column) for summed in self.sums))

    @property
    def has_ends(self) -> bool:
        """Whether the view has bounds of each number."""
        return self.bounds == "exact" or self.other is not None

    @property
    def method(self) -> Method:
        """The name of the protection."""
        return "suppress" if self.other is None else self.other.method


PAST_PARTS = ("past_atoms", "past_cells", "past_witness")
"""Private tables of all lineages, where lineages end."""
BOUNDS = "bounds"
"""The private table of the bounds of hidden cells."""
ABLE = "able"
"""The private table of combinations without rows of which witnesses have some."""
SUM_PARTS = ("limits", "needs", "contributors")
"""Private tables of each column of sums; templates ``statistics/sum_<part>`` make them."""


def list_parts(
    sums: int, method: Method = "suppress", *, followed: bool = False, bounds: bool = False, patterns: bool = False
) -> list[str]:
    """Suffixes of the names of a version's private tables.

    Args:
        sums: how many columns of sums there are.
        method: the protection.
        followed: other versions are to follow.
        bounds: bounds of hidden cells are published; with ``followed`` these are in the table of cells.
        patterns: persons have several rows, and are counted.
    """
    if method in CHANGED_PARTS:
        return list(CHANGED_PARTS[method])
    of_sums = [f"{part}{place}" for place in range(1, sums + 1) for part in SUM_PARTS]
    rest = [*(["amounts"] if sums and followed else []), *([BOUNDS] if bounds and not followed else [])]
    of_patterns = ["patterns", ABLE, *(["paid"] if sums else [])] if patterns else []
    return ["cells", "atoms", "witness", *of_sums, *rest, *of_patterns]
