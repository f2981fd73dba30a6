"""A DuckDB connection that counts its statements, and the bytes that their operators read and wrote.

DuckDB's profile of a statement has the size of the rows that each operator passed on: rows that scans pass on were
read, and rows that an operator passes on to one that fills a table or a file were written. Sizes are those of the
columns in memory, so that they depend neither on compression nor on buffers; a text of a table counts as 16 bytes.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import duckdb

from sqlanon.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROFILED = (
    "SET tracked_metrics = ['operator.type', 'operator.intermediate_size_bytes']; "
    "SET profiling_coverage = 'ALL'; SET enable_profiling = 'no_output'"
)
_WITHOUT_ROWS = (duckdb.StatementType.DROP, duckdb.StatementType.PRAGMA, duckdb.StatementType.TRANSACTION)
"""Kinds of statements whose profiles have no bytes, and take longer to read than some of the statements."""
_READING = re.compile(r"(?:TABLE|INDEX|\w*FILE)_SCAN")
_WRITING = re.compile(r"(?:BATCH_)?(?:CREATE_TABLE_AS|INSERT|COPY_TO_FILE)|UPDATE|MERGE_INTO")


class MeteredConnection:
    """A connection; calls that it does not count go to the driver's own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Wrap the driver's ``connection``; bytes are counted from the first reading of `usage` on."""
        self.raw = connection
        self._statements = self._read = self._written = 0
        self._profiled: bool | None = None
        """Whether statements are profiled; None: nobody has asked for bytes yet."""
        self._pending = False
        """Whether the profile of the last statement is still to be read."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the driver's own
        return getattr(self.raw, name)

    def execute(self, query: Any, parameters: Any = None) -> Any:  # noqa: ANN401 - as the driver's
        """Run a text or a parse tree as the driver does.

        The statements of one text are run one after the other, each with its own profile.
        """
        self._statements += 1
        if not self._profiled:
            return self.raw.execute(query) if parameters is None else self.raw.execute(query, parameters)
        self._take_profile()
        if isinstance(query, str) and ";" in query:
            statements = self.raw.extract_statements(query)
            for statement in statements[:-1]:
                self.raw.execute(statement)
                if statement.type not in _WITHOUT_ROWS:
                    self._add_profile()
            query = statements[-1] if statements else query
        result = self.raw.execute(query) if parameters is None else self.raw.execute(query, parameters)
        # A query ends with the last row that is fetched.
        self._pending = getattr(query, "type", None) not in _WITHOUT_ROWS
        return result

    def add_statement(self) -> None:
        """Count a statement that was sent to `raw`, and ended."""
        self._statements += 1
        if self._profiled:
            self._pending = False
            self._add_profile()

    def usage(self) -> Usage:
        """Statements and bytes so far. It never fails."""
        if self._profiled is None:
            self._profiled = False
            with suppress(duckdb.Error):  # a configuration that is locked has no profiles
                self.raw.execute(_PROFILED)
                self._profiled = True
        self._take_profile()
        if not self._profiled:
            return Usage(self._statements, None, None)
        return Usage(self._statements, self._read, self._written)

    def _take_profile(self) -> None:
        if self._pending:
            self._pending = False
            self._add_profile()

    def _add_profile(self) -> None:
        with suppress(duckdb.Error, RuntimeError, ValueError, KeyError):  # closed, or interrupted
            profile = json.loads(self.raw.get_profiling_information("json"))
            for operator in profile.get("operator", ()):
                self._add_operator(operator)

    def _add_operator(self, operator: Mapping[str, Any]) -> None:
        kind, children = str(operator["type"]), operator.get("children", ())
        if _READING.fullmatch(kind):
            self._read += operator["intermediate_size_bytes"]
        if _WRITING.fullmatch(kind):
            self._written += sum(child["intermediate_size_bytes"] for child in children)
        for child in children:
            self._add_operator(child)
