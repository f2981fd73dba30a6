"""Shared parts of ``sqlanon erase`` and ``sqlanon dbt erase``.

They are the reader of the file of keys, and the commands that are printed to try next.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.bounded_file import read_bounded
from sqlanon.cli import compact_option
from sqlanon.cli.options import flag, open_database, option
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.spec import ReleaseSpec

Name = Annotated[str, typer.Argument(help="The release.")]
KeyFile = Annotated[Path, option("--key-file", "FILE", "A CSV file with the columns of the release's key.")]
Yes = Annotated[bool, flag("--yes", "Do it; without it the command says what it would cost.")]


def erase_keys(
    screen: Screen,
    where: str,
    release: ReleaseSpec,
    key_file: Path,
    following: Callable[[str, Sequence[str]], str],
    *,
    yes: bool,
    compact: bool = False,
) -> None:
    """Report the cost of erasing the keys of a file, or erase them.

    Args:
        screen: gets the report.
        where: URL of the database.
        release: the release of the keys.
        key_file: a CSV file with the columns of the key.
        following: a command to try next, from a name (``erase``, ``run`` or ``clean``) and options.
        yes: do it.
        compact: then have the database's files written anew.
    """
    keys = _keys(key_file)
    with open_database(where, screen) as connected:
        compact_option.check(connected, compact=compact)
        try:
            report = connected.erase(release, keys, confirmed=yes)
        except SqlanonError as error:
            if error.options:  # of a run, after which the keys can be erased
                error.following = following("run", error.options)
            raise
        outcome = compact_option.attempt(
            connected,
            [release.name],
            compact=compact,
            drops=report.done,
            again=lambda: following("clean", ["--compact"]),
        )

    def show() -> None:
        from sqlanon.cli.show.catalog import erase_report

        more = ["--compact"] if compact else []
        erase_report(screen, report, following("erase", ["--key-file", str(key_file), "--yes", *more]))

    compact_option.conclude(screen, report.to_dict(), show, outcome)


MOST_KEYS = 1_000_000
"""Keys of a file, at most: they are held in memory."""
MOST_COLUMNS = 100
"""Columns of a file of keys, at most."""


def _keys(path: Path) -> list[dict[str, object]]:
    """The rows of a file of keys.

    Raises:
        PolicyError: it cannot be read, is no regular file, too large, or no CSV file of keys.
    """
    try:
        text = read_bounded(path).decode("utf-8-sig")
    except OSError as error:
        raise PolicyError(f"cannot read {path}: {error.strerror or type(error).__name__}") from error
    except UnicodeError as error:
        raise PolicyError(f"{path}: no CSV file in UTF-8") from error
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        names = next(lines, [])
        rows = list(islice(filter(None, lines), MOST_KEYS + 1)) if len(names) <= MOST_COLUMNS else []
    except csv.Error as error:
        raise PolicyError(f"{path}: no CSV file in UTF-8") from error
    if len(names) > MOST_COLUMNS:
        raise PolicyError(f"{path}: more than {MOST_COLUMNS} columns; it wants those of the key alone")
    if len(rows) > MOST_KEYS:
        raise PolicyError(f"{path}: more than {MOST_KEYS:,} keys; erase those of one part after the other")
    if not rows:
        raise PolicyError(
            f"{path}: no keys; it wants a first line with the columns of the key, and a line for each key"
        )
    if any(len(row) != len(names) for row in rows):
        raise PolicyError(f"{path}: a line has more or fewer fields than the first one")
    if not all(map(all, rows)):
        raise PolicyError(f"{path}: a field is empty; a key is never NULL")
    return [dict(zip(names, row, strict=True)) for row in rows]
