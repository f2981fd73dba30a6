"""Makes and fills tables on PostgreSQL: without rights of other roles, and with statistics for the planner.

Default privileges give rights on every new table. ``pg_stats`` shows values of a table to every role that has rights on
it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from sqlanon.engines.base import PRIVATE_SCHEMA, Bind, Row, Statement, TableRef
from sqlanon.engines.postgres import private
from sqlanon.engines.postgres.binary import SIGNATURE, TYPES, record_type
from sqlanon.engines.postgres.row_copies import convert_rows, is_binary, list_type_names
from sqlanon.engines.postgres.session import Session, name_statement
from sqlanon.errors import DatabaseError

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints

_CHUNK = 1 << 20
_INTEGERS = (1, 0, 23)
"""How a binary array of integers begins: one dimension, no NULLs, the elements' type."""
_COMMENTS = re.compile(r"^(?:--[^\n]*\n|/\*.*?\*/|\s)+", re.DOTALL)
_NAME = '"(?:[^"]|"")+"'
_MADE = re.compile(rf"CREATE TEMPORARY TABLE ({_NAME})", re.IGNORECASE)
_PRIVATE = re.compile(rf'CREATE TABLE (?:IF NOT EXISTS )?("{PRIVATE_SCHEMA}"\.{_NAME})', re.IGNORECASE)


class Tables(Session):
    """The part of a session that sends statements which may make tables."""

    def execute(self, statement: Statement | str) -> None:
        if isinstance(statement, Statement):
            self._send([statement])
            return
        with self._run(statement):
            pass

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        if first and isinstance(statement, Statement):
            return self._send([*first, statement], answer=max_rows)
        with self._run(statement) as cursor:
            rows = cursor.fetchmany(max_rows + 1)
        if len(rows) > max_rows:
            raise DatabaseError(f"{name_statement(statement)} returned more than {max_rows} rows")
        return rows

    def execute_all(self, statements: Sequence[Statement]) -> None:
        self._send(statements)

    def _send(self, statements: Sequence[Statement], *, answer: int | None = None) -> list[Row]:
        """Run statements in one transaction, and keep others off the tables that they create.

        Those without values go together in one text. Those with values go singly, for the server to bind them: in the
        text they would be in pg_stat_activity, and after an error in the server's log; among them is the secret of a
        release.

        Statistics of a temporary table are in pg_stats as well, for every role that has a right on it. Where default
        privileges give any, they are taken away before there are statistics. Elsewhere a look goes with the statistics.

        Args:
            statements: the statements.
            answer: rows that the last statement may return; None: it is no query.
        """
        self._bring(*(statement.text for statement in statements))
        creations = [(statement, _find_created_table(statement.text)) for statement in statements]
        if self._by_default is not False and any(table for _, table in creations):
            return self._send_singly(creations, answer)
        if not statements:
            return []
        *before, last = _calls(creations, self._take_unanalyzed())
        split = bool(before) and self._connection.info.transaction_status == TransactionStatus.IDLE
        with self._transaction("BEGIN") if split else nullcontext():
            for call in before:
                self._call(call, None)
            rows = self._call(last, answer)
        if answer is not None and len(rows) > answer:
            raise DatabaseError(f"{name_statement(statements[-1])} returned more than {answer} rows")
        return rows

    def _call(self, call: _Call, answer: int | None) -> list[Row]:
        """Run a call; the last statement returns at most one row more than ``answer``."""
        texts = list(call.texts)
        if call.made:
            sized = self._metered.list_unknown("\n".join(texts))
            texts.insert(len(texts) - (answer is not None), private.query_grantees(call.made, sized))
        rows_found: list[Row] = []
        rows: list[Row] = []
        with self._translate_errors(", ".join(dict.fromkeys(call.names))), self._connection.cursor() as cursor:
            # A comment at a statement's end ends with its line.
            cursor.execute("\n;\n".join(texts), call.binds or None)
            while True:
                if cursor.description is not None:
                    rows_found, rows = rows, cursor.fetchmany(100_000 if answer is None else answer + 1)
                if not cursor.nextset():
                    break
            if answer is None:
                rows_found, rows = rows, []
            if call.made:
                self._metered.learn(private.revoke(self._connection, rows_found))
        return rows

    def _send_singly(self, creations: Sequence[tuple[Statement, str | None]], answer: int | None) -> list[Row]:
        for index, (statement, table) in enumerate(creations, 1):
            if index == len(creations) and answer is not None:
                return self.fetch(statement, max_rows=answer)
            with self._run(statement):
                pass
            if table:
                self._revoke_defaults(table)
                self._analyze(table)
        return []

    def _analyze(self, table: str) -> None:
        if _is_temporary(table):
            self._connection.execute(f"ANALYZE {table}")

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        dtypes = [str(array.dtype) for array in columns.values()]
        temporary = sql.SQL("TEMP " if table.schema is None else "")
        defined = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(TYPES[dtype]))
            for name, dtype in zip(columns, dtypes, strict=True)
        )
        record = record_type(dtypes)
        count = len(next(iter(columns.values())))
        self._new(table, sql.SQL("CREATE {}TABLE IF NOT EXISTS {} ({})").format(temporary, ident(table), defined))
        with self._translate_errors(f"load {table.name}"), self._connection.cursor() as cursor:
            names = sql.SQL(", ").join(map(sql.Identifier, columns))
            with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(ident(table), names)) as copy:
                copy.write(SIGNATURE)
                for start in range(0, count, _CHUNK):
                    stop = min(count, start + _CHUNK)
                    rows = np.empty(stop - start, dtype=record)
                    rows["fields"] = len(dtypes)
                    for i, array in enumerate(columns.values()):
                        rows[f"l{i}"] = array.dtype.itemsize
                        rows[f"v{i}"] = array[start:stop]
                    copy.write(rows.tobytes())
                copy.write(b"\xff\xff")
            self._metered.load(table, count * record.itemsize)
            shown = self._format_statement(table)
            if table.schema is None and shown not in self._unanalyzed:
                self._unanalyzed.append(shown)

    def load_list(self, table: TableRef, column: str, values: Ints) -> None:
        """See `Engine.load_list`; not compressed, as it is read in moments."""
        temporary = sql.SQL("TEMP " if table.schema is None else "")
        name = sql.Identifier(column)
        create = sql.SQL(
            "CREATE {}TABLE {table} ({column} integer[]);\nALTER TABLE {table} ALTER COLUMN {column} SET STORAGE "
            "EXTERNAL"
        )
        self._new(table, create.format(temporary, table=ident(table), column=name))
        elements = np.empty(len(values), dtype=[("size", ">i4"), ("value", ">i4")])
        elements["size"], elements["value"] = 4, values
        data = elements.tobytes()
        copy_in = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(ident(table))
        with (
            self._translate_errors(f"load {table.name}"),
            self._connection.cursor() as cursor,
            cursor.copy(copy_in) as copy,
        ):
            copy.write(SIGNATURE + struct.pack(">hi", 1, 20 + len(data)))
            copy.write(struct.pack(">5i", *_INTEGERS, len(values), 1))
            copy.write(data)
            copy.write(b"\xff\xff")
        self._metered.load(table, len(data))

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """See `Engine.load_rows`: a binary COPY, as the server's log has rows of others that end early.

        Values of types without a binary form here go as texts to a temporary table first.
        """
        kinds = [kind for _, kind in columns]
        if is_binary(kinds):
            self._copy_rows(table, columns, rows)
            return
        texts = TableRef(None, "_sqlanon_texts")
        names = sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns)
        casts = sql.SQL(", ").join(
            sql.SQL("CAST({} AS {})").format(sql.Identifier(name), sql.SQL(kind.partition(" COLLATE ")[0]))
            for name, kind in columns
        )
        insert = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {};\nDROP TABLE {}").format(
            ident(table), names, casts, ident(texts), ident(texts)
        )
        self._create(table, columns)
        try:
            self._copy_rows(texts, [(name, "text") for name, _ in columns], rows)
            with self._translate_errors(f"load {table.name}"):
                self._connection.execute(insert)
        except BaseException:
            if self._connection.info.transaction_status == TransactionStatus.IDLE:
                with suppress(psycopg.Error):
                    self._connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(ident(texts)))
            raise

    def _create(self, table: TableRef, columns: Sequence[tuple[str, str]]) -> None:
        """Create a table with (name, type) columns, if it is missing."""
        temporary = sql.SQL("TEMP " if table.schema is None else "")
        defined = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in columns
        )
        self._new(table, sql.SQL("CREATE {}TABLE IF NOT EXISTS {} ({})").format(temporary, ident(table), defined))

    def _copy_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """Create a table, if it is missing, and append rows of types that have a binary form."""
        self._create(table, columns)
        kinds = [kind for _, kind in columns]
        copy_in = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(ident(table))
        with (
            self._translate_errors(f"load {table.name}"),
            self._connection.cursor() as cursor,
            cursor.copy(copy_in) as copy,
        ):
            copy.set_types(list_type_names(kinds))
            for row in convert_rows(kinds, rows):
                copy.write_row(row)

    def _new(self, table: TableRef, create: sql.Composed) -> None:
        """Create a table that is going to be filled.

        If it is private, default rights are revoked while it is empty.
        """
        with self._translate_errors(f"load {table.name}"):
            text = create.as_string(self._connection)
            if table.schema not in (None, PRIVATE_SCHEMA):
                self._connection.execute(text)
                return
            cursor = self._connection.execute(f"{text};\n{private.query_grantees([self._format_statement(table)])}")
            while cursor.description is None and cursor.nextset():
                pass
            private.revoke(self._connection, cursor.fetchall())

    def _look_at_size(self, table: TableRef) -> None:
        """Count the bytes of a table that was filled just now, if bytes are counted."""
        query = self._metered.query_size(self._format_statement(table))
        if query:
            with self._translate_errors(f"load {table.name}"):
                self._metered.learn(self._connection.execute(query).fetchall())

    def _format_statement(self, table: TableRef) -> str:
        return ident(table).as_string(self._connection)

    def _revoke_defaults(self, table: str) -> None:
        with self._translate_errors("rights of the private schema"):
            query = private.query_grantees([table], self._metered.list_unknown())
            self._metered.learn(private.revoke(self._connection, self._connection.execute(query).fetchall()))


class _Call(NamedTuple):
    """Statements that are sent at once: texts without values, or a statement with values."""

    names: list[str]
    texts: list[str]
    binds: dict[str, Bind]
    made: list[str]
    """The tables with rights to check in this call; without values only."""


def _calls(creations: Sequence[tuple[Statement, str | None]], texts: list[str]) -> Iterator[_Call]:
    """The calls that run statements, each with the table that it makes; ``texts`` go before them."""
    names, created = ["statistics"] if texts else [], list[str]()
    for statement, table in creations:
        if statement.binds:
            if texts or created:
                yield _Call(names, texts, {}, created)
            yield _Call([name_statement(statement)], [statement.text], dict(statement.binds), [])
            names, texts, created = [], [], []
        else:
            texts.append(statement.text)
        if table:
            created.append(table)
            if _is_temporary(table):
                # Autovacuum does not analyze temporary tables, and the planner joins badly without statistics.
                texts.append(f"ANALYZE {table}")
        if texts or created:
            names.append(name_statement(statement))
    if texts or created:
        yield _Call(names, texts, {}, created)


def _find_created_table(text: str) -> str | None:
    """The temporary or private table that a statement makes, as it is written there."""
    plain = _COMMENTS.sub("", text)
    match = _MADE.match(plain) or _PRIVATE.match(plain)
    return match.group(1) if match else None


def _is_temporary(table: str) -> bool:
    """Whether `_find_created_table` found a temporary table: only that has a single name."""
    return re.fullmatch(_NAME, table) is not None


def ident(table: TableRef) -> sql.Identifier:
    """A table's name as SQL."""
    return sql.Identifier(*(part for part in (table.schema, table.name) if part))
