"""Objects that a session keeps by name: prepared statements, and portals (statements with values and answers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlanon.serve.answer_buffer import AnswerMemory, KeptAnswer
from sqlanon.serve.queries import ParsedText
from sqlanon.serve.refusals import NO_PORTAL, NO_STATEMENT, TOO_MUCH, ServeError

STATEMENTS = 500
"""Prepared statements of a session, at most."""
CHARACTERS = 1_000_000
"""Of all prepared statements of a session."""
PORTALS = 5
"""Open portals of a session, at most."""
Parameters = Sequence[tuple[bytes | None, bool]]
"""Values as they came, each with whether it is in binary form."""


class Statements:
    """The prepared statements of a session."""

    def __init__(self) -> None:
        self._kept: dict[str, ParsedText] = {}

    def check(self, name: str, text: str) -> None:
        """Refuse a statement if the name is taken, or there is no room.

        Raises:
            ServeError: see above.
        """
        if name and name in self._kept:
            raise ServeError("42P05", f'prepared statement "{name[:63]}" already exists')
        characters = sum(len(prepared.piece.text) for prepared in self._kept.values() if prepared.piece is not None)
        if len(self._kept) >= STATEMENTS or characters + len(text) > CHARACTERS:
            raise ServeError(
                TOO_MUCH,
                f"a session has at most {STATEMENTS} prepared statements, of {CHARACTERS:,} characters",
                "close some",
            )

    def put(self, name: str, prepared: ParsedText) -> None:
        """Keep a statement, in place of any other of that name."""
        self._kept[name] = prepared

    def get(self, name: str) -> ParsedText:
        """The statement of that name.

        Raises:
            ServeError: there is none.
        """
        if name not in self._kept:
            raise ServeError(NO_STATEMENT, f'prepared statement "{name[:63]}" does not exist')
        return self._kept[name]

    def forget(self, name: str | None) -> None:
        """Drop the statement of that name, if any; None: all."""
        if name is None:
            self._kept.clear()
        else:
            self._kept.pop(name, None)


@dataclass
class Portal:
    """A statement with values, and an answer with the rows that were not sent yet.

    Attributes:
        forget: gives the room of the values back.
    """

    prepared: ParsedText
    parameters: Parameters
    formats: Sequence[int]
    forget: Callable[[], None]
    kept: KeptAnswer | None = None

    def close(self) -> None:
        """Drop the kept values and rows."""
        self.forget()
        if self.kept is not None:
            self.kept.drop()


class Portals:
    """The open portals of a session.

    Args:
        room: counts the bytes of the portals' values.
        user: the user of the session.
    """

    def __init__(self, room: AnswerMemory, user: str) -> None:
        self._room, self._user = room, user
        self._open: dict[str, Portal] = {}

    def open(self, name: str, prepared: ParsedText, parameters: Parameters, formats: Sequence[int]) -> None:
        """Open a portal, in place of any other of that name.

        Raises:
            ServeError: too many are open, or the values take too much memory.
        """
        if len(self._open) >= PORTALS and name not in self._open:
            raise ServeError(TOO_MUCH, f"a session has at most {PORTALS} open portals", "close some")
        self.close(name)
        size = sum(len(value) for value, _ in parameters if value is not None)
        self._room.take(self._user, size)
        self._open[name] = Portal(prepared, parameters, formats, partial(self._room.give, self._user, size))

    def get(self, name: str) -> Portal:
        """The portal of that name.

        Raises:
            ServeError: there is none.
        """
        if name not in self._open:
            raise ServeError(NO_PORTAL, f'portal "{name[:63]}" does not exist')
        return self._open[name]

    def close(self, name: str) -> None:
        """Close the portal of that name, if any."""
        closed = self._open.pop(name, None)
        if closed is not None:
            closed.close()

    def close_all(self) -> None:
        """Close every portal."""
        for portal in self._open.values():
            portal.close()
        self._open.clear()
