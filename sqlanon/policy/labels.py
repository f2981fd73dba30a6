"""Roles that follow from the labels of PostgreSQL Anonymizer on a column.

Arguments of a label may be values: none is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlanon.policy.proposal import ProposedColumn

_QUASI = re.compile(r"(quasi|indirect) identifier", re.IGNORECASE)
_MASKED = re.compile(r"\s*MASKED\s+WITH\s+(FUNCTION\s+(?:\w+\.)*(\w+)\s*\(|VALUE\b)", re.IGNORECASE)
_KEPT = re.compile(r"\s*NOT\s+MASKED\s*", re.IGNORECASE)
_NEAR = re.compile(r"generalize_\w+|d?noise|add_noise\w*|shuffle\w*", re.IGNORECASE)
"""Functions with masked values that stay near the true ones, which are then meant to be known roughly."""
_NAME = re.compile(r"[A-Za-z_]{1,40}")


def apply_labels(column: ProposedColumn, labels: Sequence[str], *, able: bool, repeats: bool) -> ProposedColumn:
    """The proposal for a column by its labels; names and counts decide where labels say nothing of a role.

    Args:
        column: the proposal by names and counts.
        labels: of the column.
        able: the column's type can be generalized.
        repeats: a value is in several rows.
    """
    role, reason = None, ""
    for label in labels:
        if masked := _MASKED.match(label):
            near = masked[2] is not None and _NEAR.fullmatch(masked[2])
            how = masked[2] if masked[2] and _NAME.fullmatch(masked[2]) else "a value"
            role, reason = ("quasi" if near else "identifier"), f"labelled MASKED WITH {how}"
        elif _KEPT.fullmatch(label):
            reason = "labelled NOT MASKED; "
    if any(_QUASI.search(label) for label in labels):
        role, reason = "quasi", "labelled as quasi-identifier"
    if role is None:
        return replace(column, reason=f"{reason}{column.reason}")
    if role == "quasi" and able:
        return ProposedColumn(column.name, "quasi", reason, named=True, rank=0)
    if role == "quasi":
        return ProposedColumn(
            column.name,
            "identifier",
            f"{reason}, of a type that cannot be generalized: left out",
            named=True,
            accept_repeats=repeats,
        )
    if column.role == "identifier":
        return replace(column, reason=f"{reason}; {column.reason}", named=True)
    return ProposedColumn(column.name, "identifier", f"{reason}: left out", named=True, accept_repeats=repeats)
