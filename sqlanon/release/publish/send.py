"""Delivers a release to another database: a private table of the source's database is sent and verified there.

One transaction of the other database makes the tables, verifies them, shows them and records the version
(`sqlanon.release.catalog.receiver`). That transaction decides; an attempt that was not committed leaves nothing there.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import DatabaseError, DependentsError, PolicyError
from sqlanon.release.catalog.addresses import check_address, is_elsewhere, mark_address
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import secret_of
from sqlanon.release.catalog.places import PLACES, find_spot, is_same_spot
from sqlanon.release.catalog.receiver import REPLACED, Receipt, Receiver, open_receiver
from sqlanon.release.catalog.rights import grant_usage, set_readers
from sqlanon.release.catalog.views import ViewTarget
from sqlanon.release.publish.carry import CarryRoute
from sqlanon.release.publish.in_views import list_views
from sqlanon.release.publish.new_version import NewVersion
from sqlanon.release.publish.outside_places import Attempt, OutsidePlace
from sqlanon.release.publish.swap import swap
from sqlanon.release.publish.two_phase import drop_views
from sqlanon.release.verify.received_tables import verify_promises
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement


class InDatabase(OutsidePlace):
    """See `OutsidePlace`."""

    place = next(place for place in PLACES if place.name == "database")
    field = "sent"

    def begin(self, parts: Sequence[NewVersion]) -> list[dict[str, str]]:
        return [_name_attempt(part) for part in parts]

    def begin_again(self, entry: Entry) -> Mapping[str, str]:
        return {**entry.sent, "token": secrets.token_hex(12)}

    def deliver(self, engine: Engine, attempts: Sequence[Attempt]) -> None:
        for attempt in attempts:
            _send_version(engine, attempt)

    def settle(self, engine: Engine, entry: Entry, *, there: bool) -> list[str]:
        """See `Delivery.settle`; a committed version has replaced others, which are dropped."""
        if there and not is_elsewhere(engine, entry):
            with _opened(entry) as receiver:
                _drop_replaced(receiver)
        return []

    def unpublish(self, engine: Engine, entry: Entry) -> None:
        check_address(engine, entry, "unpublish")
        super().unpublish(engine, entry)

    def return_version(self, engine: Engine, entry: Entry, policy: Mapping[str, Any], current: Entry) -> None:
        check_address(engine, current, "roll back")
        super().return_version(engine, entry, policy, current)

    def check_withdrawal(self, engine: Engine, entry: Entry) -> None:
        _withdraw(engine, entry, check_only=True)

    def take(self, engine: Engine, entry: Entry) -> None:
        check_address(engine, entry, "do this")
        _withdraw(engine, entry)

    def keep_readers(self, engine: Engine, spec: ReleaseSpec, entry: Entry) -> None:
        if set(entry.policy.get("readers") or ()) == set(spec.readers):
            return
        with _opened(entry) as receiver:
            views = [item.view for item in receiver.list_pointings(entry, entry.sent["token"])]
            with receiver.engine.publishing():
                grant_usage(receiver.engine, spec.readers, views)
                set_readers(receiver.engine, spec.readers, views, entry)

    def purge(self, engine: Engine, release: str, entries: Sequence[Entry]) -> None:
        if not is_elsewhere(engine, entries[-1]):
            _drop_remains(engine, release, entries[-1].sent["place"])


def _name_attempt(part: NewVersion) -> dict[str, str]:
    place, release = str(part.target.place), part.state.spec.name
    mark = mark_address(release, place, secret_of(part.state.engine, release))
    return {"place": place, "token": secrets.token_hex(12)} | ({"mark": mark} if mark else {})


def _send_version(engine: Engine, attempt: Attempt) -> None:
    """See `OutsidePlace.deliver`."""
    entry, watch, previous = attempt.entry, attempt.watch, attempt.previous
    secret = str(secret_of(engine, entry.release))
    with _opened(entry) as receiver, receiver.engine.lock(f"release in {receiver.view(entry)}"):
        _refuse_same(receiver, entry, secret)
        watch.meter.count(receiver.engine.usage)
        road = CarryRoute(entry.release, engine, receiver.engine, watch)
        tables = _pair_tables(engine, receiver, entry)
        with watch.stage("publish"):
            sent = {here.at: road.list_columns(here.at) for here, _ in tables}
            receiver.make_room(receiver.view(entry))
            _drop_replaced(receiver)
        with receiver.engine.publishing():
            shown = [there for _, there in tables]
            before = _check_own(receiver, entry, [item.view for item in shown], secret)
            contents = [road.carry(here.at, there.at, sent[here.at]) for here, there in tables]
            with watch.stage("verify"):
                # Boxes of single rows are proved by private tables, which are not there.
                if RunReport.from_dict(entry.report).shape.grouped:
                    rows = receiver.engine.look_up([shown[0].at]).relations[shown[0].at]
                    verify_promises(receiver.engine, rows, entry.policy, attempt.settings)
            with watch.stage("publish"):
                _show(receiver, entry, shown, _find_version(engine, entry, before) or previous)
                _drop_earlier(receiver, entry, previous, secret)
                if before:
                    receiver.mark_replaced(before)
                receiver.add(entry, secret, contents)
        with watch.stage("cleanup"):
            _drop_replaced(receiver)


@contextmanager
def _opened(entry: Entry) -> Iterator[Receiver]:
    with open_receiver(entry.release, entry.sent["place"]) as receiver:
        assert receiver is not None
        yield receiver


def _pair_tables(engine: Engine, receiver: Receiver, entry: Entry) -> list[tuple[ViewTarget, ViewTarget]]:
    """The views and tables of a version, here and there."""
    here = list_views(engine, entry)
    return list(zip(here, receiver.list_pointings(entry, entry.sent["token"]), strict=True))


def _find_version(engine: Engine, entry: Entry, receipt: Receipt | None) -> Entry | None:
    """The version that readers of the other database have: not the one before, if that went elsewhere."""
    versions = Catalog(engine).entries(entry.release, versions=[receipt.version]) if receipt else []
    return next((version for version in versions if receipt and version.sent.get("token") == receipt.token), None)


def _refuse_same(receiver: Receiver, entry: Entry, secret: str) -> None:
    catalog = Catalog(receiver.engine)
    if catalog.secret_in(receiver.engine.look_up(catalog.tables), entry.release) == secret:
        raise PolicyError(
            f"{entry.release}: publish_to names the database of the source itself, or a copy of it with the private "
            "tables: leave publish_to out, or name another database"
        )


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


def _show(receiver: Receiver, entry: Entry, shown: Sequence[ViewTarget], previous: Entry | None) -> None:
    """Point the views at the tables, with the rights of the policy's readers."""
    engine, readers = receiver.engine, tuple(entry.policy.get("readers") or ())
    views = [item.view for item in shown]
    grant_usage(engine, readers, views)
    swap(engine, shown, None)
    set_readers(engine, readers, views, previous)


def _drop_earlier(receiver: Receiver, entry: Entry, previous: Entry | None, secret: str) -> None:
    """Drop views of the version before that this version does not have: no run would refresh them any more."""
    if previous is None or not is_same_spot(find_spot(previous), find_spot(entry)):
        return
    earlier_views = [item.view for item in receiver.list_pointings(previous, previous.sent["token"])]
    if receiver.view(previous) == receiver.view(entry):
        return
    receipt = _check_own(receiver, previous, earlier_views, secret)
    if receipt is not None:
        _refuse_dependents(receiver.engine, previous, earlier_views)
        receiver.engine.run_swap(lambda: drop_views(receiver.engine, earlier_views))
        receiver.mark_replaced(receipt)


def _drop_replaced(receiver: Receiver) -> None:
    """Drop the tables of versions that readers do not have any more; one that is held is dropped by the next run."""
    engine = receiver.engine
    for receipt in receiver.receipts():
        if receipt.status == "shown":
            continue
        tables = receiver.list_tables(receipt)
        with suppress(DatabaseError), engine.publishing():
            engine.execute_all([statement("table/drop", engine.dialect, target=dropped) for dropped in tables])
            receiver.forget(receipt)


def _drop_remains(engine: Engine, release: str, place: str) -> None:
    """Drop the tables of replaced versions in the other database.

    Raises:
        DatabaseError: tables are left, or that database cannot be opened.
    """
    with open_receiver(release, place, read_only=True) as receiver:
        remains = receiver is not None and any(receipt.status == REPLACED for receipt in receiver.receipts())
    if not remains:
        return
    secret = secret_of(engine, release)
    with open_receiver(release, place) as receiver:
        assert receiver is not None
        _drop_replaced(receiver)
        left = [item for item in receiver.receipts() if item.status == REPLACED and item.is_of(secret)]
        if left:
            raise DatabaseError(
                f"{release}: in the other database tables of version {', '.join(str(item.version) for item in left)} "
                f"could not be dropped ({', '.join(str(receiver.name_table(item)) for item in left)}): something reads "
                "them or depends on them. Drop that, then do this again"
            )


def _withdraw(engine: Engine, entry: Entry, *, check_only: bool = False) -> None:
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
        sent = receiver.find_shown(receiver.view(entry), secret)
        if sent is None or sent.token != entry.sent["token"]:
            return
        there = receiver.engine
        views = [item.view for item in receiver.list_pointings(entry, entry.sent["token"])]
        with there.publishing():
            receipt = _check_own(receiver, entry, views, secret)
            _refuse_dependents(there, entry, views)
            if check_only:
                return
            there.run_swap(lambda: drop_views(there, views))
            if receipt:
                receiver.mark_replaced(receipt)
        _drop_replaced(receiver)


def _refuse_dependents(engine: Engine, entry: Entry, views: Sequence[TableRef]) -> None:
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
