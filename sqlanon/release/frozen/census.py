"""The source's rows by what the lineage has of them, and whether those that wait are to be published."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

from sqlanon.engines.base import TableRef
from sqlanon.errors import GuardError
from sqlanon.release.make.prepare import Prepared
from sqlanon.release.store.lineage import Lineage
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Census:
    """Rows of the source.

    Attributes:
        new: never seen; ``waiting``: for their cohort; ``refused``: in a cohort that could not be published; ``published``: in a class of
            the published ones; ``gone``: in one that left; ``later``: of persons who were published before it came, with ``persons: whole``;
            ``erased``: never published again.
        waits_since: since when the row has waited for its cohort that has waited longest, as ISO 8601; None: none waits.
        refused_since: since when the refused row has waited that has waited longest.
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
        """The same when the cohort is published."""
        return replace(self, new=0, waiting=0, waits_since=None)

    def with_refused(self, now: str) -> Census:
        """The same when the cohort could not be published."""
        since = min(filter(None, (self.waits_since, self.refused_since)), default=now)
        return replace(self.without_cohort(), refused=self.refused + self.cohort, refused_since=since)


def census(scratch: Scratch, lineage: Lineage, stage: TableRef, erased: TableRef, *, whole: bool) -> Census:
    """Count the staged rows by what the lineage has of them. Cost: a join of the stage with the lineage by key."""
    rows = scratch.fetch("frozen/statuses", stage=stage, rows=lineage.rows, erased=erased, whole=whole)
    found = {str(status): int(str(n)) for status, n, _ in rows}
    since = {str(status): str(earliest) for status, _, earliest in rows if earliest is not None}
    known = ("waiting", "refused", "published", "gone", "later", "erased")
    more = {status: found.get(status, 0) for status in known}
    return Census(found.get("new", 0), **more, waits_since=since.get("waiting"), refused_since=since.get("refused"))  # fmt: skip


def is_due(spec: ReleaseSpec, seen: Census, now: str) -> bool:
    """Whether the rows that wait are to be published: by their number and the time alone, never by a value.

    Raises:
        GuardError: a row waits since later than now.
    """
    waited = _seconds(spec, seen.waits_since, now)
    if seen.cohort >= spec.refresh.cohort_rows(spec.privacy.k):
        return True
    every = spec.refresh.cohort.every if spec.refresh.cohort else None
    return (
        every is not None and waited is not None and waited >= every and seen.cohort >= max(spec.privacy.k, 1)
    )


def too_long(spec: ReleaseSpec, seen: Census, now: str) -> str | None:
    """Since when a row that was never published has waited that waits longer than `max_age`; None: none does."""
    since = min(filter(None, (seen.waits_since, seen.refused_since)), default=None)
    waited = _seconds(spec, since, now)
    return (
        since
        if spec.refresh.max_age is not None and waited is not None and waited > spec.refresh.max_age
        else None
    )


def planned(scratch: Scratch, spec: ReleaseSpec, lineage: Lineage, ready: Prepared) -> tuple[str, ...]:
    """What a run would do with the rows that wait: notes of plan."""
    seen = census(scratch, lineage, ready.stage, lineage.erased, whole=spec.privacy.whole)
    does = "are published now" if is_due(spec, seen, ready.source.read_at) else "wait"
    size = spec.refresh.cohort_rows(spec.privacy.k)
    note = (
        f"lineage {lineage.number}: {seen.published} rows of the source are published and stay as they are; {seen.cohort} more {does} "
        f"(a cohort has {size}); {seen.refused + seen.gone + seen.later} wait for a new lineage"
    )
    return (note,)


def _seconds(spec: ReleaseSpec, since: str | None, now: str) -> float | None:
    if since is None:
        return None
    waited = (datetime.datetime.fromisoformat(now) - datetime.datetime.fromisoformat(since)).total_seconds()
    if waited < 0:
        raise GuardError(
            f"{spec.name}: a row waits since {since}, and the clock says {now}: a clock that goes backwards would publish cohorts at the wrong "
            "time; set it right and run again"
        )
    return waited


__all__ = ["Census", "census", "is_due", "planned", "too_long"]
