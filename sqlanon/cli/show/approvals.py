"""Approvals: a recorded approval, and all of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, command, count, make_sheet, share
from sqlanon.results.measured_risk import TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.cli.screen import Screen
    from sqlanon.results.approvals import Approval, ListedApproval


def approval_lines(approval: Approval) -> list[str]:
    """The recorded decision, and the figures that it is bound to."""
    version = f" version {approval.version}" if approval.version is not None else ", the policy of the next version"
    if approval.action == "revoked":
        return [
            f"{clean(approval.release)}: every approval revoked by {clean(approval.approver)}; what is published stays"
        ]
    return [
        f"{clean(approval.release)}{version}: approved by {clean(approval.approver)} until {approval.until}",
        *([f"  condition  {clean(approval.terms)}"] if approval.terms else []),
        *(
            f"  {title:<66} {share(approval.figures[key], 1)}"
            for key, title in TITLES.items()
            if key in approval.figures
        ),
        f"  policy     SHA-256 {approval.policy_hash[:16]}..",
        f"  signature  {'yes' if approval.signature else 'none'}",
    ]


def show_approvals(screen: Screen, approvals: Sequence[ListedApproval]) -> None:
    """All decisions, the newest last."""
    if not approvals:
        screen.show(
            f"nothing was approved yet; {command('approve', 'NAME', options=['--by', 'NAME', '--until', 'DATE'])}"
        )
        return
    rows = [
        (
            entry.approval.release,
            "-" if entry.approval.version is None else str(entry.approval.version),
            entry.approval.action,
            entry.approval.approver,
            entry.approval.given_at[:10],
            entry.approval.until or "-",
            _state(entry),
            entry.signed,
        )
        for entry in approvals
    ]
    titles = (
        ("release", "wrap"),
        ("v", "right"),
        ("decision", "left"),
        ("by", "wrap"),
        ("on", "left"),
        ("until", "left"),
        ("state", "left"),
        ("signed", "left", 1),
    )
    screen.show(make_sheet(titles, rows))
    for entry in approvals:
        if entry.approval.terms:
            screen.show(f"condition of {clean(entry.approval.release)}: {clean(entry.approval.terms)}")
        for line in entry.grown:
            screen.show(f"warning: {clean(entry.approval.release)}: {line}")


def _state(approval: ListedApproval) -> str:
    if approval.approval.action == "revoked":
        return "-"
    return f"valid, {count(approval.days)} days" if approval.state == "valid" else approval.state
