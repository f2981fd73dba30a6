"""Connections that answer: as many as work at once, each for one query at a time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlanon.engines import file_of
from sqlanon.engines.base import Statement
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.query.ask import ask
from sqlanon.serve.refusals import CANCELLED, NO_DATABASE, NO_TABLE, ServeError
from sqlanon.serve.released import Reader, Served, read_served

if TYPE_CHECKING:
    from sqlanon.database.database import Database
    from sqlanon.query.answer import Answer
    from sqlanon.query.find import Names

LISTED_AGAIN_SECONDS = 1.0
"""How often it is read where a table is asked that it does not have."""
LISTED_SECONDS = 5.0
"""How long the list of releases holds; a query reads the metadata of its release in any case."""


LOST = "the connection to the database was lost; ask again"


class LostError(DatabaseError):
    """The connection to the database was lost."""


class Cancel:
    """Requests to cancel what one session asks."""

    def __init__(self) -> None:
        self._wanted = threading.Event()

    def wanted(self) -> bool:
        """Whether the running statement shall end."""
        return self._wanted.is_set()

    def check(self) -> None:
        """End the running statement if it shall end."""
        if self.wanted():
            raise ServeError(CANCELLED, "canceling statement due to user request")

    def request(self) -> None:
        """End the statement that runs, if one does. From another thread."""
        self._wanted.set()

    @contextmanager
    def statement(self) -> Iterator[None]:
        """One statement of the session: requests of before it do not count."""
        self._wanted.clear()
        yield


@dataclass(eq=False)
class Handle:
    """A connection, and what the names of queries over it meant."""

    database: Database
    names: Names = field(default_factory=dict)


class Asking:
    """Answers queries over the releases of one database.

    Args:
        open: opens a connection.
        url: of the database: where it is a file that is put in place anew, all connections are opened again.
        reader: whose rights count.
        workers: connections at most.
        seconds: the deadline of a query, the wait for a connection included.
    """

    def __init__(self, open: Callable[[], Database], url: str, reader: Reader, workers: int, seconds: float) -> None:  # noqa: A002
        self._open, self._reader, self._most = open, reader, workers
        self.seconds = seconds
        self._file = file_of(url)
        self._change = threading.Condition()
        self._idle: list[Handle] = []
        self._busy = 0
        self._stamp = self._stamped()
        self._listed: tuple[Served, ...] = ()
        self._listed_at = -LISTED_SECONDS
        self._closed = False
        self._opened = False

    def served(self, *, anew: bool = False) -> tuple[Served, ...]:
        """The tables that there are, as they were some seconds ago at most; ``anew``: one second ago.

        Raises:
            SqlanonError: see `read_served`.
        """
        if time.monotonic() - self._listed_at > (LISTED_AGAIN_SECONDS if anew else LISTED_SECONDS):
            with self._taken(self.seconds) as handle:
                self._listed = read_served(handle.database.engine, self._reader)
            self._listed_at = time.monotonic()
        return self._listed

    def ask(self, served: Served, text: str, seconds: float, cancel: Cancel) -> tuple[Answer, int]:
        """The answer to a query over a release, and the version that it is of.

        Raises:
            SqlanonError: see `sqlanon.query.ask.ask`.
        """
        deadline = time.monotonic() + seconds
        self.served()  # a statement that was prepared long ago has the rights of now as well
        try:
            return self._ask(served, text, deadline, cancel)
        except LostError:  # such as after a restart of the database
            return self._ask(served, text, deadline, cancel)

    def _ask(self, served: Served, text: str, deadline: float, cancel: Cancel) -> tuple[Answer, int]:
        with self._taken(max(deadline - time.monotonic(), 0.0)) as handle:
            try:
                answer = ask(
                    handle.database.engine,
                    text,
                    release=served.view,
                    role=self._reader.role,
                    seconds=max(deadline - time.monotonic(), 0.001),
                    known=handle.names,
                    unwanted=cancel.wanted,
                )
            except PolicyError as error:  # its text may name releases of others
                if not _answers(handle):
                    raise LostError(LOST) from error
                raise ServeError(
                    NO_TABLE,
                    f'relation "{served.name}" cannot be read any more',
                    "its release was withdrawn, or the right to read it",
                ) from error
            found = handle.names.get((served.view, "", ""))
            rows = found.released.metadata if found is not None else ()
            facts = [json.loads(str(row[5])) for row in rows if row[0] == ""]
            return answer, int(facts[0].get("version", 0)) if facts else 0

    def types(self, text: str) -> tuple[str, ...]:
        """The types of a query's columns; it names no table of the database."""
        role = self._reader.role
        with self._taken(self.seconds) as handle:
            engine = handle.database.engine
            rights = engine.rights
            with rights.acting_as(role, self.seconds) if rights and role is not None else nullcontext():
                return engine.describe(text)

    @property
    def dialect(self) -> str:
        """That of the database."""
        with self._taken(self.seconds) as handle:
            return handle.database.engine.dialect

    def close(self) -> None:
        """Cancel what runs, and close the connections."""
        with self._change:
            self._closed = True
        self._drop_idle()

    @contextmanager
    def _taken(self, seconds: float) -> Iterator[Handle]:
        handle = self._take(time.monotonic() + seconds)
        broken = True
        try:
            yield handle
            broken = False
        except DatabaseError as error:
            broken = not _answers(handle)
            if broken:
                self._drop_idle()
                raise LostError(LOST) from error
            raise
        except Exception:
            broken = False
            raise
        finally:
            with self._change:
                self._busy -= 1
                if broken or self._closed:
                    _close(handle)
                else:
                    self._idle.append(handle)
                self._change.notify_all()

    def _drop_idle(self) -> None:
        """Close the other connections: what one was lost by has probably ended them too."""
        with self._change:
            idle, self._idle = self._idle, []
        for handle in idle:
            _close(handle)

    def _take(self, deadline: float) -> Handle:
        with self._change:
            while True:
                if self._closed:
                    raise DatabaseError("the server is stopping")
                if self._stamp != self._stamped():  # another file: none may keep the old one open
                    while self._idle:
                        _close(self._idle.pop())
                    if not self._busy:
                        self._stamp = self._stamped()
                        continue
                elif self._idle:
                    self._busy += 1
                    return self._idle.pop()
                elif self._busy < self._most:
                    self._busy += 1
                    break
                left = deadline - time.monotonic()
                if left <= 0 or not self._change.wait(left):
                    raise DatabaseError("the query waited longer than its time for a connection; ask again")
        try:
            made = Handle(self._open())
        except BaseException as error:
            with self._change:
                self._busy -= 1
                self._change.notify_all()
            if self._opened and isinstance(error, DatabaseError):  # where the database is concerns no client
                raise ServeError(NO_DATABASE, "the database cannot be reached", "try again later") from error
            raise
        self._opened = True
        return made

    def _stamped(self) -> tuple[int, int]:
        if self._file is None:
            return 0, 0
        try:
            found = self._file.stat()
        except OSError:
            return 0, 0
        return found.st_ino, found.st_mtime_ns


def _answers(handle: Handle) -> bool:
    try:
        return bool(handle.database.engine.fetch(Statement("serve/alive", "SELECT 1")))
    except DatabaseError:
        return False


def _close(handle: Handle) -> None:
    with suppress(DatabaseError):
        handle.database.close()
