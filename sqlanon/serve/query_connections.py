"""Connections that answer queries, each a single query at a time."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from sqlanon.engines import file_of
from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError
from sqlanon.query.ask import ask
from sqlanon.query.find import Names
from sqlanon.serve.cancel import Cancel
from sqlanon.serve.client_tables import Reader, ServedTable, read_served
from sqlanon.serve.pool import Pool, Turn
from sqlanon.serve.refusals import NO_DATABASE, NO_TABLE, NOT_ALLOWED, ServeError

if TYPE_CHECKING:
    from sqlanon.database.database import Database
    from sqlanon.query.answer import Answer

R = TypeVar("R")
log = logging.getLogger("sqlanon.serve")

LISTED_AGAIN_SECONDS = 1.0
"""How often it is read where a table is asked that it does not have."""
LISTED_SECONDS = 5.0
"""How long the list of releases holds; a query reads the release's metadata in any case."""


LOST = "the connection to the database was lost; ask again"


class LostError(DatabaseError):
    """The connection to the database was lost."""


@dataclass(eq=False)
class Handle:
    """A connection, with the meaning of names in queries over it."""

    database: Database
    names: Names = field(default_factory=Names)


@dataclass(frozen=True)
class Question:
    """A query over a release.

    Attributes:
        served: the release.
        text: the query.
        rows: most rows of the answer.
    """

    served: ServedTable
    text: str
    rows: int


class ReleaseQuestions:
    """Answers queries over the releases of a database.

    Args:
        open: opens a connection.
        url: URL of the database: if it is a file that is replaced, all connections are opened again.
        reader: the reader and his rights.
        workers: connections at most.
        seconds: the deadline of a query, the wait for a connection included.
    """

    def __init__(self, open: Callable[[], Database], url: str, reader: Reader, workers: int, seconds: float) -> None:  # noqa: A002
        self._open, self._reader = open, reader
        self.seconds = seconds
        self._file = file_of(url)
        self._handles = Pool(self._open_handle, _close, workers, (LostError,), self._read_stamps)
        self._listing = threading.Lock()
        self._listed: tuple[ServedTable, ...] = ()
        self._listed_at = -math.inf
        self._warned = ""
        self._opened = False

    def list_served(self, *, anew: bool = False) -> tuple[ServedTable, ...]:
        """The served tables, as of a few seconds ago at most; ``anew``: a second ago.

        Raises:
            SqlanonError: see `read_served`; only on the first reading.
            ServeError: the reader has other rights than when the server started, or the database cannot be asked.
        """
        with self._listing:  # with a separate connection, whatever users ask meanwhile
            if time.monotonic() - self._listed_at > (LISTED_AGAIN_SECONDS if anew else LISTED_SECONDS):
                try:
                    self._listed = self._read_served()
                except (PolicyError, DatabaseError) as error:
                    if math.isinf(self._listed_at):  # the server does not start
                        raise
                    self._warn(error)
                    raise _withheld(error) from error
                self._listed_at, self._warned = time.monotonic(), ""
            return self._listed

    def _read_served(self) -> tuple[ServedTable, ...]:
        try:
            with self._take(self._own_turn()) as handle:
                return read_served(handle.database.engine, self._reader)
        except LostError:
            with self._take(self._own_turn()) as handle:
                return read_served(handle.database.engine, self._reader)

    def _warn(self, error: SqlanonError) -> None:
        """Report an error to the operator of the server, once: the text has names that concern no client."""
        if self._warned != str(error):
            self._warned = str(error)
            log.warning("no query is answered: %s", self._warned)

    def ask(self, question: Question, turn: Turn, shape: Callable[[Answer, int], R]) -> R:
        """Answer a query over a release, and shape the answer with the version of the release.

        Args:
            question: the query.
            turn: the user who asks, and his deadline.
            shape: makes the result. Meanwhile nobody else has the connection: at most as many answers are in memory at
                once as there are connections.

        Raises:
            SqlanonError: see `sqlanon.query.ask.ask`.
        """
        self.list_served()  # a statement that was prepared long ago has the rights of now as well
        try:
            return self._ask(question, turn, shape)
        except LostError:  # such as after a restart of the database
            return self._ask(question, turn, shape)

    def _ask(self, question: Question, turn: Turn, shape: Callable[[Answer, int], R]) -> R:
        served = question.served
        with self._take(turn) as handle:
            try:
                answer = ask(
                    handle.database.engine,
                    question.text,
                    release=served.view,
                    role=self._reader.role,
                    seconds=turn.seconds,
                    names=handle.names,
                    unwanted=turn.cancel.is_wanted,
                    rows=question.rows,
                )
            except PolicyError as error:  # the text may name releases of others
                if not _answers(handle):
                    raise LostError(LOST) from error
                raise ServeError(
                    NO_TABLE,
                    f'relation "{served.name}" cannot be read any more',
                    "its release was withdrawn, or the right to read it",
                ) from error
            name = handle.names.get((served.view, "", ""))
            rows = name.released.metadata if name is not None else ()
            facts = [json.loads(str(row[5])) for row in rows if row[0] == ""]
            return shape(answer, int(facts[0].get("version", 0)) if facts else 0)

    def types(self, text: str, turn: Turn) -> tuple[str, ...]:
        """The types of a query's columns; it names no table of the database."""
        role = self._reader.role
        with self._take(turn) as handle:
            engine = handle.database.engine
            rights = engine.rights
            with rights.acting_as(role, turn.seconds) if rights and role is not None else nullcontext():
                return engine.describe(text)

    @property
    def dialect(self) -> str:
        """That of the database."""
        with self._take(self._own_turn()) as handle:
            return handle.database.engine.dialect

    def close(self) -> None:
        """Close the connections; those that work, when they have answered."""
        self._handles.close()

    def _own_turn(self) -> Turn:
        return Turn("", time.monotonic() + self.seconds, Cancel())

    @contextmanager
    def _take(self, turn: Turn) -> Iterator[Handle]:
        try:
            with self._handles.take(turn) as handle:
                try:
                    yield handle
                except SqlanonError as error:  # also a refusal: the database did not report the types of a query
                    if isinstance(error, LostError) or _answers(handle):
                        raise
                    raise LostError(LOST) from error
        except LostError:
            self._handles.drop_idle()  # the others have probably ended for the same reason
            raise

    def _open_handle(self) -> Handle:
        try:
            handle = Handle(self._open())
        except DatabaseError as error:
            if self._opened:  # where the database is concerns no client
                raise ServeError(NO_DATABASE, "the database cannot be reached", "try again later") from error
            raise
        self._opened = True
        return handle

    def _read_stamps(self) -> tuple[int, int]:
        if self._file is None:
            return 0, 0
        try:
            status = self._file.stat()
        except OSError:
            return 0, 0
        return status.st_ino, status.st_mtime_ns


def _withheld(error: SqlanonError) -> ServeError:
    if isinstance(error, PolicyError):
        return ServeError(
            NOT_ALLOWED, "this server answers no query now: its own rights have changed", "write to whoever runs it"
        )
    return ServeError(NO_DATABASE, "the database cannot be asked now", "try again later")


def _answers(handle: Handle) -> bool:
    try:
        return bool(handle.database.engine.fetch(Statement("serve/alive", "SELECT 1")))
    except DatabaseError:
        return False


def _close(handle: Handle) -> None:
    with suppress(DatabaseError):
        handle.database.close()
