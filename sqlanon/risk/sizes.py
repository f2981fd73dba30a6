"""Counts the classes of each size in a table: input of all risk within the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.arrays import Longs


@dataclass(frozen=True, slots=True)
class Sizes:
    """Classes by their size, as arrays of equal length.

    Attributes:
        size: int64[m], rows of a class, or the fewest persons in it; ascending, each once.
        held: int64[m], rows in all classes of this size.
        classes: int64[m], how many classes have it.
    """

    size: Longs
    held: Longs
    classes: Longs

    @property
    def rows(self) -> int:
        """Of the table."""
        return int(self.held.sum())

    @property
    def count(self) -> int:
        """How many classes there are."""
        return int(self.classes.sum())

    def of(self, size: int) -> int:
        """How many classes have this size."""
        return int(self.classes[self.size == size].sum())


def class_sizes(engine: Engine, table: TableRef, quasi: Sequence[str], persons: Sequence[str] = ()) -> Sizes:
    """Count the classes over ``quasi`` by size.

    Args:
        engine: where the table is.
        table: any table or view.
        quasi: columns that make the classes; none: all rows are one class.
        persons: columns that name persons: a class's size is then the fewest distinct values of one of them.

    Cost: a grouping of the table.
    """
    import numpy as np

    text = statement("risk/sizes", engine.dialect, target=table, classes=list(quasi), persons=list(persons))
    size, sizes, classes = (
        array.astype(np.int64, copy=False) for array in engine.fetch_arrays(text, ["int64", "int64", "int64"])
    )
    order = np.argsort(size)
    return Sizes(size[order], sizes[order], classes[order])
