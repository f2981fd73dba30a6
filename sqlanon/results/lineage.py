"""What a version of a lineage holds beside the source: `refresh: {mode: frozen}`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class LineageReport(Report):
    """A version of a lineage, in rows.

    Attributes:
        number: of the lineage, from 1.
        published: in the version; ``entered`` of them are new in it, and ``left`` were in the version before and are not in this one.
        current: published as the source has them; ``stale``: the source has other values; ``retained``: the source has them no more.
        waiting: of the source, for their cohort; ``refused``: in a cohort that could not be published, for a new lineage; ``gone``: of
            classes that left, for a new lineage; ``erased``: never published again; ``later``: of persons who were published before it came, with
            ``persons: whole``, for a new lineage.
        cohort_refused: rows of the cohort that this run tried and could not publish.
        loss: mean over the published rows of the weighted NCP that their class had in its own cohort.
        waits_since: since when the row has waited for its cohort that has waited longest; None: none waits.
        refused_since: the same of rows of cohorts that could not be published.
        erasing: keys that this version erases.
    """

    number: int
    published: int
    entered: int
    left: int
    current: int
    stale: int
    retained: int
    waiting: int
    refused: int
    gone: int
    erased: int
    cohort_refused: int = 0
    loss: float = 0.0
    waits_since: str | None = None
    refused_since: str | None = None
    erasing: int = 0
    later: int = 0

    @property
    def unpublished(self) -> int:
        """Rows of the source that are not published."""
        return self.waiting + self.refused + self.gone + self.erased + self.later

    @property
    def for_new_lineage(self) -> int:
        """Rows of the source that only a new lineage can publish."""
        return self.refused + self.gone + self.later
