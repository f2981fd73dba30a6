"""``sqlanon releases``, ``diff``, ``rollback``, ``unpublish`` and ``clean``: commands of a database's catalog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli import compact_option
from sqlanon.cli.compact_option import Compact
from sqlanon.cli.erasure import KeyFile, Name, Yes, erase_keys
from sqlanon.cli.options import (
    AllowWeaker,
    Db,
    PolicyFile,
    find_policy,
    find_url,
    flag,
    load,
    next_command,
    open_database,
    option,
    pick,
)
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

Version = Annotated[str, typer.Argument(metavar="NAME@VERSION")]


def releases(
    screen: Screen,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME] | show NAME@VERSION", show_default=False, help="Only this release, or all of one version."
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
        raise PolicyError(
            "releases wants nothing, a NAME, or: show NAME@VERSION, such as: sqlanon releases show patients@2"
        )
    name = words[0] if words else None
    with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
        rows = connected.releases(name)
        other_names = sorted({row.release for row in connected.releases()}) if name and not rows else []
    screen.emit({"releases": [row.to_dict() for row in rows]})
    if not screen.silent:
        from sqlanon.cli.show.catalog import release_rows

        release_rows(screen, rows, other_names)
    return None


def _show(screen: Screen, name: str, db: str | None, policy: Path | None) -> int | None:
    with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
        report = connected.version(name)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.catalog import version_report

        version_report(screen, report)
    return None


def diff(screen: Screen, first: Version, second: Version, db: Db = None, policy: PolicyFile = None) -> int | None:
    """Compare two versions: rows, loss, requirements, policy."""
    with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
        report = connected.diff(first, second)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.catalog import diff_report

        diff_report(screen, report)
    return None


def rollback(
    screen: Screen,
    name: Annotated[str, typer.Argument(help="The release.")],
    to: Annotated[int | None, option("--to", "VERSION", "This version (default: what readers had before).")] = None,
    allow_weaker: AllowWeaker = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Publish an earlier version of a release again: readers see either version, whole."""
    with open_database(find_url(db, find_policy(db, policy)), screen) as connected:
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
        bool, flag("--purge", "Also drop the tables of all its versions; they cannot be rolled back to.")
    ] = False,
    compact: Compact = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Withdraw a release: its views or its file go, the catalog keeps its history."""
    if compact and not purge:
        raise PolicyError(
            "--compact goes with --purge: without it no table is dropped; try: sqlanon unpublish patients --purge "
            "--compact"
        )

    def spell_command(command: str, *about: str, words: Sequence[str] = ()) -> str:
        return next_command(screen, command, policy, None, db, *about, words=words)

    with open_database(find_url(db, find_policy(db, policy)), screen) as connected:
        compact_option.check(connected, compact=compact)
        report = connected.unpublish(name, purge=purge)
        outcome = compact_option.attempt(
            connected,
            [report.release],
            compact=compact,
            drops=compact or bool(report.purged),
            again=lambda: spell_command("clean", words=["--compact"]),
        )

    def show() -> None:
        from sqlanon.cli.show.catalog import unpublish_report

        erases = spell_command("erase", report.release, words=["--key-file", "FILE", "--yes", "--compact"])
        unpublish_report(screen, report, spell_command("rollback", report.release), erases)

    compact_option.conclude(screen, report.to_dict(), show, outcome)
    return None


def erase(
    screen: Screen,
    name: Name,
    key_file: KeyFile,
    yes: Yes = False,
    compact: Compact = False,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Erase keys from a release with refresh: {mode: frozen}.

    Their classes leave at once, and they are never published again.
    """
    spec = load(policy, db)
    release, *other_releases = pick(spec, [name], "")
    if other_releases:
        raise PolicyError(
            f"{name} has several tables, whose versions are no lineage: delete the rows from the sources and run"
        )

    def spell_command(command: str, words: Sequence[str]) -> str:
        if command == "run":
            return next_command(screen, "run", policy, [name], db, words=words)
        about = [name] if command == "erase" else []
        return next_command(screen, command, policy, None, db, *about, words=words)

    erase_keys(screen, find_url(db, spec), release, key_file, spell_command, yes=yes, compact=compact)
    return None


def clean(screen: Screen, compact: Compact = False, db: Db = None, policy: PolicyFile = None) -> int | None:
    """Drop leftovers of killed runs."""
    with open_database(find_url(db, find_policy(db, policy)), screen) as connected:
        compact_option.check(connected, compact=compact)
        dropped = connected.clean()
        outcome = compact_option.attempt(
            connected,
            None,
            compact=compact,
            drops=compact,
            again=lambda: next_command(screen, "clean", policy, None, db, words=["--compact"]),
        )

    def show() -> None:
        if dropped:
            screen.show(f"dropped {len(dropped)}:", *(f"  {name}" for name in dropped))
        else:
            screen.show("nothing to clean")

    compact_option.conclude(screen, {"dropped": list(dropped)}, show, outcome)
    return None
