"""The published names of a source's columns, whatever the format, and the check that no two are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlanon.errors import PolicyError

GROUP, COUNT = "group_id", "count"
"""Columns of a separate table of groups: the group, in both tables, and the count of a sensitive value."""


@dataclass(frozen=True, slots=True)
class Names:
    """Published columns of one quasi column; parts that the format does not publish are None."""

    value: str | None = None
    lo: str | None = None
    hi: str | None = None
    mean: str | None = None
    null: str | None = None
    suppressed: str | None = None

    def list_columns(self) -> tuple[str, ...]:
        """The columns, in the order they are published."""
        parts = (self.value, self.lo, self.hi, self.mean, self.null, self.suppressed)
        return tuple(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """A column of the release.

    The source is the class (``r``), the staged row (``s``, with a kind) or a count (``n``).
    """

    source: str
    column: str
    name: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a release.

    Attributes:
        names: per quasi column (by code) the published columns.
        columns: all published columns, in the source's order.
        sensitive: the columns of the table of sensitive values, if there is such a table.
    """

    names: dict[str, Names]
    columns: tuple[PublishedColumn, ...]
    sensitive: tuple[PublishedColumn, ...] = field(default=())

    @property
    def of_class(self) -> tuple[str, ...]:
        """The published columns that come from the class."""
        return tuple(column.name for column in self.columns if column.source == "r")

    def check(self, longest: int) -> None:
        """No name is longer than ``longest`` bytes, and no two of a table are the same.

        Raises:
            PolicyError: one is, or two are.
        """
        if self.sensitive:
            _check(self.sensitive, longest)
        _check(self.columns, longest)


def _check(columns: Sequence[PublishedColumn], longest: int) -> None:
    for column in columns:
        if len(column.name.encode()) > longest:
            raise PolicyError(
                f"published column {column.name} would be longer than the {longest} bytes of this database; "
                "rename it in a view of the source, or choose another format"
            )
    names: dict[str, str] = {}
    for column in columns:
        folded = column.name.lower()
        if folded in names:
            raise PolicyError(
                f"the release would have two columns {column.name}; rename one in a view of the source, or choose "
                "another format"
            )
        names[folded] = column.name
        if folded.startswith("_sqlanon_"):
            raise PolicyError(
                f"column {column.name}: names that begin with _sqlanon_ are sqlanon's own; rename it in a view"
            )
