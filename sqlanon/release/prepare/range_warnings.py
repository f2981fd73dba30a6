"""Warnings of plan about columns with a range set by a few rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.rows import number, read_integer
from sqlanon.table.domain import Domain
from sqlanon.table.encode import MANY
from sqlanon.table.scratch import Scratch

NARROW = 100
"""Where all but the outer rows lie in less than this part of the range, every extent looks like nothing."""


def warn_of_outliers(scratch: Scratch, quasi: Sequence[Domain]) -> list[str]:
    """A warning for each ordered column with 99 % of the rows in less than 1/`NARROW` of the range.

    Cost: a sort of each column's values.
    """
    able = [
        domain
        for domain in quasi
        if domain.reading.treatment == "ordered"
        and domain.reading.column.kind in ("integer", "float", "decimal", "date", "timestamp")
    ]
    warnings = []
    for start in range(0, len(able), MANY):
        some = able[start : start + MANY]
        for place, rows, inside, spread in scratch.fetch("table/outlying", domains=[domain.table for domain in some]):
            low, high = number(inside), number(spread)
            if 0 < low < high / NARROW:
                name = some[read_integer(place) - 1].reading.name
                warnings.append(
                    f"column {name}: all but the {rows} rows at its ends lie in {100 * low / high:.2g} % of its range, "
                    "so that any range of it looks narrow and the loss small; code the ends (top, bottom), or give it "
                    "a hierarchy"
                )
    return warnings
