"""Commands that messages print, quoted so that a person can paste them into a shell, whatever the names in them are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

_LISTED = re.compile(r'[",]|^\s|\s$')
_PAIRED = re.compile(r'=|^"|^\s|\s$')
"""Names that `sqlanon.cli.arguments` reads in double quotes only."""
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "'": "\\'"}


def word(text: str) -> str:
    r"""One word of a command, on one line.

    A word with characters that cannot be printed is written as ``$'..'``, which bash, zsh and ksh read: in other quotes
    a line break would be a line break of the message.

    Example:
        >>> print(word("patients"), word("it's"), word("two\nlines"))
        patients 'it'"'"'s' $'two\nlines'
    """
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(_ESCAPES.get(char) or (char if char.isprintable() else _bytes(char)) for char in text)}'"


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def command(name: str, *arguments: str, options: Sequence[str] = (), program: str = "sqlanon") -> str:
    """A command of sqlanon to paste.

    Args:
        name: the command, such as ``run``.
        arguments: names and files; one that begins with ``-`` comes after ``--``, so that it is not read as an option.
        options: options and their values.
        program: how the shell starts sqlanon, quoted already.

    Example:
        >>> print(command("unpublish", "my patients"))
        sqlanon unpublish 'my patients'
        >>> print(command("audit", "-t", options=["--sensitive", "diagnosis"]))
        sqlanon audit --sensitive diagnosis -- -t
    """
    words = [*arguments, *options]
    if any(argument.startswith("-") for argument in arguments):
        words = [*options, "--", *arguments]
    return " ".join([program, *map(word, (*name.split(), *words))])


def option(name: str, value: str) -> str:
    """An option with its value."""
    return f"--{name}{'=' if value.startswith('-') else ' '}{word(value)}"


def join_names(names: Iterable[str]) -> str:
    """Names as an option takes a comma list; see `sqlanon.cli.arguments.parse_names`."""
    return ",".join(_name(name, _LISTED) for name in names)


def pair(column: str, value: str) -> str:
    """A column with its value as an option takes it: ``COLUMN=VALUE``."""
    return f"{_name(column, _PAIRED)}={value}"


def _name(name: str, odd: re.Pattern[str]) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if odd.search(name) else name
