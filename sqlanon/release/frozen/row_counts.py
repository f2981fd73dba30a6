"""The source's rows by their state in the lineage, and whether waiting rows are to be published."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integers
from sqlanon.errors import GuardError
from sqlanon.release.catalog.lineage import Lineage
from sqlanon.release.frozen.shape import list_kept_columns, quasi_columns
from sqlanon.spec import ReleaseSpec
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Census:
    """Rows of the source by state.

    Attributes:
        new: never seen; ``waiting``: for their cohort; ``refused``: in a cohort that could not be published;
            ``published``: in a published class; ``gone``: in a class that left; ``later``: of persons published before
            the row came, with ``persons: whole``; ``erased``: never published again.
        waits_since: start of the longest wait for a cohort, as ISO 8601; None if no row waits.
        refused_since: start of the longest wait of a refused row.
    """

    new: int
    waiting: int = 0
    refused: int = 0
    published: int = 0
    gone: int = 0
    later: int = 0
    erased: int = 0
    waits_since: str | None = None
    refused_since: str | None = None

    @property
    def cohort(self) -> int:
        """Rows that can be published together now."""
        return self.new + self.waiting

    def without_cohort(self) -> Census:
        """The census after publication of the cohort."""
        return replace(self, new=0, waiting=0, waits_since=None)

    def with_refused(self, now: str) -> Census:
        """The census if the cohort could not be published."""
        since = min(filter(None, (self.waits_since, self.refused_since)), default=now)
        return replace(self.without_cohort(), refused=self.refused + self.cohort, refused_since=since)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The source and the lineage, row by row.

    Attributes:
        rows: scratch table of every row that the source or the lineage has (frozen/compared).
        leaving: scratch table of the classes that leave.
        census: the source's rows by state; ``gone`` includes rows of classes that leave now with an erased key.
        stays: published rows of classes that stay. Of these, the source no longer has ``retained``; it has ``changed``
            with another value in a column published unchanged, and ``apart`` with other quasi values alone, which may
            lie in the published cell.
    """

    rows: TableRef
    leaving: TableRef
    census: Census
    stays: int
    retained: int
    changed: int
    apart: int


def compare(
    scratch: Scratch, lineage: Lineage, roles: Roles, stage: TableRef, erased: TableRef, *, whole: bool
) -> Comparison:
    """Compare the staged rows with the lineage. Cost: a join of both by key, and groupings of the narrow result.

    Args:
        scratch: the run.
        lineage: the release's lineage.
        roles: the source's columns.
        stage: the source's rows, with their key.
        erased: hashes of keys that are never published again.
        whole: rows of persons who are published wait.
    """
    rows, leaving = scratch.table("compared"), scratch.table("leaving")
    scratch.execute(
        "frozen/compared",
        compared=rows,
        rows=lineage.rows,
        stage=stage,
        erased=erased,
        whole=whole,
        quasi=quasi_columns(roles),
        kept=list_kept_columns(roles),
    )
    scratch.execute("frozen/leaving", leaving=leaving, compared=rows)
    by_origin: dict[tuple[str | None, bool], tuple[int, int, int]] = {}
    since: dict[str, str] = {}
    for status, stays, *counts, earliest in scratch.fetch("frozen/statuses", compared=rows, leaving=leaving):
        n, changed, apart = read_integers(counts)
        of = None if status is None else str(status)
        by_origin[of, bool(stays)] = n, changed, apart
        if of is not None and earliest is not None:
            since[of] = str(earliest)
    here, away = by_origin.get(("published", True), (0, 0, 0)), by_origin.get((None, True), (0, 0, 0))
    by_status = {status: by_origin.get((status, False), (0, 0, 0))[0] for status in _STATUSES}
    census = Census(
        by_status["new"],
        by_status["waiting"],
        by_status["refused"],
        here[0],
        by_status["gone"] + by_status["published"],
        by_status["later"],
        by_status["erased"],
        since.get("waiting"),
        since.get("refused"),
    )
    return Comparison(rows, leaving, census, here[0] + away[0], away[0], here[1], here[2])


_STATUSES = ("new", "waiting", "refused", "published", "gone", "later", "erased")


def is_due(spec: ReleaseSpec, seen: Census, now: str) -> bool:
    """Whether waiting rows are to be published: by their number and the time alone, never by a value.

    Raises:
        GuardError: a row's wait starts later than now.
    """
    waited = _seconds(spec, seen.waits_since, now)
    if seen.cohort >= spec.refresh.cohort_rows(spec.privacy.k):
        return True
    every = spec.refresh.cohort.every if spec.refresh.cohort else None
    return every is not None and waited is not None and waited >= every and seen.cohort >= max(spec.privacy.k, 1)


def too_long(spec: ReleaseSpec, seen: Census, now: str) -> str | None:
    """Start of the wait of a never published row that waits longer than `max_age`; None without such a row."""
    since = min(filter(None, (seen.waits_since, seen.refused_since)), default=None)
    waited = _seconds(spec, since, now)
    return since if spec.refresh.max_age is not None and waited is not None and waited > spec.refresh.max_age else None


def _seconds(spec: ReleaseSpec, since: str | None, now: str) -> float | None:
    if since is None:
        return None
    waited = (datetime.datetime.fromisoformat(now) - datetime.datetime.fromisoformat(since)).total_seconds()
    if waited < 0:
        raise GuardError(
            f"{spec.name}: a row waits since {since}, and the clock says {now}: a clock that goes backwards would "
            "publish cohorts at the wrong time; set it right and run again"
        )
    return waited
