"""A release in another database: rows go into a private table of the source's database, and are sent from there.

The source's database has the view as well, for queries and audits of the owner. Its catalog records the pending step
(``pending``: a run, ``returning``: a rollback, ``withdrawing``) before, and ``published`` or ``withdrawn`` after the
one transaction of the other database, which makes the tables, verifies them, shows them and records the version
(`sqlanon.release.catalog.receiver`): that transaction decides. `sqlanon.release.publish.second_file.reconcile` asks the
other database after a kill; nothing of an attempt that was not committed is left there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from sqlanon.column_spec import ColumnSpec
from sqlanon.engines.base import Engine, TableRef, Transfer
from sqlanon.engines.portable import PortableColumn
from sqlanon.errors import DatabaseError, DependentsError, PolicyError
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import secret_of
from sqlanon.release.catalog.receiver import REPLACED, Receipt, Receiver, open_receiver
from sqlanon.release.catalog.rights import grant_usage, set_readers
from sqlanon.release.catalog.views import Pointing, list_pointings, second_of
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import drop_views
from sqlanon.release.verify.received import verify_equal, verify_promises
from sqlanon.results import RunReport
from sqlanon.sqltext import identifier, statement

BLOCK = 10_000
"""Rows that are in memory on their way."""


def name_attempt() -> str:
    """A new token; no other attempt has the same."""
    return secrets.token_hex(12)


def send_version(
    engine: Engine,
    entry: Entry,
    watch: Stopwatch,
    previous: Entry | None,
    settings: Sequence[ColumnSpec] | None = None,
) -> None:
    """Send the tables of a version to the other database, verify them there and let readers have them.

    Args:
        engine: the source's database, where the version's tables are, verified.
        entry: the version, which the catalog has as pending or returning.
        watch: measures the stages.
        previous: the published version, whose readers are replaced, and whose views there, if it has others.
        settings: the policy's columns, see `verify_promises`.

    Raises:
        PrivacyViolation: the tables there differ from those here, or a requirement does not hold there.
        PolicyError: the view there is not of this release, or a column's type is lost on the way.
        LockedError: another session publishes there, or readers held the views for too long.
        DatabaseError: one of the databases failed. Readers have the version that they had.
    """
    secret = str(secret_of(engine, entry.release))
    with _opened(entry) as receiver, receiver.engine.lock(f"release in {receiver.view(entry)}"):
        _refuse_same(receiver, entry, secret)
        tables = _pair_tables(engine, receiver, entry)
        with watch.stage("publish"):
            sent = {pair[0].at: list_columns(engine, receiver, entry, pair[0].at) for pair in tables}
            receiver.make_room(receiver.view(entry))
            drop_replaced(receiver)
        with receiver.engine.publishing():
            shown = [there for _, there in tables]
            before = _check_own(receiver, entry, [item.view for item in shown], secret)
            counts = [_copy(engine, here.at, receiver, there.at, sent[here.at], watch) for here, there in tables]
            with watch.stage("verify"):
                # Boxes of single rows are proved by private tables, which are not there.
                if RunReport.from_dict(entry.report).shape.grouped:
                    verify_promises(receiver.engine, shown[0].at, entry.policy, settings)
            with watch.stage("publish"):
                _show(receiver, entry, shown, previous)
                _drop_earlier(receiver, entry, previous, secret)
                if before:
                    receiver.mark_replaced(before)
                receiver.add(entry, secret, counts[0])
        with watch.stage("cleanup"):
            drop_replaced(receiver)


@contextmanager
def _opened(entry: Entry) -> Iterator[Receiver]:
    with open_receiver(entry.release, entry.sent["place"]) as receiver:
        assert receiver is not None
        yield receiver


def _pair_tables(engine: Engine, receiver: Receiver, entry: Entry) -> list[tuple[Pointing, Pointing]]:
    """The views and tables of a version, here and there."""
    assert entry.view is not None
    here = list_pointings(engine, entry.view, entry.physical, second=second_of(entry))
    return list(zip(here, receiver.list_pointings(entry, entry.sent["token"]), strict=True))


def _refuse_same(receiver: Receiver, entry: Entry, secret: str) -> None:
    catalog = Catalog(receiver.engine)
    if catalog.secret_in(receiver.engine.look_up(catalog.tables), entry.release) == secret:
        raise PolicyError(
            f"{entry.release}: publish_to names the database of the source itself, or a copy of it with the private "
            "tables: leave publish_to out, or name another database"
        )


def list_columns(engine: Engine, receiver: Receiver, entry: Entry, table: TableRef) -> list[PortableColumn]:
    """The columns of a table in types that both databases have.

    Raises:
        PolicyError: values of a column would be lost or changed, or its name is too long there.
    """
    here, there = _transfer(engine), _transfer(receiver.engine)
    longest = receiver.engine.capabilities.max_identifier
    portable_columns, problems = [], []
    for column in engine.look_up([table]).columns(table):
        kind = here.read_type(column)
        if kind is None or there.write_type(kind) is None:
            cast = f"CAST({identifier(column.name)} AS {_suggest(column.kind, column.type)})"
            problems.append(f"{column.name} ({column.shown_type}): {cast}")
        elif len(column.name.encode()) > longest:
            problems.append(f"{column.name}: a name of at most {longest} bytes")
        else:
            portable_columns.append(PortableColumn(column.name, kind))
    if problems:
        raise PolicyError(
            f"{entry.release}: publish_to: the other database has no type for every value of these columns, or no such "
            f"name: change them in a view of the source: {'; '.join(problems)}"
        )
    return portable_columns


def _suggest(kind: str, type_text: str) -> str:
    """A type that every engine has for the values of a column."""
    if kind == "decimal":
        return "DECIMAL(38, 9)"
    return "TIMESTAMP" if type_text == "TIMESTAMP_NS" else "TEXT"


def _transfer(engine: Engine) -> Transfer:
    assert engine.transfer is not None
    return engine.transfer


def _check_own(receiver: Receiver, entry: Entry, views: Sequence[TableRef], secret: str) -> Receipt | None:
    """See `Receiver.check_own`; also of the queries of the views.

    Raises:
        PolicyError: a view is not of this release.
    """
    receipt = receiver.check_own(entry.release, views, secret)
    there = receiver.engine
    for item in receiver.list_pointings(entry, receipt.token) if receipt else ():
        definition = there.definition(item.view)
        if definition is None and not there.exists(item.view):
            continue
        probe = replace(item.at, name=f"{item.at.name}_view")
        names = [column.name for column in there.look_up([item.at]).columns(item.at)]
        there.execute(statement("publish/view", there.dialect, view=probe, physical=item.at, columns=names))
        expected = there.definition(probe)
        there.execute(statement("publish/drop_view", there.dialect, view=probe))
        if definition != expected:
            raise PolicyError(
                f"{entry.release}: publish_to: {item.view} there was made anew by somebody else: its query is not "
                "sqlanon's; nothing is replaced: rename or drop it"
            )
    return receipt


def _copy(
    engine: Engine,
    origin: TableRef,
    receiver: Receiver,
    copy: TableRef,
    columns: Sequence[PortableColumn],
    watch: Stopwatch,
) -> int:
    """Send a table and compare it with the one here; gives the number of rows."""
    rows = statement("sent/rows", engine.dialect, target=origin, columns=[column.parameters() for column in columns])
    arrays = [column.type.array for column in columns]
    with watch.stage("publish"):
        blocks = _transfer(engine).stream_rows(rows, arrays, BLOCK)
        _transfer(receiver.engine).load_texts(copy, columns, blocks)
    with watch.stage("verify"):
        return verify_equal(engine, origin, receiver.engine, copy, columns)


def _show(receiver: Receiver, entry: Entry, shown: Sequence[Pointing], previous: Entry | None) -> None:
    """Point the views at the tables, with the rights of the policy's readers."""
    engine, readers = receiver.engine, tuple(entry.policy.get("readers") or ())
    views = [item.view for item in shown]
    grant_usage(engine, readers, views)
    swap(engine, shown, None)
    set_readers(engine, readers, views, previous)


def _drop_earlier(receiver: Receiver, entry: Entry, previous: Entry | None, secret: str) -> None:
    """Drop views of the version before that this version does not have: no run would refresh them any more."""
    if previous is None or previous.sent.get("place") != entry.sent["place"]:
        return
    earlier_views = [item.view for item in receiver.list_pointings(previous, previous.sent["token"])]
    if receiver.view(previous) == receiver.view(entry):
        return
    receipt = _check_own(receiver, previous, earlier_views, secret)
    if receipt is not None:
        refuse_dependents(receiver.engine, previous, earlier_views)
        receiver.engine.run_swap(lambda: drop_views(receiver.engine, earlier_views))
        receiver.mark_replaced(receipt)


def drop_replaced(receiver: Receiver) -> None:
    """Drop the tables of versions that readers do not have any more; one that is held is dropped by the next run."""
    engine = receiver.engine
    for receipt in receiver.receipts():
        if receipt.status == "shown":
            continue
        table = receiver.name_table(receipt)
        tables = [table, replace(table, name=f"{table.name}_metadata")]
        with suppress(DatabaseError), engine.publishing():
            engine.execute_all([statement("table/drop", engine.dialect, target=dropped) for dropped in tables])
            receiver.forget(receipt)


def finish_sent(entry: Entry) -> None:
    """Drop the tables of the version that a committed attempt has replaced, which a kill left in the other database."""
    with _opened(entry) as receiver:
        drop_replaced(receiver)


def drop_remains(engine: Engine, release: str) -> None:
    """Drop the tables of replaced versions in the other database, which is that of the newest version that was sent.

    Raises:
        DatabaseError: tables are left, or that database cannot be opened.
    """
    places = [entry.sent["place"] for entry in Catalog(engine).entries(release) if entry.sent]
    if not places:
        return
    with open_receiver(release, places[-1], read_only=True) as receiver:
        remains = receiver is not None and any(receipt.status == REPLACED for receipt in receiver.receipts())
    if not remains:
        return
    secret = secret_of(engine, release)
    with open_receiver(release, places[-1]) as receiver:
        assert receiver is not None
        drop_replaced(receiver)
        left = [item for item in receiver.receipts() if item.status == REPLACED and item.is_of(secret)]
        if left:
            raise DatabaseError(
                f"{release}: in the other database tables of version {', '.join(str(item.version) for item in left)} "
                f"could not be dropped ({', '.join(str(receiver.name_table(item)) for item in left)}): something reads "
                "them or depends on them. Drop that, then do this again"
            )


def withdraw_sent(engine: Engine, entry: Entry, *, check_only: bool = False) -> None:
    """Drop the views of a version in the other database, unless that was done before.

    Args:
        engine: the source's database.
        entry: the version.
        check_only: drop nothing.

    Raises:
        PolicyError: a view there is not of this release.
        DependentsError: other objects read the views.
    """
    secret = str(secret_of(engine, entry.release))
    with _opened(entry) as receiver, receiver.engine.lock(f"release in {receiver.view(entry)}"):
        if not receiver.shows(entry, secret):
            return
        there = receiver.engine
        views = [item.view for item in receiver.list_pointings(entry, entry.sent["token"])]
        with there.publishing():
            receipt = _check_own(receiver, entry, views, secret)

            refuse_dependents(there, entry, views)
            if check_only:
                return
            there.run_swap(lambda: drop_views(there, views))
            if receipt:
                receiver.mark_replaced(receipt)
        drop_replaced(receiver)


def refuse_dependents(engine: Engine, entry: Entry, views: Sequence[TableRef]) -> None:
    """Check that no other object reads these views.

    Raises:
        DependentsError: one does.
    """
    relying = engine.list_dependents(views)
    if relying:
        raise DependentsError(
            f"{entry.release}: in the other database these read {', '.join(map(str, views))}: {', '.join(relying)}. "
            "sqlanon drops nothing that it did not make: drop or change them and unpublish again"
        )


def set_readers_there(entry: Entry, readers: Sequence[str]) -> None:
    """Grant the views in the other database to the readers that a policy names now, and revoke them from others."""
    with _opened(entry) as receiver:
        views = [item.view for item in receiver.list_pointings(entry, entry.sent["token"])]
        with receiver.engine.publishing():
            grant_usage(receiver.engine, readers, views)
            set_readers(receiver.engine, readers, views, entry)


def mark_resent(engine: Engine, entry: Entry, policy: Mapping[str, Any]) -> Entry:
    """Record that a version is to be sent again, in an attempt of its own; gives the catalog row."""
    catalog, sent = Catalog(engine), {**entry.sent, "token": name_attempt()}
    with engine.publishing():
        catalog.mark(entry.release, entry.version, "returning")
        catalog.keep_policy(entry, policy)
        catalog.replace_report(entry.release, entry.version, replace(RunReport.from_dict(entry.report), sent=sent))
    rows = catalog.entries(entry.release, versions=[entry.version])
    return next(row for row in rows if row.version == entry.version)
