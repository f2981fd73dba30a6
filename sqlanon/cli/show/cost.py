"""The cost of a run for the engines, with ``--verbose``: a line for each stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.cli.show.text import clean, count, format_seconds, make_sheet

if TYPE_CHECKING:
    from sqlanon.cli.show.sheet import Sheet
    from sqlanon.results import RunCost

_COLUMNS = (
    ("stage", "left"),
    ("seconds", "right"),
    ("statements", "right"),
    ("read", "right"),
    ("written", "right"),
    ("shuffled", "right"),
)


def cost_sheet(cost: RunCost, seconds: float | None = None) -> Sheet:
    """The stages of a run, and its whole; of an estimate the whole alone.

    Args:
        cost: of the run.
        seconds: of the whole run.
    """
    whole = ("all", seconds, cost.statements, cost.bytes_read, cost.bytes_written, cost.bytes_shuffled)
    stages = [
        (stage.stage, stage.seconds, stage.statements, stage.bytes_read, stage.bytes_written, stage.bytes_shuffled)
        for stage in cost.stages
    ]
    rows = [
        (
            clean(name),
            "-" if spent is None else format_seconds(spent),
            count(statements),
            *("-" if amount is None else format_bytes(amount) for amount in amounts),
        )
        for name, spent, statements, *amounts in (*stages, whole)
    ]
    return make_sheet(_COLUMNS, rows)


def format_bytes(number: int) -> str:
    """A number of bytes with three digits: ``0 B``, ``4.1 kB``, ``12.3 MB``."""
    amount, units = float(number), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return f"{amount:.3g} {units[0]}"
