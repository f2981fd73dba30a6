"""Small pieces of text: numbers, tables, safe names, commands that can be pasted."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlanon import shell
from sqlanon.cli.show.sheet import Heading, Sheet
from sqlanon.results.figures import clean, count, measure, share, things


def format_seconds(number: float) -> str:
    """``0.04 s``, ``12.3 s``."""
    return f"{number:.2f} s" if number < 10 else f"{number:.1f} s"


LONGEST_NOTE = 600
"""Characters of a note that a screen shows, at most."""


def note(text: str) -> str:
    """A note of a plan or a report, on a single line; a long list is cut, as ``--json`` prints the whole of it."""
    shown = clean(text)
    if len(shown) > LONGEST_NOTE:
        shown = f"{shown[:LONGEST_NOTE].rpartition(' ')[0]} ... ({len(shown)} characters; --json prints all)"
    return f"note: {shown}"


def make_sheet(columns: Sequence[tuple[str, str] | tuple[str, str, int]], rows: Iterable[Sequence[str]]) -> Sheet:
    """A table of plain text that fits the width; ``columns`` are those of `sqlanon.cli.show.sheet.Heading`."""
    headings = tuple(Heading(*column) for column in columns)
    return Sheet(
        tuple(replace(heading, title=clean(heading.title)) for heading in headings),
        tuple(tuple(clean(cell) for cell in row) for row in rows),
    )


def program() -> str:
    """How a shell here starts sqlanon: by name where that finds it, else through this Python."""
    if shutil.which("sqlanon"):
        return "sqlanon"
    beside = Path(sys.executable).with_name("sqlanon")
    if beside.is_file() and os.access(beside, os.X_OK):
        return shell.word(str(beside))
    return f"{shell.word(sys.executable)} -m sqlanon"


def command(name: str, *arguments: str, options: Sequence[str] = ()) -> str:
    """A command to paste; see `sqlanon.shell.command`."""
    return shell.command(name, *arguments, options=options, program=program())


def list_option(option: str, names: Iterable[str]) -> list[str]:
    """An option with a comma list, quoted as `sqlanon.cli.arguments.parse_names` reads it; nothing for no names."""
    text = shell.join_names(names)
    return [option, text] if text else []


def hide_password(url: str) -> str:
    """A database URL without the password, or the token of a server of Spark Connect."""
    url = re.sub(r"(^|[?&;]state=)(\w+://[^/?#:@]*):[^/?#]*@", r"\1\2:***@", url)
    return re.sub(r"(?i)([?&;](?:password|token)=)[^&;]*", r"\1***", url)
