"""Answers on their way to clients: written as they go over the wire, counted, and dropped as they are sent."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from pygwire.messages import DataRow

from sqlanon.serve.refusals import NO_MEMORY, ServeError
from sqlanon.serve.values import Result, encode

BYTES = 256 << 20
"""Most bytes of all answers that wait to be read; of a user's, half of it."""
_COUNTED = 1 << 20
"""Bytes that are counted at once."""
_ROW = 80
"""Bytes that a row takes in memory beside the text."""


class AnswerMemory:
    """Counts the bytes of answers that wait to be read, so that clients who do not read take no memory from others.

    Args:
        most: of all.
    """

    def __init__(self, most: int = BYTES) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, user: str, size: int) -> None:
        """Count bytes of a user.

        Raises:
            ServeError: there is no room for them.
        """
        with self._guard:
            if self._taken.total() + size > self._most or self._taken[user] + size > self._most // 2:
                raise ServeError(
                    NO_MEMORY, "answers that wait to be read take too much memory", "read them, or close their portals"
                )
            self._taken[user] += size

    def give(self, user: str, size: int) -> None:
        """Bytes are there no more."""
        with self._guard:
            self._taken -= Counter({user: size})

    @property
    def taken(self) -> int:
        """Bytes of all."""
        with self._guard:
            return self._taken.total()


class KeptAnswer:
    """An answer; each row is kept until it is sent.

    Args:
        result: the answer.
        formats: formats of the columns: see `form_of`.
        room: counts the bytes of the answer.
        user: the user who gets the answer.

    Attributes:
        result: the answer without rows.
    """

    def __init__(self, result: Result, formats: Sequence[int], room: AnswerMemory, user: str) -> None:
        self.result = Result(result.tag, result.columns, (), result.notices)
        self._room, self._user = room, user
        self._rows: deque[bytes] = deque()
        self._taken = 0
        columns = [(column.type, form_of(formats, i) == 1) for i, column in enumerate(result.columns or ())]
        size = 0
        try:
            for row in result.rows:
                cells = [encode(value, kind, binary) for value, (kind, binary) in zip(row, columns, strict=True)]
                self._rows.append(DataRow(columns=cells).to_wire())
                size += len(self._rows[-1]) + _ROW
                if size - self._taken > _COUNTED:
                    self._take(size)
            self._take(size)
        except BaseException:
            self.drop()
            raise

    def __len__(self) -> int:
        return len(self._rows)

    def send(self, rows: int) -> Iterator[bytes]:
        """The next rows, as messages; each is dropped as it is given out."""
        for _ in range(min(rows, len(self._rows))):
            row = self._rows.popleft()
            size = min(len(row) + _ROW, self._taken)
            self._taken -= size
            self._room.give(self._user, size)
            yield row

    def drop(self) -> None:
        """Drop the rows that were not sent."""
        self._rows.clear()
        self._room.give(self._user, self._taken)
        self._taken = 0

    def _take(self, size: int) -> None:
        self._room.take(self._user, size - self._taken)
        self._taken = size


def form_of(formats: Sequence[int], i: int) -> int:
    """The form of a value, 0 as text or 1 in binary form: the same for all, a form for each, or text."""
    if len(formats) == 1:
        return formats[0]
    return formats[i] if i < len(formats) else 0
