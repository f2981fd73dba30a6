"""Levels at which classes are published, and how far the published values are the least that cover the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef


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
class CoverTightness:
    """How far the published values are the least that cover the rows of each class.

    Attributes:
        wide: by the name of a quasi column, how many classes publish more than the least.
        exact: names of the columns that publish the least and greatest value of every class as ends, as the engine
            compares values, or the set of its values: so every value is covered.
        reached: rows that reach the release, as the covering predicate counts them; None: no count was made that shows
            it.
    """

    wide: Mapping[str, int]
    exact: frozenset[str] = frozenset()
    reached: int | None = None


NOT_ASKED = CoverTightness({})
