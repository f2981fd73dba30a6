"""A release in a lake table: rows go into a private table of the database, then into a file, then into a commit.

The database has the view as well, for queries and audits. The catalog records the pending step (``pending``: a run,
``returning``: a rollback, ``withdrawing``) before the commit, which decides, and ``published`` or ``withdrawn`` after;
`sqlanon.release.publish.second_file.reconcile` finishes committed steps, and removes the files of the others.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import check_own, is_shown, make_facts, secret_of
from sqlanon.results import RunReport


def name_file() -> str:
    """New name for the file of a version; no other attempt has the same name."""
    return f"sqlanon-{secrets.token_hex(12)}.parquet"


def commit_version(engine: Engine, entry: Entry, watch: Stopwatch) -> None:
    """Write the rows of a version into the lake and let readers have them.

    Args:
        engine: the database, where the version's table is, verified.
        entry: the version, which the catalog has as pending or returning.
        watch: measures the stages.

    Raises:
        PrivacyViolation: the written file differs from the table.
        PolicyError: the table has rows of another program, or the format lacks a column's type.
        LockedError: another program committed meanwhile.
    """
    assert engine.lake is not None
    place, file = entry.lake["place"], entry.lake["file"]
    with watch.stage("publish"):
        engine.lake.write(entry.table, place, file)
        _commit(engine, entry, file)


def withdraw(engine: Engine, entry: Entry) -> None:
    """Remove the rows of a version from the readers' table, unless that was done before."""
    if is_shown(engine, entry):
        _commit(engine, entry, None)


def _commit(engine: Engine, entry: Entry, file: str | None) -> None:
    assert engine.lake is not None
    secret = str(secret_of(engine, entry.release))
    place = entry.lake["place"]
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
