"""Result of a format for the classes of a run.

It has recoded classes, their levels, and which rows are members of which box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.formats.grouping import Grouping, RowGroups
from sqlanon.formats.layout import Layout, Published
from sqlanon.formats.members import OF_CLASSES, Members

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.formats.base import Format


@dataclass(frozen=True, slots=True)
class Levels:
    """At which levels classes are published, where a method decides that (`sqlanon.methods.base.Assignment`).

    Attributes:
        table: scratch table (class, a smallint for each code column); None: the least node of every class.
        starred: the class that publishes no quasi value; None: there is none.
        wider: the boxes are the method's, and reach further than the rows of their classes.
    """

    table: TableRef | None = None
    starred: int | None = None
    wider: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything that the boxes of the classes do not say."""
        return self.table is not None or self.starred is not None


AS_BOXES = Levels()


@dataclass(frozen=True, slots=True)
class Least:
    """How far what is published is the least that covers the rows of each class.

    Attributes:
        wide: by the name of a quasi column, how many classes publish more than the least.
        ends: names of the columns whose published ends are the least and greatest value of every class, as the engine
            compares values: so every value lies between them.
        reached: rows that reach the release, as the covering predicate counts them; None: nothing was counted by which
            that is known.
    """

    wide: Mapping[str, int]
    ends: frozenset[str] = frozenset()
    reached: int | None = None


NOT_ASKED = Least({})


@dataclass(frozen=True, slots=True)
class Recoded:
    """Classes ready to publish.

    Attributes:
        boxes: scratch table (class, n, lo_, hi_, null_, ncp_, lm_ per code column; exact formats: single values).
        released: scratch table (class, every published column that comes from the class, place).
        form: how they are published.
        layout: names per code column, and the columns of the tables.
        classes, min_class, max_class: how many classes, and the smallest and largest.
        groups: which class is in which group of the release.
        left_out: rows of the source that have no class, by declaration; ``omitted`` is a scratch table of them.
        starred: the class of suppressed rows that are published, or None; ``starred_rows`` of them there are.
        leveled: the boxes have the level that is published.
        members: which rows are in which box.
        wider: boxes may reach further than the rows of their classes, now or later.
        attained: quasi columns of which each published end, or member of a set, is the value of some row of its class:
            verify found it.
    """

    boxes: TableRef
    released: TableRef
    form: Format
    layout: Layout
    classes: int
    min_class: int
    max_class: int
    groups: RowGroups
    left_out: int = 0
    omitted: TableRef | None = None
    starred: int | None = None
    starred_rows: int = 0
    leveled: bool = False
    members: Members = OF_CLASSES
    wider: bool = False
    attained: tuple[str, ...] = ()

    @property
    def suppressed(self) -> int:
        """Rows of the source that lose everything, left out or starred."""
        return self.left_out + self.starred_rows

    @property
    def columns(self) -> tuple[Published, ...]:
        """All published columns, in order."""
        return self.layout.columns

    @property
    def sensitive(self) -> tuple[Published, ...]:
        """The columns of the table of sensitive values, where there is one."""
        return self.layout.sensitive

    def grouping(self, rows: TableRef, counted: TableRef | None = None) -> Grouping:
        """What makes the groups of the published tables; see `Format.grouping`."""
        return self.members.grouping(self.form, rows, counted, self.layout)
