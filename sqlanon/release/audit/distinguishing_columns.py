"""Columns that distinguish rows of one class, because the classes leave them out.

They make k over every column smaller than k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlanon.results import LoweringColumn

MOST_EACH = 50
"""Left-out columns that are looked at one by one; each costs a pass over the table."""


def find_lowering(
    k: int, classes: Sequence[str], left_out: Sequence[str], smallest: Callable[[Sequence[str]], int]
) -> tuple[tuple[LoweringColumn, ...], tuple[str, ...]]:
    """Find k with each left-out column added to the classes, and a smallest set of them that lowers k.

    Args:
        k: of the classes.
        classes: the columns that make them.
        left_out: the other columns, which are published as well; with all of them k is lower.
        smallest: the smallest group over columns; one pass over the table.

    Returns:
        The columns that lower k alone, with k; and where none does, columns that lower it together and of which none
        can be spared.
    """
    lowering = [LoweringColumn(name, smallest([*classes, name])) for name in left_out[:MOST_EACH]]
    alone = tuple(sorted((column for column in lowering if column.k < k), key=lambda column: (column.k, column.column)))
    if alone or len(left_out) > MOST_EACH:
        return alone, ()
    together = list(left_out)
    for name in left_out:
        fewer = [remaining for remaining in together if remaining != name]
        if smallest([*classes, *fewer]) < k:
            together = fewer
    return (), tuple(together)
