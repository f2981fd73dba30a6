"""The weakest engine that sqlanon works with.

It is DuckDB without transactions, temporary tables, UPDATE and DELETE, and without order.

What it lacks it refuses, so that nobody uses it unseen. It can also die: before any statement, and then nothing reaches
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from sqlanon.engines.base import Statement
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.lacks import LACKS, NOISY

if TYPE_CHECKING:
    import numpy.typing as npt

_REFUSED = re.compile(
    r"(BEGIN|COMMIT|ROLLBACK|UPDATE|DELETE|CREATE\s+(OR\s+REPLACE\s+)?TEMP(ORARY)?\s+(TABLE|VIEW))\b", re.IGNORECASE
)
_READS = re.compile(r"(SELECT|WITH|FROM|DESCRIBE|USE)\b", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(--[^\n]*\n|;)")


class Lost(BaseException):
    """The process is gone: no code of ours may catch it."""


class Connection:
    """A DuckDB connection that counts what it changes, refuses what the weakest engine lacks, and dies when asked to.

    Attributes:
        changes: the statements that changed something, in their order.
        dies_at: how many of them it lives to see; None: for ever.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, dies_at: int | None = None) -> None:
        self._connection = connection
        self.changes: list[str] = []
        self.dies_at = dies_at

    def execute(self, text: str | duckdb.Statement, values: object = None) -> Any:
        """Run every statement of the text by itself."""
        made = self._connection.extract_statements(text) if isinstance(text, str) else [text]
        for i, one in enumerate(made, 1):
            query = one.query
            while skipped := _COMMENT.match(query):
                query = query[skipped.end() :]
            query = query.strip()
            assert not _REFUSED.match(query), query
            changes = not _READS.match(query)
            if len(self.changes) == self.dies_at:
                raise Lost
            if i == len(made) and values is not None:
                done = self._connection.execute(one, values)
            else:
                done = self._connection.execute(one)
            if changes:
                self.changes.append(query)
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class WeakestEngine(DuckDBEngine):
    """DuckDB with nothing but what every engine must have."""

    transactions = temporary = updates = ordered = False
    ledger_engine = None
    lacks = MappingProxyType(
        LACKS["DuckDB in memory"]
        | {name: LACKS["Spark"][name] for name in ("refresh: {mode: frozen}", NOISY, "tables")}
    )

    def __init__(self, connection: duckdb.DuckDBPyConnection, database: str) -> None:
        """Take over a connection to a database in memory."""
        super().__init__(connection, None, database)
        self.seen = Connection(self._connection)
        self._connection = self.seen  # type: ignore[assignment]

    @contextmanager
    def _nothing(self, *, whole: bool = False) -> Iterator[None]:
        yield

    snapshot = _nothing
    publishing = _nothing

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """One by one."""
        for one in statements:
            self.execute(one)

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """In no order, the same for all columns."""
        arrays = super().fetch_arrays(statement, dtypes)
        order = np.random.default_rng(len(arrays[0])).permutation(len(arrays[0]))
        return [array[order] for array in arrays]

    def stream_arrays(self, statement: Statement, dtypes: Sequence[str], rows: int) -> Any:
        """Blocks of the shuffled rows."""
        arrays = self.fetch_arrays(statement, dtypes)
        for start in range(0, len(arrays[0]), rows):
            yield [array[start : start + rows] for array in arrays]


def weakest(connection: duckdb.DuckDBPyConnection) -> WeakestEngine:
    """An engine on another connection to the database in memory."""
    return WeakestEngine(connection.cursor(), "memory")


def normal(connection: duckdb.DuckDBPyConnection) -> DuckDBEngine:
    """DuckDB as it is, on another connection to the same database."""
    return DuckDBEngine(connection.cursor(), None, "memory")


__all__ = ["Connection", "Lost", "WeakestEngine", "normal", "weakest"]
