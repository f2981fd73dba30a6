"""Results of a run that publishes counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class NeighbourReport(Report):
    """A release of rows that readers of counts have as well.

    Attributes:
        release: its name.
        version: its version, of which the certificate has the classes.
        shown: the places of the counted columns that it shows as they are.
        columns: of those of which classes show less the place, how (``ends``, ``members`` or ``leaves``), and whether
            readers know that each end or member occurs.
        persons: rows of how many persons each class has at least.
        share: the part of a class's rows that one person may have, at most, as a fraction.
        alike: where it promises more, what each witness keeps: as many persons of equal rows by shown values in each of
            the ``classes``, or ``persons`` of equal rows by class and shown values.
        weighed: where all that it promises besides is l of persons of columns that it shows: the places of these, and l
            as p and q.
    """

    release: str
    version: int
    shown: tuple[int, ...]
    columns: tuple[tuple[int, str, bool], ...]
    persons: int = 1
    share: tuple[int, int] = (1, 1)
    alike: str = ""
    weighed: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report as the catalog keeps it."""
        columns = tuple((int(place), str(how), bool(is_quasi)) for place, how, is_quasi in report["columns"])
        part, of = report.get("share", (1, 1))
        return cls(
            str(report["release"]),
            int(report["version"]),
            tuple(map(int, report["shown"])),
            columns,
            int(report.get("persons", 1)),
            (int(part), int(of)),
            str(report.get("alike", "")),
            tuple((int(place), int(p), int(q)) for place, p, q in report.get("weighed", ())),
        )


@dataclass(frozen=True, slots=True)
class StatisticsReport(Report):
    """Content of a published release of counts.

    Attributes:
        cells: how many, of all margins.
        shown, hidden: of them.
        witnesses: tables that prove the protection, neighbours the true table.
        margins: how many there are.
        levels: the columns of the cells in their order, and how many levels each has below the total.
        errors: of numbers with noise the expected root of the mean squared error, and what is left of it for who reads
            all cells together.
        persons: a shown cell has so many or more; 0: numbers are not the true ones.
        scales: digits after the point of each column whose sums are published.
        neighbour: the release of rows that was protected together with the counts; None: there is none.
        batches: with versions that follow one another, those whose new rows are in it; else empty.
        patterns: persons have several rows in several cells, so that they do not add up.
        earlier: the versions of earlier lineages.
    """

    cells: int
    shown: int
    hidden: int
    witnesses: int
    margins: int
    levels: tuple[tuple[str, int], ...] = ()
    scales: tuple[int, ...] = ()
    errors: tuple[float, float] | None = None
    persons: int = 0
    neighbour: NeighbourReport | None = None
    batches: tuple[int, ...] = ()
    patterns: bool = False
    earlier: tuple[int, ...] = ()

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> Self:
        """A report as the catalog keeps it."""
        levels = tuple((str(name), int(levels)) for name, levels in report["levels"])
        neighbour_facts = report.get("neighbour")
        neighbour = None if neighbour_facts is None else NeighbourReport.from_dict(neighbour_facts)
        errors = report.get("errors")
        more = {
            "levels": levels,
            "scales": tuple(int(scale) for scale in report.get("scales", ())),
            "errors": errors and (float(errors[0]), float(errors[1])),
            "neighbour": neighbour,
            "batches": tuple(map(int, report.get("batches", ()))),
            "earlier": tuple(map(int, report.get("earlier", ()))),
        }
        return cls(**{**report, **more})
