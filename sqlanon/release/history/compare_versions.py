"""A new version and those before it: changes in the source, and what the versions reveal together.

Run and plan share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import integers
from sqlanon.errors import GuardError
from sqlanon.formats import Candidates, Recoded
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.refresh import data_change, data_change_by_key, link_columns_of
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.history import history
from sqlanon.release.history.side import history_of
from sqlanon.release.prepare.prepare import link_columns
from sqlanon.release.prepare.staged import Prepared
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
class Compared:
    """The new version compared with those before it; ``table`` is its own history, where there is a key."""

    table: TableRef | None
    data: DataChange | None
    reports: tuple[HistoryReport, ...]
    notes: tuple[str, ...]


NOTHING_COMPARED = Compared(None, None, (), ())


def compare_versions(
    scratch: Scratch,
    state: ReleaseState,
    ready: Prepared,
    classed: TableRef,
    recoded: Recoded,
    data: DataChange | None,
    previous: Entry | None,
    version: int,
    secret: str,
) -> Compared:
    """What the new version reveals together with those that readers had.

    Raises:
        GuardError: one of them has boxes of their own, rows have other candidates than before, and the policy sets no
            bound.
    """
    same = _bounded(scratch, state, ready, classed, recoded, previous)
    seen = [AS_BEFORE.format(same.version)] if same else []
    if not ready.keyed:
        return Compared(None, data, (), tuple(seen or [WITHOUT_KEY]) if previous else ())
    table = history.rows_of(scratch, ready.roles, classed, recoded.groups, secret, ready.persons, recoded.omitted)
    if recoded.candidates is not None:
        table = history.with_boxes(scratch, table, ready.roles, classed, recoded.candidates, ready.persons)
    earlier = history.before(state, previous, every=same is None)
    reports = history.compare_new(scratch, state.spec, earlier, table, version, ready.source.columns)
    for entry in earlier:
        if previous and entry.version == previous.version:
            data = data_change_by_key(scratch, history_of(scratch, entry), table, ready.rows)
    compared = {entry.version for entry in earlier}
    lacking = previous is not None and previous.version not in compared
    gone = lacking and previous is not None and previous.frozen
    notes = [FROM_NOW_ON] * (lacking and not gone) + seen
    if same is None:
        older = [entry for entry in history.of_own_boxes(state) if previous and entry.version != previous.version]
        notes += [NOT_COMPARED.format(entry.version) for entry in older if entry.version not in compared]
    if gone and previous:
        reports += (history.lost(state, previous, version, ready.rows),)
    elif lacking and previous and not same and history.own_boxes(state, previous):
        reports += (_unknown(previous, version, ready.rows),)
    return Compared(table, data, reports, tuple(notes))


def _unknown(previous: Entry, version: int, rows: int) -> HistoryReport:
    """That the published version cannot be compared: all rows fail."""
    nothing, why = HistorySets(0, 0, None, None, 0), "the published version was made without key"
    return HistoryReport(previous.version, version, False, 0, nothing, nothing, nothing, rows, why, candidates=True)


def _bounded(
    scratch: Scratch,
    state: ReleaseState,
    ready: Prepared,
    classed: TableRef,
    recoded: Recoded,
    previous: Entry | None,
) -> Entry | None:
    """The earlier version that gives every row the same candidates and the same box, so that nothing is new to readers.

    Where there is none, and one of two versions has boxes of their own, a policy must say how many rows they may leave
    with fewer candidates than k: without boxes of their own a reader of both is left with what two classes have in
    common, here often with one row. Versions that were replaced or taken back count, as readers may have kept them.

    Raises:
        GuardError: it does not.
    """
    others = history.of_own_boxes(state) if previous else []
    if not others:
        return None
    own = recoded.candidates
    for entry in reversed(others) if own is not None else ():
        assert own is not None
        if not entry.certificate or entry.report.get("certificate") != own.content:
            continue
        if all(state.exists(table) for table in entry.certificate) and _as_before(
            scratch, entry, own, classed, ready.roles.link
        ):
            return entry
    if state.spec.refresh.max_failing is None:
        raise GuardError(
            f"{state.spec.name}: version {others[-1].version} and this one are not both of classes: a reader of both "
            "is left with the rows that fit the two boxes of one record, perhaps with one; name key: [columns] and "
            "history: {max_failing: N}, the rows that may be left with fewer than k"
        )
    return None


def _as_before(
    scratch: Scratch, entry: Entry, own: Candidates, classed: TableRef, link: Sequence[tuple[str, bool]]
) -> bool:
    """Whether every row is published in the box that it had in a version, and that is of the same rows.

    The edges decide. Code of another state, or a method that decides by more than quasi values, may make another graph
    of the same content, in which rows are published in boxes of the same numbers.

    Cost: a join of the rows, and where it finds all of them one of the k n edges.
    """
    edges, drawn = entry.certificate
    row = scratch.fetch("freeform/same", drawn=drawn, slots=own.slots, classed=classed, link=link)[0]
    found, same = integers(row)
    if found != same:
        return False
    return scratch.count("freeform/other_edges", kept=edges, edges=own.edges) == 0


def changed_rows(scratch: Scratch, state: ReleaseState, ready: Prepared, previous: Entry | None) -> DataChange | None:
    """Rows that came and went since the published version, counted before the stage is dropped.

    With a key the histories are compared instead.
    """
    if previous is None or not state.exists(previous.link) or (ready.keyed and state.exists(previous.history)):
        return None
    columns = [column.name for column in ready.roles.relation.columns]
    links = link_columns(ready.roles, state.spec)
    seen = {reading.name for reading in (*ready.roles.quasi, *ready.roles.kept)}
    seen |= {column.name for column in ready.roles.identifiers}
    same = previous.fingerprint == ready.source.fingerprint
    if same and seen.issuperset(links) and link_columns_of(previous, columns) == links:
        return DataChange(ready.rows, ready.rows, 0, 0)  # the same rows, column by column
    return data_change(scratch, previous, ready.stage, links, columns, ready.rows, ready.roles.link)
