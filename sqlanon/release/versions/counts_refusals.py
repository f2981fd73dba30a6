"""Refusals and warnings of a run that would publish counts beside others of the same source."""

from __future__ import annotations

from sqlanon.errors import GuardError, PolicyError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.other_counts import list_other_counts, refuse_published
from sqlanon.release.catalog.refresh import describe_shown
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.stages.work import Work
from sqlanon.table.pseudonyms import has_stable_text


def check_persons(work: Work) -> None:
    """Equal persons have equal texts, which make their keys."""
    names = {name.lower() for name in work.spec.person}
    for column in work.staged.roles.relation.columns:
        if column.name.lower() in names and not has_stable_text(column):
            raise PolicyError(
                f"{work.spec.name}: column {column.name} of the person has type {column.shown_type}, whose equal "
                "values may have different texts, and so different noise; cast it to a whole number or to text in a "
                "view"
            )


def make_published_error(release: str, entry: Entry, why: str) -> GuardError:
    """The error of a run that would publish other counts than those that readers have."""
    return GuardError(
        f"{release}: version {entry.version} {describe_shown(entry)}, and a run would publish other counts ({why}): a "
        "reader who has kept the old ones subtracts them, and finds single persons who came or went. The published "
        "version stays as it is; versions that are safe together are those of refresh: {mode: frozen}, from the first "
        "on. If nobody has kept it, unpublish the release, and then run --allow-weaker"
    )


def make_withdrawn_error(release: str, entry: Entry) -> GuardError:
    """The error of a run beside counts that readers had, which are published no more."""
    return GuardError(
        f"{release}: readers had version {entry.version} of {entry.release}, with counts of the same source: who has "
        "kept them subtracts them from new ones, and finds small cells. If nobody has kept them, confirm it with "
        "--allow-weaker (in Python allow_weaker=True); rollback publishes the old version again"
    ).with_advice("--allow-weaker")


def refuse_others(state: ReleaseState, *, confirmed: bool) -> None:
    """No other counts of the same source are published, nor were, unless nobody has kept them."""
    name, source = state.spec.name, str(state.source.ref)
    refuse_published(state.engine, name, source)
    for entry in list_other_counts(state.engine, name, source):
        if not confirmed:
            raise make_withdrawn_error(name, entry)


def list_neighbours(state: ReleaseState) -> tuple[str, ...]:
    """Warnings of releases of rows of the same source."""
    source = str(state.source.ref)
    names = [entry.release for entry in state.beside if entry.source == source and entry.kind.has_rows]
    statistics = state.spec.statistics
    assert statistics is not None
    return tuple(
        f"release {name} publishes rows of the same source: hidden cells are not protected from who has both; give no "
        "reader both"
        for name in names
        if name not in statistics.together
    )
