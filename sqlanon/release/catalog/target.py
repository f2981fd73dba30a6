"""Target of a release: public view, further views, physical tables; and whether these names are free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlanon.engines.base import PRIVATE_SCHEMA, LookupResult, TableRef
from sqlanon.errors import PolicyError
from sqlanon.release.catalog.addresses import mark_address
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import PLACES
from sqlanon.release.catalog.private_tables import physical_name
from sqlanon.release.catalog.publication import Publication
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
    for kind in PLACES:
        place = kind.locate(state, publication)
        if place is not None:
            address = mark_address(spec.name, place, state.secret) if kind.name == "database" else ""
            publication = replace(publication, kind=kind.name, place=place, address=address)
    if publication.file:
        return publication
    check_free(spec.name, publication, [*entries, *state.beside], state.exists)
    return publication


def name_target(state: ReleaseState) -> Publication:
    """The same without a look at the place; of places outside, only a file is named."""
    spec = state.spec
    version = max((entry.version for entry in state.versions), default=0) + 1
    physical = physical_name(spec.name, version)
    kind = "file" if spec.publish_file else "view"
    return Publication(state.view, version, physical, second_of_spec(spec), kind, spec.publish_file)


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


def check_still_free(state: ReleaseState, target: Publication, lookup: LookupResult) -> None:
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
