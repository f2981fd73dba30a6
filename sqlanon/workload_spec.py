"""Workloads that measure a release, as frozen values: queries, and generators of queries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

GeneratorKind = Literal["equality", "ranges", "aggregates", "datacube", "joint"]


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """One query of a workload: SQL over the source's names."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class GeneratorSpec:
    """A family of queries over any release; `sqlanon.evaluate.workload` makes them.

    Each kind uses some of the attributes.

    Attributes:
        name: in reports.
        kind: ``equality``, ``ranges``, ``aggregates``, ``datacube`` or ``joint``.
        columns: the quasi columns it is about; none: all.
        queries: how many, at most; None: all there are.
        dimensions: quasi columns in one query (ranges).
        selectivity: the share of the domain that a query asks for (ranges).
        sensitive: the sensitive column; None: the first, if there is one.
        measures: numeric columns to sum and average; none: all that are not text (aggregates).
        by: columns to group by, one at a time; none: quasi and sensitive columns of few values (aggregates).
        level: how many quasi columns a group-by has (datacube).
        answers: also ask each group-by as a query, cell by cell (datacube).
    """

    name: str
    kind: GeneratorKind
    columns: tuple[str, ...] = ()
    queries: int | None = None
    dimensions: int = 2
    selectivity: Fraction = Fraction(1, 10)
    sensitive: str | None = None
    measures: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    level: int = 2
    answers: bool = False


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """A workload: queries and generators; ``seed`` decides what generators draw."""

    queries: tuple[QuerySpec, ...] = ()
    generators: tuple[GeneratorSpec, ...] = ()
    seed: int = 1
