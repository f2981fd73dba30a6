"""Opening of a URL of DuckDB: a database file, or memory."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

import duckdb

from sqlanon.engines.duckdb.errors import cannot_open
from sqlanon.errors import DatabaseError


def connect(url: str, *, read_only: bool) -> tuple[duckdb.DuckDBPyConnection, str | None]:
    """The connection that ``duckdb:///path`` or ``duckdb:///:memory:`` means, and the file's real path; None in memory.

    Raises:
        DatabaseError: no such file, no database, or no right to it.
        LockedError: another process holds the file.
    """
    match = re.fullmatch(r"duckdb:(?://)?(/?)(.*)", url, re.IGNORECASE | re.DOTALL)
    path = match.group(2) if match else ""
    shown = None
    if path not in ("", ":memory:"):
        if not Path(path).exists():
            raise DatabaseError(
                f"no DuckDB file at {path}; give the path after duckdb:/// (four slashes for an absolute one)"
            )
        shown = os.path.realpath(path)
        # Closing any descriptor of a file ends this process's locks on it: of a database that is open here nothing is
        # read.
        if not is_open_here(Path(path)) and not _is_database(Path(path)):
            # DuckDB would open a CSV or Parquet file as a database in memory, and the release would be lost.
            raise DatabaseError(
                f"{path} is not a DuckDB database; to anonymize a file, name it in place of the table, without --db"
            )
    return _connect(path if shown else ":memory:", read_only=read_only and shown is not None), shown


def _connect(path: str, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(path, read_only=read_only)
    except duckdb.ConnectionException as error:
        if not read_only:
            raise cannot_open(path, error) from error
    except duckdb.Error as error:
        raise cannot_open(path, error, read_only=read_only) from error
    return _connect(path, read_only=False)  # this process writes the file: its connections share one lock


def make_file(path: Path) -> None:
    """Make an empty database file for this user alone, unless there is a file.

    Raises:
        DatabaseError: the folder is missing, or nothing can be written in it.
    """
    if path.exists():
        return
    new_path = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        duckdb.connect(str(new_path)).close()
        new_path.chmod(0o600)
        with suppress(FileExistsError):  # another process was first
            os.link(new_path, path)
    except (duckdb.Error, OSError) as error:
        raise DatabaseError(f"no DuckDB file can be made at {path}; name a folder that can be written to") from error
    finally:
        new_path.unlink(missing_ok=True)


def make_log(path: Path) -> None:
    """Make the log of changes beside an open database file, for those alone who can open the file.

    DuckDB would make it for everybody whom the umask lets in, and keeps the rights of one that is there.
    """
    with suppress(OSError):  # nobody can write beside the file: DuckDB says so at the first change
        os.close(os.open(f"{path}.wal", os.O_WRONLY | os.O_CREAT, path.stat().st_mode & 0o666))


def is_private(path: Path) -> bool:
    """Whether a file's owner alone can open it."""
    return not path.stat().st_mode & 0o077


def is_open_here(path: Path) -> bool:
    """Whether this process has a file open, by whatever name."""
    status = path.stat()
    for entry in Path("/dev/fd").iterdir():
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            if os.path.samestat(os.fstat(int(entry.name)), status):
                return True
    return False


def _is_database(path: Path) -> bool:
    """Whether the file begins as DuckDB's do: a checksum, then the word DUCK."""
    try:
        if not path.is_file() and not path.is_dir():
            return False  # a pipe would be waited for
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return True  # the driver's error will say why it cannot be read
