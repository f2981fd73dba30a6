"""Policy of a release of counts, as a frozen value; `sqlanon.spec` has those of releases of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
    """

    tables: tuple[StatisticsTable, ...]
    measures: tuple[tuple[str, Measured], ...]
    threshold: int
    insiders: Insiders = "alone"
    bounds: Bounds = "exact"
    sums: tuple[SumMeasure, ...] = ()


SUM_PARTS = ("limits", "needs", "contributors")
"""Private tables of each column of sums; templates ``statistics/sum_<part>`` make them."""


def list_parts(sums: int) -> list[str]:
    """Suffixes of the names of a version's private tables, with so many sums."""
    return ["cells", "atoms", "witness", *(f"{part}{place}" for place in range(1, sums + 1) for part in SUM_PARTS)]
