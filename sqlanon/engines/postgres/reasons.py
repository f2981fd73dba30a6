"""PostgreSQL's plan of a query, and reasons of a refusal without any value."""

from __future__ import annotations

import re

import psycopg
from psycopg.pq import ExecStatus

from sqlanon.engines.base import NOT_THERE, OUT_OF_RANGE

_FUNCTION = re.compile(r"function (?:\w+\.)?([A-Za-z_]\w*)\(")
_WENT = re.compile(r"could not open relation with OID|cache lookup failed for (relation|type)")
_REASONS: tuple[tuple[type[psycopg.Error], str], ...] = (
    (psycopg.errors.SyntaxError, "PostgreSQL cannot parse it"),
    (psycopg.errors.QueryCanceled, "it took longer than it may"),
    (psycopg.errors.InsufficientPrivilege, "the role may not read a table of it"),
    (psycopg.errors.NumericValueOutOfRange, OUT_OF_RANGE),
    (psycopg.errors.DivisionByZero, "a number is divided by zero"),
    (psycopg.errors.InvalidTextRepresentation, "a value cannot be read as the type that it is cast to"),
    (psycopg.errors.InvalidDatetimeFormat, "a value cannot be read as the type that it is cast to"),
    (psycopg.errors.DatetimeFieldOverflow, OUT_OF_RANGE),
    (psycopg.errors.OutOfMemory, "PostgreSQL has not memory enough for it"),
    (psycopg.errors.DiskFull, "PostgreSQL has not room enough for it"),
    (psycopg.errors.UndefinedColumn, "a column is not there in PostgreSQL"),
    (psycopg.errors.DataError, "a function is given a value that it does not take"),
    (psycopg.errors.ProgrammingError, "a name is not there, or types do not fit, in PostgreSQL"),
)
"""Most special first."""


def reason(error: psycopg.Error) -> str:
    """See `Engine.reason`; ``error`` is the driver's."""
    if isinstance(error, psycopg.errors.UndefinedFunction):
        called = _FUNCTION.match(error.diag.message_primary or "")
        if called:
            return f"there is no function {called.group(1).lower()} for these types in PostgreSQL"
    if is_dropped(error):
        return NOT_THERE
    return next((words for kind, words in _REASONS if isinstance(error, kind)), "PostgreSQL cannot compute it")


def is_dropped(error: psycopg.Error) -> bool:
    """Whether a table or view was missing, or disappeared while the server looked at it.

    The server has no condition of its own for that.
    """
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
        return True
    return isinstance(error, psycopg.errors.InternalError_) and bool(_WENT.match(error.diag.message_primary or ""))


def describe_error(connection: psycopg.Connection, text: str) -> tuple[str, ...]:
    """See `Engine.describe`.

    Raises:
        psycopg.Error: the server does not accept it.
    """
    for result in (connection.pgconn.prepare(b"", text.encode()), connection.pgconn.describe_prepared(b"")):
        if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            raise psycopg.errors.error_from_result(result)
    rows = connection.execute(
        "SELECT pg_catalog.format_type(t.oid, t.mod) FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY "
        "AS t(oid, mod, place) ORDER BY t.place",
        [[result.ftype(i) for i in range(result.nfields)], [result.fmod(i) for i in range(result.nfields)]],
    ).fetchall()
    return tuple(str(row[0]) for row in rows)
