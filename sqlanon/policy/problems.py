"""Collecting every problem of a policy before raising one error.

Here are the collector and the form of a place. Checks belong in `sqlanon.declared.kinds` (single values) and
`checks` (values that must fit together). No message shows a value of the policy: it may be a secret from the
environment or a cell of a table; only keys, column names and file names are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sqlanon.declared.records import Path
from sqlanon.errors import PolicyError

_MOST = 100
"""Number of problems listed by an error."""


class Origin(Protocol):
    """Where the values came from: a file with lines, or the arguments of a call."""

    def place(self, path: Path) -> tuple[int, str]:
        """An order to sort by (the line) and the words that lead the user there."""

    def display(self, path: Path, text: str) -> str:
        """The form of the file name ``text`` at ``path`` that messages may show."""


class Problems:
    """All problems found so far, each with the place.

    Args:
        origin: gives the place of a path, for messages.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._found: dict[tuple[int, str], None] = {}
        self._paths: set[Path] = set()
        self._above: set[Path] = set()
        self._muted: set[Path] = set()

    def mute(self, paths: Iterable[Path]) -> None:
        """Take no more problems of these values: they could not be read, which is a problem noted elsewhere."""
        self._muted.update(paths)

    def add(self, path: Path, what: str, allowed: str = "") -> None:
        """Note a problem at ``path`` and the values allowed there."""
        if any(path[:depth] in self._muted for depth in range(len(path) + 1)):
            return
        order, place = self._origin.place(path)
        text = f"{place}: {what}" + (f"; {allowed}" if allowed else "")
        self._paths.add(path)
        self._above.update(path[:depth] for depth in range(len(path) + 1))
        self._found.setdefault((order, text))

    def broken(self, path: Path) -> bool:
        """Whether a problem was noted at, above or below ``path``: the value then proves nothing more."""
        return path in self._above or any(path[:depth] in self._paths for depth in range(len(path)))

    def display(self, path: Path, text: str) -> str:
        """The form of the file name ``text`` at ``path`` that messages may show."""
        return self._origin.display(path, text)

    def stop(self) -> None:
        """Raise an error that holds the problems, in the order of their places; of very many the first.

        Raises:
            PolicyError: if there is any problem.
        """
        if self._found:
            texts = [text for _, text in sorted(self._found, key=lambda problem: problem[0])]
            more = len(texts) - _MOST
            raise PolicyError(texts[:_MOST] + ([f"and {more:,} more problems"] if more > 0 else []))
