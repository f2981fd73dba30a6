"""Tables of Delta Lake, read by ``deltalake``; credentials of object storage are those of the environment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, DeltaProtocolError, TableNotFoundError

from sqlanon.engines.duckdb.lake.table_version import OpenedTable, cannot_open
from sqlanon.errors import DatabaseError, SqlanonError, UnsupportedError

if TYPE_CHECKING:
    import duckdb

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def open_table(_: duckdb.DuckDBPyConnection, place: str) -> OpenedTable:
    """Open a Delta table at the latest version.

    Args:
        _: the connection, which is not used: the files are read by Arrow.
        place: a folder, or the URL of a folder.

    Raises:
        DatabaseError: there is none, or it cannot be read.
        UnsupportedError: it has deletion vectors or mapped columns, or wants a newer reader.

    Cost: reads the table's log, and no row.
    """
    place = place if _URL.match(place) else str(Path(place).absolute())
    name = f"delta:{place}"
    try:
        table = DeltaTable(place)
    except TableNotFoundError as error:
        raise DatabaseError(f"{name}: no Delta table is there; a table's folder has a folder _delta_log") from error
    except Exception as error:
        raise explain_unopened(name, "the table's log", error) from error
    _refuse_unread(name, table)
    try:
        scan: Any = table.to_pyarrow_dataset()
    except Exception as error:
        raise explain_unopened(name, "the table's list of files", error) from error
    names = scan.schema.names
    return OpenedTable(place, f"version {table.version()} of table {table.metadata().id}", scan, names)


def explain_unopened(name: str, what: str, error: Exception, *, writes: bool = False) -> SqlanonError:
    """Why a table cannot be opened; see `cannot_open`."""
    if isinstance(error, DeltaProtocolError) or (isinstance(error, DeltaError) and "Unsupported" in str(error)):
        return UnsupportedError(
            f"{name}: the table has features, or a version of the protocol, that deltalake lacks; update deltalake, or "
            "write a copy of the table without them"
        )
    return cannot_open(name, what, error, writes=writes)


def _refuse_unread(name: str, table: DeltaTable) -> None:
    """Refuse tables that Arrow would misread: with deleted rows, or with column mapping."""
    features = table.protocol().reader_features or []
    if "deletionVectors" in features:
        raise UnsupportedError(
            f"{name}: the table has deletion vectors, which are not read; write them into the files (REORG TABLE .. "
            "APPLY (PURGE)), and drop the feature deletionVectors"
        )
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none" or "columnMapping" in features:
        raise UnsupportedError(
            f"{name}: the table's columns have other names in its files (column mapping), which is not read; write a "
            "copy of the table without it"
        )
