"""One client's session: messages in, messages out; simple and extended queries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pygwire.constants import TransactionStatus
from pygwire.messages import (
    BackendKeyData,
    Bind,
    BindComplete,
    Close,
    CloseComplete,
    CommandComplete,
    DataRow,
    Describe,
    EmptyQueryResponse,
    Execute,
    FieldDescription,
    Flush,
    FunctionCall,
    NoData,
    ParameterDescription,
    ParameterStatus,
    Parse,
    ParseComplete,
    PGMessage,
    PortalSuspended,
    Query,
    ReadyForQuery,
    RowDescription,
    Sync,
    Terminate,
)

from sqlanon.errors import SqlanonError
from sqlanon.serve import texts
from sqlanon.serve.commands import Commands
from sqlanon.serve.login import Login
from sqlanon.serve.queries import Prepared, Queries, Shared
from sqlanon.serve.refusals import (
    BAD_PROTOCOL,
    IDLE,
    NO_PORTAL,
    NO_STATEMENT,
    NOT_SUPPORTED,
    STOPPING,
    TOO_MUCH,
    Disconnected,
    ServeError,
    explained,
)
from sqlanon.serve.values import Column, Result, encoded
from sqlanon.serve.variables import BOUNDS, Variables
from sqlanon.serve.wire import Wire

STATEMENTS = 500
"""Prepared statements of a session, at most."""
CHARACTERS = 1_000_000
"""Of all prepared statements of a session."""
PORTALS = 5
"""Open portals of a session, at most."""


@dataclass
class Portal:
    """A statement with values: its answer, as far as it was sent."""

    prepared: Prepared
    parameters: list[tuple[bytes | None, bool]]
    formats: list[int]
    result: Result | None = None
    sent: int = 0


class Session:
    """Serves one client that has logged in.

    Args:
        wire: the connection.
        login: who it is.
        shared: what sessions have in common.
        address: from where.
        key: the session's number, and the secret for cancellations.
    """

    def __init__(self, wire: Wire, login: Login, shared: Shared, address: str, key: tuple[int, bytes]) -> None:
        schemas = shared.catalog().schemas
        self._wire = wire
        self._statements: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        begun = {BOUNDS: "on"} if shared.bounds else {}
        variables = Variables(login.user, schemas[0], {**begun, **login.settings})
        self._commands = Commands(variables, self._forget)
        self._queries = Queries(shared, self._commands, login.user, address, key[0])
        self._key = key
        self._reported: dict[str, str] = {}
        self._stopping = threading.Event()

    def cancel(self) -> None:
        """Cancel the running query; from another thread."""
        self._queries.cancel.request()

    def stop(self) -> None:
        """End the session; from another thread."""
        self._stopping.set()
        self.cancel()
        self._wire.close()

    def serve(self) -> None:
        """Answer until the client leaves."""
        self._report()
        self._wire.send(BackendKeyData(process_id=self._key[0], secret_key=self._key[1]))
        self._ready()
        skipping = False
        while True:
            try:
                message = self._wire.receive()
            except TimeoutError:
                self._wire.leave(ServeError(IDLE, "terminating connection due to idle-session timeout"))
                return
            if isinstance(message, Terminate):
                return
            if self._stopping.is_set():
                self._wire.leave(ServeError(STOPPING, "terminating connection: the server is stopping"))
                return
            if isinstance(message, Query):
                with self._queries.cancel.statement():
                    self._simple(message.query_string)
            elif isinstance(message, Sync):
                skipping = False
                if self._commands.status == "I":
                    self._portals.clear()
                self._ready()
            elif isinstance(message, FunctionCall):
                self._wire.fail(ServeError(NOT_SUPPORTED, "function calls are not answered; write a SELECT"))
                self._ready()
            elif not skipping:
                with self._queries.cancel.statement():
                    skipping = not self._carried_out(message)

    def _ready(self) -> None:
        self._report()
        self._wire.send(ReadyForQuery(status=TransactionStatus(self._commands.status)))

    def _report(self) -> None:
        """Send the settings that have changed."""
        for name, value in self._commands.variables.reported.items():
            if self._reported.get(name) != value:
                self._reported[name] = value
                self._wire.send(ParameterStatus(name=name, value=value))

    def _forget(self, name: str | None) -> None:
        if name is None:
            self._statements.clear()
            self._portals.clear()
        else:
            self._statements.pop(name, None)

    # --- simple queries

    def _simple(self, text: str) -> None:
        try:
            pieces = texts.split(text)
            if not pieces:
                self._wire.send(EmptyQueryResponse())
            for piece in pieces:
                result = self._queries.run(self._queries.prepare(piece))
                if result.columns is not None:
                    self._wire.send(_description(result.columns, ()))
                    self._rows(result, result.rows, ())
                self._complete(result)
        except (ServeError, SqlanonError) as error:
            self._failed(error)
        self._ready()

    def _failed(self, error: BaseException) -> None:
        self._commands.failed()
        self._wire.fail(explained(error))

    def _rows(self, result: Result, rows: Iterable[Sequence[object]], formats: Sequence[int]) -> None:
        columns = result.columns or ()
        binary = [_format(formats, i) == 1 for i in range(len(columns))]
        for row in rows:
            cells = [
                encoded(value, column.type, form) for value, column, form in zip(row, columns, binary, strict=True)
            ]
            self._wire.send(DataRow(columns=cells))

    def _complete(self, result: Result) -> None:
        for notice in result.notices:
            self._wire.note(notice)
        self._wire.send(CommandComplete(tag=result.tag))

    # --- extended queries

    def _carried_out(self, message: PGMessage) -> bool:
        """Carry out one message of an extended query; whether it succeeded."""
        steps: dict[type[PGMessage], Callable[[object], None]] = {
            Parse: self._parse,
            Bind: self._bind,
            Describe: self._describe,
            Execute: self._execute,
            Close: self._close,
        }
        step = steps.get(type(message))
        if isinstance(message, Flush):
            self._wire.flush()
            return True
        if step is None:
            raise ServeError(BAD_PROTOCOL, "this message is not expected here")
        try:
            step(message)
        except (ServeError, SqlanonError) as error:
            self._failed(error)
            return False
        return True

    def _parse(self, message: object) -> None:
        assert isinstance(message, Parse)
        if message.statement and message.statement in self._statements:
            raise ServeError("42P05", f'prepared statement "{message.statement[:63]}" already exists')
        kept = sum(len(one.piece.text) for one in self._statements.values() if one.piece is not None)
        if len(self._statements) >= STATEMENTS or kept + len(message.query) > CHARACTERS:
            raise ServeError(
                TOO_MUCH,
                f"a session has at most {STATEMENTS} prepared statements, of {CHARACTERS:,} characters",
                "close some",
            )
        pieces = texts.split(message.query)
        if len(pieces) > 1:
            raise ServeError("42601", "cannot insert multiple commands into a prepared statement")
        if len(message.param_types) > texts.PARAMETERS:
            raise ServeError(TOO_MUCH, f"a statement has at most {texts.PARAMETERS:,} parameters")
        prepared = self._queries.prepare(pieces[0], message.param_types) if pieces else Prepared(None)
        self._statements[message.statement] = prepared
        self._wire.send(ParseComplete())

    def _bind(self, message: object) -> None:
        assert isinstance(message, Bind)
        prepared = self._statement(message.statement)
        values, formats = message.param_values, message.param_formats
        if len(values) != len(prepared.types) or len(formats) not in (0, 1, len(values)):
            raise ServeError(
                BAD_PROTOCOL, f"bind message supplies {len(values)} parameters, but {len(prepared.types)} are wanted"
            )
        if len(self._portals) >= PORTALS and message.portal not in self._portals:
            raise ServeError(TOO_MUCH, f"a session has at most {PORTALS} open portals", "close some")
        parameters = [(value, _format(formats, i) == 1) for i, value in enumerate(values)]
        self._portals[message.portal] = Portal(prepared, parameters, list(message.result_formats))
        self._wire.send(BindComplete())

    def _describe(self, message: object) -> None:
        assert isinstance(message, Describe)
        if message.kind == "S":
            prepared = self._queries.describe(self._statement(message.name))
            self._statements[message.name] = prepared
            self._wire.send(ParameterDescription(type_oids=list(prepared.types)))
            columns, formats = prepared.columns, ()
            self._wire.send(NoData() if columns is None else _description(columns, formats))
            return
        portal = self._portal(message.name)
        if portal.prepared.is_query:
            portal.result = portal.result or self._queries.run(portal.prepared, portal.parameters)
            columns = portal.result.columns
        else:
            columns = self._queries.describe(portal.prepared).columns
        self._wire.send(NoData() if columns is None else _description(columns, portal.formats))

    def _execute(self, message: object) -> None:
        assert isinstance(message, Execute)
        portal = self._portal(message.portal)
        if portal.prepared.piece is None:
            self._wire.send(EmptyQueryResponse())
            return
        result = portal.result = portal.result or self._queries.run(portal.prepared, portal.parameters)
        if result.columns is not None:
            end = portal.sent + message.max_rows if message.max_rows else len(result.rows)
            rows = result.rows[portal.sent : end]
            self._rows(result, rows, portal.formats)
            portal.sent += len(rows)
            if portal.sent < len(result.rows):
                self._wire.send(PortalSuspended())
                return
        self._complete(result)

    def _close(self, message: object) -> None:
        assert isinstance(message, Close)
        if message.kind == "S":
            self._statements.pop(message.name, None)
        else:
            self._portals.pop(message.name, None)
        self._wire.send(CloseComplete())

    def _statement(self, name: str) -> Prepared:
        if name not in self._statements:
            raise ServeError(NO_STATEMENT, f'prepared statement "{name[:63]}" does not exist')
        return self._statements[name]

    def _portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise ServeError(NO_PORTAL, f'portal "{name[:63]}" does not exist')
        return self._portals[name]


def _format(formats: Sequence[int], i: int) -> int:
    """The form of a value: one for all, one for each, or text."""
    if len(formats) == 1:
        return formats[0]
    return formats[i] if i < len(formats) else 0


def _description(columns: Sequence[Column], formats: Sequence[int]) -> RowDescription:
    fields = [
        FieldDescription(
            name=column.name.replace("\0", ""),
            type_oid=column.type.oid,
            type_size=column.type.size,
            type_modifier=-1,
            format_code=_format(formats, i),
        )
        for i, column in enumerate(columns)
    ]
    return RowDescription(fields=fields)


def end(wire: Wire) -> None:
    """Close a connection, whatever has happened to it."""
    with suppress(Disconnected):
        wire.flush()
    wire.close()
