"""Causes and remedies of DuckDB's errors, in words that hold no cell value."""

from __future__ import annotations

import re

import duckdb

from sqlanon.engines.base import DROPPED
from sqlanon.errors import DatabaseError, LockedError

_FULL = re.compile(r"no space left|not enough space|disk quota|file too large|\"errno\":\"(27|28|122)\"", re.IGNORECASE)
_DENIED = re.compile(r"permission denied|operation not permitted|read-only file system", re.IGNORECASE)
_COLUMN = re.compile(r"^.*when casting from source column ([^\n]+)$", re.MULTILINE)

_LAKE = re.compile(r'"((?:delta|iceberg|parquet):(?:[^"]|"")+)"')
"""A lake table in a statement: the view has the table's name."""
_MISSING = re.compile(r"^Catalog Error: (Table|View|Schema) with name .* does not exist", re.DOTALL)
_FULL_SAID = "the disk is full (or a quota or a limit of file sizes is reached); free space and run again"
_DENIED_SAID = (
    "this user may not read or write a file that it needs; check the rights of the database's file and folder"
)
_MEANINGS: tuple[tuple[type[duckdb.Error], str], ...] = (
    (
        duckdb.OutOfMemoryException,
        "out of memory; give it more (--memory, in Python memory=), or free space for the files that it spills to",
    ),
    (
        duckdb.ConversionException,
        "a value cannot be converted to the type that is asked for; compare the source's values with the policy's",
    ),
    (
        duckdb.OutOfRangeException,
        "a number is too large for its type; cast the column to a wider type in a view",
    ),
    (
        duckdb.ConstraintException,
        "a row breaks a constraint of a table; look for one that another program changed",
    ),
    (
        duckdb.DependencyException,
        "something in the database depends on a table or view that would go; drop that first",
    ),
    (
        duckdb.ResourceInUseException,
        "the file is open under another name in this process; close that connection and run again",
    ),
    (
        duckdb.TransactionException,
        (
            "another connection of this process changed the same tables, or closed the transaction; run again when it "
            "is done"
        ),
    ),
    (
        duckdb.SerializationException,
        "what the file holds cannot be read; it is damaged, or a newer DuckDB wrote it: restore it, or update duckdb",
    ),
    (
        duckdb.CatalogException,
        (
            "a table, view, type or function is not there, or has another form; if the source is a view, select from "
            "it in DuckDB"
        ),
    ),
    (
        duckdb.BinderException,
        "a table or column is not as expected; if the source is a view, check that it can still be selected from",
    ),
    (
        duckdb.PermissionException,
        "this connection may not do that; a database that is open for reading is not written",
    ),
    (duckdb.ConnectionException, "the connection is closed, or cannot be made; connect again"),
    (
        duckdb.HTTPException,
        "a remote file that a view reads cannot be reached; try again, or copy it into a table",
    ),
    (
        duckdb.IOException,
        "a file cannot be read or written; check the disk and the files that the source's views read",
    ),
    (
        duckdb.FatalException,
        "the database was closed by an earlier error; close every connection to it, and run again",
    ),
    (
        duckdb.InternalException,
        "DuckDB ran into a defect of its own; run again with another version of duckdb",
    ),
    (duckdb.NotImplementedException, "this version of DuckDB cannot do that; update duckdb"),
    (
        duckdb.InvalidInputException,
        "it does not take a value or a setting, or an earlier error ended the transaction; run again",
    ),
    (
        duckdb.DataError,
        "a value has a type that cannot be used there; cast the column in a view of the source",
    ),
)
"""The first class that fits says it."""


def explain(error: duckdb.Error, text: str = "") -> str:
    """Cause and remedy of an error.

    Args:
        error: DuckDB's.
        text: the SQL, in which a column that the error names must occur to be named here: the rest of a driver's
            message may be a cell value.
    """
    message = str(error)
    if isinstance(error, duckdb.IOException | duckdb.TransactionException | duckdb.FatalException):
        if _FULL.search(message):
            return _FULL_SAID
        if _DENIED.search(message):
            return _DENIED_SAID
    if isinstance(error, duckdb.InvalidInputException) and "read-only mode" in message:
        return "the database is open for reading only; connect without read_only to write"
    if isinstance(error, duckdb.ConversionException) and (column := _cast_column(message, text)):
        return (
            f"a value of column {column} cannot be converted to the type that is asked for; cast the column in a view"
        )
    lake = _LAKE.search(text)
    if lake and isinstance(error, duckdb.InvalidInputException | duckdb.IOException):
        return (
            f"a file of {lake[1]} cannot be read; it is gone, as after VACUUM or an expiry of snapshots, or this user "
            "may not read it, or it is damaged, or has a type that DuckDB does not read: check it, and run again"
        )
    if is_dropped(error):
        return f"{DROPPED}; if the source is a view, check that it can still be selected from"
    return next(
        (words for kind, words in _MEANINGS if isinstance(error, kind)),
        "the statement failed; if the source is a view, check that it can still be selected from",
    )


def is_dropped(error: duckdb.Error) -> bool:
    """Whether a table or view was missing, or went while DuckDB bound the statement."""
    return isinstance(error, duckdb.CatalogException) and bool(_MISSING.search(str(error)))


def _cast_column(message: str, text: str) -> str | None:
    columns = _COLUMN.findall(message)
    name = str(columns[-1]).strip() if columns else ""
    quoted = '"' + name.replace('"', '""') + '"'
    return name if name and quoted in text else None


def translate_error(what: str, error: duckdb.Error, text: str = "") -> DatabaseError:
    """The `DatabaseError` for an error of DuckDB's; ``what``: the name of the statement or of the step."""
    return DatabaseError(f"DuckDB refused {what}: {explain(error, text)}")


def cannot_open(path: str, error: duckdb.Error, *, read_only: bool = False) -> DatabaseError:
    """Why a file cannot be opened."""
    message = str(error)
    why = (
        "DuckDB lets nobody read a file that another process has open for writing"
        if read_only
        else "one process at a time may open a DuckDB file for writing"
    )
    holder = re.search(r"\(PID (\d+)\)", message)
    if holder:
        return LockedError(
            f"{path} is locked by process {holder.group(1)}: {why}; close it there (see: ps -p {holder.group(1)}) and "
            "try again"
        )
    if isinstance(error, duckdb.IOException) and "lock" in message.lower():
        return LockedError(f"{path} is locked by another process: {why}; close it there and try again")
    if isinstance(error, duckdb.ConnectionException) and "different configuration" in message:
        return LockedError(
            f"{path} is open in this process with other settings, such as for reading only; close that connection first"
        )
    if isinstance(error, duckdb.IOException) and (_FULL.search(message) or _DENIED.search(message)):
        return DatabaseError(f"cannot open {path}: {explain(error)}")
    return DatabaseError(
        f"cannot open {path} as a DuckDB database ({type(error).__name__}): it is none, it is damaged, or another "
        "version of DuckDB wrote it; try: python -c \"import duckdb; duckdb.connect('FILE', read_only=True)\""
    )
