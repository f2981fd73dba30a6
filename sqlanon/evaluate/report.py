"""Results of an evaluation: errors, bounds and divergence, in counts and measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, median, pstdev
from typing import Any

from sqlanon.evaluate.divergence import Divergence
from sqlanon.results import LossReport

OVERFLOW = (
    "a number leaves the range of its type, as a sum may; cast the column to a wider type in a view of the source"
)
"""Why a query has no answer (`QueryResult.refused`) that the database cannot compute over the source or the release."""


@dataclass(frozen=True, slots=True)
class Cell:
    """An aggregate of a group: the truth and the answer. Numbers only; `inside` is decided for any type.

    Attributes:
        truth, estimate: None where undefined (an average of no rows) or no finite number.
        low, high: None: no bound on that side, or no finite number.
        inside: the truth lies in the bounds.
    """

    truth: float | None
    estimate: float | None
    low: float | None
    high: float | None
    inside: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a measure; all None if nothing was measured.

    ``p95``: 95 % are at most this (nearest rank).
    """

    count: int
    mean: float | None = None
    median: float | None = None
    p95: float | None = None
    deviation: float | None = None

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """Of these values; ``deviation`` is the population's."""
        if not values:
            return Spread(0)
        ranked = sorted(values)
        p95 = ranked[max(math.ceil(0.95 * len(ranked)) - 1, 0)]
        return Spread(len(values), fmean(values), median(values), p95, pstdev(values))


@dataclass(frozen=True, slots=True)
class Errors:
    """How answers differ from the truth.

    Attributes:
        cells: aggregates of groups compared.
        inside: cells with the truth in the bounds; every cell must.
        undefined: cells with a truth or an estimate that is no finite number.
        absolute: abs(estimate - truth).
        relative: the same over abs(truth), where the truth is not 0.
        width: high - low, where both are there.
        relative_width: the same over abs(truth), where the truth is not 0.
    """

    cells: int
    inside: int
    undefined: int
    absolute: Spread
    relative: Spread
    width: Spread
    relative_width: Spread

    @staticmethod
    def of(cells: Iterable[Cell]) -> Errors:
        """Of these cells."""
        every = list(cells)
        errors = [
            (abs(c.estimate - c.truth), abs(c.truth)) for c in every if c.estimate is not None and c.truth is not None
        ]
        widths = [
            (c.high - c.low, abs(c.truth) if c.truth is not None else 0.0)
            for c in every
            if c.low is not None and c.high is not None
        ]
        return Errors(
            len(every),
            sum(c.inside for c in every),
            len(every) - len(errors),
            Spread.of([error for error, _ in errors]),
            Spread.of([error / truth for error, truth in errors if truth]),
            Spread.of([width for width, _ in widths]),
            Spread.of([width / truth for width, truth in widths if truth]),
        )


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A query and an aggregate of it.

    Attributes:
        query: the query's name; ``family`` the generator, or ``queries``.
        aggregate: the output column.
        groups: rows of the answer.
        lost: groups of the source that the answer does not name: formats that hide or replace values do not know them.
        estimate, truth, low, high: where there is a single group.
        refused: why the query has no answer over this release, or None.
    """

    query: str
    family: str
    aggregate: str
    groups: int
    lost: int
    errors: Errors
    estimate: float | None = None
    truth: float | None = None
    low: float | None = None
    high: float | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """All queries of a generator, or of the file's own."""

    name: str
    queries: int
    refused: int
    lost: int
    errors: Errors


def family_of(name: str, results: Sequence[QueryResult], cells: Sequence[Cell]) -> Family:
    """A generator's queries; ``all``: those of all generators."""
    mine = [result for result in results if name in ("all", result.family)]
    return Family(
        name,
        len({result.query for result in mine}),
        len({result.query for result in mine if result.refused}),
        sum(result.lost for result in mine),
        Errors.of(cells),
    )


@dataclass(frozen=True, slots=True)
class ComparedRelease:
    """Another release that was asked the same."""

    release: str
    families: tuple[Family, ...]


@dataclass(frozen=True, slots=True)
class CubeResult:
    """Divergence of a generator: ``kld`` is the mean of the group-bys.

    It is infinite if the release reaches no row of a cell.
    """

    name: str
    sensitive: str | None
    kld: float
    missed: int
    group_bys: tuple[Divergence, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How well a release answers for the source.

    Attributes:
        release: name of the release; ``view`` where it is; ``source`` the table that it was made of.
        rows: of the source; ``released_rows`` of the release.
        total: over all queries.
        loss: as it was measured when the version was made, the policy's `metrics` among it.
        cells: data of a report's picture, by family; not part of the JSON.
        noise: answers have intervals of noise in place of bounds: some truths lie outside.
        beside: releases of rows of the same source that were asked the same, of noisy statistics.
    """

    release: str
    view: str
    source: str
    rows: int
    released_rows: int
    total: Family
    families: tuple[Family, ...]
    queries: tuple[QueryResult, ...]
    cubes: tuple[CubeResult, ...]
    seconds: float
    loss: LossReport | None = None
    cells: dict[str, list[Cell]] = field(default_factory=dict, repr=False)
    noise: bool = False
    beside: tuple[ComparedRelease, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every truth lies within bounds, where there are bounds."""
        return self.noise or self.total.errors.inside == self.total.errors.cells

    def to_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries, lists, numbers and text."""
        document = asdict(self)
        del document["cells"]
        return {**document, "sound": self.sound}
