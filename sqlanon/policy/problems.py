"""Collecting every problem of a policy before raising one error.

Here live the collector, the way to say where a problem is, and the small wording helpers. What is checked belongs
in `fields` (one value) and `checks` (values that must fit together). No text made here shows a value of the policy:
a value may be a secret from the environment or a cell of a table; only keys, column names and file names are shown.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Protocol

from sqlanon.errors import PolicyError

Path = tuple[str | int, ...]
"""The place of a value in a policy, such as ``("releases", 0, "columns", "age", "weight")``."""

_LONGEST = 80
_MOST = 100
"""One error lists so many problems."""
_SIMPLE = re.compile(r"[\w-]+")


class Origin(Protocol):
    """Where the values came from: a file with lines, or the arguments of a call."""

    def place(self, path: Path) -> tuple[int, str]:
        """An order to sort by (the line) and the words that lead the user there."""

    def shown(self, path: Path, text: str) -> str:
        """What a message may show of the file name ``text`` at ``path``."""


def escape(text: str) -> str:
    """The text on one line: what cannot be printed becomes an escape of a double-quoted YAML scalar."""
    return "".join(c if c.isprintable() and c not in '"\\' else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return "\\" + character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def show(name: str) -> str:
    r"""A key or column name for a message: as it is when simple, else quoted, escaped and cut.

    Example:
        >>> print(show("age"), show('say "hi"'))
        age "say \"hi\""
    """
    if len(name) > _LONGEST:
        name = name[: _LONGEST - 1] + "…"
    return name if _SIMPLE.fullmatch(name) else f'"{escape(name)}"'


def near(word: object, choices: Iterable[str]) -> str:
    """``" (did you mean x?)"`` when a choice is near the word, else nothing; the word itself is not repeated."""
    if not isinstance(word, str):
        return ""
    by_case = {choice.casefold(): choice for choice in choices}
    found = difflib.get_close_matches(word.casefold()[:_LONGEST], by_case, n=1, cutoff=0.6)
    return f" (did you mean {show(by_case[found[0]])}?)" if found else ""


def listed(words: Iterable[str]) -> str:
    """Words for a sentence: ``a, b, c``."""
    return ", ".join(words)


class Problems:
    """All problems found so far, each with its place.

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
        """Take no more problems of these values: they could not be read, which is a problem of its own."""
        self._muted.update(paths)

    def add(self, path: Path, what: str, allowed: str = "") -> None:
        """Note one problem: what is wrong at ``path`` and what is allowed there."""
        if any(path[:depth] in self._muted for depth in range(len(path) + 1)):
            return
        order, place = self._origin.place(path)
        text = f"{place}: {what}" + (f"; {allowed}" if allowed else "")
        self._paths.add(path)
        self._above.update(path[:depth] for depth in range(len(path) + 1))
        self._found.setdefault((order, text))

    def broken(self, path: Path) -> bool:
        """Whether a problem was noted at, above or below ``path``: its value then proves nothing more."""
        return path in self._above or any(path[:depth] in self._paths for depth in range(len(path)))

    def shown(self, path: Path, text: str) -> str:
        """What a message may show of the file name ``text`` at ``path``."""
        return self._origin.shown(path, text)

    def stop(self) -> None:
        """Raise one error that holds the problems, in the order of their places; of very many the first.

        Raises:
            PolicyError: if there is any problem.
        """
        if self._found:
            texts = [text for _, text in sorted(self._found, key=lambda found: found[0])]
            more = len(texts) - _MOST
            raise PolicyError(texts[:_MOST] + ([f"and {more:,} more problems"] if more > 0 else []))
