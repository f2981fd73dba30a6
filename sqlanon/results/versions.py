"""Versions in the catalog, and results of commands on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlanon.results.base import Report
from sqlanon.results.lineage import KeptLineage
from sqlanon.results.shape import BOXES, CLASSES, Shape


@dataclass(frozen=True, slots=True)
class ReleaseRow(Report):
    """A version of a release in the catalog."""

    release: str
    version: int
    status: str
    published: str
    source: str
    published_at: str
    published_by: str
    rows: int
    classes: int
    min_class: int
    max_class: int
    gcp: float
    method: str
    requirements: str
    sqlanon: str
    format: str = ""
    suppressed: int = 0
    """Suppressed rows, which are left out; ``rows`` are those of the source.

    ``gcp`` is 0 for anatomy, which keeps quasi columns exact; for a frozen release it is that of all published rows,
    each measured in the cohort of the row.
    """
    boxes: str = ""
    """``own``: every row has a box, not shared by a class.

    ``classes`` are then boxes, and ``min_class`` and ``max_class`` the rows that fit a box.
    """

    @property
    def shape(self) -> Shape:
        """See `RunReport.shape`."""
        return BOXES if self.boxes else CLASSES


@dataclass(frozen=True, slots=True)
class VersionReport(Report):
    """Everything the catalog knows of a version; the policy's lists of values are hashes, and seeds are left out.

    Attributes:
        report: the report of the run: requirements asked and reached, loss, rows, classes, timings, history.
        fingerprint: rows of the source and a keyed hash of the sum of their hashes.
        checked_at: when a run last looked at the release and left this version.
    """

    release: str
    version: int
    status: str
    source: str
    source_columns: tuple[tuple[str, str], ...]
    fingerprint: str | None
    policy: Mapping[str, Any]
    policy_hash: str
    report: Mapping[str, Any]
    published_at: str
    published_by: str
    checked_at: str | None
    sqlanon: str


@dataclass(frozen=True, slots=True)
class DiffReport(Report):
    """Comparison of two versions.

    ``policy`` has the differences of their policies, ``weaker`` those that promise less.
    """

    first: VersionReport
    second: VersionReport
    policy: tuple[str, ...]
    weaker: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnpublishReport(Report):
    """Result of an unpublish.

    Attributes:
        release: name of the release.
        version: the version that was published and is withdrawn now; None: nothing was published.
        published: where it was.
        purged: versions with tables that were dropped.
        warnings: objects that still read the release, and files that remain.
        lineages: with purge: those that stay, as readers may have kept versions of them.
        erased: with purge: keys on the list of those that are never published again, which stays.
    """

    release: str
    version: int | None
    published: str
    purged: tuple[int, ...]
    warnings: tuple[str, ...]
    lineages: tuple[KeptLineage, ...] = ()
    erased: int = 0


@dataclass(frozen=True, slots=True)
class RollbackReport(Report):
    """Result of a rollback: ``withdrawn`` was published (None: nothing was), ``version`` is now."""

    release: str
    withdrawn: int | None
    version: int
    published: str
    warnings: tuple[str, ...]
