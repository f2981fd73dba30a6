"""Approvals: a recorded approval, and all of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, command, count, make_sheet, share
from sqlanon.results.measured_risk import TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlanon.cli.screen import Screen
    from sqlanon.results.approvals import Approval, ListedApproval


def approval_lines(one: Approval) -> list[str]:
    """The recorded decision, and the figures that it is bound to."""
    version = f" version {one.version}" if one.version is not None else ", the policy of the next version"
    if one.action == "revoked":
        return [f"{clean(one.release)}: every approval revoked by {clean(one.approver)}; what is published stays"]
    return [
        f"{clean(one.release)}{version}: approved by {clean(one.approver)} until {one.until}",
        *([f"  condition  {clean(one.terms)}"] if one.terms else []),
        *(f"  {title:<66} {share(one.figures[key], 1)}" for key, title in TITLES.items() if key in one.figures),
        f"  policy     SHA-256 {one.policy_hash[:16]}..",
        f"  signature  {'yes' if one.signature else 'none'}",
    ]


def show_approvals(screen: Screen, found: Sequence[ListedApproval]) -> None:
    """All decisions, the newest last."""
    if not found:
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
        for entry in found
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
    for entry in found:
        if entry.approval.terms:
            screen.show(f"condition of {clean(entry.approval.release)}: {clean(entry.approval.terms)}")
        for line in entry.grown:
            screen.show(f"warning: {clean(entry.approval.release)}: {line}")


def _state(one: ListedApproval) -> str:
    if one.approval.action == "revoked":
        return "-"
    return f"valid, {count(one.days)} days" if one.state == "valid" else one.state
