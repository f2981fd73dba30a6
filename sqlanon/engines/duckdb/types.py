"""DuckDB's types by kind."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlanon.engines.base import Kind

_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$", "integer"),
    (r"DECIMAL", "decimal"),
    (r"(DOUBLE|FLOAT|REAL)$", "float"),
    (r"BOOLEAN$", "boolean"),
    (r"DATE$", "date"),
    (r"TIMESTAMP", "timestamp"),
    (r"ENUM\(", "enum"),
    (r"VARCHAR$", "text"),
)


@lru_cache(maxsize=256)
def kind_of(type_text: str) -> Kind:
    """The kind of a type by the name in DuckDB's catalog."""
    if type_text.endswith("]"):
        return "other"
    return next((kind for pattern, kind in _KINDS if re.match(pattern, type_text)), "other")
