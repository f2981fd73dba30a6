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
        version: number of the version.
        physical: name of the physical table.
        second: suffix of a second table, for sensitive values or synthetic rows; "": there is none.
        kind: name of the kind of the place (`sqlanon.release.catalog.places`).
        place: the file, the lake table or the URL of the other database; None: the views of the source's database.
        address: keyed hash of the database that a URL names now, if the environment decides that; else empty.
    """

    view: TableRef
    version: int
    physical: str
    second: str = ""
    kind: str = "view"
    place: str | None = None
    address: str = ""

    @property
    def file(self) -> str | None:
        """The other file; None: none."""
        return self.place if self.kind == "file" else None

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
        if self.place is None:
            return name
        return f"{name} in {self.place}" if self.file else f"{name} and {self.place}"
