"""PostgreSQL's binary COPY format as NumPy records, for columns of fixed width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg import generators, sql
from psycopg.waiting import Wait

from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError

if TYPE_CHECKING:
    import numpy.typing as npt
    from psycopg.abc import PQGen

TYPES = {"int16": "smallint", "int32": "integer", "int64": "bigint", "float64": "double precision"}
SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
END = 2
"""Bytes after the last tuple."""


def copy_out(statement: Statement, dtypes: Sequence[str]) -> sql.Composed:
    """A query's columns as binary COPY, each cast to the array's type."""
    casts = sql.SQL(", ").join(
        sql.SQL("c{}::{}").format(sql.SQL(str(i)), sql.SQL(TYPES[dtype])) for i, dtype in enumerate(dtypes)
    )
    names = sql.SQL(", ").join(sql.SQL(f"c{i}") for i in range(len(dtypes)))
    return sql.SQL("COPY (SELECT {} FROM ({}) AS q({})) TO STDOUT (FORMAT BINARY)").format(
        casts, sql.SQL(statement.text), names
    )


def receive(pgconn: psycopg.pq.abc.PGconn, data: bytearray, enough: int | None = None) -> PQGen[bool]:
    """Append the data of a COPY to ``data``, until there are ``enough`` bytes (gives True) or to the end (False).

    The server sends a message for every row. The driver's own loop takes several calls for each, more processor time
    than the server needs. For ``psycopg.Connection.wait``.
    """
    take = pgconn.get_copy_data
    while enough is None or len(data) < enough:
        size, row = take(1)
        if size > 0:
            data += row
        elif size == 0:
            while not (yield Wait.R):
                pass
            pgconn.consume_input()
        else:
            result = (yield from generators.fetch_many(pgconn))[-1]
            if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
                raise psycopg.errors.error_from_result(result)
            return False
    return True


def split_arrays(
    name: str, data: memoryview | bytearray, record: np.dtype[np.void], dtypes: Sequence[str]
) -> list[npt.NDArray[np.generic]]:
    """The columns of whole tuples."""
    whole = len(data) % record.itemsize == 0
    rows = np.frombuffer(data, dtype=record, count=len(data) // record.itemsize)
    if not whole or any((rows[f"l{i}"] != np.dtype(dtype).itemsize).any() for i, dtype in enumerate(dtypes)):
        raise DatabaseError(f"{name} returned a NULL where none can be")
    return [rows[f"v{i}"].astype(dtype) for i, dtype in enumerate(dtypes)]


def record_type(dtypes: Sequence[str]) -> np.dtype[np.void]:
    """A tuple of the binary COPY format: a field count, then length and big-endian value per field."""
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for i, dtype in enumerate(dtypes):
        fields += [(f"l{i}", ">i4"), (f"v{i}", np.dtype(dtype).newbyteorder(">").str)]
    return np.dtype(fields)
