"""A new version and earlier versions: changes in the source, and joint disclosures of the versions.

Run and plan share it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.errors import GuardError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.refresh import data_change, data_change_by_key, link_columns_of
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.history import history
from sqlanon.release.history.earlier_versions import EarlierVersions
from sqlanon.release.prepare.prepare import link_columns
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.release.verify.proof import DividedSource
from sqlanon.release.verify.stored_rows import find_stored_rows
from sqlanon.results import DataChange, HistoryReport, HistorySets
from sqlanon.table.scratch import Scratch

WITHOUT_KEY = (
    "history: without key the rows of two versions cannot be matched; what they reveal together is not measured"
)
AS_BEFORE = "history: every row has the same candidates as in version {}, and is published in the same box"
FROM_NOW_ON = "history: the published version was made without key; from this one on versions can be compared"
NOT_COMPARED = (
    "history: no history is kept of version {}, which readers had: what it reveals together with this one is not "
    "measured"
)


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """The new version compared with earlier versions; ``table`` is the new history, where there is a key."""

    table: TableRef | None
    data: DataChange | None
    reports: tuple[HistoryReport, ...]
    notes: tuple[str, ...]


NOTHING_COMPARED = VersionComparison(None, None, (), ())


def compare_versions(
    scratch: Scratch,
    ready: PreparedSource,
    classes: DividedSource,
    earlier: EarlierVersions,
    data: DataChange | None,
    version: int,
    secret: str,
) -> VersionComparison:
    """Joint disclosures of the new version and of those that readers had.

    Args:
        scratch: the run.
        ready: the source.
        classes: the classes.
        earlier: the versions before.
        data: rows that came and went, unless the histories say it.
        version: the number of the new version.
        secret: key of the release's hashes.

    Raises:
        GuardError: a version has boxes of their own, rows have other candidates than before, and the policy sets no
            bound.
    """
    previous = earlier.previous
    same = _find_same_boxes(scratch, ready, classes, earlier)
    same_notes = [AS_BEFORE.format(same.version)] if same else []
    if not ready.keyed:
        return VersionComparison(None, data, (), tuple(same_notes or [WITHOUT_KEY]) if previous else ())
    classed, groups, omitted = classes.classed.table, classes.recoded.groups, classes.recoded.omitted
    table = history.rows_of(scratch, ready.roles, classed, groups, secret, ready.persons, omitted)
    table = classes.proof.history(scratch, table, classed, history.value_columns(ready.roles, ready.persons))
    comparable = earlier.comparable(every=same is None)
    reports = history.compare_new(scratch, earlier.state.spec, comparable, table, version, ready, classes.proof)
    for entry in comparable:
        if previous and entry.version == previous.version:
            data = data_change_by_key(
                scratch, find_stored_rows(scratch.engine, entry).history(scratch), table, ready.rows
            )
    compared = {entry.version for entry in comparable}
    lacking = previous is not None and previous.version not in compared
    lost_previous = earlier.has_lost(comparable)
    notes = [FROM_NOW_ON] * (lacking and not lost_previous) + same_notes
    if same is None:
        older = [entry for entry in earlier.with_candidates() if previous and entry.version != previous.version]
        notes += [NOT_COMPARED.format(entry.version) for entry in older if entry.version not in compared]
    if lost_previous and previous:
        reports += (history.report_lost(earlier.state, previous, version, ready.rows),)
    elif lacking and previous and not same and earlier.counts_candidates(previous):
        reports += (_report_unknown(previous, version, ready.rows),)
    return VersionComparison(table, data, reports, tuple(notes))


def _report_unknown(previous: Entry, version: int, rows: int) -> HistoryReport:
    """That the published version cannot be compared: all rows fail."""
    nothing, why = HistorySets(0, 0, None, None, 0), "the published version was made without key"
    return HistoryReport(previous.version, version, False, 0, nothing, nothing, nothing, rows, why, candidates=True)


def _find_same_boxes(
    scratch: Scratch, ready: PreparedSource, classes: DividedSource, earlier: EarlierVersions
) -> Entry | None:
    """The earlier version that gives every row the same candidates and the same box, so that nothing is new to readers.

    Where there is none, and one of two versions has boxes of their own, a policy must say how many rows they may leave
    with fewer candidates than k: without such boxes a reader of both has the intersections of two classes, here often
    of one row. Versions that were replaced or taken back count, as readers may have kept them.

    Raises:
        GuardError: the policy does not say it.
    """
    with_candidates, spec = earlier.with_candidates(), earlier.state.spec
    same = classes.proof.same_as(scratch, earlier.state, classes, with_candidates, ready.roles.link)
    if with_candidates and same is None and spec.refresh.max_failing is None:
        raise GuardError(
            f"{spec.name}: version {with_candidates[-1].version} and this one are not both of classes: a reader of "
            "both is left with the rows that fit the two boxes of one record, perhaps with one; name key: [columns] "
            "and history: {max_failing: N}, the rows that may be left with fewer than k"
        )
    return same


def count_changes(
    scratch: Scratch, state: ReleaseState, ready: PreparedSource, previous: Entry | None
) -> DataChange | None:
    """Rows that came and went since the published version, counted before the stage is dropped.

    With a key the histories are compared instead.
    """
    if previous is None or not state.exists(previous.link) or (ready.keyed and state.exists(previous.history)):
        return None
    columns = [column.name for column in ready.roles.relation.columns]
    links = link_columns(ready.roles, state.spec)
    shown_columns = {reading.name for reading in (*ready.roles.quasi, *ready.roles.kept)}
    shown_columns |= {column.name for column in ready.roles.identifiers}
    same = previous.fingerprint == ready.source.fingerprint
    if same and shown_columns.issuperset(links) and link_columns_of(previous, columns) == links:
        return DataChange(ready.rows, ready.rows, 0, 0)  # the same rows, column by column
    return data_change(scratch, previous, ready.stage, links, columns, ready.rows, ready.roles.link)
