"""The different rows of a table as numbers in memory: input of figures for many sets of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    import numpy as np

    from sqlanon.arrays import Longs

MOST = 32
"""Columns up to which nothing is written: one statement groups the table and numbers the values of all of them.

The time to plan it grows with their square.
"""
BATCH = 16
"""Columns whose values one statement numbers, if there are more than `MOST`."""


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """The different rows of a table.

    Attributes:
        codes: per column int64[m], 0 up, equal where the values are; 0 is NULL, and in starred columns ``*``.
        n: int64[m], how many rows of the table each is.
    """

    codes: Sequence[Longs]
    n: Longs


def read_distinct(engine: Engine, table: TableRef, columns: Sequence[str], starred: Sequence[str] = ()) -> DistinctRows:
    """The different rows of a table over columns.

    Args:
        engine: where the table is.
        table: any table or view.
        columns: at least one.
        starred: those of them whose ``*`` is the same as NULL.

    Cost: one grouping of the table, a join of its different rows with the values of each column, and memory here for a
    number a row and column. With more than `MOST` columns the different rows are in a temporary table meanwhile, if
    the engine has such; else nothing is written.
    """
    classes = [{"name": name, "place": i, "starred": name in starred} for i, name in enumerate(columns, 1)]
    if len(classes) <= MOST or not engine.temporary:
        table_keys = statement("risk/keys", engine.dialect, target=table, classes=classes, combinations=None)
        return DistinctRows(*_to_longs(engine.fetch_arrays(table_keys, ["int64"] * (len(classes) + 1))))
    codes: list[Longs] = []
    with Scratch(engine, alone=False) as scratch:
        combinations = scratch.table("combinations")
        scratch.execute("risk/combinations", combinations=combinations, target=table, classes=classes)
        for first in range(0, len(classes), BATCH):
            batch = classes[first : first + BATCH]
            table_keys = scratch.sql("risk/keys", target=table, classes=batch, combinations=combinations)
            keys, n = _to_longs(scratch.fetch_arrays(table_keys, ["int64"] * (len(batch) + 1)))
            codes += keys
    return DistinctRows(codes, n)


def _to_longs(arrays: Sequence[np.ndarray]) -> tuple[list[Longs], Longs]:
    import numpy as np

    *codes, n = (array.astype(np.int64, copy=False) for array in arrays)
    return codes, n
