"""``sqlanon audit --statistics``: disclosure of hidden cells by published tables of counts together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.cli.arguments import parse_names
from sqlanon.cli.options import find_policy, find_url, first_option, open_database
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.query.counts.published_tables import CountsSpelling
    from sqlanon.results.disclosure import DisclosureReport

COUNTS = "Published counts"
"""The panel of options."""
SECONDS = 300
"""For the bounds; after them some are wider, and the report says of how many."""


MOST_DECIMALS = 9
"""Digits after the point of published sums."""


def is_file(table: str) -> bool:
    """Whether an argument is a file, and no table."""
    return table.lower().endswith((".csv", ".csv.gz", ".parquet")) or Path(table).is_file()


def audit_counts(
    screen: Screen,
    tables: Sequence[str],
    options: Mapping[str, Any],
    read: Mapping[str, Any],
    where: tuple[str | None, Path | None],
) -> int:
    """Audit tables together.

    Args:
        screen: the terminal.
        tables: names of a database, or files.
        options: options of `sqlanon audit` for counts, those that were given.
        read: options of CSV files.
        where: the database and the policy file.
    """
    if not tables:
        raise PolicyError("audit --statistics wants the tables: name those that readers have together")
    spelling, persons, seconds = _read_spelling(options), options.get("persons"), options.get("seconds", SECONDS)
    if persons is not None and persons < 1:
        raise PolicyError("--persons is a whole number of 1 or more")
    if seconds < 0:
        raise PolicyError("--seconds is a whole number of 0 or more")
    db, policy = where
    files = [table for table in tables if db is None and is_file(table)]
    if files:
        if len(files) < len(tables) or policy is not None:
            raise PolicyError("audit --statistics: name files, or tables of one database, not both")
        from sqlanon.database import open_files

        with open_files(files, progress=screen.progress(), **read) as (database, names, notes):
            screen.warn(notes)
            report = database.audit_statistics(names, spelling, persons=persons, seconds=seconds)
        screen.close()
        return _show(screen, report)
    if read:
        raise PolicyError(f"{first_option(read)} is for CSV files; a table in a database has types of its own")
    with open_database(find_url(db, find_policy(db, policy)), screen, read_only=True) as connected:
        report = connected.audit_statistics(tables, spelling, persons=persons, seconds=seconds)
    return _show(screen, report)


def _read_spelling(options: Mapping[str, Any]) -> CountsSpelling:
    from sqlanon.policy import read_hierarchy
    from sqlanon.query.counts.published_tables import CountsSpelling

    hierarchies = {}
    for pair in options.get("hierarchy", ()):
        column, separator, file = pair.partition("=")
        if not separator or not column or not file:
            raise PolicyError("--hierarchy is COLUMN=FILE")
        hierarchies[column] = read_hierarchy(file)
    unlisted = options.get("unlisted", "empty")
    if unlisted not in ("empty", "unknown"):
        raise PolicyError("--unlisted is empty or unknown")
    return CountsSpelling(
        parse_names("--by", options.get("by")),
        options.get("value"),
        options.get("total", "Total"),
        tuple(options.get("hidden", ())),
        hierarchies,
        unlisted == "empty",
        _decimals(options.get("decimals", 0)),
    )


def _decimals(number: int) -> int:
    if not 0 <= number <= MOST_DECIMALS:
        raise PolicyError(f"--decimals is a whole number from 0 to {MOST_DECIMALS}")
    return number


def _show(screen: Screen, report: DisclosureReport) -> int:
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.disclosure import disclosure_report

        disclosure_report(screen, report)
    return 0 if report.satisfied else 1
