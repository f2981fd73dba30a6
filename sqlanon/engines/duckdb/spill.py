"""The folder into which DuckDB spills data that do not fit into memory.

Only this user can open it, and it is deleted when the database is closed.

DuckDB's own choice (``<file>.tmp``, or ``.tmp`` of the working directory) is open to every user of the machine, and a
killed process leaves it full of source values.
"""

from __future__ import annotations

import atexit
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import duckdb

from sqlanon.engines.duckdb.errors import translate_error
from sqlanon.errors import DatabaseError
from sqlanon.private_folder import PrivateFolder, sweep

_guard = threading.Lock()
_open: dict[str, Spill] = {}
"""By the setting's text: connections of this process to one file share a database, and the setting."""


class Spill:
    """The folder of an open database, shared by the connections that `spill` gave it to."""

    def __init__(self, folder: PrivateFolder, before: str) -> None:
        self._folder = folder
        atexit.register(folder.remove)  # where the connection is never closed
        self._before = before
        self._users = 0
        self.setting = str(folder.path / "spill")  # DuckDB makes it, and removes it when it shuts the database down

    def enter(self) -> Spill:
        """Count another connection."""
        self._users += 1
        return self

    def close(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Close a connection; with the last connection the folder goes.

        Raises:
            duckdb.Error: DuckDB could not close it properly.
        """
        with _guard:
            self._users -= 1
            last = self._users == 0
            free = False
            if last:
                del _open[self.setting]
                with suppress(duckdb.Error):  # refused once the folder was used
                    connection.execute(f"SET temp_directory = '{_escape(self._before)}'")
                    free = True
        try:
            connection.close()
        finally:
            if last and (free or not Path(self.setting).exists()):
                self._folder.remove()
                atexit.unregister(self._folder.remove)
            # Else another connection to this database stays open, and spills there until the process ends.


def spill(connection: duckdb.DuckDBPyConnection, path: str | None) -> Spill | None:
    """Let a database spill into a private folder beside the file; for memory, or if that fails, in the system's.

    Remains of killed processes there are removed. None: another connection of this process has the database spill
    elsewhere already.

    Args:
        connection: looks builtin names up where there are no others.
        path: the database's file.

    Raises:
        DatabaseError: there is no place for the folder.
    """
    with _guard:
        row = connection.execute("SELECT current_setting('temp_directory')").fetchone()
        before = str(row[0]) if row and row[0] is not None else ""
        if before in _open:
            return _open[before].enter()
        folder = _folder(path)
        spill = Spill(folder, before)
        try:
            connection.execute(f"SET temp_directory = '{_escape(spill.setting)}'")
        except duckdb.NotImplementedException:
            folder.remove()
            return None
        except duckdb.Error as error:
            folder.remove()
            raise translate_error("the folder for its temporary files", error) from error
        _open[spill.setting] = spill
        return spill.enter()


def _folder(path: str | None) -> PrivateFolder:
    system = Path(tempfile.gettempdir()) / "duckdb-spill"
    beside = [Path(f"{path}.spill")] if path else []
    for stem in (*beside, system):
        sweep(stem)
        try:
            return PrivateFolder(stem)
        except OSError as error:
            failed = error
    raise DatabaseError(
        f"cannot make a folder for temporary files in {system.parent}: {failed.strerror}; free space there, or set "
        "TMPDIR to a folder that this user may write"
    ) from failed


def _escape(text: str) -> str:
    return text.replace("'", "''")
