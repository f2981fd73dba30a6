"""What ``sqlanon erase`` and ``sqlanon dbt erase`` share: the file of keys, and the commands that are printed to try next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli import compacting
from sqlanon.cli.options import database
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.spec import ReleaseSpec

Name = Annotated[str, typer.Argument(help="The release.")]
KeyFile = Annotated[
    Path,
    typer.Option(
        "--key-file",
        metavar="FILE",
        show_default=False,
        help="A CSV file with the columns of the release's key.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without it the command says what it would cost.")]


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
    """Report what erasing the keys of a file costs, or do it.

    Args:
        screen: gets the report.
        where: URL of the database.
        release: whose keys they are.
        key_file: a CSV file with the columns of the key.
        following: a command to try next, from its name (``erase``, ``run`` or ``clean``) and its own options.
        yes: do it.
        compact: then have the database's files written anew.
    """
    keys = _keys(key_file)
    with database(where, screen) as connected:
        compacting.check(connected, compact=compact)
        try:
            report = connected.erase(release, keys, confirmed=yes)
        except SqlanonError as error:
            if error.options:  # of a run, after which the keys can be erased
                error.following = following("run", error.options)
            raise
        outcome = compacting.attempt(
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

    compacting.conclude(screen, report.to_dict(), show, outcome)


def _keys(path: Path) -> list[dict[str, object]]:
    """The rows of a file of keys."""
    import csv

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise PolicyError(f"cannot read {path}: {error.strerror or type(error).__name__}") from error
    except (UnicodeError, csv.Error) as error:
        raise PolicyError(f"{path}: no CSV file in UTF-8") from error
    if not rows:
        raise PolicyError(
            f"{path}: no keys; it wants a first line with the columns of the key, and a line for each key"
        )
    if any(None in row or None in row.values() for row in rows):
        raise PolicyError(f"{path}: a line has more or fewer fields than the first one")
    if any(not value for row in rows for value in row.values()):
        raise PolicyError(f"{path}: a field is empty; a key is never NULL")
    return [dict(row) for row in rows]
