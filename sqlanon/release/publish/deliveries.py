"""Registry of deliveries: one for each kind of `sqlanon.release.catalog.places`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.engines.base import Engine
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import place_of
from sqlanon.release.publish.delivery import Delivery
from sqlanon.release.publish.in_lake import InLake
from sqlanon.release.publish.in_views import InViews
from sqlanon.release.publish.second_file import InFile
from sqlanon.release.publish.send import InDatabase

DELIVERIES: Mapping[str, Delivery] = {
    "view": InViews(),
    "file": InFile(),
    "lake": InLake(),
    "database": InDatabase(),
}
"""By the names of the kinds of places."""


def delivery_of(entry: Entry) -> Delivery:
    """The delivery at the place that has a version."""
    return DELIVERIES[place_of(entry).name]


def purge_places(engine: Engine, release: str, entries: Sequence[Entry]) -> None:
    """Remove the remains, at all places outside, of versions that have no tables in the source's database.

    Raises:
        DatabaseError: something is left.
    """
    for kind in dict.fromkeys(place_of(entry).name for entry in entries):
        DELIVERIES[kind].purge(engine, release, [entry for entry in entries if place_of(entry).name == kind])
