"""The catalog: every version of every release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import count, safe, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.cli.screen import Screen
    from sqlanon.results import ReleaseRow


def release_rows(screen: Screen, rows: Sequence[ReleaseRow]) -> None:
    """Show versions, newest where the catalog puts it."""
    if not rows:
        screen.show("nothing was released here yet")
        return
    titles = (
        ("release", "wrap"),
        ("v", "right"),
        ("status", "left"),
        ("published as", "wrap"),
        ("at", "left"),
        ("rows", "right"),
        ("GCP", "right"),
    )
    shown = [
        (
            row.release,
            str(row.version),
            row.status,
            row.published,
            row.published_at[:16].replace("T", " "),
            count(row.rows),
            "exact" if row.format == "anatomy" else f"{row.gcp:.4f}",
        )
        for row in rows
    ]
    screen.show(table(titles, shown))
    if len({row.release for row in rows}) == 1:
        last = rows[0]
        screen.show(
            "",
            f"source {safe(last.source)}, by {safe(last.published_by)}, {safe(last.method)}, sqlanon {last.sqlanon}",
            f"requirements: {safe(last.requirements)}",
        )
