"""A DuckDB in memory that reads and writes lake tables for an engine that has no files of its own."""

from __future__ import annotations

from sqlanon.engines.duckdb.engine import DuckDBEngine

_MEMORY = 2 << 30
"""Bytes for rows on their way; more are in temporary files of this user."""


def open_staging() -> DuckDBEngine:
    """Open an empty database.

    Cost: the tables of one version, from when they are sent until they are committed.
    """
    return DuckDBEngine.open("duckdb:///:memory:", threads=None, memory=_MEMORY)
