"""A release in a table of a lake: its rows in a private table of the database, then in a file, then in one commit.

The database has the view as well, so that the release is asked and audited there. Its catalog says what is under way
(``pending``: a run, ``returning``: a rollback, ``withdrawing``) before the commit, which decides, and ``published`` or
``withdrawn`` after; `sqlanon.release.publish.second_file.reconcile` finishes what was committed, and removes the file
of what was not.
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
    """A new name for the file of a version, which no other attempt has."""
    return f"sqlanon-{secrets.token_hex(12)}.parquet"


def commit_version(engine: Engine, entry: Entry, watch: Stopwatch) -> None:
    """Write the rows of a version into the lake and let readers have them.

    Args:
        engine: the database, where the version's table is, verified.
        entry: the version, which the catalog has as pending or returning.
        watch: measures the stages.

    Raises:
        PrivacyViolation: the written file differs from the table.
        PolicyError: another program's rows are there, or a column's type is not one of the format.
        LockedError: another program committed meanwhile.
    """
    assert engine.lake is not None
    place, file = entry.lake["place"], entry.lake["file"]
    with watch.stage("publish"):
        engine.lake.write(entry.table, place, file)
        _commit(engine, entry, file)


def withdraw(engine: Engine, entry: Entry) -> None:
    """Let readers of the table of a version have no row; what was done before is not done again."""
    if is_shown(engine, entry):
        _commit(engine, entry, None)


def _commit(engine: Engine, entry: Entry, file: str | None) -> None:
    assert engine.lake is not None
    secret = str(secret_of(engine, entry.release))
    place = entry.lake["place"]
    facts = make_facts(secret, entry.release, entry.version, file or "")
    engine.lake.commit(place, file, facts, partial(check_own, entry.release, place, secret))


def mark_returning(engine: Engine, entry: Entry, policy: Mapping[str, Any]) -> Entry:
    """Record that a version is to be committed again, in a file of a new name; gives its row of the catalog."""
    catalog, lake = Catalog(engine), {**entry.lake, "file": name_file()}
    with engine.publishing():
        catalog.mark(entry.release, entry.version, "returning")
        catalog.keep_policy(entry, policy)
        catalog.replace_report(entry.release, entry.version, replace(RunReport.from_dict(entry.report), lake=lake))
    return next(one for one in _rows(engine, entry) if one.version == entry.version)


def _rows(engine: Engine, entry: Entry) -> Sequence[Entry]:
    return Catalog(engine).entries(entry.release, versions=[entry.version])
