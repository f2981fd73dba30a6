"""The report on a compaction, and remains in files without a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import CompactReport


def compact_report(screen: Screen, report: CompactReport) -> None:
    """Show the files or tables that were written anew, and where values can be all the same."""
    tables = ", ".join(map(clean, report.written)) or "no table"
    screen.show(
        f"written anew: {tables} ({count(report.before)} bytes before, {count(report.after)} now)",
        *(f"note: {sentence}" for sentence in report.stays),
    )


def show_lingering(screen: Screen, leaves: str) -> None:
    """Show the remains of dropped tables in files; nothing for an empty text."""
    if leaves:
        screen.show(f"note: {leaves} (docs/refresh.md, What dropped tables leave in files)")
