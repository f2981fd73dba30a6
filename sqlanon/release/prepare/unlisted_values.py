"""Notes of plan and run about values that a hierarchy does not list."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.column_spec import Hierarchy
from sqlanon.table.domain import Domain
from sqlanon.table.scratch import Scratch


def count_others(scratch: Scratch, quasi: Sequence[Domain], rows: int) -> tuple[str, ...]:
    """How many rows have a value that the hierarchy does not list and that counts as the named value, by column.

    Columns without such rows are left out.

    Cost: a look at one row of each column's domain.
    """
    counts = []
    for domain in quasi:
        recode, hierarchy = domain.reading.spec.recode, domain.reading.spec.hierarchy
        if recode is None or recode.other is None or not isinstance(hierarchy, Hierarchy):
            continue
        leaf = next(place for place, path in enumerate(hierarchy.levels) if path[0] == recode.other)
        (count,) = scratch.fetch("table/rows_of_code", {"code": leaf + domain.has_null}, domain=domain.table)[0]
        if count:
            counts.append(
                f"column {domain.reading.name}: {count} of {rows} rows count as other: their values are not listed by "
                "the hierarchy, or are the one that other names"
            )
    return tuple(counts)
