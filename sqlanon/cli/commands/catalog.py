"""``sqlanon releases``, ``diff``, ``rollback``, ``unpublish`` and ``clean``: what the catalog of a database knows and leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.options import AllowWeaker, Db, PolicyFile, database, found, load, next_command, pick, url
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

Version = Annotated[str, typer.Argument(metavar="NAME@VERSION")]


def releases(
    screen: Screen,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME] | show NAME@VERSION",
            show_default=False,
            help="Only this release, or all of one version.",
        ),
    ] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """List every version of every release, or show one in full."""
    words = words or []
    if len(words) == 2 and words[0] == "show":
        return _show(screen, words[1], db, policy)
    if len(words) > 1:
        raise PolicyError("releases wants nothing, a NAME, or: show NAME@VERSION")
    name = words[0] if words else None
    with database(url(db, found(db, policy)), screen, read_only=True) as connected:
        rows = connected.releases(name)
    screen.emit({"releases": [row.to_dict() for row in rows]})
    if not screen.silent:
        from sqlanon.cli.show.catalog import release_rows

        release_rows(screen, rows)
    return None


def _show(screen: Screen, name: str, db: str | None, policy: Path | None) -> int | None:
    with database(url(db, found(db, policy)), screen, read_only=True) as connected:
        report = connected.version(name)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.catalog import version_report

        version_report(screen, report)
    return None


def diff(
    screen: Screen, first: Version, second: Version, db: Db = None, policy: PolicyFile = None
) -> int | None:
    """Compare two versions: rows, loss, requirements, policy."""
    with database(url(db, found(db, policy)), screen, read_only=True) as connected:
        report = connected.diff(first, second)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.catalog import diff_report

        diff_report(screen, report)
    return None


def rollback(
    screen: Screen,
    name: Annotated[str, typer.Argument(help="The release.")],
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            metavar="VERSION",
            show_default=False,
            help="This version (default: what readers had before).",
        ),
    ] = None,
    allow_weaker: AllowWeaker = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Publish an earlier version of a release again, in one transaction."""
    with database(url(db, found(db, policy)), screen) as connected:
        report = connected.rollback(name, to, allow_weaker=allow_weaker)
    screen.emit(report.to_dict())
    screen.warn(report.warnings)
    if not screen.silent:
        from sqlanon.cli.show.catalog import rollback_report

        rollback_report(screen, report)
    return None


def unpublish(
    screen: Screen,
    name: Annotated[str, typer.Argument(help="The release.")],
    purge: Annotated[
        bool,
        typer.Option(
            "--purge", help="Also drop the tables of all its versions; they cannot be rolled back to."
        ),
    ] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Withdraw a release: its views or its file go, the catalog keeps its history."""
    with database(url(db, found(db, policy)), screen) as connected:
        report = connected.unpublish(name, purge=purge)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.catalog import unpublish_report

        back = next_command("rollback", policy, None, db, report.release)
        unpublish_report(screen, report, back)
    return None


def erase(
    screen: Screen,
    name: Annotated[str, typer.Argument(help="The release.")],
    key_file: Annotated[
        Path,
        typer.Option(
            "--key-file",
            metavar="FILE",
            show_default=False,
            help="A CSV file with the columns of the release's key.",
        ),
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it; without it the command says what it would cost.")
    ] = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Erase keys from a release with refresh: {mode: frozen}: their classes leave at once, and they are never published again."""
    spec = load(policy)
    (release,) = pick(spec, [name])
    keys = _keys(key_file)
    with database(url(db, spec), screen) as connected:
        report = connected.erase(release, keys, confirmed=yes)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.catalog import erase_report

        again = next_command("erase", policy, None, db, name, "--key-file", str(key_file), "--yes")
        erase_report(screen, report, again)
    return None


def _keys(path: Path) -> list[dict[str, object]]:
    """The rows of a file of keys."""
    import csv

    from sqlanon.errors import file_errors

    with file_errors(str(path)), path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    if any(None in row or None in row.values() for row in rows):
        raise PolicyError(f"{path}: a line has more or fewer fields than the first one")
    if any(not value for row in rows for value in row.values()):
        raise PolicyError(f"{path}: a field is empty; a key is never NULL")
    return [dict(row) for row in rows]


def clean(screen: Screen, db: Db = None, policy: PolicyFile = None) -> int | None:
    """Drop what killed runs left behind."""
    with database(url(db, found(db, policy)), screen) as connected:
        dropped = connected.clean()
    screen.emit({"dropped": list(dropped)})
    if dropped:
        screen.show(f"dropped {len(dropped)}:", *(f"  {name}" for name in dropped))
    else:
        screen.show("nothing to clean")
    return None
