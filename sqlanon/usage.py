"""Usage of engines: statements and bytes, between two moments, and by the parts of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Self


@dataclass(frozen=True, slots=True)
class Usage:
    """Statements and bytes of an engine.

    Attributes:
        statements: texts of SQL that were sent, each of one statement or of several.
        read: bytes that statements read from tables and files; None: the engine does not say.
        written: bytes that statements wrote into tables and files; None: the engine does not say.
        shuffled: bytes that tasks wrote for other tasks; None: the engine has no such tasks, or does not say.
    """

    statements: int = 0
    read: int | None = 0
    written: int | None = 0
    shuffled: int | None = None

    def __add__(self, other: Usage) -> Self:
        """The sum; bytes that one of both does not say are not in it.

        Shuffled bytes are those of the engine that has such tasks.
        """
        shuffled = [part.shuffled for part in (self, other) if part.shuffled is not None]
        return type(self)(
            self.statements + other.statements,
            None if self.read is None or other.read is None else self.read + other.read,
            None if self.written is None or other.written is None else self.written + other.written,
            sum(shuffled) if shuffled else None,
        )

    def since(self, before: Usage) -> Self:
        """The difference to an earlier reading of the same counters."""
        return type(self)(
            self.statements - before.statements,
            None if self.read is None or before.read is None else self.read - before.read,
            None if self.written is None or before.written is None else self.written - before.written,
            None if self.shuffled is None else self.shuffled - (before.shuffled or 0),
        )


Counters = Callable[[], Usage]
"""The sums of an engine since it was opened; bytes may be counted from the first reading on."""


class Part(NamedTuple):
    """A stage of a release; the empty names: outside of all stages."""

    release: str
    stage: str


OUTSIDE = Part("", "")
"""The part for statements between stages: locks, and the beginning and the end of transactions."""


class Meter:
    """Charges the statements and bytes of a run to the parts, each to the innermost part that is open."""

    def __init__(self, *counters: Counters) -> None:
        """Begin.

        Args:
            counters: of the engines that work from the beginning on.
        """
        self._counters: list[tuple[Counters, Usage]] = []
        self._open = [OUTSIDE]
        self._parts: dict[Part, Usage] = {}
        for read in counters:
            self.count(read)

    def count(self, counters: Counters) -> None:
        """From now on count the statements of one more engine; a second time nothing changes."""
        if not any(earlier == counters for earlier, _ in self._counters):
            self._counters.append((counters, counters()))

    @contextmanager
    def measure(self, part: Part) -> Iterator[None]:
        """Context manager: statements inside are charged to a part."""
        self._charge()
        self._open.append(part)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def _charge(self) -> None:
        readings = [(counters, counters(), before) for counters, before in self._counters]
        self._counters = [(counters, now) for counters, now, _ in readings]
        for _, now, before in readings:
            part = self._open[-1]
            usage = now.since(before)
            self._parts[part] = self._parts[part] + usage if part in self._parts else usage

    def parts(self) -> dict[Part, Usage]:
        """The usage of each part so far."""
        self._charge()
        return dict(self._parts)
