"""A DuckDB in memory that reads and writes lake tables for an engine that has no files of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlanon.engines.duckdb.engine import DuckDBEngine

_MEMORY = 2 << 30
"""Bytes for rows on their way; more are in temporary files of this user."""


class LakeStaging:
    """An empty database, which is opened when it is first asked for.

    Cost: the tables of one version, from when they are sent until they are committed.
    """

    def __init__(self) -> None:
        self.opened: DuckDBEngine | None = None

    @property
    def engine(self) -> DuckDBEngine:
        """The database."""
        if self.opened is None:
            from sqlanon.engines.duckdb.engine import DuckDBEngine

            self.opened = DuckDBEngine.open("duckdb:///:memory:", threads=None, memory=_MEMORY)
        return self.opened

    def close(self) -> None:
        """Close it, if it was opened."""
        if self.opened is not None:
            self.opened.close()
            self.opened = None
