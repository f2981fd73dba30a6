"""Target of a release: public view, further views, physical tables; and whether these names are free."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlanon.engines.base import PRIVATE_SCHEMA, Found, TableRef
from sqlanon.engines.lacks import require
from sqlanon.errors import PolicyError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.file_marker import check_ours
from sqlanon.release.catalog.lake_facts import lake_place
from sqlanon.release.catalog.private_tables import physical_name
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.receiver import sent_place
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import second_of_spec, views_beside, views_of


def target_of(state: ReleaseState) -> Publication:
    """Target of the next version of a release.

    Raises:
        PolicyError: the place belongs to another release or object.
    """
    engine, spec, entries = state.engine, state.spec, state.versions
    publication = name_target(state)
    view = publication.view
    if (view.schema or "").lower() == PRIVATE_SCHEMA:
        raise PolicyError(f"{spec.name}: {PRIVATE_SCHEMA} is sqlanon's private schema; publish into another one")
    longest = max(views_beside(replace(view, name=""), publication.second), key=lambda ref: len(ref.name)).name
    if len((view.name + longest).encode()) > engine.capabilities.max_identifier:
        raise PolicyError(
            f"{spec.name}: the view's name is too long; with {longest} it must fit "
            f"{engine.capabilities.max_identifier} bytes"
        )
    suffixes = [ref.name.removeprefix(view.name) for ref in views_beside(view, publication.second)]
    publication = replace(publication, lake=lake_place(engine, spec, suffixes))
    publication = replace(publication, sent=sent_place(engine, spec, view, publication.second))
    if spec.publish_file:
        require(engine, "publish_file", spec.name)
        check_no_link(spec.name, spec.publish_file)
        check_ours(engine, spec.name, spec.publish_file)
        return publication
    check_free(spec.name, publication, [*entries, *state.beside], state.exists)
    return publication


def name_target(state: ReleaseState) -> Publication:
    """The same without a look at the place, and without a lake table's."""
    spec = state.spec
    version = max((entry.version for entry in state.versions), default=0) + 1
    physical = physical_name(spec.name, version)
    return Publication(state.view, spec.publish_file, version, physical, second_of_spec(spec))


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


def check_free(release: str, target: Publication, entries: Sequence[Entry], exists: Callable[[TableRef], bool]) -> None:
    """Check that the views belong to the release, or do not exist yet.

    Args:
        release: the name.
        target: target of the release.
        entries: the catalog's rows of the release, and of others that have published any of these views.
        exists: whether a view is there.

    Raises:
        PolicyError: a name is taken by another release or by an object that sqlanon did not make.
    """
    for ref in views_beside(target.view, target.second):
        owners = _owners(ref, entries)
        if owners - {release}:
            raise PolicyError(f"{release}: {ref} belongs to release {', '.join(sorted(owners))}; choose another name")
        if not owners and exists(ref):
            raise PolicyError(f"{release}: {ref} exists and was not made by sqlanon; choose another name or drop it")


def check_still_free(state: ReleaseState, target: Publication, lookup: Found) -> None:
    """The same in the publishing transaction, with views that were looked up again."""
    entries: Sequence[Entry] = [*state.versions, *state.beside]
    views = [ref for ref in views_beside(target.view, target.second) if ref in lookup.relations]
    if not all(_owners(ref, state.versions) for ref in views):  # since the state was read, perhaps by another release
        entries = Catalog(state.engine).entries(statuses=("published",), views=views)
    check_free(state.spec.name, target, entries, lambda ref: ref in lookup.relations)


def _owners(ref: TableRef, entries: Sequence[Entry]) -> set[str]:
    """The releases that published a view."""
    return {
        entry.release
        for entry in entries
        if entry.status == "published"
        and (ref.schema, ref.name) in {(view.schema, view.name) for view in views_of(entry)}
    }
