"""A client's session, from login to end: requests are passed on, and errors are answered."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress

from pygwire.messages import BackendKeyData, EmptyQueryResponse, FunctionCall, PGMessage, Query, Sync, Terminate

from sqlanon.errors import SqlanonError
from sqlanon.serve import texts
from sqlanon.serve.answer_buffer import KeptAnswer
from sqlanon.serve.commands import Commands
from sqlanon.serve.extended_queries import ExtendedQueries
from sqlanon.serve.login import Login
from sqlanon.serve.portals import Parameters, Portals, Statements
from sqlanon.serve.queries import ParsedText, Queries, ServerState
from sqlanon.serve.refusals import IDLE, NOT_SUPPORTED, STOPPING, DisconnectedError, ServeError
from sqlanon.serve.replies import Replies
from sqlanon.serve.variables import BOUNDS, Variables
from sqlanon.serve.wire import Wire


class Session:
    """Serves a client that has logged in.

    Args:
        wire: the connection.
        login: the user who has logged in.
        shared: the objects that all sessions share.
        address: the client's address.
        key: the session's number, and the secret for cancellations.
    """

    def __init__(self, wire: Wire, login: Login, shared: ServerState, address: str, key: tuple[int, bytes]) -> None:
        schemas = shared.catalog().schemas
        begun = {BOUNDS: "on"} if shared.bounds else {}
        variables = Variables(login.user, schemas[0], {**begun, **login.settings})
        self._wire, self._key = wire, key
        self._room, self._user = shared.room, login.user
        self._statements, self._portals = Statements(), Portals(shared.room, login.user)
        self._commands = Commands(variables, self._forget)
        self._queries = Queries(shared, self._commands, login.user, address, key[0])
        self._replies = Replies(wire, self._commands)
        self._extended = ExtendedQueries(self._queries, self._answer, self._replies, self._statements, self._portals)
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
            self._replies.settings()
            self._replies.send(BackendKeyData(process_id=self._key[0], secret_key=self._key[1]))
            self._replies.ready()
            self._serve()
        finally:
            self._portals.close_all()

    def _serve(self) -> None:
        skipping = False
        while (message := self._receive()) is not None:
            if isinstance(message, Query):
                with self._queries.cancel.statement():
                    self._simple(message.query_string)
            elif isinstance(message, Sync):
                skipping = False
                if self._commands.status == "I":
                    self._portals.close_all()
                self._replies.ready()
            elif isinstance(message, FunctionCall):
                self._wire.fail(ServeError(NOT_SUPPORTED, "function calls are not answered; write a SELECT"))
                self._replies.ready()
            elif not skipping:
                with self._queries.cancel.statement():
                    skipping = not self._extended.carry_out(message)

    def _receive(self) -> PGMessage | None:
        """The next message; None: the session ends."""
        try:
            message = self._wire.receive()
        except TimeoutError:
            self._wire.leave(ServeError(IDLE, "terminating connection due to idle-session timeout"))
            return None
        if isinstance(message, Terminate):
            return None
        if self._stopping.is_set():
            self._wire.leave(ServeError(STOPPING, "terminating connection: the server is stopping"))
            return None
        return message

    def _simple(self, text: str) -> None:
        """Carry out the statements of a text, each to the end."""
        try:
            pieces = texts.split(text)
            if not pieces:
                self._replies.send(EmptyQueryResponse())
            for piece in pieces:
                answer = self._answer(self._queries.prepare(piece), [], [])
                try:
                    if answer.result.columns is not None:
                        self._replies.columns(answer.result.columns, [])
                        self._replies.rows(answer, len(answer))
                finally:
                    answer.drop()
                self._replies.complete(answer.result)
        except (ServeError, SqlanonError) as error:
            self._replies.report_failure(error)
        self._replies.ready()

    def _answer(self, prepared: ParsedText, parameters: Parameters, formats: Sequence[int]) -> KeptAnswer:
        """The answer to a statement."""
        return self._queries.run(
            prepared, parameters, shape=lambda result: KeptAnswer(result, formats, self._room, self._user)
        )

    def _forget(self, name: str | None) -> None:
        """Drop a prepared statement; None: all that is kept by name."""
        self._statements.forget(name)
        if name is None:
            self._portals.close_all()


def end(wire: Wire) -> None:
    """Close a connection, whatever has happened to it."""
    with suppress(DisconnectedError):
        wire.flush()
    wire.close()
