"""A quasi column while boxes are recoded, as the templates of formats take it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlanon.formats.layout import Names

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.table.domain import Domain


@dataclass(frozen=True, slots=True)
class Column:
    """A quasi column while boxes are recoded, with the scratch tables that templates join.

    Attributes:
        code: the code column; ``domain``: the table of the column's codes and values.
        kind: ordered, set or tree.
        nulls: the column holds NULLs; ``size``: number of values of the domain, at least 1.
        names: the published columns.
        range: of an ordered domain.
        key: the column of the boxes that ``members`` (of a set) are found by.
        found: the node of every span of a hierarchy.
        type: type to which values are cast, where they travel as text.
        leveled: the boxes have the level that is published, ``at_<code>``: -1 the least node, ``height`` the root or
            any value, more a starred class.
        height: of the tree; 1 for other columns.
        either: a cell is the value or nothing.
        labels, means, middle: the texts of values or nodes; the means, and the representative codes, of classes.
        beside_null: the least codes of classes that have NULL and other values; None: those show no ends.
        wider: the boxes are the method's, and reach further than the rows of the classes.
        source: the column's domain.
        places: an ordered domain is read in arrays, in the order of the codes, which are 0, 1, 2, ..
    """

    source: Domain
    code: str
    kind: str
    domain: TableRef
    nulls: bool
    size: int
    names: Names
    key: str
    type: str | None = None
    range: float = 0
    members: TableRef | None = None
    found: TableRef | None = None
    leveled: bool = False
    height: int = 1
    either: bool = False
    labels: TableRef | None = field(default=None)
    means: TableRef | None = None
    middle: TableRef | None = None
    beside_null: TableRef | None = None
    wider: bool = False
    places: bool = False

    @property
    def value_places(self) -> bool:
        """Whether the values are read by place, too.

        In arrays with NULLs or values of different widths an engine has to search for a place.
        """
        fixed = self.source.reading.column.kind in ("integer", "float", "date", "timestamp", "boolean")
        return self.places and fixed and not self.nulls

    def with_tables(self, **tables: TableRef | float | None) -> Column:
        """The same with more tables."""
        return replace(self, **tables)  # type: ignore[arg-type]


KINDS = {"ordered": "ordered", "nominal": "set", "hierarchy": "tree"}
"""Names of the treatments of quasi columns in templates."""
