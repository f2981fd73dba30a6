"""The ability `Compaction` of a DuckDB file.

During the rewrite the engine has no connection to the file; afterwards it has a new connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from sqlanon.engines.duckdb import fresh_copy
from sqlanon.engines.duckdb.arrays import Arrays
from sqlanon.engines.lacks import LACKS
from sqlanon.engines.values import CompactionResult, TableRef
from sqlanon.errors import DatabaseError, LockedError
from sqlanon.lack import Lack


class FileCompaction(Arrays):
    """The part of a connection that rewriting the file needs."""

    leaves = (
        "values of dropped tables can stay in free blocks of the database's file, and in backups, until they are "
        "overwritten; --compact writes the file anew"
    )
    _again: Callable[[], FileCompaction] | None = None
    """Opens the same file as it was opened; None where the connection is not for us to close."""
    _swept: tuple[str, ...] = ()

    @property
    def compaction(self) -> Self | None:
        """See `Engine.compaction`: a database in memory has no file, and a guest does not open the host's."""
        return None if self._path is None or self._again is None else self

    @property
    def lacks(self) -> Mapping[str, Lack]:
        return LACKS["DuckDB" if self.compaction else "DuckDB in memory"]

    def swept(self) -> list[str]:
        swept, self._swept = self._swept, ()
        return list(swept)

    def check_compaction(self) -> None:
        assert self._path is not None
        with self._translate_errors("catalog lookup"):
            self._use(self._empty)
            ((read_only,),) = self._send(
                "SELECT readonly FROM duckdb_databases() WHERE database_name = $name",
                {"name": self._database},
            ).fetchall()
            ((connections,),) = self._send("SELECT * FROM duckdb_connection_count()").fetchall()
        if read_only:
            raise DatabaseError(f"{self._path} is open for reading only; connect without read_only")
        if connections > 1:
            raise LockedError(
                f"{self._path} is open in {connections} connections of this process; close the others, and run again"
            )
        fresh_copy.check_file(Path(self._path))

    def compact(self, tables: Sequence[TableRef]) -> CompactionResult:
        """See `Compaction.compact`: the whole file, whatever the tables are."""
        self.check_compaction()
        assert self._path is not None
        assert self._again is not None
        with self._translate_errors("settings"):
            settings = {
                name: str(self._fetch_one(f"SELECT current_setting('{name}')")) for name in ("threads", "memory_limit")
            }
        self.close()
        try:
            before, after = fresh_copy.write_anew(Path(self._path), self._database, settings)
        finally:
            # The copy is complete even if another process has opened the file first.
            with suppress(DatabaseError):
                vars(self).update(vars(self._again()))
        return CompactionResult((self._path,), before, after, STAYS)


STAYS = (
    (
        "backups and copies of the file, and the disk's blocks of the old file until they are overwritten, have what "
        "was dropped"
    ),
)
