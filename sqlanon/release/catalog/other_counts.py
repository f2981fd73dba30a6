"""Releases of counts of the same source: two together are another system of sums, which may reveal hidden cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from sqlanon.engines.base import Engine
from sqlanon.errors import GuardError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release_kind import COUNTS
from sqlanon.results import RunReport
from sqlanon.shell import command

Reconcile = Callable[[str | None, Sequence[str]], object]
"""Takes the source of counts, None for rows, and the releases of rows that are protected together with them."""


@contextmanager
def hold_counts(engine: Engine, source: str, together: Iterable[str]) -> Iterator[None]:
    """Lock of a source: no other release of counts of it is published meanwhile.

    Args:
        engine: the database.
        source: the source as the catalog names it.
        together: the releases of rows that are protected together with the counts: none of them gets another version
            meanwhile.

    Raises:
        LockedError: another session runs a release of counts of this source, or one of these releases of rows.
    """
    with ExitStack() as locks:
        locks.enter_context(engine.lock(f"counts of {source}"))
        for release in together:
            locks.enter_context(engine.lock(f"release {release}"))
        yield


@contextmanager
def hold_return(
    engine: Engine, entry: Entry, current: Entry, reconcile: Reconcile, *, confirmed: bool
) -> Iterator[None]:
    """Hold the same lock while readers get an earlier version back; releases of rows need none.

    Args:
        engine: the database.
        entry: the version to return to.
        current: the current or last version of readers.
        reconcile: finishes or takes back what killed runs left of the releases that are looked at.
        confirmed: nobody has kept the current version.

    Raises:
        GuardError: other counts of the source are published, or were after this version and may have been kept; or
            published counts are protected together with another version.
    """
    if entry.kind is not COUNTS:
        reconcile(None, [])
        # Counts have the source of the version of rows that they are protected together with.
        for source in {current.source, entry.source}:
            _refuse_certified(_list_published(engine, source), entry.release, entry.version)
        yield
        return
    neighbour = _neighbour_of(entry)
    together = [neighbour[0]] if neighbour else []
    with hold_counts(engine, entry.source, together):
        reconcile(entry.source, together)
        refuse_published(engine, entry.release, entry.source)
        _refuse_other_classes(engine, entry, confirmed=confirmed)
        if entry.version != current.version and not confirmed and not _follow(entry, current):
            raise GuardError(
                f"{entry.release}: readers had version {current.version} after version {entry.version}: who has kept "
                "its counts subtracts those of the other, and finds small cells. If nobody has, confirm it with "
                "--allow-weaker (in Python allow_weaker=True)"
            ).with_advice("--allow-weaker")
        yield


def list_other_counts(engine: Engine, release: str, source: str) -> list[Entry]:
    """Present and former published versions of other releases of counts of a source."""
    entries = Catalog(engine).entries(source=source)
    return [entry for entry in entries if entry.release != release and entry.kind is COUNTS and entry.status in SHOWN]


def batches_of(entry: Entry) -> tuple[int, ...]:
    """The versions whose new rows a version has; empty: its policy has no `refresh`."""
    statistics = RunReport.from_dict(entry.report).statistics
    return statistics.batches if statistics is not None else ()


def earlier_of(entry: Entry) -> tuple[int, ...]:
    """The versions of the lineages before that of a version of counts; empty: it is of the first, or there are none."""
    statistics = RunReport.from_dict(entry.report).statistics
    return statistics.earlier if statistics is not None else ()


def _follow(left: Entry, other: Entry) -> bool:
    """Whether one of two versions of counts follows the other: readers of both find nothing."""
    first, second = sorted((_chain_of(left), _chain_of(other)), key=len)
    return bool(first) and second[: len(first)] == first


def _chain_of(entry: Entry) -> tuple[int, ...]:
    """The versions of all lineages that are protected together, up to a version."""
    statistics = RunReport.from_dict(entry.report).statistics
    return (*statistics.earlier, *statistics.batches) if statistics is not None else ()


def refuse_next_version(state: ReleaseState) -> None:
    """Refuse a new version of a release of rows while counts are published together with the current one.

    Raises:
        GuardError: there are such counts.

    Cost: a query of the catalog if the release has another source than before, else nothing.
    """
    _refuse_certified(state.beside, state.spec.name)
    shown = state.last_shown
    if shown is not None and shown.source != str(state.source.ref):
        _refuse_certified(_list_published(state.engine, shown.source), state.spec.name)


def _list_published(engine: Engine, source: str) -> list[Entry]:
    return Catalog(engine).entries(source=source, statuses=("published",))


def _refuse_certified(beside: Iterable[Entry], release: str, version: int | None = None) -> None:
    """Refuse another version of a release of rows while counts are published together with one.

    Args:
        beside: the published versions of other releases of the source.
        release: the release of rows.
        version: the version to publish; None: a new one.

    Raises:
        GuardError: there are such counts.
    """
    for entry in beside:
        neighbour = _neighbour_of(entry)
        if neighbour and neighbour[0] == release and neighbour[1] != version:
            raise GuardError(
                f"{release}: {entry.release} has counts that are protected together with version {neighbour[1]}, and "
                f"not with another one, which would give hidden cells away. Unpublish {entry.release} first"
            )


def _neighbour_of(entry: Entry) -> tuple[str, int] | None:
    """The release of rows, and its version, that a version of counts is protected together with."""
    neighbour = (entry.report.get("statistics") or {}).get("neighbour")
    return (neighbour["release"], neighbour["version"]) if neighbour else None


def are_beside(entry: Entry, release: str, source: str | None) -> bool:
    """Whether a version has counts that the rules compare with another release.

    Args:
        entry: the version.
        release: the other release.
        source: of counts their source; None: the other release is of rows.
    """
    if entry.kind is not COUNTS or entry.release == release:
        return False
    neighbour = _neighbour_of(entry)
    return entry.source == source or (neighbour is not None and neighbour[0] == release)


def _refuse_other_classes(engine: Engine, entry: Entry, *, confirmed: bool) -> None:
    """Refuse to publish counts again next to another version of the release of rows, or if readers had another one.

    Args:
        engine: the database.
        entry: a version of counts.
        confirmed: nobody has kept these versions.

    Raises:
        GuardError: another version is published, or was.
    """
    neighbour = _neighbour_of(entry)
    if not neighbour:
        return
    name, version = neighbour
    other_versions = [
        entry for entry in Catalog(engine).entries(name) if entry.status in SHOWN and entry.version != version
    ]
    together = f"{entry.release}: version {entry.version} is protected together with version {version} of {name}"
    for readable in other_versions:
        if readable.status == "published":
            advice = command("rollback", name, options=("--to", str(version)))
            raise GuardError(
                f"{together}, and version {readable.version} is published: return to that version first ({advice}), or "
                f"unpublish {name}"
            )
    if other_versions and not confirmed:
        numbers = ", ".join(str(entry.version) for entry in other_versions)
        raise GuardError(
            f"{together}, and readers had others as well ({numbers}). If nobody has kept them, confirm it with "
            "--allow-weaker (in Python allow_weaker=True)"
        ).with_advice("--allow-weaker")


def refuse_published(engine: Engine, release: str, source: str) -> None:
    """Refuse counts if other counts of the same source are published.

    Raises:
        GuardError: there are other counts.
    """
    for entry in list_other_counts(engine, release, source):
        if entry.status == "published":
            raise GuardError(
                f"{release}: release {entry.release} publishes counts of the same source: both together give away what "
                "each hides. Make one release of all tables (statistics: tables), which are protected together"
            )
