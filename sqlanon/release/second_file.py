"""A release in a DuckDB file of its own: built beside the file that readers have, flushed, and put in its place.

A DuckDB transaction writes one attached file, and a file has no rights. So the published file holds one version only, the
tables of versions to return to stay in the private schema of the source's file, and the catalog says what is under way
(``pending``: a run, ``returning``: a rollback) before ``os.replace`` and ``published`` after.
"""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog import Catalog, Entry
from sqlanon.release.metadata import version_in
from sqlanon.release.swap import Pointing, spelled, swap
from sqlanon.sqltext import identifier, statement

T = TypeVar("T")


def put(engine: Engine, path: str, fill: Callable[[str], T], watch: Stopwatch) -> T:
    """Make a database file and put it in the place of another: readers see the old one or the new one, whole.

    Args:
        engine: the source's database, which attaches the new file while ``fill`` works.
        path: where the file goes.
        fill: writes into the database that is attached under this name.
        watch: what measures the stages.
    """
    # Nobody else may read rows that are not verified yet, whatever the umask says: they grow in a folder of this user.
    folder = Path(f"{path}.sqlanon-{secrets.token_hex(4)}")
    beside = str(folder / Path(path).name)
    folder.mkdir(mode=0o700)
    try:
        with engine.attach(beside) as database:
            made = fill(database)
        with watch.stage("publish"):
            _settle(beside, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return made


def _settle(beside: str, path: str) -> None:
    """Flush the finished file and put it in place, with the rights that the one before it has."""
    with Path(beside).open("rb") as file:
        with suppress(FileNotFoundError):
            known = Path(path).stat()
            with suppress(PermissionError):  # only a member of a group may give it a file
                os.fchown(file.fileno(), -1, known.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(known.st_mode))
        os.fsync(file.fileno())
    os.replace(beside, path)
    folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def keep_tables(engine: Engine, shown: Sequence[Pointing], database: str) -> None:
    """Copy what readers get into the private schema, for a rollback."""
    with engine.publishing():
        for item in shown:
            _copy(engine, item.at, replace(item.view, database=database))


def give_back(engine: Engine, entry: Entry, shown: Sequence[Pointing], watch: Stopwatch) -> None:
    """Put a kept version into the published file again; the caller has marked it ``returning``."""
    assert entry.file is not None

    def fill(database: str) -> None:
        with engine.publishing():
            make_schema(engine, replace(shown[0].view, database=database))
            for item in shown:
                _copy(engine, replace(item.view, database=database), item.at)

    put(engine, entry.file, fill, watch)


def _copy(engine: Engine, copy: TableRef, origin: TableRef) -> None:
    names = [column.name for column in engine.relation(spelled(origin)).columns]
    engine.execute(statement("publish/copy", engine.dialect, copy=copy, origin=origin, columns=names))


def make_schema(engine: Engine, view: TableRef) -> None:
    """The schema of a view, where it is missing."""
    schema = ".".join(identifier(part) for part in (view.database, view.schema) if part)
    if view.schema and not engine.has_schema(view):
        engine.execute(statement("publish/schema", engine.dialect, schema=schema))


def settled(engine: Engine, release: str, version: int) -> None:
    """The file holds this version now: say so of it and of the one before, in the transaction that is open.

    Views of a version before, which was not in a file, go: nobody would refresh them any more.
    """
    catalog = Catalog(engine)
    entries = catalog.entries(release)
    (now,) = (entry for entry in entries if entry.version == version)
    for entry in entries:
        if entry.status == "published":
            swap(engine, (), entry)
            catalog.mark(release, entry.version, "withdrawn" if now.status == "returning" else "replaced")
    catalog.mark(release, version, "published")


def _as_before(entry: Entry, entries: Sequence[Entry]) -> str:
    """What becomes of a version that did not reach the file."""
    if entry.status == "pending":
        return "abandoned"
    newer = any(other.status == "published" and other.version < entry.version for other in entries)
    return "withdrawn" if newer else "replaced"


def reconcile(engine: Engine, release: str) -> list[str]:
    """Tidy up after what was killed between building another file and saying so in the catalog."""
    catalog = Catalog(engine)
    tidied = []
    for entry in catalog.entries(release):
        if entry.status not in ("pending", "returning") or not entry.file:
            continue
        for leftover in sorted(
            Path(entry.file).resolve().parent.glob(f"{glob.escape(Path(entry.file).name)}.sqlanon-*")
        ):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
            tidied.append(str(leftover))
        there = Path(entry.file).exists() and version_in(engine, entry) == entry.version
        with engine.publishing():
            if there:
                settled(engine, release, entry.version)
            else:
                catalog.mark(release, entry.version, _as_before(entry, catalog.entries(release)))
        tidied.append(f"{entry.release}@{entry.version}")
    return tidied
