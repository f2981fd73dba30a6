"""The levels of a hierarchy, and the rows of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, make_sheet, things

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.evaluate.levels import Levels


def levels_report(screen: Screen, report: Levels, *, values: bool) -> None:
    """Show the levels, and of each but the lowest, with ``values`` of each, the nodes."""
    nulls = f", {things(report.nulls, 'row')} NULL" if report.nulls else ""
    screen.show(f"{report.column} of {report.release}: {clean(report.built)}{nulls}")
    shown = [
        (
            str(level.level),
            count(level.nodes),
            count(min(level.rows.values(), default=0)),
            count(max(level.rows.values(), default=0)),
        )
        for level in report.levels
    ]
    titles = (("level", "right"), ("nodes", "right"), ("fewest rows", "right"), ("most rows", "right"))
    screen.show(make_sheet(titles, shown))
    nodes = [
        (str(level.level), clean(label), count(rows))
        for level in report.levels
        if level.level or values
        for label, rows in level.rows.items()
    ]
    screen.show(make_sheet((("level", "right"), ("node", "wrap"), ("rows", "right")), nodes))
