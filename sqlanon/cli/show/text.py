"""Small pieces of text: numbers, tables, safe names, commands that can be pasted."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlanon.cli.show.sheet import Heading, Sheet


def count(number: int) -> str:
    """``1,200``."""
    return f"{number:,}"


def measure(number: float) -> str:
    """A requirement's or a risk's value: ``10``, ``3.25``, ``1.2e+09``."""
    if number == int(number) and abs(number) < 1e15:
        return count(int(number))
    return f"{number:,.4g}"


def share(part: float, whole: float) -> str:
    """``12.5 %``, and never 0 or 100 unless exactly so."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "< 0.01 %"
    if 99.99 < percent < 100:
        return "> 99.99 %"
    return f"{percent:.4g} %"


def seconds(number: float) -> str:
    """``0.04 s``, ``12.3 s``."""
    return f"{number:.2f} s" if number < 10 else f"{number:.1f} s"


def safe(text: object) -> str:
    """A name or a released value with anything a terminal would obey replaced."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in str(text))


def table(columns: Sequence[tuple[str, str] | tuple[str, str, int]], rows: Iterable[Sequence[str]]) -> Sheet:
    """A table of plain text that fits the width; ``columns`` are those of `sqlanon.cli.show.sheet.Heading`."""
    headings = tuple(Heading(*column) for column in columns)
    return Sheet(
        tuple(replace(heading, title=safe(heading.title)) for heading in headings),
        tuple(tuple(safe(cell) for cell in row) for row in rows),
    )


def program() -> str:
    """How a shell here starts sqlanon: by name where that finds it, else through this Python."""
    if shutil.which("sqlanon"):
        return "sqlanon"
    beside = Path(sys.executable).with_name("sqlanon")
    if beside.is_file() and os.access(beside, os.X_OK):
        return shlex.quote(str(beside))
    return f"{shlex.quote(sys.executable)} -m sqlanon"


def command(*words: str) -> str:
    """A command to paste, quoted for a shell."""
    return f"{program()} {shlex.join(words)}"


def listed(option: str, names: Iterable[str]) -> list[str]:
    """An option with its comma list, quoted as `sqlanon.cli.arguments.names` reads it; nothing for no names."""
    text = ",".join(
        f'"{name.replace(chr(34), chr(34) * 2)}"' if _ODD.search(name) else name for name in names
    )
    return [option, text] if text else []


_ODD = re.compile(r'[",]|^\s|\s$')


def shown_url(url: str) -> str:
    """A database URL without its password."""
    url = re.sub(r"^(\w+://[^/?#:@]*):[^/?#]*@", r"\1:***@", url)
    return re.sub(r"(?i)([?&]password=)[^&]*", r"\1***", url)
