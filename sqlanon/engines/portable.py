"""Types that several engines have, under names of our own, for rows that go from one database to another.

An engine's ability `Transfer` says which of its types each of them is, and which of its own types holds all its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Form = Literal["plain", "float", "day", "zoned", "bytes"]
"""How a value is written as text (``sent/rows``)."""

_FORMS: Mapping[str, Form] = {
    "float32": "float",
    "float64": "float",
    "date": "day",
    "timestamp": "day",
    "zoned": "zoned",
    "bytes": "bytes",
}


@dataclass(frozen=True, slots=True)
class Portable:
    """A type of values.

    Attributes:
        name: ``int8`` to ``int128``, ``uint8`` to ``uint128``, ``float32``, ``float64``, ``decimal``, ``boolean``,
            ``text``, ``date``, ``timestamp`` (microseconds), ``zoned`` (a moment), ``time``, ``uuid``, ``bytes``.
        digits: of a decimal: digits in all.
        scale: of a decimal: digits after the point.
        array: lists of such values.
    """

    name: str
    digits: int = 0
    scale: int = 0
    array: bool = False

    @property
    def form(self) -> Form:
        """How a value is written as text."""
        return _FORMS.get(self.name, "plain")


@dataclass(frozen=True, slots=True)
class PortableColumn:
    """A column of rows that are sent: the name and the type."""

    name: str
    type: Portable

    def parameters(self) -> dict[str, object]:
        """The column as the templates of ``sql/duckdb/sent`` take it."""
        return {"name": self.name, "form": self.type.form, "array": self.type.array}
