"""Words for messages: names for display, near spellings of a word, lists. No text made here shows a value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

_LONGEST = 80
_SIMPLE = re.compile(r"[\w-]+")


def escape(text: str) -> str:
    """The text on one line: unprintable characters become escapes of a double-quoted YAML scalar."""
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
    matches = difflib.get_close_matches(word.casefold()[:_LONGEST], by_case, n=1, cutoff=0.6)
    return f" (did you mean {show(by_case[matches[0]])}?)" if matches else ""


def join_words(words: Iterable[str]) -> str:
    """Words for a sentence: ``a, b, c``."""
    return ", ".join(words)


def wrong_kind(value: object, otherwise: str) -> str:
    """The description of a value that has the wrong shape, without showing it."""
    if value is None:
        return "is empty"
    if isinstance(value, Mapping):
        return "a mapping is not allowed"
    return "a list is not allowed" if isinstance(value, list | tuple) else otherwise
