"""Attacks with a control group: a table of successes, and how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, make_sheet, note, share

if TYPE_CHECKING:
    from sqlanon.cli.screen import Screen
    from sqlanon.results import ControlledAttack, ControlReport

HEAD = (
    ("attack", "wrap"),
    ("succeeded", "right"),
    ("control", "right"),
    ("naive", "right", 2),
    ("risk", "right"),
    ("95 %", "right", 1),
)


def control_report(screen: Screen, report: ControlReport) -> None:
    """Show every attack in a single table, and missing measures."""
    screen.show(
        f"trial of {clean(report.release)} on {count(report.inside)} of {count(report.inside + report.outside)} "
        f"{report.counted} of {clean(report.source)}; {count(report.outside)} are the control group",
        f"  method {clean(report.method)}, format {clean(report.format)}, seed {report.seed}; nothing was published",
        "",
        make_sheet(HEAD, [_row(attack) for attack in report.attacks]),
        "",
        "risk: what succeeds beyond the control group, (succeeded - control) / (100 % - control); of membership the "
        "difference",
    )
    for attack in report.attacks:
        if not attack.attempts:
            screen.show(note(f"{attack.what}: no predicate is satisfied by exactly one released row"))
        elif attack.main <= attack.naive and attack.attack != "membership":
            screen.show(note(f"{attack.what}: no better than without the release"))
    for why in report.not_measured:
        screen.show(note(f"not measured: {why}"))


def _row(attack: ControlledAttack) -> tuple[str, ...]:
    if not attack.attempts:
        return (attack.what, "", "", "", share(0.0, 1), "")
    return (
        attack.what,
        share(attack.main, 1),
        share(attack.control, 1),
        share(attack.naive, 1),
        share(attack.risk, 1),
        f"{share(attack.low, 1)} to {share(attack.high, 1)}",
    )
