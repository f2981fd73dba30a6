"""Where a version goes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.views import sensitive_of


@dataclass(frozen=True, slots=True)
class Publication:
    """Where a release goes: the view, another file or None, the version it will be, its physical table's name.

    ``pair``: a second table holds the sensitive values; ``lake``: the place of a table that gets the view's rows.
    """

    view: TableRef
    file: str | None
    version: int
    physical: str
    pair: bool = False
    lake: str | None = None

    @property
    def shown(self) -> str:
        """For people."""
        return self._spell_target(self.view)

    @property
    def shown_sensitive(self) -> str | None:
        """The second table, for people."""
        return self._spell_target(sensitive_of(self.view)) if self.pair else None

    def _spell_target(self, view: TableRef) -> str:
        name = f"{view.schema}.{view.name}"
        lake = f" and {self.lake}" if self.lake else ""
        return f"{name} in {self.file}" if self.file else f"{name}{lake}"
