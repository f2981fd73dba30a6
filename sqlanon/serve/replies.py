"""Replies to a client: columns, rows, the end of a statement, errors, and readiness for the next message."""

from __future__ import annotations

from collections.abc import Sequence

from pygwire.constants import TransactionStatus
from pygwire.messages import (
    CommandComplete,
    FieldDescription,
    NoData,
    ParameterStatus,
    PGMessage,
    ReadyForQuery,
    RowDescription,
)

from sqlanon.serve.answer_buffer import KeptAnswer, form_of
from sqlanon.serve.commands import Commands
from sqlanon.serve.refusals import explain
from sqlanon.serve.values import Column, Result
from sqlanon.serve.wire import Wire


class Replies:
    """Writes to a client.

    Args:
        wire: the connection.
        commands: the settings that clients are kept informed of, and the state of the transaction.
    """

    def __init__(self, wire: Wire, commands: Commands) -> None:
        self._wire, self._commands = wire, commands
        self._reported: dict[str, str] = {}

    def send(self, *messages: PGMessage) -> None:
        """Messages of the protocol as they are."""
        self._wire.send(*messages)

    def settings(self) -> None:
        """The settings that have changed."""
        for name, value in self._commands.variables.reported.items():
            if self._reported.get(name) != value:
                self._reported[name] = value
                self._wire.send(ParameterStatus(name=name, value=value))

    def ready(self) -> None:
        """The next statement may come."""
        self.settings()
        self._wire.send(ReadyForQuery(status=TransactionStatus(self._commands.status)))

    def columns(self, columns: Sequence[Column] | None, formats: Sequence[int]) -> None:
        """The columns of an answer; None: the statement gives no rows."""
        if columns is None:
            self._wire.send(NoData())
            return
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
        self._wire.send(RowDescription(fields=fields))

    def rows(self, portal: KeptAnswer, most: int) -> None:
        """The next rows of an answer."""
        self._wire.send_rows(portal.send(most))

    def complete(self, result: Result) -> None:
        """Send the end of a statement, after the notices."""
        for notice in result.notices:
            self._wire.note(notice)
        self._wire.send(CommandComplete(tag=result.tag))

    def report_failure(self, error: BaseException) -> None:
        """An error, by which a transaction has failed."""
        self._commands.fail()
        self._wire.fail(explain(error))

    def flush(self) -> None:
        """Send the waiting bytes."""
        self._wire.flush()
