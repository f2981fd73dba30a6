"""An engine that knows neither roles nor rights: every process that can open the database reads all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlanon.engines.base import Statement, TableRef


class WithoutRights:
    """The part of `Engine` that is about rights, for engines that have none."""

    def rights(self, view: TableRef, columns: Sequence[str]) -> list[Statement]:
        """The engine has no rights."""
        return []

    def roles(self, names: Sequence[str]) -> list[str]:
        """The engine knows no roles."""
        return []

    def let_in(self, views: Sequence[TableRef], role: str) -> None:
        """The engine knows no roles."""

    def allow(self, views: Sequence[TableRef], role: str) -> None:
        """The engine knows no roles."""

    def forbid(self, views: Sequence[TableRef], role: str) -> None:
        """The engine knows no roles."""

    def reads(self, role: str, ref: TableRef) -> bool:
        """Every process that can open the database reads all of it."""
        return True

    def enters(self, role: str, schema: str) -> bool:
        """Every process that can open the database reads all of it."""
        return True

    def seclude(self, schema: str, *, anew: bool) -> None:
        """The engine has no rights."""

    @contextmanager
    def reading(self, table: TableRef) -> Iterator[None]:
        """The engine has no rights."""
        yield

    def all_readers(self) -> list[str]:
        """The engine knows no roles."""
        return []

    def drop_statistics(self, tables: Sequence[TableRef]) -> None:
        """A reader of statistics can read the tables as well."""

    def grantees(self, schema: str) -> list[str]:
        """The engine has no rights."""
        return []
