"""Units that losses are counted over, besides the classes."""

from __future__ import annotations

from typing import Protocol

from sqlanon.engines.base import TableRef


class Groups(Protocol):
    """Which class is in which group of the release (`sqlanon.formats.RowGroups`)."""

    @property
    def table(self) -> TableRef:
        """A row a class."""

    @property
    def key(self) -> str:
        """The column of the class."""

    @property
    def group(self) -> str:
        """The column of the group."""


class LostRows(Protocol):
    """Rows that lose all their quasi values (`sqlanon.formats.RecodedClasses`)."""

    @property
    def left_out(self) -> int:
        """Rows that are not published."""

    @property
    def suppressed(self) -> int:
        """These, and those that are starred."""

    @property
    def starred(self) -> int | None:
        """The starred class."""
