"""Connections that have not logged in: so many at most, so that those who say nothing keep nobody out."""

from __future__ import annotations

import threading
from collections import Counter

from sqlanon.serve.wire import Wire

MOST = 50
"""Connections at once that have not logged in, beside those that have."""


class Lobby:
    """The connections of clients that have not logged in yet.

    Args:
        most: most connections at once.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._waiting: dict[Wire, str] = {}
        """With their addresses, the oldest first."""

    def enter(self, wire: Wire, address: str) -> tuple[Wire, str] | None:
        """Let a connection in.

        Returns:
            The connection to close in exchange, and its address: the oldest of the address with the most connections.
        """
        with self._guard:
            self._waiting[wire] = address
            if len(self._waiting) <= self._most:
                return None
            ((crowded, _),) = Counter(self._waiting.values()).most_common(1)
            oldest = next(connection for connection, where in self._waiting.items() if where == crowded)
            del self._waiting[oldest]
            return oldest, crowded

    def leave(self, wire: Wire) -> None:
        """The connection has logged in, or has ended."""
        with self._guard:
            self._waiting.pop(wire, None)
