"""Errors as PostgreSQL clients get them: a code, a message, a hint, the place in the text. Never a cell value."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.engines.base import NOT_THERE
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError
from sqlanon.query.explain import NO_ANSWER_HERE
from sqlanon.query.refusal import RefusedQueryError

SYNTAX = "42601"
NO_TABLE = "42P01"
NO_FUNCTION = "42883"
NO_STATEMENT = "26000"
NO_PORTAL = "34000"
NO_SETTING = "42704"
NOT_ALLOWED = "42501"
NOT_SUPPORTED = "0A000"
READ_ONLY = "25006"
FAILED_TRANSACTION = "25P02"
BAD_PROTOCOL = "08P01"
BAD_VALUE = "22023"
BAD_TEXT = "22P02"
BAD_LOGIN = "28P01"
NO_ANSWER = "22000"
NO_MEMORY = "53200"
TOO_MANY = "53300"
TOO_MUCH = "54000"
CANCELLED = "57014"
STOPPING = "57P01"
IDLE = "57P05"
NO_DATABASE = "58000"
DEFECT = "XX000"

_PASSING = (NOT_THERE, "has not memory enough", "has not room enough")
"""Reasons for no answer that are not of the query's values."""


class ServeError(Exception):
    """An error that goes to the client.

    Args:
        code: five characters, as PostgreSQL names kinds of errors.
        message: description of the error.
        hint: a remedy; empty: none is known.
        position: position in the client's text: a number of characters, from 1; 0: none.
    """

    def __init__(self, code: str, message: str, hint: str = "", position: int = 0) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.position = code, message, hint, position

    def at(self, position: int) -> ServeError:
        """The same error in another place."""
        return ServeError(self.code, self.message, self.hint, position)


class DisconnectedError(Exception):
    """The connection ends without another word: the client is gone, or does not read."""


@dataclass(frozen=True)
class QueryText:
    """The text that was asked, and the positions of the characters in the client's text.

    Attributes:
        text: with values in place of parameters, without columns of bounds.
        edits: the replacements: start and end in the client's text, and the new length; in their order.
    """

    text: str
    edits: tuple[tuple[int, int, int], ...] = ()

    def place(self, index: int) -> int:
        """Where a character of the asked text was in the client's."""
        moved = 0
        for start, end, length in self.edits:
            if index < start + moved:
                break
            if index < start + moved + length:
                return start
            moved += length - (end - start)
        return index - moved


def explain(error: BaseException, query: QueryText | None = None, *, cancelled: bool = False) -> ServeError:
    """The error that the client gets for an exception.

    Args:
        error: any exception; the text is shown only if sqlanon raised it on purpose, as it may have values.
        query: the question, for the position.
        cancelled: the client asked to cancel.
    """
    if isinstance(error, ServeError):
        return error
    if cancelled and isinstance(error, DatabaseError):
        return ServeError(CANCELLED, "canceling statement due to user request")
    if isinstance(error, RefusedQueryError):
        message, _, hint = error.problems[0].partition("; ")
        return ServeError(NOT_SUPPORTED, message, hint, _position(error, query))
    if isinstance(error, DatabaseError):
        message = error.problems[0] if error.problems else "the database refused the query"
        if message.startswith("query returned more than"):
            return ServeError(TOO_MUCH, message.replace("query", "the query", 1), "group by less, or add a LIMIT")
        late = "longer than" in message or "MiB of memory" in message
        if late:
            return ServeError(CANCELLED, message)
        # An error of the query's own values, such as a division by zero, comes again; another may not.
        of_values = message.startswith(NO_ANSWER_HERE) and not any(reason in message for reason in _PASSING)
        return ServeError(NO_ANSWER if of_values else NO_DATABASE, message)
    if isinstance(error, PolicyError):
        return ServeError(NO_TABLE, "; ".join(error.problems))
    if isinstance(error, SqlanonError):
        return ServeError(NOT_SUPPORTED, "; ".join(error.problems))
    return ServeError(DEFECT, f"unexpected {type(error).__name__}: a defect of sqlanon")


def _position(error: RefusedQueryError, query: QueryText | None) -> int:
    if query is None or error.place is None:
        return 0
    text, start = error.place
    begins = query.text.find(text)  # of a UNION ALL each part is asked by itself
    return query.place(begins + start) + 1 if begins >= 0 else 0
