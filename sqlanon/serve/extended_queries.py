"""Extended queries: a statement is prepared, gets values, and is carried out by separate messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pygwire.messages import (
    Bind,
    BindComplete,
    Close,
    CloseComplete,
    Describe,
    EmptyQueryResponse,
    Execute,
    Flush,
    ParameterDescription,
    Parse,
    ParseComplete,
    PGMessage,
    PortalSuspended,
)

from sqlanon.errors import SqlanonError
from sqlanon.serve import texts
from sqlanon.serve.answer_buffer import KeptAnswer, form_of
from sqlanon.serve.portals import Parameters, Portal, Portals, Statements
from sqlanon.serve.queries import ParsedText, Queries
from sqlanon.serve.refusals import BAD_PROTOCOL, TOO_MUCH, ServeError
from sqlanon.serve.replies import Replies

Answered = Callable[[ParsedText, Parameters, Sequence[int]], KeptAnswer]
"""The answer to a statement, from the values and the forms of the columns."""


class ExtendedQueries:
    """Carries out the messages of extended queries of a session.

    Args:
        queries: the session's statements.
        answer: answers a statement.
        replies: writes to the client.
        statements, portals: kept by name.
    """

    def __init__(
        self, queries: Queries, answer: Answered, replies: Replies, statements: Statements, portals: Portals
    ) -> None:
        self._queries, self._answer, self._replies = queries, answer, replies
        self._statements, self._portals = statements, portals

    def carry_out(self, message: PGMessage) -> bool:
        """Carry out a message; whether it succeeded. After a failure, the client has to synchronize.

        Raises:
            ServeError: the message has no place here.
        """
        steps: dict[type[PGMessage], Callable[[object], None]] = {
            Parse: self._parse,
            Bind: self._bind,
            Describe: self._describe,
            Execute: self._execute,
            Close: self._close,
        }
        step = steps.get(type(message))
        if isinstance(message, Flush):
            self._replies.flush()
            return True
        if step is None:
            raise ServeError(BAD_PROTOCOL, "this message is not expected here")
        try:
            step(message)
        except (ServeError, SqlanonError) as error:
            self._replies.report_failure(error)
            return False
        return True

    def _parse(self, message: object) -> None:
        assert isinstance(message, Parse)
        self._statements.check(message.statement, message.query)
        pieces = texts.split(message.query)
        if len(pieces) > 1:
            raise ServeError("42601", "cannot insert multiple commands into a prepared statement")
        if len(message.param_types) > texts.PARAMETERS:
            raise ServeError(TOO_MUCH, f"a statement has at most {texts.PARAMETERS:,} parameters")
        prepared = self._queries.prepare(pieces[0], message.param_types) if pieces else ParsedText(None)
        self._statements.put(message.statement, prepared)
        self._replies.send(ParseComplete())

    def _bind(self, message: object) -> None:
        assert isinstance(message, Bind)
        prepared = self._statements.get(message.statement)
        values, formats = message.param_values, message.param_formats
        if len(values) != len(prepared.types) or len(formats) not in (0, 1, len(values)):
            raise ServeError(
                BAD_PROTOCOL, f"bind message supplies {len(values)} parameters, but {len(prepared.types)} are wanted"
            )
        parameters = [(value, form_of(formats, i) == 1) for i, value in enumerate(values)]
        self._portals.open(message.portal, prepared, parameters, list(message.result_formats))
        self._replies.send(BindComplete())

    def _describe(self, message: object) -> None:
        assert isinstance(message, Describe)
        if message.kind == "S":
            prepared = self._queries.describe(self._statements.get(message.name))
            self._statements.put(message.name, prepared)
            self._replies.send(ParameterDescription(type_oids=list(prepared.types)))
            self._replies.columns(prepared.columns, [])
            return
        portal = self._portals.get(message.name)
        if portal.prepared.is_query:
            columns = self._answer_portal(portal).result.columns
        else:
            columns = self._queries.describe(portal.prepared).columns
        self._replies.columns(columns, portal.formats)

    def _execute(self, message: object) -> None:
        assert isinstance(message, Execute)
        portal = self._portals.get(message.portal)
        if portal.prepared.piece is None:
            self._replies.send(EmptyQueryResponse())
            return
        answer = self._answer_portal(portal)
        if answer.result.columns is not None:
            self._replies.rows(answer, message.max_rows or len(answer))
            if len(answer):
                self._replies.send(PortalSuspended())
                return
        self._replies.complete(answer.result)

    def _answer_portal(self, portal: Portal) -> KeptAnswer:
        if portal.kept is None:
            portal.kept = self._answer(portal.prepared, portal.parameters, portal.formats)
        return portal.kept

    def _close(self, message: object) -> None:
        assert isinstance(message, Close)
        if message.kind == "S":
            self._statements.forget(message.name)
        else:
            self._portals.close(message.name)
        self._replies.send(CloseComplete())
