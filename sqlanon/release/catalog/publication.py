"""Target of a version."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.private_tables import SENSITIVE, SYNTHETIC
from sqlanon.release.catalog.views import sensitive_of, synthetic_of


@dataclass(frozen=True, slots=True)
class Publication:
    """Target of a release.

    Attributes:
        view: the public view.
        file: another file; None: none.
        version: number of the version.
        physical: name of the physical table.
        second: suffix of a second table, for sensitive values or synthetic rows; "": there is none.
        lake: place of a table that gets the rows of the view.
        sent: URL of another database that gets the view.
    """

    view: TableRef
    file: str | None
    version: int
    physical: str
    second: str = ""
    lake: str | None = None
    sent: str | None = None

    @property
    def shown(self) -> str:
        """Target in words, for people."""
        return self._spell_target(self.view)

    @property
    def shown_sensitive(self) -> str | None:
        """The second table with sensitive values, for people."""
        return self._spell_target(sensitive_of(self.view)) if self.pair else None

    @property
    def shown_synthetic(self) -> str | None:
        """The second table with synthetic rows, for people."""
        return self._spell_target(synthetic_of(self.view)) if self.second == SYNTHETIC else None

    @property
    def pair(self) -> bool:
        """Whether a second table holds the sensitive values."""
        return self.second == SENSITIVE

    def _spell_target(self, view: TableRef) -> str:
        name = f"{view.schema}.{view.name}"
        outside = self.lake or self.sent
        more = f" and {outside}" if outside else ""
        return f"{name} in {self.file}" if self.file else f"{name}{more}"
