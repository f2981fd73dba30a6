"""Addresses of other databases that the environment decides: a keyed hash shows that they have changed.

The hash is of server, port and database, without user and password. The key is the release's secret.
"""

from __future__ import annotations

import hmac
import json

from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lake_facts import secret_of
from sqlanon.target_url import address_of, needs_environment, read_variables


def read_place(release: str, place: str) -> str:
    """The URL of a place with the values of the environment's variables.

    Raises:
        PolicyError: a variable is not set.
    """
    try:
        return read_variables(place)
    except KeyError as error:
        raise PolicyError(f"{release}: publish_to: the environment variable {error.args[0]} is not set") from None


def mark_address(release: str, place: str, secret: str | None) -> str:
    """Keyed hash of the database that a place names now; empty without a key, and if its text alone names it."""
    if secret is None or not needs_environment(place):
        return ""
    payload = json.dumps(["address", release, address_of(read_place(release, place))])
    return hmac.new(secret.encode(), payload.encode(), "sha256").hexdigest()


def is_elsewhere(engine: Engine, entry: Entry) -> bool:
    """Whether a version was sent to another database than the one that its place names now."""
    mark = entry.sent.get("mark")
    return bool(mark) and mark != mark_address(entry.release, entry.sent["place"], secret_of(engine, entry.release))


def explain_elsewhere(engine: Engine, entry: Entry) -> str | None:
    """Reason why readers of a place lack a version that was sent to another one of the same text; None: it was not."""
    if not is_elsewhere(engine, entry):
        return None
    return f"{entry.sent['place']} names another database than the one that got version {entry.version}"


def check_address(engine: Engine, entry: Entry, action: str) -> None:
    """Refuse to work on a version in a database that the environment does not name any more.

    Raises:
        PolicyError: the place names another database now.
    """
    reason = explain_elsewhere(engine, entry)
    if reason:
        raise PolicyError(
            f"{entry.release}: {reason}: nothing is changed; set the variable to that database and {action} again"
        )
