"""Words in which the dialects differ, for the templates that an engine shares with ``sql/core``.

A template of ``core`` that an engine's template extends writes ``{{ dialect.text }}`` for the type of texts: in the
engine's template it is the engine's word, and in ``core`` itself that of DuckDB, which is then compiled.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """Names of types and of a collation.

    Attributes:
        text: of texts.
        double: of floating-point numbers of 64 bits.
        wide: of whole numbers of more than 64 bits.
        timestamp: of timestamps without a time zone.
        bytes: the collation that orders texts by their bytes.
    """

    text: str
    double: str
    wide: str
    timestamp: str
    bytes: str


DIALECTS = {
    "duckdb": Dialect("VARCHAR", "DOUBLE", "HUGEINT", "TIMESTAMP", '"binary"'),
    "postgres": Dialect("text", "double precision", "numeric", "timestamp", '"C"'),
    "spark": Dialect("STRING", "DOUBLE", "DECIMAL(38, 0)", "TIMESTAMP_NTZ", "UTF8_BINARY"),
}
