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
        together: releases of rows of the same source that readers have as well.
        cohort: versions follow one another, each when at least so many persons are new; None: there is one version.
    """

    tables: tuple[StatisticsTable, ...]
    measures: tuple[tuple[str, Measured], ...]
    threshold: int
    insiders: Insiders = "alone"
    bounds: Bounds = "exact"
    together: tuple[str, ...] = ()
    cohort: int | None = None
