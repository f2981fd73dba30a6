"""Delivers a release into lake tables: private tables of the database, then files, then commits.

An engine that writes no files copies the rows to a DuckDB in memory first (`Engine.lake_engine`), where they are
compared and measured again. Each table of a release is a table of the lake: the rows, the metadata, and the sensitive
values of `anatomy`. The first commit decides. After a kill, `settle` makes the other commits, or removes the files of a
version without a commit. Of tables that are published together, the commit of the first decides.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from sqlanon.engines.base import Engine, LakeWriting, LookupResult, Relation, TableRef
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import check_own, is_shown, make_facts, secret_of
from sqlanon.release.catalog.places import PLACES
from sqlanon.release.publish.carry import CarryRoute
from sqlanon.release.publish.in_views import list_views
from sqlanon.release.publish.new_version import NewVersion
from sqlanon.release.publish.outside_places import Attempt, OutsidePlace
from sqlanon.release.publish.retention import shows_erased
from sqlanon.release.verify.received_tables import verify_promises
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement

Tables = list[tuple[TableRef, str]]
"""Tables of a version, each with the place of its lake table; the rows first."""


def _name_file() -> str:
    """New name for the files of a version; no other attempt has the same name."""
    return f"sqlanon-{secrets.token_hex(12)}.parquet"


class InLake(OutsidePlace):
    """See `OutsidePlace`."""

    place = next(place for place in PLACES if place.name == "lake")
    field = "lake"

    def begin(self, parts: Sequence[NewVersion]) -> list[dict[str, str]]:
        file, targets = _name_file(), [str(part.target.place) for part in parts]
        return [{"place": place, "file": file, "first": targets[0]} for place in targets]

    def begin_again(self, entry: Entry) -> Mapping[str, str]:
        return {**entry.lake, "file": _name_file()}

    def deliver(self, engine: Engine, attempts: Sequence[Attempt]) -> None:
        with ExitStack() as holding:
            tables = [holding.enter_context(_hold_tables(engine, attempt)) for attempt in attempts]
            for attempt, placed_tables in zip(attempts, tables, strict=True):
                _write(engine, attempt, placed_tables)
            with ExitStack() as reading:
                files = [
                    reading.enter_context(_lake(engine).reading(placed_tables, attempt.entry.lake["file"]))
                    for attempt, placed_tables in zip(attempts, tables, strict=True)
                ]
                for attempt, views in zip(attempts, files, strict=True):
                    with attempt.watch.stage("verify"):
                        _verify(engine, attempt, views)
            with attempts[0].watch.stage("publish"):
                for attempt in attempts:
                    _commit_version(engine, attempt.entry)

    def settle(self, engine: Engine, entry: Entry, *, there: bool) -> list[str]:
        if there:
            _commit_version(engine, entry)
            return []
        file, lake = entry.lake["file"], _lake(engine)
        return [f"{place}/{file}" for _, place in _list_tables(engine, entry) if lake.remove(place, file)]

    def take(self, engine: Engine, entry: Entry) -> None:
        for _, place in _list_tables(engine, entry):
            if is_shown(engine, entry, place):
                _commit(engine, entry, place, None)

    def tidy(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        """Expire versions if the policy asks for it, or those that show erased keys; the run before may have died."""
        entries = Catalog(engine).entries(spec.name)
        if spec.refresh.expire:
            _expire(engine, [other for other in entries if engine.exists(other.table)], entry)
        elif any(shows_erased(other, entries) for other in entries):
            _expire(engine, [other for other in entries if not shows_erased(other, entries)], entry)

    def purge(self, engine: Engine, release: str, entries: Sequence[Entry]) -> None:
        _expire(engine, (), entries[-1])


def _lake(engine: Engine) -> LakeWriting:
    assert engine.lake is not None
    return engine.lake


def _writer(engine: Engine) -> Engine:
    assert engine.lake_engine is not None
    return engine.lake_engine


def _list_tables(engine: Engine, entry: Entry) -> Tables:
    return [
        (item.at, entry.lake["place"] + item.view.name.removeprefix(str(entry.view_name)))
        for item in list_views(engine, entry)
    ]


@contextmanager
def _hold_tables(engine: Engine, attempt: Attempt) -> Iterator[Tables]:
    """The tables of a version in the database that writes them into the lake, for as long as the context lasts."""
    writer, entry = _writer(engine), attempt.entry
    tables = _list_tables(engine, entry)
    if writer is engine:
        yield tables
        return
    road = CarryRoute(entry.release, engine, writer, attempt.watch)
    copies: Tables = []
    try:
        for table, place in tables:
            copy = replace(writer.target("rows"), name=table.name)
            columns = road.list_columns(table)
            copies.append((copy, place))
            with writer.publishing():
                road.carry(table, copy, columns)
        yield copies
    finally:
        writer.execute_all([statement("table/drop", writer.dialect, target=copy) for copy, _ in copies])


def _write(engine: Engine, attempt: Attempt, tables: Tables) -> None:
    """Write the tables of a version into the lake, where no reader sees them, read them back and compare them."""
    entry = attempt.entry
    file, secret = entry.lake["file"], str(secret_of(engine, entry.release))
    facts = make_facts(secret, entry.release, entry.version, file)
    with attempt.watch.stage("publish"):
        for table, place in tables:
            _lake(engine).write(table, place, file, facts, partial(check_own, entry.release, place, secret))


def _verify(engine: Engine, attempt: Attempt, files: Sequence[Relation]) -> None:
    """Measure the requirements on the written files."""
    if attempt.verify is not None and _writer(engine) is engine:
        attempt.verify(files[0].ref, LookupResult({relation.ref: relation for relation in files}))
    elif RunReport.from_dict(attempt.entry.report).shape.grouped:
        # Boxes of single rows are proved by private tables, which are not there.
        verify_promises(_writer(engine), files[0], attempt.entry.policy, attempt.settings)


def _commit_version(engine: Engine, entry: Entry) -> None:
    """Let readers have the written tables of a version, unless they do."""
    for _, place in _list_tables(engine, entry):
        if not is_shown(engine, entry, place):
            _commit(engine, entry, place, entry.lake["file"])


def _commit(engine: Engine, entry: Entry, place: str, file: str | None) -> None:
    secret = str(secret_of(engine, entry.release))
    facts = make_facts(secret, entry.release, entry.version, file or "")
    _lake(engine).commit(place, file, facts, partial(check_own, entry.release, place, secret))


def _expire(engine: Engine, entries: Sequence[Entry], entry: Entry) -> None:
    """Remove all versions but the latest and some others from the history of the lake tables, with their files.

    Args:
        engine: the database.
        entries: versions that stay in the history.
        entry: a version in these lake tables.

    Raises:
        LockedError, DatabaseError: another program committed meanwhile, or files cannot be removed.
    """
    place = entry.lake["place"]
    files = {other.lake["file"] for other in entries if other.lake.get("place") == place}
    for _, table_place in _list_tables(engine, entry):
        _lake(engine).expire(table_place, files)
