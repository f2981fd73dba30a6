"""Counts quasi columns of each kind."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.declared.trials import Columns
from sqlanon.table.domain import Domain


def count_kinds(quasi: Sequence[Domain]) -> Columns:
    """The columns as estimates of refinement know them."""
    sets, trees = (
        sum(domain.reading.treatment == treatment for domain in quasi) for treatment in ("nominal", "hierarchy")
    )
    return Columns(len(quasi) - sets - trees, sets, trees)
