"""A release in lake tables: rows go into private tables of the database, then into files, then into commits.

The database has the views as well, for queries and audits. Each table of a release is a table of the lake: the rows,
and next to them the metadata, and the sensitive values of `anatomy`. The catalog records the pending step (``pending``:
a run, ``returning``: a rollback, ``withdrawing``) before the first commit, which decides, and ``published`` or
``withdrawn`` after the last; `sqlanon.release.publish.second_file.reconcile` finishes steps whose first commit was
made, and removes the files of the others. Of tables that are published together the first one's commit decides.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from sqlanon.engines.base import Engine, Found, TableRef
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import check_own, is_shown, make_facts, secret_of
from sqlanon.release.catalog.views import list_pointings, second_of
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec


def name_file() -> str:
    """New name for the files of a version; no other attempt has the same name."""
    return f"sqlanon-{secrets.token_hex(12)}.parquet"


def list_tables(engine: Engine, entry: Entry) -> list[tuple[TableRef, str]]:
    """The private tables of a version, each with the place of its lake table; the rows first."""
    assert entry.view is not None
    shown = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
    return [(item.at, entry.lake["place"] + item.view.name.removeprefix(entry.view.name)) for item in shown]


def write_version(engine: Engine, entry: Entry, watch: Stopwatch) -> None:
    """Write the tables of a version into the lake, where no reader sees them, read them back and compare them.

    Args:
        engine: the database, where the version's tables are, verified.
        entry: the version, which the catalog has as pending or returning.
        watch: measures the stages.

    Raises:
        PrivacyViolation: the written files differ from the tables.
        PolicyError: a table has rows of another program, or the format lacks a column's type.
        LockedError: another program committed meanwhile.
    """
    assert engine.lake is not None
    file, secret = entry.lake["file"], str(secret_of(engine, entry.release))
    facts = make_facts(secret, entry.release, entry.version, file)
    with watch.stage("publish"):
        for table, place in list_tables(engine, entry):
            engine.lake.write(table, place, file, facts, partial(check_own, entry.release, place, secret))


@contextmanager
def reading_version(engine: Engine, entry: Entry) -> Iterator[tuple[TableRef, Found]]:
    """The written tables of a version as temporary views: that of the rows, and all of them."""
    assert engine.lake is not None
    with engine.lake.reading(list_tables(engine, entry), entry.lake["file"]) as views:
        yield views[0].ref, Found({view.ref: view for view in views})


def commit_version(engine: Engine, entry: Entry, *, first: bool = True) -> None:
    """Let readers have the written tables of a version, unless they do.

    ``first``: also the table of the rows, whose commit decides, if it is not shown.

    Raises:
        PolicyError, LockedError: another program committed meanwhile.
    """
    for _, place in list_tables(engine, entry)[0 if first else 1 :]:
        if not is_shown(engine, entry, place):
            _commit(engine, entry, place, entry.lake["file"])


def withdraw(engine: Engine, entry: Entry) -> None:
    """Remove the rows of a version from the readers' tables, unless that was done before."""
    for _, place in list_tables(engine, entry):
        if is_shown(engine, entry, place):
            _commit(engine, entry, place, None)


def remove_files(engine: Engine, entry: Entry) -> list[str]:
    """Remove the files of a version that readers never had; gives those that were there."""
    if engine.lake is None:
        return []
    file = entry.lake["file"]
    return [f"{place}/{file}" for _, place in list_tables(engine, entry) if engine.lake.remove(place, file)]


def expire_history(engine: Engine, entries: Sequence[Entry], entry: Entry) -> None:
    """Remove versions without tables in the database from the history of the lake tables, with their files.

    Args:
        engine: the database.
        entries: the catalog's rows of the release.
        entry: a version in these lake tables.

    Raises:
        LockedError, DatabaseError: another program committed meanwhile, or files cannot be removed.
    """
    assert engine.lake is not None
    place = entry.lake["place"]
    stays = [other for other in entries if other.lake.get("place") == place and engine.exists(other.table)]
    files = {other.lake["file"] for other in stays}
    for _, table_place in list_tables(engine, entry):
        engine.lake.expire(table_place, files)


def expire_as_asked(engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
    """`expire_history` after a run, if the policy asks for it, or if keys were erased.

    Also after a run that publishes nothing: the run before may have been killed.
    """
    if spec.refresh.expire or (entry.report.get("lineage") or {}).get("erasing"):
        expire_history(engine, Catalog(engine).entries(spec.name), entry)


def _commit(engine: Engine, entry: Entry, place: str, file: str | None) -> None:
    assert engine.lake is not None
    secret = str(secret_of(engine, entry.release))
    facts = make_facts(secret, entry.release, entry.version, file or "")
    engine.lake.commit(place, file, facts, partial(check_own, entry.release, place, secret))


def mark_returning(engine: Engine, entry: Entry, policy: Mapping[str, Any]) -> Entry:
    """Record that a version is to be committed again, in a file of a new name; gives the catalog row."""
    catalog, lake = Catalog(engine), {**entry.lake, "file": name_file()}
    with engine.publishing():
        catalog.mark(entry.release, entry.version, "returning")
        catalog.keep_policy(entry, policy)
        catalog.replace_report(entry.release, entry.version, replace(RunReport.from_dict(entry.report), lake=lake))
    return next(row for row in _rows(engine, entry) if row.version == entry.version)


def _rows(engine: Engine, entry: Entry) -> Sequence[Entry]:
    return Catalog(engine).entries(entry.release, versions=[entry.version])
