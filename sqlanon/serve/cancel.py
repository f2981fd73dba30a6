"""Requests of a client to cancel what it asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlanon.serve.refusals import CANCELLED, ServeError

LOOK_SECONDS = 0.05
"""How often something that waits looks for a request."""


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
