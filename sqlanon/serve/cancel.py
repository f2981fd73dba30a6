"""Requests of a client to cancel a statement."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.serve.refusals import CANCELLED, ServeError

LOOK_SECONDS = 0.05
"""How often something that waits looks for a request."""


class Cancel:
    """Requests to cancel a session's statement."""

    def __init__(self) -> None:
        self._wanted = threading.Event()

    def is_wanted(self) -> bool:
        """Whether the running statement shall end."""
        return self._wanted.is_set()

    def check(self) -> None:
        """End the running statement if it shall end."""
        if self.is_wanted():
            raise ServeError(CANCELLED, "canceling statement due to user request")

    def request(self) -> None:
        """End the running statement, if any. From another thread."""
        self._wanted.set()

    @contextmanager
    def statement(self) -> Iterator[None]:
        """A statement of the session: earlier requests do not count."""
        self._wanted.clear()
        yield
