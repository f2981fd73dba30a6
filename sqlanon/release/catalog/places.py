"""Places where readers find releases, one entry each: views of the source's database, a file, a lake, another database.

An entry knows the place that a policy names, whether a release may go there, and whether a version is there.
`sqlanon.release.publish.deliveries` has, for each of them, how versions come there and leave.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import require
from sqlanon.errors import LockedError, PolicyError
from sqlanon.release.catalog import lake_facts, sent_versions
from sqlanon.release.catalog.addresses import explain_elsewhere, is_elsewhere
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import check_ours, version_in
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.rights import reader_warnings
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.catalog.views import views_beside
from sqlanon.spec import ReleaseSpec


class Place(Protocol):
    """A kind of places.

    Attributes:
        name: of the kind.
        remedy: advice about a version that a place keeps after the policy names another one.
    """

    name: str
    remedy: str

    def named_by(self, spec: ReleaseSpec) -> str | None:
        """The place of this kind that a policy names."""

    def of(self, entry: Entry) -> str | None:
        """The place of this kind that has a version."""

    def locate(self, state: ReleaseState, target: Publication) -> str | None:
        """The place that the policy names, the same for every way to write it.

        Raises:
            UnsupportedError: the engine publishes into no such place, or not this release.
            PolicyError: it has rows that this release did not publish.
            DatabaseError: it cannot be read.
        """

    def explain_missing(self, engine: Engine, entry: Entry) -> str | None:
        """Reason why readers of the place lack a published version; None if they have it."""

    def explain_change(self, engine: Engine, entry: Entry) -> str | None:
        """Reason why readers have other rows than those that were published; None if all are the same."""

    def is_there(self, engine: Engine, entry: Entry) -> bool:
        """Whether a version that was under way reached the readers."""

    def warn_of_readers(self, state: ReleaseState) -> list[str]:
        """Warnings about the policy's readers."""


class _Views:
    """Views of the source's database, and no other place."""

    name = "view"
    remedy = ""

    def named_by(self, spec: ReleaseSpec) -> str | None:
        return None

    def of(self, entry: Entry) -> str | None:
        return None

    def locate(self, state: ReleaseState, target: Publication) -> str | None:
        return None

    def explain_missing(self, engine: Engine, entry: Entry) -> str | None:
        return None

    def explain_change(self, engine: Engine, entry: Entry) -> str | None:
        return None

    def is_there(self, engine: Engine, entry: Entry) -> bool:
        return version_in(engine, entry) == entry.version

    def warn_of_readers(self, state: ReleaseState) -> list[str]:
        return reader_warnings(state.engine, state.spec, state.source.ref)


class _File(_Views):
    """A database file next to that of the source (``publish_file``)."""

    name = "file"
    remedy = "remove it"

    def named_by(self, spec: ReleaseSpec) -> str | None:
        return spec.publish_file

    def of(self, entry: Entry) -> str | None:
        return entry.file

    def locate(self, state: ReleaseState, target: Publication) -> str | None:
        file = state.spec.publish_file
        if file is None:
            return None
        require(state.engine, "publish_file", state.spec.name)
        check_no_link(state.spec.name, file)
        check_ours(state.engine, state.spec.name, file)
        return file

    def explain_missing(self, engine: Engine, entry: Entry) -> str | None:
        if not Path(str(entry.file)).exists():
            return f"{entry.file} is gone"
        try:
            version = version_in(engine, entry)
        except LockedError:  # another process writes it now: replacing the file does not depend on that
            return None
        return None if version == entry.version else f"{entry.file} does not hold version {entry.version}"

    def is_there(self, engine: Engine, entry: Entry) -> bool:
        return Path(str(entry.file)).exists() and super().is_there(engine, entry)


class _Lake(_Views):
    """A table of Delta or Iceberg (``publish: delta:..``, ``publish_to: delta:..``)."""

    name = "lake"
    remedy = "remove the table"

    def named_by(self, spec: ReleaseSpec) -> str | None:
        return spec.publish_lake

    def of(self, entry: Entry) -> str | None:
        return entry.lake.get("place")

    def locate(self, state: ReleaseState, target: Publication) -> str | None:
        suffixes = [ref.name.removeprefix(target.view.name) for ref in views_beside(target.view, target.second)]
        return lake_facts.lake_place(state.engine, state.spec, suffixes)

    def explain_missing(self, engine: Engine, entry: Entry) -> str | None:
        shown = lake_facts.is_shown(engine, entry)
        return None if shown else f"version {entry.version} in {self.of(entry)} is gone"

    def explain_change(self, engine: Engine, entry: Entry) -> str | None:
        same = lake_facts.has_same_rows(engine, entry)
        return None if same else f"version {entry.version} in {self.of(entry)} is gone, or rows of it were changed"

    def is_there(self, engine: Engine, entry: Entry) -> bool:
        return lake_facts.is_committed(engine, entry)

    def warn_of_readers(self, state: ReleaseState) -> list[str]:
        engine, place = state.engine, str(self.named_by(state.spec))
        warnings = [f"readers: {place} has no roles: whoever may read the storage reads the table"]
        return [*(warnings if state.spec.readers else []), *(engine.lake.list_warnings(place) if engine.lake else ())]


class _Database(_Views):
    """Another database (``publish_to``)."""

    name = "database"
    remedy = "drop the view there"

    def named_by(self, spec: ReleaseSpec) -> str | None:
        return spec.publish_to

    def of(self, entry: Entry) -> str | None:
        return entry.sent.get("place")

    def locate(self, state: ReleaseState, target: Publication) -> str | None:
        return sent_versions.sent_place(state.engine, state.spec, target.view, target.second)

    def explain_missing(self, engine: Engine, entry: Entry) -> str | None:
        elsewhere = explain_elsewhere(engine, entry)
        shown = elsewhere is None and sent_versions.is_shown_there(engine, entry)
        return None if shown else elsewhere or f"version {entry.version} in {self.of(entry)} is gone"

    def explain_change(self, engine: Engine, entry: Entry) -> str | None:
        same = not is_elsewhere(engine, entry) and sent_versions.is_unchanged_there(engine, entry)
        return None if same else f"version {entry.version} in {self.of(entry)} is gone, or rows of it were changed"

    def is_there(self, engine: Engine, entry: Entry) -> bool:
        return sent_versions.is_sent(engine, entry)

    def warn_of_readers(self, state: ReleaseState) -> list[str]:
        return sent_versions.warn_of_readers_there(state)


VIEWS: Place = _Views()
PLACES: tuple[Place, ...] = (_File(), _Lake(), _Database(), VIEWS)
"""Every kind of places. A release has views in the source's database whatever the place, unless that is a file."""


def place_of(entry: Entry) -> Place:
    """The kind of the place that has a version."""
    return next((place for place in PLACES if place.of(entry) is not None), VIEWS)


def place_named(spec: ReleaseSpec) -> Place:
    """The kind of the place that a policy names."""
    return next((place for place in PLACES if place.named_by(spec) is not None), VIEWS)


def list_reader_warnings(state: ReleaseState) -> list[str]:
    """Warnings about the readers where they read."""
    return place_named(state.spec).warn_of_readers(state)


Spot = tuple[str | None, str]
"""A place as policies write it, and the hash of its address; empty: the text alone names it, or it is unknown."""


def find_spot(entry: Entry | None) -> Spot:
    """Where a version went."""
    return (None, "") if entry is None else (place_of(entry).of(entry), entry.sent.get("mark", ""))


def is_same_spot(first: Spot, second: Spot) -> bool:
    """Whether two spots are the same place."""
    return first[0] == second[0] and (first[1] == second[1] or not (first[1] and second[1]))


def spell_spot(spot: Spot, current: Spot) -> str:
    """A place in words: of two databases that the environment named one after the other, the former one."""
    place, address = spot
    return f"the database that {place} named before" if address and current[0] == place else str(place)


def list_left(entries: Sequence[Entry], current: Spot) -> list[str]:
    """Warnings about lake tables and databases other than the current one that got versions, the newest of each.

    No place is asked: a version is there until somebody removes it.
    """
    newest: dict[Spot, Entry] = {}
    for entry in entries:
        spot = find_spot(entry)
        if (
            spot[0] is not None
            and not is_same_spot(spot, current)
            and place_of(entry).name != "file"
            and entry.status in SHOWN
        ):
            newest[spot] = entry
    return [
        f"{spell_spot(spot, current)} has version {entry.version} of this release, unless that was removed there: "
        f"{place_of(entry).remedy}"
        for spot, entry in newest.items()
        if entry.status != "withdrawn"
    ]


def check_no_link(release: str, file: str) -> None:
    """Check that the published file is no symbolic link: replacing the link would leave readers the file behind it.

    Raises:
        PolicyError: it is a link.
    """
    if Path(file).is_symlink():
        raise PolicyError(
            f"{release}: {file} is a symbolic link to {os.path.realpath(file)}: to replace or remove the link would "
            "leave that file to its readers; move that file to the link's place, or publish into another one"
        )
