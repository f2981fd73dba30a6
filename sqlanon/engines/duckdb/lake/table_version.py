"""A lake table at some version, as the format's reader hands it to DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlanon.errors import DatabaseError, LockedError


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table that DuckDB can scan, any number of times.

    Attributes:
        place: where it is, the same for every way to write that.
        snapshot: which version of which table is read, for people and to compare.
        scan: an argument for ``duckdb``'s ``register``.
        columns: their names in the files, without those in names of folders; DuckDB changes equal ones.
        state: of files without versions: a text that changes when a file is written; None: they have versions.
    """

    place: str
    snapshot: str
    scan: object
    columns: Sequence[str]
    state: Callable[[], str] | None = None


def cannot_open(name: str, what: str, error: Exception, *, writes: bool = False) -> DatabaseError:
    """Why a table cannot be opened or written: of the library's error only the class, since the text may hold a secret.

    Args:
        name: the table's.
        what: the part of it that could not be read.
        error: the library's.
        writes: perhaps it could not be written.
    """
    if "no space left" in str(error).lower():
        return DatabaseError(f"{name}: its disk is full (or a quota is reached); free space there and run again")
    denied = isinstance(error, PermissionError) or "permission denied" in str(error).lower()
    why = f"this user may not {'read or write' if writes else 'read'} it" if denied else type(error).__name__
    return DatabaseError(
        f"{name}: {what} cannot be {'read or written' if writes else 'read'} ({why}); check the name, the rights, and "
        "for object storage its address and credentials"
    )


def make_interrupted_error(name: str) -> LockedError:
    """Why a commit to a table was refused."""
    return LockedError(f"{name}: another program committed to the table meanwhile; nothing was published: run again")
