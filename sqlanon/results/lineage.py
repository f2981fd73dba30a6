"""State of a version of a lineage beside the source: `refresh: {mode: frozen}`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report
from sqlanon.results.figures import count


@dataclass(frozen=True, slots=True)
class LineageReport(Report):
    """A version of a lineage, in rows.

    Attributes:
        number: of the lineage, from 1.
        published: in the version; ``entered`` of them are new in it, and ``left`` were in the version before and are
            not in this version.
        current: published as the source has them; ``stale``: the source has other values; ``retained``: the source has
            them no more.
        waiting: of the source, for their cohort; ``refused``: in a cohort that could not be published, for a new
            lineage; ``gone``: of classes that left, for a new lineage; ``erased``: never published again; ``later``: of
            persons who were published before it came, with ``persons: whole``, for a new lineage.
        cohort_refused: rows of the cohort that this run tried and could not publish.
        groups: exit groups, of ``min_group`` to ``max_group`` rows: each leaves, and is erased, as a whole. A reader of
            the version sees those with equal cells as a single class, and so does the report that this is part of.
        loss: mean over the published rows of the weighted NCP of the row's class in the cohort of that class.
        waits_since: since when the longest waiting row has waited for a cohort; None: none waits.
        refused_since: the same of rows of cohorts that could not be published.
        erasing: keys that this version erases.
        keyed: a mark of the secret that the lineage's hashes were made with.
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
    groups: int = 0
    min_group: int = 0
    max_group: int = 0
    keyed: str = ""

    @property
    def unpublished(self) -> int:
        """Rows of the source that are not published."""
        return self.waiting + self.refused + self.gone + self.erased + self.later

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Rows and exit groups in words, as pages and notebooks show them."""
        groups = (
            f"{count(self.groups)} of {count(self.min_group)} to {count(self.max_group)} rows, each of which leaves "
            "whole"
        )
        return (
            ("lineage", count(self.number)),
            ("rows published", f"{count(self.published)}, {count(self.entered)} of them new in this version"),
            ("published rows as in the source", count(self.current)),
            ("with other values in the source", count(self.stale)),
            ("no longer in the source", count(self.retained)),
            ("rows of the source that are not published", count(self.unpublished)),
            *((("exit groups", groups),) if self.groups else ()),
        )

    @property
    def for_new_lineage(self) -> int:
        """Rows of the source that only a new lineage can publish."""
        return self.refused + self.gone + self.later


@dataclass(frozen=True, slots=True)
class KeptLineage(Report):
    """A lineage that stays in the private schema when the versions of its release are dropped.

    Attributes:
        number: of the lineage, from 1.
        tables: private tables of the lineage.
        keys: that were ever seen, each as a hash; of ``held`` of them published values are kept.
        drop: SQL that removes it.
    """

    number: int
    tables: tuple[str, ...]
    keys: int
    held: int
    drop: str
