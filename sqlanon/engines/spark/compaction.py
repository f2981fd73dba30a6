"""Spark has no compaction: the files are the table format's, which has commands of its own."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.values import Compacted, TableRef
from sqlanon.errors import UnsupportedError

_COMMANDS = (
    "Delta Lake: VACUUM of the table; Iceberg: CALL system.expire_snapshots and system.remove_orphan_files"
)


class NoCompaction:
    """See `sqlanon.engines.abilities.Compaction`."""

    leaves = f"values of dropped tables and of earlier snapshots can stay in files that the table format keeps, until its own command removes them ({_COMMANDS})"

    def swept(self) -> list[str]:
        """See `Compaction.swept`: it makes no copies."""
        return []

    def check_compaction(self) -> None:
        """Say what does it in its place."""
        raise UnsupportedError(
            f"--compact is not for Spark: the table format's own command removes files of dropped tables and earlier snapshots ({_COMMANDS})"
        )

    def compact(self, tables: Sequence[TableRef]) -> Compacted:
        """See `check_compaction`."""
        self.check_compaction()
        raise AssertionError(tables)


__all__ = ["NoCompaction"]
