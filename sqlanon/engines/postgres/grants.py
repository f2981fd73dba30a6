"""The rights of roles in a PostgreSQL session: the ability `Rights`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

import psycopg
from psycopg import sql

from sqlanon.engines.base import Statement, TableRef
from sqlanon.engines.postgres import private, rights
from sqlanon.engines.postgres.connect import is_failed
from sqlanon.engines.postgres.session import Session
from sqlanon.errors import DatabaseError


class GrantingSession(Session):
    """The part of a session that reads, grants and revokes rights."""

    @property
    def rights(self) -> Self:
        return self

    @contextmanager
    def acting_as(self, role: str, seconds: float) -> Iterator[None]:
        if not self.roles([role]):
            raise DatabaseError(f"there is no role {role}")
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            self._control(
                "the time limit",
                f"SET LOCAL statement_timeout = {max(1, round(min(seconds, 2_000_000) * 1000))}",
            )
            try:
                self._connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
            except psycopg.Error as error:
                raise DatabaseError(f"this session may not act as role {role}: connect as a member of it") from error
            yield

    def list_restore_statements(self, view: TableRef, columns: Sequence[str]) -> list[Statement]:
        with self._translate_errors("recorded rights"):
            texts = rights.record_rights(self._connection, view, columns)
        return [Statement("recorded rights", text) for text in texts]

    def roles(self, names: Sequence[str]) -> list[str]:
        with self._translate_errors("catalog lookup"):
            return rights.roles(self._connection, names)

    def grant_select(self, views: Sequence[TableRef], role: str) -> None:
        with self._translate_errors("GRANT"):
            refused = rights.grant_select(self._connection, views, role)
        _refuse_grant(role, refused)

    def grant_usage(self, views: Sequence[TableRef], role: str) -> None:
        with self._translate_errors("GRANT"):
            refused = rights.grant_usage(self._connection, views, role)
        _refuse_grant(role, refused)

    def revoke_select(self, views: Sequence[TableRef], role: str) -> None:
        with self._translate_errors("REVOKE"):
            rights.revoke_select(self._connection, views, role)

    def can_select(self, role: str, ref: TableRef) -> bool:
        with self._translate_errors("catalog lookup"):
            return rights.can_select(self._connection, role, ref)

    def can_use(self, role: str, schema: str) -> bool:
        with self._translate_errors("catalog lookup"):
            return rights.can_use(self._connection, role, schema)

    def make_private(self, schema: str, *, anew: bool) -> None:
        with self._translate_errors("rights of the private schema"):
            self._by_default = private.check_private(self._connection, schema)
            if anew:
                rights.make_private(self._connection, schema)

    @contextmanager
    def reading(self, table: TableRef) -> Iterator[None]:
        with self._translate_errors("rights of the private schema"):
            foreign = private.check_readable(self._connection, table)
            if foreign:
                private.tables_only(self._connection)
        try:
            yield
        finally:
            if foreign and not is_failed(self._connection):
                with self._translate_errors("rights of the private schema"):
                    private.tables_only(self._connection, end=True)

    def list_filtered_tables(self, tables: Sequence[TableRef]) -> list[str]:
        with self._translate_errors("catalog lookup"):
            return rights.list_filtered_tables(self._connection, tables)

    def all_readers(self) -> list[str]:
        with self._translate_errors("catalog lookup"):
            return private.all_readers(self._connection)

    def owner_members(self, schema: str) -> list[tuple[str, str]]:
        with self._translate_errors("catalog lookup"):
            return private.owner_members(self._connection, schema)

    def drop_statistics(self, tables: Sequence[TableRef]) -> None:
        with self._translate_errors("statistics of private tables"):
            private.drop_statistics(self._connection, tables)

    def grantees(self, schema: str) -> list[str]:
        with self._translate_errors("catalog lookup"):
            return rights.grantees(self._connection, schema)


def _refuse_grant(role: str, refused: str | None) -> None:
    if refused:
        raise DatabaseError(
            f"cannot let role {role} read {refused}: somebody else owns it; ask for GRANT .. WITH GRANT OPTION, or "
            f"have its owner grant it, or take {role} out of the policy's readers"
        )
