"""A session on PostgreSQL, and errors: the driver's text becomes one line of advice, without cell values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg import conninfo
from psycopg.pq import TransactionStatus

from sqlanon.engines.base import DROPPED
from sqlanon.engines.postgres.reasons import is_dropped
from sqlanon.engines.postgres.times import keep_texts
from sqlanon.errors import DatabaseError, LockedError

URL = "postgresql://user:password@host:5432/database"
_CAUSES = (
    (
        re.compile(r'FATAL:\s+database ".*" does not exist'),
        "there is no such database: check the last part of the URL, or create it (createdb)",
    ),
    (
        re.compile(
            r"no password supplied|password authentication failed|SCRAM|role \".*\" does not exist|"
            r"authentication failed|permission denied for database|not permitted to log in"
        ),
        (
            "the server refuses this user: check user and password of the URL (or PGPASSWORD, ~/.pgpass), and that the "
            "role may log in"
        ),
    ),
    (
        re.compile(r"no pg_hba.conf entry"),
        "the server admits no such connection: check user, database and sslmode, or ask for an entry in pg_hba.conf",
    ),
    (
        re.compile(r"too many (clients|connections)|remaining connection slots|starting up|shutting down|recovery"),
        "the server takes no connection now: try again later",
    ),
    (
        re.compile(r"(SSL|ssl|certificate|GSS)"),
        "the server and this machine agree on no encryption: check sslmode of the URL",
    ),
    (
        re.compile(r".*", re.DOTALL),
        "the server cannot be reached: check host and port of the URL, and that the server runs",
    ),
)
"""Texts of libpq and the advice for each; the first match counts. Errors of connecting have no SQLSTATE."""


def open_session(url: str) -> psycopg.Connection:
    """Connect in autocommit mode.

    Raises:
        DatabaseError: the server cannot be reached, or refuses; the text gives the reason and the remedy.
    """
    try:
        settings = conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        # libpq quotes the piece that it could not read, and that may be part of a password.
        raise DatabaseError(
            f"cannot connect to PostgreSQL: the URL cannot be read; write {URL}, with %20, %40, %2F and the like for "
            "special characters in its parts"
        ) from error
    try:
        connection = psycopg.connect(url, autocommit=True, application_name="sqlanon", connect_timeout=10)
    except psycopg.Error as error:
        message = redact_message(str(error), settings.get("password"), os.environ.get("PGPASSWORD"))
        refused = DatabaseError(f"cannot connect to PostgreSQL: {advice_for(message)} ({message})")
        refused.advice = advice_for(message)
        raise refused from error
    keep_texts(connection)
    version = connection.info.server_version
    if version < 140000:
        connection.close()
        raise DatabaseError(f"this server is PostgreSQL {version // 10000}; sqlanon needs PostgreSQL 14 or newer")
    return connection


def advice_for(message: str) -> str:
    """Advice for a connection that libpq or the server refused with these words."""
    return next(advice for pattern, advice in _CAUSES if pattern.search(message))


def redact_message(text: str, *secrets: object) -> str:
    """The first message of libpq as one line, without passwords, as they are and as a URL writes them."""
    line = " ".join(text.split("Multiple connection attempts failed", maxsplit=1)[0].split())
    for secret in secrets:
        if secret:
            line = line.replace(str(secret), "***").replace(quote(str(secret), safe=""), "***")
    return line


@contextmanager
def translate_errors(connection: psycopg.Connection, name: str) -> Iterator[None]:
    """Turn errors of the driver into ours; ``name``: of the step, without any value.

    Raises:
        LockedError: another session holds a lock for too long.
        DatabaseError: any other error of the driver.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _as_error(connection, name, error) from error


def _as_error(connection: psycopg.Connection, name: str, error: psycopg.Error) -> DatabaseError:
    if connection.closed:
        unknown = (
            "whether its last step was committed is not known: look with sqlanon releases, then run again"
            if name == "COMMIT"
            else "what was not committed is undone; run again"
        )
        return DatabaseError(f"the connection to PostgreSQL was lost (at {name}): {unknown}")
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return DatabaseError(
            f"PostgreSQL refused {name}: the role lacks a right (docs/engines.md lists the rights needed)"
        )
    if isinstance(error, psycopg.errors.DiskFull):
        return DatabaseError(
            f"PostgreSQL refused {name}: a disk of the server is full (or a quota is reached); free space there and "
            "run again"
        )
    if isinstance(error, psycopg.errors.ProgramLimitExceeded | psycopg.errors.TooManyColumns):
        return DatabaseError(
            f"PostgreSQL refused {name}: its tables have at most 1,600 columns, and rows of at most 8 kB, long texts "
            "apart: leave columns out (rest: drop)"
        )
    if isinstance(error, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
        return LockedError(f"{name}: another session holds a lock for too long; try again later")
    if is_dropped(error):
        return DatabaseError(f"PostgreSQL refused {name}: {DROPPED}")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return DatabaseError(
            f"PostgreSQL refused {name}: this session is read-only (default_transaction_read_only, or a standby), and "
            "this writes, if only temporary tables"
        )
    return DatabaseError(f"PostgreSQL refused {name} ({type(error).__name__}); --debug shows its own words")


def is_failed(connection: psycopg.Connection) -> bool:
    """Whether nothing but a rollback can be run now."""
    return connection.info.transaction_status in (TransactionStatus.INERROR, TransactionStatus.UNKNOWN)
