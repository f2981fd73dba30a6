"""Option ``--compact`` of the commands that drop tables.

It rewrites the database's files after the command, without dropped data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sqlanon.cli.options import flag
from sqlanon.cli.screen import Screen
from sqlanon.errors import DatabaseError, SqlanonError

if TYPE_CHECKING:
    from sqlanon.database import Database
    from sqlanon.results import CompactReport

Compact = Annotated[
    bool,
    flag(
        "--compact",
        "Then write the DuckDB file, or the private tables on PostgreSQL, anew: nothing of what was dropped stays "
        "in them.",
    ),
]


def check(connected: Database, *, compact: bool) -> None:
    """Refuse ``--compact`` where it cannot be done, before anything is dropped."""
    if compact:
        connected.check_compaction()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of ``--compact``.

    Attributes:
        done: the compaction; None: it was not done.
        failed: why it was not done, though it was asked for.
        leaves: remains in files without a compaction; empty: nothing was dropped.
    """

    done: CompactReport | None = None
    failed: DatabaseError | None = None
    leaves: str = ""


def attempt(
    connected: Database, releases: Sequence[str] | None, *, compact: bool, drops: bool, again: Callable[[], str]
) -> Outcome:
    """Compact after a command has done the rest.

    Args:
        connected: the database.
        releases: those with tables to be written anew; None: all.
        compact: ``--compact`` is given.
        drops: the command has dropped tables or deleted rows.
        again: the command that compacts alone, should it fail now.
    """
    if not (compact and drops):
        return Outcome(leaves=connected.lingering if drops else "")
    try:
        return Outcome(connected.compact(releases))
    except SqlanonError as error:
        failed = DatabaseError(f"the command has done the rest, and nothing is compacted: {error}")
        failed.following, failed.__cause__ = again(), error
        return Outcome(failed=failed)


def conclude(screen: Screen, report: Mapping[str, Any], show: Callable[[], None], outcome: Outcome) -> None:
    """Show the result of a command, ``show`` to people, and the outcome of ``--compact``.

    With ``--json`` it prints the command's single JSON object.

    Raises:
        DatabaseError: the compaction failed.
    """
    from sqlanon.cli.show.compact import compact_report, show_lingering

    if not screen.silent:
        show()
    if outcome.failed:
        raise outcome.failed
    screen.emit({**report, "compacted": outcome.done.to_dict() if outcome.done else None})
    if outcome.done and not screen.silent:
        compact_report(screen, outcome.done)
    show_lingering(screen, outcome.leaves)
