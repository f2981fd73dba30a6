"""Formats: how the classes of a release are published. Each is an object in a file of its own; nobody outside compares names.

A format says its columns, how they are made (a template), whether they cover the rows, what groups the rows, what a
query and a comparison read in a cell, and what it refuses. What policies need to know of it is in `sqlanon.declared`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlanon.errors import PolicyError
from sqlanon.formats.anatomy import Anatomy
from sqlanon.formats.base import Cell, Format, Recoded
from sqlanon.formats.grouping import Grouping, RowGroups
from sqlanon.formats.labels import Labels
from sqlanon.formats.layout import COUNT, GROUP, Layout, Names, Published
from sqlanon.formats.points import Points
from sqlanon.formats.ranges import Ranges
from sqlanon.formats.suppressed import Suppressed

FORMATS: Mapping[str, Format] = {
    form.facts.name: form for form in (Ranges(), Labels(), Points(), Suppressed(), Anatomy())
}
"""Every format by name; a new one is a file, its facts in `sqlanon.declared`, and an entry here."""


def format_of(name: str) -> Format:
    """The format of a name, as policies, catalogs and metadata write it.

    Raises:
        PolicyError: this version of sqlanon does not know it.
    """
    if name not in FORMATS:
        raise PolicyError(
            f"format {name} is not known to this version of sqlanon; it knows {', '.join(FORMATS)}"
        )
    return FORMATS[name]


__all__ = [
    "COUNT", "FORMATS", "GROUP", "Cell", "Format", "Grouping", "Layout", "Names", "Published", "Recoded", "RowGroups",
    "format_of",
]  # fmt: skip
