"""A row of the catalog: a version of a release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlanon.engines.base import PRIVATE_SCHEMA, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import UnsupportedError
from sqlanon.release_kind import ReleaseKind, kind_of
from sqlanon.results import ReleaseRow
from sqlanon.statistics_spec import PAST_PARTS, list_parts

LATER = ("fingerprint", "source_columns", "checked_at")
"""Columns that a catalog of an older sqlanon lacks: read as NULL there, and added by the next run."""


READ = (
    "release",
    "version",
    "status",
    "view_schema",
    "view_name",
    "file",
    "physical",
    "source",
    "policy",
    "policy_hash",
    "report",
    "published_at",
    "published_by",
    "sqlanon",
    *LATER,
)
"""The columns of catalog/list, in order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A version of a release as the catalog holds it."""

    release: str
    version: int
    status: str
    view_schema: str | None
    view_name: str | None
    file: str | None
    physical: str
    source: str
    policy: Mapping[str, Any]
    policy_hash: str
    report: Mapping[str, Any]
    published_at: str
    published_by: str
    sqlanon: str
    fingerprint: str | None = None
    source_columns: tuple[tuple[str, str], ...] | None = None
    checked_at: str | None = None
    database: str | None = None

    @property
    def view(self) -> TableRef | None:
        """The public view, if it is in this database."""
        if not self.view_name or self.file:
            return None
        return TableRef(self.view_schema, self.view_name, self.database)

    @property
    def table(self) -> TableRef:
        """The versioned physical table."""
        return TableRef(PRIVATE_SCHEMA, self.physical, self.database)

    @property
    def link(self) -> TableRef:
        """The private table that links released rows to source rows."""
        return TableRef(PRIVATE_SCHEMA, f"{self.physical}_link", self.database)

    @property
    def frozen(self) -> bool:
        """Whether the version belongs to a lineage: no table links the rows to source rows."""
        return bool(self.report.get("lineage"))

    @property
    def statistics(self) -> tuple[TableRef, ...]:
        """The private tables of a release of counts; else empty."""
        return (*self.counts.values(), *self.past)

    @property
    def past(self) -> tuple[TableRef, ...]:
        """The private tables of all lineages of a release of counts, where lineages end; else empty."""
        if (self.policy.get("statistics") or {}).get("lineage_age") is None:
            return ()
        return tuple(TableRef(PRIVATE_SCHEMA, f"{self.physical}_{part}", self.database) for part in PAST_PARTS)

    @property
    def counts(self) -> Mapping[str, TableRef]:
        """The private tables of a release of counts by their parts; else empty."""
        statistics = self.policy.get("statistics")
        if not statistics:
            return {}
        method = (statistics.get("other") or {}).get("method", "suppress")
        parts = list_parts(
            len(statistics.get("sums", ())),
            method,
            followed=statistics.get("cohort") is not None,
            bounds=statistics.get("bounds") == "exact",
            patterns=bool((self.report.get("statistics") or {}).get("patterns")),
        )
        return {part: TableRef(PRIVATE_SCHEMA, f"{self.physical}_{part}", self.database) for part in parts}

    @property
    def lake(self) -> Mapping[str, str]:
        """With ``publish: delta:..``: the place of the lake table, and the file there; else empty."""
        return self.report.get("lake") or {}

    @property
    def sent(self) -> Mapping[str, str]:
        """With ``publish_to``: the place of the other database, and the token of the attempt; else empty."""
        return self.report.get("sent") or {}

    @property
    def kind(self) -> ReleaseKind:
        """The kind of the release."""
        return kind_of(statistics=self.policy.get("statistics"), noisy=self.policy.get("noisy"))

    @property
    def certificate(self) -> tuple[TableRef, ...]:
        """With a box for every row: the tables of edges and of drawn boxes; else empty."""
        if not self.policy.get("privacy", {}).get("own_boxes"):
            return ()
        return tuple(TableRef(PRIVATE_SCHEMA, f"{self.physical}_{part}", self.database) for part in ("edges", "drawn"))

    @property
    def edges(self) -> TableRef | None:
        """With a box for every row: the table of all boxes that a row fits; else None."""
        return self.certificate[0] if self.certificate else None

    @property
    def boxes(self) -> str | None:
        """The history column with these boxes."""
        return "boxes" if self.certificate else None

    @property
    def tied(self) -> tuple[TableRef, ...]:
        """The private tables that match the rows with source rows."""
        return self.certificate or (self.link,)

    @property
    def placed(self) -> TableRef:
        """The private table with the class or the box of each row."""
        return self.tied[-1]

    @property
    def history(self) -> TableRef:
        """The table of the version's history; it is not dropped with the version."""
        return TableRef(PRIVATE_SCHEMA, f"{self.physical}_history", self.database)

    def row(self) -> ReleaseRow:
        """The row as the command line shows it."""
        report = self.report
        # A run reports the loss of the new cohort alone; the version publishes earlier cohorts too.
        lost = report["lineage"]["loss"] if self.frozen else report.get("loss", {}).get("gcp", 0.0)
        rows = report["lineage"]["published"] if self.frozen else report.get("rows", 0)
        requirements = ", ".join(
            f"{item['name']}{'(' + item['column'] + ')' if item['column'] else ''}={item['asked']:g}"
            for item in report.get("requirements", ())
        )
        return ReleaseRow(
            self.release,
            self.version,
            self.status,
            report.get("published", ""),
            self.source,
            self.published_at,
            self.published_by,
            rows,
            report.get("classes", 0),
            report.get("min_class", 0),
            report.get("max_class", 0),
            lost,
            report.get("method", ""),
            requirements,
            self.sqlanon,
            report.get("format", ""),
            report.get("suppressed", 0),
            "own" if self.certificate else "",
        )


def require_rows(kind: ReleaseKind, release: str, why: str) -> None:
    """Refuse a command about rows for a release without rows.

    Args:
        kind: the kind of the release.
        release: its name.
        why: the command, and the reason why it is about rows.

    Raises:
        UnsupportedError: the release has statistics.
    """
    if not kind.has_rows:
        raise UnsupportedError(f"{release} {kind.title}: {why}")


def refuse_counts(entry: Entry, why: str) -> None:
    """The same of a version of the catalog."""
    require_rows(entry.kind, entry.release, why)


@dataclass(frozen=True, slots=True)
class SourceState:
    """The source of a version: fingerprint of the rows, (name, type) of the columns, start time of the run.

    ``snapshot``: the version of a source with versions.
    """

    fingerprint: str
    columns: tuple[tuple[str, str], ...]
    read_at: str
    snapshot: str = ""


@lru_cache(maxsize=1024)
def entry_of(row: tuple[object, ...], database: str | None) -> Entry:
    """Entry of a row as read. Most rows do not change between reads: their JSON is parsed once."""
    cells = list(row)
    cells[1] = read_integer(cells[1])
    cells[8] = json.loads(str(cells[8]))
    cells[10] = json.loads(str(cells[10]))
    if cells[15] is not None:
        cells[15] = tuple((str(name), str(kind)) for name, kind in json.loads(str(cells[15])))
    return replace(Entry(*cells), database=database)  # type: ignore[arg-type]
