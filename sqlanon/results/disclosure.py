"""Disclosure by published tables of counts, computed from them alone: so their values are in the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class TableCells:
    """A table that was read.

    Attributes:
        table: the name.
        cells: how many it lists.
        hidden: how many of them have no number, or another one than the true one.
        status: their status: hidden, rounded or perturbed.
    """

    table: str
    cells: int
    hidden: int
    status: str = "hidden"


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A cell.

    Attributes:
        tables: those that list it.
        values: of each column the value as text; a column that is not in it is a total, None is NULL.
        low, high: bounds of the cell's number, in units of the report's decimals; ``high`` None: nothing bounds it.
        reached: tables of whole numbers were found at both ends: no reader has narrower ones.
    """

    tables: tuple[str, ...]
    values: Mapping[str, str | None]
    low: int
    high: int | None
    reached: bool

    @property
    def exact(self) -> bool:
        """It is disclosed."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class DisclosureReport(Report):
    """Inferences of a reader of some tables.

    Attributes:
        tables: the tables.
        persons: numbers below it are small; None: none was given.
        hidden: different cells that some table hides, or whose numbers it changes.
        exact: those of them with a number that follows.
        small: those that are surely of fewer than ``persons``, and not surely empty.
        undecided: those with an interval that may be too wide, or with ends that no table was found to reach.
        contradictions: cells that show that no table has all numbers; the other figures are 0 then.
        found: all hidden cells, exact ones first, then by their widths.
        decimals: bounds have so many digits after the point.
    """

    tables: tuple[TableCells, ...]
    persons: int | None
    hidden: int = 0
    exact: int = 0
    small: int = 0
    undecided: int = 0
    contradictions: tuple[FoundCell, ...] = ()
    found: tuple[FoundCell, ...] = ()
    decimals: int = 0

    @property
    def status(self) -> str:
        """The status of these cells, for texts: several where tables differ."""
        return " or ".join(dict.fromkeys(table.status for table in self.tables)) or "hidden"

    @property
    def satisfied(self) -> bool:
        """Whether no hidden cell is found, none is surely small, and the numbers agree."""
        return not (self.exact or self.small or self.contradictions)
