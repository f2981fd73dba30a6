"""Target of a version."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.views import sensitive_of


@dataclass(frozen=True, slots=True)
class Publication:
    """Target of a release: the view, another file or None, the number of the version, the physical table's name.

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
        """Target in words, for people."""
        return self._spell_target(self.view)

    @property
    def shown_sensitive(self) -> str | None:
        """The second table, for people."""
        return self._spell_target(sensitive_of(self.view)) if self.pair else None

    def _spell_target(self, view: TableRef) -> str:
        name = f"{view.schema}.{view.name}"
        lake = f" and {self.lake}" if self.lake else ""
        return f"{name} in {self.file}" if self.file else f"{name}{lake}"
