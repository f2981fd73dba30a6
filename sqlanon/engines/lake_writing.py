"""The ability of an engine to publish tables in a lake: files, then one commit that shows them to readers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sqlanon.engines.values import Relation, TableRef


class LakeWriting(Protocol):
    """The ability of an engine that publishes tables in a lake: files that no reader sees, then one commit.

    The facts of a commit are recorded with it: texts by name.
    """

    def place(self, name: str) -> str:
        """Where a lake table is, the same for every way to write that.

        Raises:
            PolicyError: the format, or the storage, is not written.
        """

    def check_apart(self, place: str, source: str) -> None:
        """Check that a lake table is not in the folder of the source, nor the source in that of the table.

        Args:
            place: place of the lake table.
            source: the source's name; of a table of the database nothing is checked.

        Raises:
            PolicyError: one is in the other: who reads a folder would read both, or a run the rows that it published.
        """

    def list_warnings(self, place: str) -> Sequence[str]:
        """Reasons why others than this user may read the private tables of the database's file."""

    def facts(self, place: str) -> Sequence[Mapping[str, str]]:
        """The facts of each commit that changed rows, the newest first, empty for those of other programs.

        None is there: so is no table.

        Raises:
            DatabaseError: something else is there, or it cannot be read.
        """

    def write(
        self,
        table: TableRef,
        place: str,
        file: str,
        facts: Mapping[str, str],
        check: Callable[[Sequence[Mapping[str, str]]], None],
    ) -> None:
        """Write a table to a file that no reader sees, read it back and compare count, types and a hash.

        Args:
            table: the table.
            place: place of the lake table.
            file: name of the file, which no other attempt has.
            facts: of the commit that will follow.
            check: gets the facts of the commits before, and raises where they are another program's.

        Raises:
            PolicyError: a column has a type or a name that the format lacks.
            PrivacyViolation: the file, read back, differs from the table.
            LockedError: another program committed meanwhile.
        """

    def reading(self, tables: Sequence[tuple[TableRef, str]], file: str) -> AbstractContextManager[Sequence[Relation]]:
        """The written files as temporary views, which queries can read, for as long as the context lasts.

        Args:
            tables: each table, and the place of its lake table.
            file: name of the files.

        Returns:
            the views in the same order, with the types of the tables. Their names differ from that of the first as
            the names of the tables do.
        """

    def commit(
        self,
        place: str,
        file: str | None,
        facts: Mapping[str, str],
        check: Callable[[Sequence[Mapping[str, str]]], None],
    ) -> None:
        """Let the table consist of one file, or of no row (None), in one commit after those that ``check`` has seen.

        Raises:
            LockedError: another program committed meanwhile.
        """

    def list_files(self, place: str) -> Sequence[str]:
        """The files that readers of the table's latest version read; of those that sqlanon wrote, the names."""

    def remove(self, place: str, file: str) -> bool:
        """Remove a file that was never committed; whether it was there."""

    def expire(self, place: str, files: Collection[str]) -> int:
        """Remove earlier versions from the table's history, with their files, but those of ``files``.

        Returns:
            how many files of rows were removed.

        Raises:
            LockedError, DatabaseError: another program committed meanwhile, or files cannot be removed.
        """
