"""Questions about versions that another database received: whether readers there have one, and as it was sent."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.lacks import require
from sqlanon.engines.names import ELSEWHERE
from sqlanon.errors import UnsupportedError
from sqlanon.release.catalog.addresses import is_elsewhere
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import secret_of
from sqlanon.release.catalog.receiver import open_receiver
from sqlanon.release.catalog.rights import reader_warnings
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import views_beside
from sqlanon.spec import ReleaseSpec
from sqlanon.target_url import place_of


def sent_place(engine: Engine, spec: ReleaseSpec, view: TableRef, second: str) -> str | None:
    """The URL of the database that gets a release; None without one.

    Raises:
        UnsupportedError: the engine sends no rows, or the release has more than one table of them.
        PolicyError: the view there was not sent by this release.
        DatabaseError: the database cannot be opened.
    """
    if spec.publish_to is None:
        return None
    require(engine, ELSEWHERE, spec.name)
    if second:
        raise UnsupportedError(f"{spec.name}: {ELSEWHERE}: not with format {spec.format.kind}: it has a second table")
    place = place_of(spec.publish_to)
    with open_receiver(spec.name, place, read_only=True) as receiver:
        if receiver is not None:
            views = [replace(ref, database=receiver.table.database) for ref in views_beside(view, second)]
            receiver.check_own(spec.name, views, secret_of(engine, spec.name))
    return place


def warn_of_readers_there(state: ReleaseState) -> list[str]:
    """Warnings about the policy's readers in the other database."""
    spec = state.spec
    with open_receiver(spec.name, place_of(str(spec.publish_to)), read_only=True) as receiver:
        return reader_warnings(receiver.engine, spec, None) if receiver else []


def is_shown_there(engine: Engine, entry: Entry) -> bool:
    """Whether readers of the other database have this version."""
    with open_receiver(entry.release, entry.sent["place"], read_only=True) as receiver:
        return receiver is not None and receiver.shows(entry, secret_of(engine, entry.release))


def is_unchanged_there(engine: Engine, entry: Entry) -> bool:
    """Whether readers of the other database have this version, and nobody changed a row.

    Cost: a scan of the rows there.
    """
    with open_receiver(entry.release, entry.sent["place"], read_only=True) as receiver:
        return receiver is not None and receiver.is_unchanged(entry, secret_of(engine, entry.release))


def is_sent(engine: Engine, entry: Entry) -> bool:
    """Whether this attempt to send a version was committed, also if another version was sent since.

    Where the place names another database now, readers of the former one may have it: it counts as sent.
    """
    if is_elsewhere(engine, entry):
        return True
    secret = secret_of(engine, entry.release)
    with open_receiver(entry.release, entry.sent["place"], read_only=True) as receiver:
        receipts = receiver.receipts() if receiver is not None else []
    return any(receipt.token == entry.sent["token"] and receipt.is_of(secret) for receipt in receipts)
