"""Kinds of versions: the attacks that can be measured on each, chosen once."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.release.catalog.entry import Entry


@dataclass(frozen=True, slots=True)
class Kind:
    """Attacks that the private tables and the rows of a version allow.

    Attributes:
        grouped: rows are in classes, or groups, of which a victim has one.
        missing_box: why the box of a victim is not known, though the version is tied to the source; empty: it is.
        not_left_out: why rows that are left out are not known; empty: they are, by a private table.
        not_matched: why rows of two releases cannot be matched; empty: they can.
        lacking: further figures that are not measured, each with the reason.
    """

    grouped: bool = True
    missing_box: str = ""
    not_left_out: str = ""
    not_matched: str = ""
    lacking: tuple[str, ...] = ()


CLASSES = Kind()
BOXES = Kind(
    grouped=False,
    missing_box=", where every row has a box of its own",
    lacking=("skewness: with boxes of their own there are no classes",),
)
LINEAGE = Kind(
    not_left_out=(
        "rows left out: a frozen release has no table that ties the version to its source, so that every row of the "
        "source counts as published"
    ),
    not_matched="one is frozen, and has no table that ties its rows to those of the source",
)


def choose_kind(entry: Entry) -> Kind:
    """The kind of a version of the catalog."""
    return LINEAGE if entry.frozen else BOXES if entry.certificate else CLASSES
