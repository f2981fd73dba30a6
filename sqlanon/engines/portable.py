r"""Types that several engines have, under names of our own, and lines of texts, for rows that go to another database.

An engine's ability `Transfer` says which of its types each of them is, and which of its own types holds all its values.
A row is a line of PostgreSQL's COPY: texts between tabs, ``\N`` for NULL, and a backslash before special characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Form = Literal["plain", "fraction", "float", "day", "zoned", "bytes", "text"]
"""How a value is written as text (``sent/rows``); only those of ``text`` and ``bytes`` may have any character.

``fraction`` is a decimal that has all digits after the point.
"""

_FORMS: Mapping[str, Form] = {
    "float32": "float",
    "float64": "float",
    "date": "day",
    "timestamp": "day",
    "zoned": "zoned",
    "bytes": "bytes",
    "text": "text",
    "padded": "text",
}


@dataclass(frozen=True, slots=True)
class Portable:
    """A type of values.

    Attributes:
        name: ``int8`` to ``int128``, ``uint8`` to ``uint128``, ``float32``, ``float64``, ``decimal``, ``boolean``,
            ``text``, ``padded`` (text of so many characters, with blanks at the end), ``date``, ``timestamp``
            (microseconds), ``zoned`` (a moment), ``time``, ``uuid``, ``bytes``.
        digits: of a decimal: digits in all; of padded text: characters.
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
        if self.name == "decimal" and self.digits == self.scale:
            return "fraction"
        return _FORMS.get(self.name, "plain")


@dataclass(frozen=True, slots=True)
class PortableColumn:
    """A column of rows that are sent: the name and the type."""

    name: str
    type: Portable

    def parameters(self) -> dict[str, object]:
        """The column as the templates of ``sql/duckdb/sent`` take it."""
        width = self.type.digits if self.type.name == "padded" else 0
        return {"name": self.name, "form": self.type.form, "array": self.type.array, "width": width}


_FIELD = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_ELEMENT = str.maketrans({"\\": "\\\\", '"': '\\"'})


def write_line(row: Iterable[object]) -> str:
    """A row of texts, lists of texts and None as a line."""
    return "\t".join("\\N" if value is None else _spell(value).translate(_FIELD) for value in row)


def _spell(value: object) -> str:
    if not isinstance(value, list | tuple):
        return str(value)
    return "{" + ",".join("NULL" if e is None else f'"{str(e).translate(_ELEMENT)}"' for e in value) + "}"
