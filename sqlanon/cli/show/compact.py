"""What a compaction did, and what is left where there was none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import CompactReport


def compact_report(screen: Screen, report: CompactReport) -> None:
    """Show what was written anew, and where values can be all the same."""
    written = ", ".join(map(clean, report.written)) or "no table"
    screen.show(
        f"written anew: {written} ({count(report.before)} bytes before, {count(report.after)} now)",
        *(f"note: {sentence}" for sentence in report.stays),
    )


def show_lingering(screen: Screen, leaves: str) -> None:
    """Show what dropped tables leave in files; nothing for an empty text."""
    if leaves:
        screen.show(f"note: {leaves} (docs/refresh.md, What dropped tables leave in files)")
