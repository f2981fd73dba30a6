"""Keeps an unchanged release: records the check, and grants the rights of readers in the current policy."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.base import Engine
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.publish.deliveries import delivery_of
from sqlanon.release.publish.retention import drop_old
from sqlanon.release.verify import persons
from sqlanon.results import Outcome, RunReport
from sqlanon.spec import ReleaseSpec


def keep(state: ReleaseState, entry: Entry, time: str) -> None:
    """Record a run that publishes nothing, and apply the current readers and retention."""
    engine, spec = state.engine, state.spec
    with engine.publishing():
        delivery_of(entry).keep_readers(engine, spec, entry)
        Catalog(engine).record_check(spec, entry.version, time)
    today = replace(entry, policy=redact(spec))
    drop_old(engine, spec.name, [today if row.version == entry.version else row for row in state.versions])
    delivery_of(entry).tidy(engine, spec, entry)


def keep_readers(engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
    """Apply the policy's readers and dimensions; the source was not read."""
    now = {"readers": list(spec.readers), "dimensions": list(spec.dimensions)}
    if any(set(entry.policy.get(key) or ()) != set(names) for key, names in now.items()):
        with engine.publishing():
            delivery_of(entry).keep_readers(engine, spec, entry)
            Catalog(engine).keep_policy(entry, dict(entry.policy) | now)


def refuse_few(spec: ReleaseSpec, entry: Entry) -> None:
    """Refuse to keep a version with fewer persons in a class than the policy now asks; readers still have it.

    Raises:
        PrivacyViolation: a class has fewer persons.
    """
    if not spec.privacy.of_persons:  # else the requirements count persons
        persons.hold(spec, RunReport.from_dict(entry.report).min_identifiers)


def report_published(
    spec: ReleaseSpec, entry: Entry, outcome: Outcome, why: tuple[str, ...], watch: Stopwatch
) -> RunReport:
    """Report of a published version that a run leaves unchanged."""
    report = RunReport.from_dict(entry.report)
    return replace(report, outcome=outcome, why=why, seconds=watch.total(), warnings=persons.warn_of_persons(spec))
