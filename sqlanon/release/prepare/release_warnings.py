"""Warnings of plan and run about the format, the readers and other releases of the source in combination."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.declared import FORMATS
from sqlanon.formats import format_of
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import find_spot, is_same_spot, list_reader_warnings, place_of, spell_spot
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import is_pair
from sqlanon.release.prepare.row_security import warn_of_hidden_rows
from sqlanon.release_kind import COUNTS
from sqlanon.shell import command


def list_warnings(state: ReleaseState, target: Publication) -> tuple[str, ...]:
    """Warnings of plan and run."""
    spec, before = state.spec, state.published
    warnings = (
        *format_of(spec.format.kind).warnings(spec),
        *list_neighbours(state, target),
        *list_reader_warnings(state),
        *(warn_of_hidden_rows(state.engine, spec, state.source.ref) if spec.row_security else ()),
    )
    left, current = find_spot(before), (target.place, target.address)
    if before and left[0] is not None and not is_same_spot(left, current):
        place, remedy = spell_spot(left, current), place_of(before).remedy
        warnings += (f"{place} keeps version {before.version} and is not refreshed any more; {remedy}",)
    return warnings


def list_neighbours(state: ReleaseState, target: Publication) -> list[str]:
    """Other releases of the same source that the same readers can see."""
    spec, source = state.spec, str(state.source.ref)
    neighbours: list[Entry] = []
    for entry in state.beside:
        if (
            not entry.kind.has_rows
            or entry.status != "published"
            or entry.release == spec.name
            or entry.source != source
        ):
            continue
        readers = set(entry.policy.get("readers", ())) & set(spec.readers)
        same_place = entry.view_schema == target.view.schema and not entry.file and not target.file
        if readers or same_place:
            neighbours.append(entry)
    lines = [
        f"release {entry.release} publishes counts of the same source: its hidden cells are not protected from who has "
        "these rows as well; give no reader both"
        for entry in state.beside
        if entry.kind is COUNTS
        and entry.status == "published"
        and entry.source == source
        and spec.name not in entry.policy["statistics"].get("together", ())
    ]
    for pair in (False, True):
        names = [entry.release for entry in neighbours if (is_pair(entry) or target.pair) == pair]
        if names:
            several = f"releases {', '.join(names)} show" if len(names) > 1 else f"release {names[0]} shows"
            lines.append(
                f"{several} the same source to the same readers; together they may reveal more than "
                f"each{how_to_measure(names, spec.name, pair)}"
            )
    return lines


def how_to_measure(others: Sequence[str], name: str, pair: bool) -> str:
    """The end of a warning about releases; ``pair``: one of each two has two tables, which audits of two leave out."""
    if pair:
        forms = " or ".join(facts.name for facts in FORMATS.values() if facts.paired)
        return f", and no audit measures it for format {forms}: give no reader both"
    audit = command("audit", options=["--together", others[0], name])
    return f": {audit}{', and so for each' if len(others) > 1 else ''}"
