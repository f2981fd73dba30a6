"""Columns of numbers and rows of values between DuckDB and this process, as NumPy arrays where they are many."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import duckdb

from sqlanon.engines.base import Row, Statement, TableRef
from sqlanon.engines.duckdb.connection import Connection, quote
from sqlanon.errors import DatabaseError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Arrays(Connection):
    """A connection that fetches and loads columns."""

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        import numpy as np

        with self._translate_errors(statement.name, statement.text):
            arrays = list(self._run(statement).fetchnumpy().values())
        if any(np.ma.is_masked(array) for array in arrays):
            raise DatabaseError(f"{statement.name} returned a NULL where none can be")
        return [array.astype(dtype, copy=False) for array, dtype in zip(arrays, dtypes, strict=True)]

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """See `Engine.stream_arrays`: through a temporary table, as NumPy arrays come only of a whole result.

        The table keeps the query's order and spills to disk; DuckDB skips the rows of an OFFSET without reading them.
        """
        spool = quote(f"_sqlanon_stream_{secrets.token_hex(4)}")
        try:
            self.execute(Statement(statement.name, f"CREATE TEMP TABLE {spool} AS {statement.text}", statement.binds))
            for start in itertools.count(0, rows):
                block = self.fetch_arrays(
                    Statement(
                        statement.name,
                        f"SELECT * FROM {spool} LIMIT $rows OFFSET $start",  # noqa: S608
                        {"rows": rows, "start": start},
                    ),
                    dtypes,
                )
                if len(block[0]):
                    yield block
                if len(block[0]) < rows:
                    return
        finally:
            with suppress(duckdb.Error):  # a broken transaction or a closed connection drops it by itself
                self._connection.execute(f"DROP TABLE IF EXISTS {spool}")

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        name, view = self._qualify(table), "_sqlanon_arrays"
        temporary = "TEMP " if table.schema is None else ""
        create = f"CREATE {temporary}TABLE IF NOT EXISTS {name}"
        few = as_lists(create, name, columns)
        text = (
            f"{create} AS SELECT * FROM {view} LIMIT 0; "  # noqa: S608
            f"INSERT INTO {name} BY NAME SELECT * FROM {view}"
        )
        with self._translate_errors(f"load {table.name}"):
            self._use(self._empty)
            if few is not None:
                self._connection.execute(*few)
                return
            self._connection.register(view, dict(columns))
            try:
                self._connection.execute(text)
            finally:
                self._connection.unregister(view)

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        name = self._qualify(table)
        temporary = "TEMP " if table.schema is None else ""
        defined = ", ".join(f"{quote(column)} {kind}" for column, kind in columns)
        marks = ", ".join("?" for _ in columns)
        with self._translate_errors(f"load {table.name}"):
            self._use(self._empty)
            text = f"CREATE {temporary}TABLE IF NOT EXISTS {name} ({defined})"
            remaining = iter(rows)
            while batch := list(itertools.islice(remaining, 500)):
                values = ", ".join(f"({marks})" for _ in batch)
                text += f"; INSERT INTO {name} VALUES {values}"  # noqa: S608 - marks only
                self._connection.execute(text, [cell for row in batch for cell in row])
                text = ""
            if text:
                self._connection.execute(text)


FEW = 200
"""So many values of a column are a list."""
_TYPES = {"int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "float64": "DOUBLE"}


def as_lists(
    create: str, name: str, columns: Mapping[str, npt.NDArray[np.generic]]
) -> tuple[str, list[list[Any]]] | None:
    """Statements that create a table if it is missing, and append the columns to it, with their values.

    None if they should be loaded as arrays.

    Args:
        create: how the table is made, up to the columns.
        name: the table's name as SQL.
        columns: arrays of equal length.
    """
    types = [_TYPES.get(str(array.dtype)) for array in columns.values()]
    if None in types or any(len(array) > FEW for array in columns.values()):
        return None
    pairs = list(zip(map(quote, columns), types, strict=True))
    defined = ", ".join(f"{column} {kind}" for column, kind in pairs)
    lists = ", ".join(f"UNNEST(CAST(? AS {kind}[])) AS {column}" for column, kind in pairs)
    text = f"{create} ({defined}); INSERT INTO {name} BY NAME SELECT {lists}"
    return text, [array.tolist() for array in columns.values()]
