"""Delivers a release to a place outside of the source's database: it is verified before and after it is sent.

The source's database keeps the view as well, for queries and audits of the owner. Its catalog records a pending step
(``pending``: a run, ``returning``: a rollback, ``withdrawing``) before the step at the other place that decides, and
``published`` or ``withdrawn`` after it. After a kill, `sqlanon.release.publish.reconcile` asks the other place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlanon.column_spec import ColumnSpec
from sqlanon.engines.base import Engine, LookupResult, TableRef
from sqlanon.errors import PolicyError
from sqlanon.progress import SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import Place, find_spot, is_same_spot, spell_spot
from sqlanon.release.catalog.rights import set_readers
from sqlanon.release.catalog.views import views_of
from sqlanon.release.publish.catalog_record import record_version
from sqlanon.release.publish.delivery import PlainDelivery
from sqlanon.release.publish.in_views import list_views, refuse_others
from sqlanon.release.publish.new_version import NewVersion, note_place
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.publish.two_phase import drop_views
from sqlanon.results import RunReport


@dataclass(frozen=True, slots=True)
class Attempt:
    """A version on its way to a place.

    Attributes:
        entry: the version, which the catalog has as pending or returning.
        watch: measures the stages.
        previous: the published version.
        settings: the policy's columns, with distances of values; None: they are unknown.
        verify: measures written tables that the source's database can read; None: they were measured before.
    """

    entry: Entry
    watch: Stopwatch
    previous: Entry | None
    settings: Sequence[ColumnSpec] | None = None
    verify: Callable[[TableRef, LookupResult], RunReport] | None = None


class OutsidePlace(PlainDelivery, ABC):
    """The common part of all places outside; see `sqlanon.release.publish.delivery.Delivery`.

    Attributes:
        place: the kind.
        field: field of the report that has the facts about place and attempt.
    """

    place: Place
    field: Literal["lake", "sent"]

    @abstractmethod
    def begin(self, parts: Sequence[NewVersion]) -> list[dict[str, str]]:
        """Facts about a new attempt to publish tables together."""

    @abstractmethod
    def begin_again(self, entry: Entry) -> Mapping[str, str]:
        """Facts about a new attempt with an earlier version."""

    @abstractmethod
    def deliver(self, engine: Engine, attempts: Sequence[Attempt]) -> None:
        """Send versions that are verified here, verify them there, and show them there.

        Raises:
            PrivacyViolation: the rows that arrived differ, or a requirement does not hold there.
            PolicyError: rows there are not of this release, or a column's type is lost on the way.
            LockedError: another program, or session, publishes there.
            DatabaseError: one of the places failed. Readers have the version that they had.
        """

    @abstractmethod
    def take(self, engine: Engine, entry: Entry) -> None:
        """Take a version from the readers of the place, unless that was done before."""

    def in_steps(self, engine: Engine) -> bool:
        return True

    def put(self, parts: Sequence[NewVersion]) -> list[RunReport]:
        engine = parts[0].state.engine
        facts = self.begin(parts)
        with engine.publishing():
            entries = [part.add_pending(self.field, fact) for part, fact in zip(parts, facts, strict=True)]
        self.deliver(
            engine,
            [
                Attempt(entry, part.watch, part.state.published, part.state.spec.columns, part.content.verify)
                for part, entry in zip(parts, entries, strict=True)
            ],
        )
        with parts[0].watch.stage("publish"), engine.publishing():
            recorded = [part.record_shown(entry) for part, entry in zip(parts, entries, strict=True)]
            for part, entry in zip(parts, entries, strict=True):
                set_readers(engine, (), views_of(entry), part.state.published)
        for part, entry, (_, rows) in zip(parts, entries, recorded, strict=True):
            with part.watch.stage("cleanup"):
                drop_old(engine, entry.release, rows)
                self.tidy(engine, part.state.spec, entry)
        return [report for report, _ in recorded]

    def return_version(self, engine: Engine, entry: Entry, policy: Mapping[str, Any], current: Entry) -> None:
        if not is_same_spot(find_spot(current), find_spot(entry)):
            there = find_spot(entry)
            place = spell_spot(there, find_spot(current)) if there[0] else "the database of the source"
            raise PolicyError(
                f"{entry.release}: version {entry.version} is in another place, {place}: run the release with the "
                "policy of that version instead"
            )
        catalog, facts = Catalog(engine), self.begin_again(entry)
        report = note_place(RunReport.from_dict(entry.report), self.field, facts)
        with engine.publishing():
            catalog.mark(entry.release, entry.version, "returning")
            catalog.keep_policy(entry, policy)
            catalog.replace_report(entry.release, entry.version, report)
        (returning,) = catalog.entries(entry.release, versions=[entry.version])
        previous = current if current.status == "published" else None
        self.deliver(engine, [Attempt(returning, Stopwatch(entry.release, SilentProgress()), previous)])
        with engine.publishing():
            record_version(engine, entry.release, entry.version)

    def unpublish(self, engine: Engine, entry: Entry) -> None:
        missing = self.place.explain_missing(engine, entry)
        if missing:
            raise PolicyError(
                f"{entry.release}: {self.place.of(entry)} does not show version {entry.version} of it, or was changed "
                "since, so nothing is removed there: rename or move it away and unpublish again"
            )
        with engine.publishing():
            refuse_others(engine, entry, [item for item in list_views(engine, entry) if engine.exists(item.view)])
        self.check_withdrawal(engine, entry)
        with engine.publishing():
            Catalog(engine).mark(entry.release, entry.version, "withdrawing")

    def withdraw(self, engine: Engine, entry: Entry) -> None:
        self.take(engine, entry)
        drop_views(engine, views_of(entry))
