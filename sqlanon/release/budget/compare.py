"""A ledger compared with its anchor: spending by other databases, or the reason why neither follows the other."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.release.budget.events import Event

BETWEEN = (
    ", or a run ended between the two while another database spent. `sqlanon budget recover` takes over what the "
    "anchor has, and charges the last row of this database once more"
)
"""Next steps of a database with a last row that the anchor never had."""


def count_shared(mine: Sequence[Event], there: Sequence[Event]) -> int:
    """How many rows both begin with."""
    pairs = zip(mine, there, strict=False)
    return next(
        (place for place, (event, counterpart) in enumerate(pairs) if event.chain != counterpart.chain),
        min(len(mine), len(there)),
    )


def find_missing(mine: Sequence[Event], there: Sequence[Event], name: str | None) -> tuple[Sequence[Event], str]:
    """The rows of the anchor that a database lacks, because others wrote them.

    Args:
        mine: the rows of the database.
        there: those of the anchor.
        name: the name of the database in them; None before the first spending.

    Returns:
        The rows; and the reason why nothing can be spent, or "".
    """
    shared = count_shared(mine, there)
    if shared < min(len(mine), len(there)):
        crashed = shared == len(mine) - 1 and mine[-1].own
        wrong = "its ledger and the anchor have different rows: one of them was copied, restored or changed"
        return [], wrong + (BETWEEN if crashed else "")
    if len(mine) > len(there) + 1:
        return [], "the anchor is older than the ledger: the file was restored"
    missing = there[len(mine) :]
    if name is not None and any(event.body["database"] == name for event in missing):
        return [], (
            "this database lacks rows that it wrote: it was restored from a backup, or a copy of it has spent. "
            "`sqlanon budget recover` takes them over from the anchor, with what they cost"
        )
    return missing, ""
