"""Grouping of a release: by released columns, or by a table of groups. All code that counts groups asks it.

Readers cannot distinguish the rows of a group. `Grouping` finds the groups of a published release, `RowGroups` those of
a run, with rows and classes that are still scratch tables. Where every row has a box of its own, the groups are the
rows that fit a box: the table is that of the edges of the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.privacy.base import Grouped, Measured, Requirement

if TYPE_CHECKING:
    from sqlanon.engines.base import Engine, TableRef


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a published release, or of any table.

    Attributes:
        table: the table of the rows to group: the release itself, or the release's table of groups.
        columns: the columns of ``table`` that make a group; none: all rows are one group.
        count: the column of ``table`` with the number of rows of the release that a row represents; None: 1 each.
        persons: columns of ``table`` with a number of each person, per counted identifier; a release has none.
    """

    table: TableRef
    columns: tuple[str, ...]
    count: str | None = None
    persons: tuple[str, ...] = ()

    def measure(self, engine: Engine, requirement: Requirement, sensitive: Sequence[str]) -> Measured:
        """Measure a requirement over the groups; ``sensitive`` names the sensitive columns of ``table``."""
        rows = Grouped(self.table, self.columns, sensitive, self.count, persons=self.persons)
        return requirement.measure(engine, rows)


@dataclass(frozen=True, slots=True)
class RowGroups:
    """The groups of a release that is being made.

    Attributes:
        table: scratch table with a row for every class of the method.
        key: the column of the class.
        group: the column of the group: classes that publish the same are one group.
        dense: the classes are 0, 1, 2, .., each once: their values can be an array.
        alone: no two classes publish the same, as far as was looked.
    """

    table: TableRef
    key: str = "_sqlanon_class"
    group: str = "_sqlanon_place"
    dense: bool = False
    alone: bool = False
