"""Statements that ask nothing: settings and transactions, which are kept for the session and change no data."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlanon.serve.refusals import FAILED_TRANSACTION, NOT_ALLOWED, NOT_SUPPORTED, READ_ONLY, SYNTAX, ServeError
from sqlanon.serve.texts import Piece
from sqlanon.serve.values import TEXT, Column, Result
from sqlanon.serve.variables import Variables, seconds_in

QUERIES = frozenset({"SELECT", "WITH", "(", "FROM"})
_SET = re.compile(r"SET\s+(?:SESSION\s+|LOCAL\s+)?([\w.]+|\"[\w.]+\")\s*(?:=|\bTO\b)\s*(.+)", re.IGNORECASE | re.DOTALL)
_ZONE = re.compile(r"SET\s+(?:SESSION\s+|LOCAL\s+)?TIME\s+ZONE\s+(.+)", re.IGNORECASE | re.DOTALL)
_NAMES = re.compile(r"SET\s+NAMES\s+(.+)", re.IGNORECASE)
_TRANSACTION = re.compile(r"SET\s+(?:SESSION\s+CHARACTERISTICS\s+AS\s+)?TRANSACTION\b", re.IGNORECASE)
_ROLE = re.compile(r"SET\s+(?:SESSION\s+|LOCAL\s+)?(?:ROLE|SESSION\s+AUTHORIZATION|AUTHORIZATION)\b", re.IGNORECASE)
_SHOW = {"TRANSACTION ISOLATION LEVEL": "transaction_isolation", "TIME ZONE": "TimeZone"}
_TAGS = {"ABORT": "ROLLBACK", "END": "COMMIT", "START": "BEGIN"}


class Commands:
    """Settings and transactions of a session.

    Args:
        variables: the session's settings.
        forget: drops prepared statements and portals: those of a name, or all.
    """

    def __init__(self, variables: Variables, forget: Callable[[str | None], None]) -> None:
        self.variables = variables
        self._forget = forget
        self.status = "I"
        """I: outside of a transaction, T: within a transaction, E: within a failed transaction."""

    def check(self, piece: Piece) -> None:
        """Refuse all but the end of a transaction that has failed."""
        if self.status == "E" and piece.words[0] not in ("ROLLBACK", "COMMIT", "END", "ABORT"):
            raise ServeError(
                FAILED_TRANSACTION, "current transaction is aborted, commands ignored until end of transaction block"
            )

    def fail(self) -> None:
        """A statement of the transaction has failed."""
        self.status = "E" if self.status != "I" else "I"

    def columns(self, piece: Piece) -> tuple[Column, ...] | None:
        """The columns that a statement gives; None: it gives no rows."""
        return self.run(piece).columns if piece.words[0] == "SHOW" else None

    def run(self, piece: Piece) -> Result:
        """Carry out a statement.

        Raises:
            ServeError: the statement is none of these, or asks for an unsupported effect.
        """
        word = piece.words[0]
        if word in ("BEGIN", "START"):
            _check_mode(piece.text)
            self.status = "T" if self.status == "I" else self.status
            return Result("BEGIN" if word == "BEGIN" else "START TRANSACTION")
        if word in ("COMMIT", "END", "ROLLBACK", "ABORT") and "TO" not in piece.words:
            tag = _TAGS.get(word, word)
            ended = "ROLLBACK" if self.status == "E" else tag
            self.status = "I"
            return Result(ended)
        if word in ("SAVEPOINT", "RELEASE", "ROLLBACK"):
            self.status = "T" if self.status != "I" else "I"
            return Result(word)
        if word == "SET":
            self._set(piece.text)
            return Result("SET")
        if word == "RESET":
            name = piece.text.split(None, 1)[-1].strip()
            if name.upper() == "ALL":
                self.variables.reset()
            else:
                self.variables.set(name, None)
            return Result("RESET")
        if word == "SHOW":
            return self._show(piece.text.split(None, 1)[-1].strip())
        if word == "DISCARD":
            self._forget(None)
            self.variables.reset()
            return Result("DISCARD ALL")
        if word == "DEALLOCATE":
            name = piece.text.split()[-1].strip('"')
            self._forget(None if name.upper() == "ALL" else name)
            return Result("DEALLOCATE")
        if word in ("UNLISTEN", "CLOSE"):
            return Result(word)
        raise _refuse(word)

    def _set(self, text: str) -> None:
        if _TRANSACTION.match(text):
            _check_mode(text)
            return
        if _ROLE.match(text):
            raise ServeError(NOT_ALLOWED, "a session keeps the role that it asks as")
        if (match := _ZONE.fullmatch(text)) is not None:
            self.variables.set("TimeZone", _value(match[1]) or "UTC")
        elif (match := _NAMES.fullmatch(text)) is not None:
            self.variables.set("client_encoding", _value(match[1]) or "UTF8")
        elif (match := _SET.fullmatch(text)) is not None:
            self.variables.set(match[1].strip('"'), _value(match[2]))
        else:
            raise ServeError(SYNTAX, "SET name = value is wanted")

    def _show(self, name: str) -> Result:
        if name.upper() == "ALL":
            rows = [[key, value, ""] for key, value in sorted(self.variables.values.items())]
            return Result("SHOW", tuple(Column(heading, TEXT) for heading in ("name", "setting", "description")), rows)
        variable, value = self.variables.show(_SHOW.get(" ".join(name.upper().split()), name.strip('"')))
        return Result("SHOW", (Column(variable, TEXT),), [[value]])


def seconds_of(variables: Variables, most: float) -> float:
    """The deadline of a statement: the server's, or the session's ``statement_timeout`` where that is earlier."""
    seconds = seconds_in(variables.values["statement_timeout"])
    return min(seconds, most) if seconds else most


def _check_mode(text: str) -> None:
    if re.search(r"\bREAD\s+WRITE\b", text, re.IGNORECASE):
        raise ServeError(READ_ONLY, "transactions of this server are read-only")


def _value(text: str) -> str | None:
    plain = text.strip()
    if plain.upper() == "DEFAULT":
        return None
    if len(plain) > 1 and plain[0] == plain[-1] == "'":
        return plain[1:-1].replace("''", "'")
    return plain.strip('"')


def _refuse(word: str) -> ServeError:
    if word in ("DECLARE", "FETCH", "MOVE", "PREPARE", "EXECUTE", "EXPLAIN", "VALUES", "TABLE", "COPY", "LISTEN"):
        return ServeError(NOT_SUPPORTED, f"{word} is not answered; this server answers SELECT, one statement at a time")
    return ServeError(READ_ONLY, f"cannot execute {word[:30]}: this server is read-only and answers SELECT only")
