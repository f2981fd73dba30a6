"""Names of tables that lie in files next to a database.

``delta:PATH``, ``iceberg:CATALOG/namespace.table``, ``parquet:GLOB``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Scheme = Literal["delta", "iceberg", "parquet"]

_NAME = re.compile(r"(delta|iceberg|parquet):([^\x00-\x1f]+)")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class LakeName:
    """A name with a scheme.

    Attributes:
        scheme: format of the table.
        place: a path, a pattern of paths, or a catalog and the table's name there.
    """

    scheme: Scheme
    place: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.place}"

    @property
    def table(self) -> str:
        """The name of the table alone: ``visits`` of ``delta:/lake/visits`` and of ``parquet:visits/*/*``."""
        if self.scheme == "iceberg":
            return self.place.rpartition(".")[2]
        parts = [part for part in re.split(r"[/\\]", self.place) if part]
        plain_parts = [part for part in parts if not _PATTERN.search(part) and "=" not in part]
        return (plain_parts or parts or [self.scheme])[-1].removesuffix(".parquet")


def lake_of(name: str) -> LakeName | None:
    """The table of a name with a scheme, also quoted as in SQL; None: it names a table of the database."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1].replace('""', '"')
    match = _NAME.fullmatch(name)
    return None if match is None else LakeName(match[1], match[2])  # type: ignore[arg-type]
