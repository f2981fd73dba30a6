"""Replacement of a DuckDB file by a fresh copy.

The copy contains nothing of dropped tables and deleted rows. It is compared with the file and replaces it.

This process locks the file from before the copy until after the replacement, so that nobody writes rows that the copy
lacks. A process that is killed leaves the old file or the new one, whole, and a folder that the next connection
removes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import duckdb

from sqlanon.engines.duckdb.connection import quote
from sqlanon.engines.duckdb.errors import cannot_open, explain
from sqlanon.engines.duckdb.inventory import list_lacking, take_inventory
from sqlanon.engines.duckdb.self_references import copy_rows, self_references
from sqlanon.errors import DatabaseError, LockedError, file_errors
from sqlanon.private_folder import PrivateFolder, put_in_place

_EMPTY = "_sqlanon_empty"
_COPY = "_sqlanon_copy"
_HEADERS = 3 * 4096
"""Bytes at the beginning of a DuckDB file that identify it as such."""
_RIGHTS = "system.posix_acl"
_SHOWN = 5


def check_file(path: Path) -> None:
    """Refuse a file that no copy can take the place of as it is.

    Raises:
        DatabaseError: it has several names, belongs to another user, or the folder cannot be written.
    """
    with file_errors(path):
        status = path.stat()
    if status.st_nlink > 1:
        raise DatabaseError(
            f"{path} has {status.st_nlink} names (hard links), and the others would keep the old file with all that is "
            "in it: remove them, and run again"
        )
    if os.geteuid() not in (0, status.st_uid):
        raise DatabaseError(
            f"{path} belongs to the user with number {status.st_uid}, and a file that takes its place would be this "
            "user's: run it as that user"
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DatabaseError(f"this user may not write in {path.parent}, where the copy of {path.name} is made")


def write_anew(path: Path, database: str, settings: Mapping[str, str | int]) -> tuple[int, int]:
    """Replace a DuckDB file by a fresh copy.

    Args:
        path: the file, no link; no connection of this process has it open.
        database: the name by which texts of views and macros in it may call it.
        settings: DuckDB's, such as how much memory it may use.

    Returns:
        bytes of the old and of the new file.

    Raises:
        LockedError: the file is open elsewhere.
        DatabaseError: it cannot be copied, or something is missing in the copy. The file is as it was.
    """
    check_file(path)
    with file_errors(path), PrivateFolder(path) as folder, ExitStack() as stack:
        copy = folder.path / path.name
        settings = {**settings, "temp_directory": str(folder.path / "spill")}
        connection = stack.enter_context(_instance(path, settings))
        _attach_unlocked(connection, path, database)
        # Its descriptor is closed after DuckDB's: a process loses the lock when the first of them is closed.
        old = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        stack.callback(os.close, old)
        stack.callback(connection.close)
        before = os.fstat(old).st_size
        with _translate_errors(path):
            connection.execute(f"CHECKPOINT {quote(database)}")
            _check_room(connection, path, database)
            _copy(connection, database, copy)
            with _instance(path, settings) as two:
                # By the name of the old database: texts in it may have that name.
                _attach(two, copy, database)
                _add_triggers(connection, two, database)
                two.execute(f"CHECKPOINT {quote(database)}")
                two.execute(f"DETACH {quote(database)}")
                _attach(two, copy, database, "(READ_ONLY)")
                missing = list_lacking(
                    take_inventory(connection, database, _EMPTY), take_inventory(two, database, _EMPTY)
                )
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            raise DatabaseError(
                f"{path} is as it was, and not compacted: DuckDB does not copy all of it into a fresh file; different "
                f"in the copy: {', '.join(missing[:_SHOWN])}{more}"
            )
        _check_unmoved(path, old, copy)
        _give_owner(copy, path)
        after = copy.stat().st_size
        put_in_place(copy, path)
        # Who has opened the old file before, and locks it only now, must not take it for the database.
        os.pwrite(old, bytes(_HEADERS), 0)
    return before, after


@contextmanager
def _instance(path: Path, settings: Mapping[str, str | int]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A separate DuckDB with an empty current database.

    In it no macro of a file takes the place of a builtin function.
    """
    with _translate_errors(path):
        connection = duckdb.connect(":memory:", config=dict(settings))
    try:
        with _translate_errors(path):
            connection.execute(f"ATTACH ':memory:' AS {_EMPTY}; USE {_EMPTY}; DETACH memory")
            connection.execute("SET python_enable_replacements = false")
        yield connection
    finally:
        connection.close()


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise DatabaseError(f"{path} is as it was, and not compacted: {explain(error)}") from error
    except RuntimeError as error:
        raise KeyboardInterrupt from error  # how DuckDB reports an interrupt


def _attach_unlocked(connection: duckdb.DuckDBPyConnection, path: Path, database: str) -> None:
    try:
        _attach(connection, path, database)
    except duckdb.ResourceInUseException as error:
        raise LockedError(f"{path} is open in other connections of this process; close them, and run again") from error
    except duckdb.Error as error:
        raise cannot_open(str(path), error) from error


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, database: str, options: str = "") -> None:
    literal = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{literal}' AS {quote(database)} {options}")


def _check_room(connection: duckdb.DuckDBPyConnection, path: Path, database: str) -> None:
    """Raise an error where the disk has no room for a copy: better than to fill it."""
    size = "SELECT used_blocks * block_size FROM pragma_database_size() WHERE database_name = $database"
    (needed,) = connection.execute(size, {"database": database}).fetchall()[0]
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise DatabaseError(
            f"{path} is as it was, and not compacted: a copy of it takes {needed:,} bytes, and its disk has {free:,} "
            "free; free space there, and run again"
        )


def _copy(connection: duckdb.DuckDBPyConnection, database: str, copy: Path) -> None:
    """Copy a database into a new file of the same storage version and block size."""
    facts = (
        "SELECT d.tags['storage_version'], s.block_size FROM duckdb_databases() AS d "
        "JOIN pragma_database_size() AS s USING (database_name) WHERE database_name = $database"
    )
    version, block = connection.execute(facts, {"database": database}).fetchall()[0]
    options = [f"BLOCK_SIZE {int(block)}"]
    if version:
        options.append(f"STORAGE_VERSION '{str(version).rstrip('+')}'")
    _attach(connection, copy, _COPY, f"({', '.join(options)})")
    # Expressions of columns may have macros of the database, which are looked up in the current one.
    connection.execute(f"USE {quote(database)}.main")
    references = self_references(connection, database)
    connection.execute(f"COPY FROM DATABASE {quote(database)} TO {_COPY}{' (SCHEMA)' if references else ''}")
    if references:
        copy_rows(connection, database, _COPY, references)
    connection.execute(f"USE {_EMPTY}.main")
    connection.execute(f"DETACH {_COPY}")


def _add_triggers(old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, database: str) -> None:
    """Make the triggers, which COPY FROM DATABASE leaves out."""
    query = "SELECT sql FROM duckdb_triggers() WHERE database_name = $database ORDER BY trigger_oid"
    texts = old.execute(query, {"database": database}).fetchall()
    new.execute(f"USE {quote(database)}.main")
    for (text,) in texts:
        new.execute(str(text))
    new.execute(f"USE {_EMPTY}.main")


def _check_unmoved(path: Path, old: int, copy: Path) -> None:
    """Raise an error if the file was replaced since it was copied, or if a log of changes is there.

    A log may lie next to the file or to the copy.
    """
    if not os.path.samestat(os.fstat(old), path.stat()):
        raise DatabaseError(f"{path} was replaced by another file meanwhile, which is left as it is; run again")
    logs = [Path(f"{file}.wal") for file in (path, copy) if Path(f"{file}.wal").exists()]
    if logs:
        raise DatabaseError(
            f"{path} is as it was, and not compacted: DuckDB left {logs[0].name} with changes that are not in the "
            "file; run again"
        )


def _give_owner(copy: Path, path: Path) -> None:
    """Give a copy the owner, the group and the further attributes of the file, such as lists of rights.

    The mode is copied when the copy takes the file's place.
    """
    status = path.stat()
    os.chown(copy, status.st_uid, status.st_gid)
    attributes: list[str] = []
    with suppress(OSError, AttributeError):  # neither every file system nor every operating system has them
        attributes = os.listxattr(path)
    for name in attributes:
        try:
            os.setxattr(copy, name, os.getxattr(path, name))
        except PermissionError:
            if name.startswith(_RIGHTS):
                raise  # others are the system's own
