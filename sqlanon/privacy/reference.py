"""The values of a sensitive column in the whole table, and rows within other columns.

Models compare classes with them in SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from sqlanon.engines.base import TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.privacy.base import Coded, Grouped
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs

_NUMBERS = count(1)
MOST = 10_000_000
"""Different values, at most."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The values of a column.

    Attributes:
        values: as the column has them: codes, or hashes.
        type: of them, in SQL.
        rows: of each in the whole table.
        texts: of each; None for NULL, or where values are hashes.
        total: rows of the table.
    """

    values: Sequence[int | str]
    type: str
    rows: Sequence[int]
    texts: Sequence[str | None]
    total: int


def count_reference(scratch: Scratch, rows: Grouped, value: int) -> Reference:
    """The values of a sensitive column: as `Grouped` has them, else counted in the whole table."""
    if rows.counts:
        counts = [int(n) for n in rows.counts[value]]
        texts = rows.values[value].texts if rows.values else [None] * len(counts)
        return Reference(range(len(counts)), "INTEGER", counts, texts, max(sum(counts), 1))
    rows_found = scratch.fetch("privacy/reference", max_rows=MOST, whole=rows.whole, value=rows.whole_names[value])
    numbers = bool(rows_found) and not isinstance(rows_found[0][0], str)
    values = [read_integer(row[0]) if numbers else str(row[0]) for row in rows_found]
    rows_of = [read_integer(row[1]) for row in rows_found]
    kind = "BIGINT" if numbers else scratch.engine.capabilities.text_type
    return Reference(values, kind, rows_of, [None] * len(rows_found), max(sum(rows_of), 1))


def fresh_table(scratch: Scratch, word: str) -> TableRef:
    """A scratch table with a new name: a load must not meet a table with a drop that was not sent yet."""
    return scratch.table(f"{word}_{next(_NUMBERS)}")


def group_items(coded: Coded, value: int, within: tuple[int, ...]) -> tuple[Ints, int, int, Longs]:
    """Two numbers of each row: its group over the columns ``within``, and its value within all groups.

    Returns:
        items: int32[2 * rows].
        groups, values: how many there are.
        value_of: int64[values], the code of each value.
    """
    import numpy as np

    codes = coded.sensitive[value].astype(np.int64)
    size = np.int64(coded.codes[value])
    if not within:
        alone: Ints = np.zeros(2 * coded.rows, np.int32)
        alone[1::2] = codes
        return alone, 1, int(size), np.arange(size)
    group = np.zeros(coded.rows, np.int64)
    for i in within:
        group = np.unique(group * coded.codes[i] + coded.sensitive[i], return_inverse=True)[1]
    kinds, pair = np.unique(group * size + codes, return_inverse=True)
    items = np.stack([group, pair], axis=1).astype(np.int32).ravel()
    return items, int(group.max(initial=0)) + 1, len(kinds), kinds % size
