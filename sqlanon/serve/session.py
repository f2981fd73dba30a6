"""One client's session: messages in, messages out; simple and extended queries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from pygwire.constants import TransactionStatus
from pygwire.messages import (
    BackendKeyData,
    Bind,
    BindComplete,
    Close,
    CloseComplete,
    CommandComplete,
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
from sqlanon.serve.kept import Kept, form_of
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
from sqlanon.serve.values import Column, Result
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
    """A statement with values: its answer, of which the rows that were not sent are kept.

    Attributes:
        forget: gives the room of the values back.
    """

    prepared: Prepared
    parameters: list[tuple[bytes | None, bool]]
    formats: list[int]
    forget: Callable[[], None]
    kept: Kept | None = None

    def close(self) -> None:
        """Drop what is kept."""
        self.forget()
        if self.kept is not None:
            self.kept.drop()


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
        self._room, self._user = shared.room, login.user
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
        self._wire.interrupt()

    def serve(self) -> None:
        """Answer until the client leaves."""
        try:
            self._serve()
        finally:
            self._close_portals()

    def _serve(self) -> None:
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
                    self._close_portals()
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
            self._close_portals()
        else:
            self._statements.pop(name, None)

    def _close_portals(self) -> None:
        for portal in self._portals.values():
            portal.close()
        self._portals.clear()

    def _kept(self, prepared: Prepared, parameters: list[tuple[bytes | None, bool]], formats: list[int]) -> Kept:
        """The answer to a statement."""
        return self._queries.run(
            prepared, parameters, shape=lambda result: Kept(result, formats, self._room, self._user)
        )

    # --- simple queries

    def _simple(self, text: str) -> None:
        try:
            pieces = texts.split(text)
            if not pieces:
                self._wire.send(EmptyQueryResponse())
            for piece in pieces:
                kept = self._kept(self._queries.prepare(piece), [], [])
                try:
                    if kept.result.columns is not None:
                        self._wire.send(_description(kept.result.columns, []))
                        self._wire.send_rows(kept.sent(len(kept)))
                finally:
                    kept.drop()
                self._complete(kept.result)
        except (ServeError, SqlanonError) as error:
            self._failed(error)
        self._ready()

    def _failed(self, error: BaseException) -> None:
        self._commands.failed()
        self._wire.fail(explained(error))

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
        parameters = [(value, form_of(formats, i) == 1) for i, value in enumerate(values)]
        if message.portal in self._portals:
            self._portals.pop(message.portal).close()
        size = sum(len(value) for value in values if value is not None)
        self._room.take(self._user, size)
        forget = partial(self._room.give, self._user, size)
        self._portals[message.portal] = Portal(prepared, parameters, list(message.result_formats), forget)
        self._wire.send(BindComplete())

    def _describe(self, message: object) -> None:
        assert isinstance(message, Describe)
        if message.kind == "S":
            prepared = self._queries.describe(self._statement(message.name))
            self._statements[message.name] = prepared
            self._wire.send(ParameterDescription(type_oids=list(prepared.types)))
            self._wire.send(NoData() if prepared.columns is None else _description(prepared.columns, []))
            return
        portal = self._portal(message.name)
        if portal.prepared.is_query:
            columns = self._asked(portal).result.columns
        else:
            columns = self._queries.describe(portal.prepared).columns
        self._wire.send(NoData() if columns is None else _description(columns, portal.formats))

    def _execute(self, message: object) -> None:
        assert isinstance(message, Execute)
        portal = self._portal(message.portal)
        if portal.prepared.piece is None:
            self._wire.send(EmptyQueryResponse())
            return
        kept = self._asked(portal)
        if kept.result.columns is not None:
            self._wire.send_rows(kept.sent(message.max_rows or len(kept)))
            if len(kept):
                self._wire.send(PortalSuspended())
                return
        self._complete(kept.result)

    def _asked(self, portal: Portal) -> Kept:
        if portal.kept is None:
            portal.kept = self._kept(portal.prepared, portal.parameters, portal.formats)
        return portal.kept

    def _close(self, message: object) -> None:
        assert isinstance(message, Close)
        if message.kind == "S":
            self._statements.pop(message.name, None)
        else:
            closed = self._portals.pop(message.name, None)
            if closed is not None:
                closed.close()
        self._wire.send(CloseComplete())

    def _statement(self, name: str) -> Prepared:
        if name not in self._statements:
            raise ServeError(NO_STATEMENT, f'prepared statement "{name[:63]}" does not exist')
        return self._statements[name]

    def _portal(self, name: str) -> Portal:
        if name not in self._portals:
            raise ServeError(NO_PORTAL, f'portal "{name[:63]}" does not exist')
        return self._portals[name]


def _description(columns: Sequence[Column], formats: Sequence[int]) -> RowDescription:
    fields = [
        FieldDescription(
            name=column.name.replace("\0", ""),
            type_oid=column.type.oid,
            type_size=column.type.size,
            type_modifier=-1,
            format_code=form_of(formats, i),
        )
        for i, column in enumerate(columns)
    ]
    return RowDescription(fields=fields)


def end(wire: Wire) -> None:
    """Close a connection, whatever has happened to it."""
    with suppress(Disconnected):
        wire.flush()
    wire.close()
