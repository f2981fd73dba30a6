"""The first line of a CSV file: whether it names the columns, or is a title, a row, or the one column of whole lines.

Messages have numbers of lines and the names of columns, never a value.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sqlanon.engines.duckdb.csv_records import DELIMITERS, records_of
from sqlanon.errors import PolicyError
from sqlanon.shell import word

_NUMBER = re.compile(r"\s*[+-]?(\d[\d,._' ]*|[.,]\d+)([eE][+-]?\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d.*)?\s*")
_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
MISSING = [
    "na",
    "n/a",
    "n.a.",
    "#n/a",
    "nan",
    "null",
    "none",
    "nil",
    "missing",
    "unknown",
    "-",
    "--",
    "---",
    "?",
    ".",
    "..",
    "*",
    "nd",
    "n.d.",
    "not_available",
    "inf",
    "-inf",
    "\\n",
]
"""Texts that people write for a missing value, in lower case."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first records of a file.

    Attributes:
        names: the fields of the first line.
        delimiter: the character between fields.
        records: the records below it, at most `_HEAD`, as far as they can be read.
    """

    names: list[str]
    delimiter: str
    records: list[list[str]]


def check_header(path: Path, head: Head, lines: list[str], *, explicit: bool) -> None:
    """The first line names the columns.

    Args:
        path: the file, for messages.
        head: the first records of the file.
        lines: the first lines of the file.
        explicit: the delimiter was given.

    Raises:
        PolicyError: it does not.
    """
    _check_title(path, head)
    if not explicit and len(head.names) == 1:
        _check_whole_lines(path, lines)
    _check_names(path, head)
    _check_values(path, head)
    _check_second(path, head)


def is_missing(text: str) -> bool:
    """Whether it is a text that people write for a missing value."""
    return text.strip().casefold() in MISSING


def tail(path: Path, line: int) -> str:
    """The command that leaves out the lines above a line."""
    return f", such as: {_find_command(path)} | tail -n +{line} > new.csv"


def _find_command(path: Path) -> str:
    """The command that writes a file's text."""
    reader = "gzip -dc" if path.suffix.lower() == ".gz" else "cat"
    return f"{reader} {word(f'./{path.name}' if path.name.startswith('-') else path.name)}"


def _check_title(path: Path, head: Head) -> None:
    """The first line has as many fields as the lines below, or more, which is found when they are read."""
    widths = Counter(len(record) for record in head.records if record)
    if not widths:
        return
    width, fields = widths.most_common(1)[0][0], len(head.names)
    if fields >= width:
        return
    at_line = next((i for i, record in enumerate(head.records) if len(record) == width), 0) + 2
    raise PolicyError(
        f"{path}: the first line has {fields} field{'s' if fields > 1 else ''} and the lines below {width}: the first "
        f"line must name every column. If it is a title, remove what is above the names{tail(path, at_line)}; if a "
        "column has no name, give it one"
    )


def _check_whole_lines(path: Path, lines: list[str]) -> None:
    """No other character divides the lines."""
    texts = [line.strip("\r\n") for line in lines if line.strip()]
    if len(texts) < 2:
        return
    inside = [record[0] for record in records_of(lines, DELIMITERS[0]) if len(record) == 1]
    for char in DELIMITERS if len(inside) == len(texts) else "":
        if inside[0].count(char) and len({text.count(char) for text in inside}) == 1:
            raise PolicyError(
                f"{path} would be one column of whole lines: each line is in quotes, with its fields; remove these "
                f"""quotes: {_find_command(path)} | sed 's/^"//; s/"\\r*$//; s/""/"/g' > new.csv, or if there is one """
                "column, add --delimiter ,"
            )
    for char in sorted(set(texts[0]) - set(DELIMITERS) - {'"', "_", "-", "."}):
        if char.isalnum() or (char == " " and any("  " in text for text in texts)):
            continue
        if texts[0].count(char) and len({text.count(char) for text in texts}) == 1:
            shown = f"'{char}'" if char.isprintable() and char != "'" else word(char)
            option = f"--delimiter {shown}"
            raise PolicyError(
                f"{path} would be one column of whole lines: none of , ; | and tab divides them, and every line has "
                f"the same number of another character; if it divides fields, add {option}, and if there is one "
                "column, --delimiter ,"
            )
    blanks = {len(text.split()) for text in texts}
    if len(blanks) == 1 and blanks != {1}:
        raise PolicyError(
            f"{path} would be one column of whole lines: its fields seem to be divided by several blanks, which is no "
            f"CSV; convert it: tr -s ' ' ',' < {word(path.name)} > new.csv, or if there is one column, add --delimiter "
            ","
        )


def _check_names(path: Path, head: Head) -> None:
    empty = [str(index) for index, name in enumerate(head.names, 1) if not name.strip()]
    if empty:
        raise PolicyError(
            f"{path}: the first line has no name for column {', '.join(empty[:9])}; it must name every column: name "
            "it, remove a title above the names or a delimiter at the end of the lines (pandas writes its index with "
            "no name: to_csv(index=False))"
        )
    folded = [name.casefold() for name in head.names]
    twice = sorted({name for name in head.names if folded.count(name.casefold()) > 1})
    if twice:
        raise PolicyError(f"{path}: the header names {len(twice)} column(s) twice: {', '.join(twice)}; rename them")
    data = [
        str(index)
        for index, name in enumerate(head.names, 1)
        if any(form.fullmatch(name) for form in (_NUMBER, _DATE, _MAIL))
    ]
    if data:
        # Its fields would become column names, which messages show.
        raise PolicyError(
            f"{path}: the first line looks like data (field {', '.join(data[:9])} is a number, a date or an address); "
            "put a line with the columns' names before it, or rename those columns"
        )


def _check_values(path: Path, head: Head) -> None:
    """The first line is no row: few of the fields are also values of their columns."""
    width = len(head.names)
    rows = [record for record in head.records if len(record) == width]
    again = sum(any(record[index] == name for record in rows) for index, name in enumerate(head.names))
    if again * 2 >= width and again >= min(2, width - 1) and again:
        raise PolicyError(
            f"{path}: the first line looks like data, or is repeated below: {again} of {width} of its fields are also "
            "values of their columns; put a line with the columns' names before it, or remove the other one"
        )


def _check_second(path: Path, head: Head) -> None:
    """The second line is like those below it, and not the names under a title."""
    if len(head.records) < 3:
        return
    second, below = (
        head.records[0],
        [record for record in head.records[1:] if len(record) == len(head.names)],
    )
    if len(second) != len(head.names) or not below:
        return
    words = []
    for index, cell in enumerate(second):
        rest = [record[index] for record in below if record[index].strip() and not is_missing(record[index])]
        if not rest or not all(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) for cell in rest):
            continue
        if _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell):
            return
        if re.search(r"[^\W\d_]", cell) and not is_missing(cell):
            words.append(head.names[index])
    if words:
        raise PolicyError(
            f"{path}: the second line is not like those below it ({len(words)} "
            f"column{'s have' if len(words) > 1 else ' has'} numbers or dates from the third line on, and words in the "
            "second): the first line must name the columns and the second be a row; remove a title above the names, "
            "or units below them"
        )
