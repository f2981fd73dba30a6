"""Budgets of differentially private statistics: spent and left, a line a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, make_sheet

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results.budget import BudgetReport

VERSIONS = (
    ("row", "right"),
    ("release", "left"),
    ("version", "right"),
    ("state", "left"),
    ("epsilon", "right"),
    ("charged", "left", 1),
    ("by", "left", 2),
)


def budget_report(screen: Screen, report: BudgetReport) -> None:
    """Show a budget."""
    delta = f", delta {report.delta:g}" if report.delta else ""
    screen.show(
        f"budget {clean(report.name)}: {report.spent:.4g} of epsilon {report.epsilon:g} spent, {report.left:.4g} "
        f"left{delta}",
        f"  persons   of {', '.join(map(clean, report.tables))}",
        f"  anchor    {clean(report.anchor) if report.anchor else 'none: a restored or copied database spends again'}",
        *(
            f"  raised    to {epsilon:g} at {clean(time)} by {clean(by)}: {clean(because)}"
            for time, by, epsilon, because in report.raised
        ),
        "",
    )
    rows = [
        (
            str(version.seq),
            version.release,
            str(version.version),
            version.state,
            f"{version.cost:.4g}",
            version.at,
            version.by,
        )
        for version in report.versions
    ]
    if rows:
        screen.show(make_sheet(VERSIONS, rows), "")
    if report.beside:
        names = ", ".join(map(clean, report.beside))
        screen.show(f"not bounded by epsilon, as they publish rows or counts of these persons: {names}", "")
