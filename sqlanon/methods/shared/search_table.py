"""Rows as the search after refinement sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.boxes import cover, measure_widths
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.requirements import Demands
from sqlanon.kernels.rows import Rows
from sqlanon.methods.base import Context
from sqlanon.methods.shared import kernel_input

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs


@dataclass(frozen=True, slots=True)
class SearchTable:
    """All rows that are searched.

    Attributes:
        context: the run; ``search_seed`` is the seed of the draws.
        codes: int32[d, n], of rows in an order in which near rows are similar.
        sensitive: as `kernel_input.fetch_codes` returns it, of the same rows.
        geometry: the attributes.
        whole: the result of `kernel_input.whole_table`.
    """

    context: Context
    codes: Ints
    sensitive: list[Ints]
    geometry: Geometry
    whole: kernel_input.WholeTable

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.codes.shape[1])

    def take(self, numbers: Longs) -> tuple[Ints, Rows, Demands]:
        """Codes int32[d, *] of some rows, the rows for kernels, and the requirements over them."""
        codes = np.ascontiguousarray(self.codes[:, numbers])
        rows = kernel_input.rows_of(codes, np.arange(len(numbers), dtype=np.int32), self.geometry)
        columns = [column[numbers] for column in self.sensitive]
        return codes, rows, kernel_input.demands(self.context, columns, len(numbers), self.whole)

    def demands(self) -> Demands:
        """The requirements over all rows."""
        return kernel_input.demands(self.context, self.sensitive, self.rows, self.whole)


def measure_lost(rows: Rows, geometry: Geometry, group: Ints) -> int:
    """Rows x extents of classes; ``group``: int32[n], class of each row, 0 to the number of classes - 1."""
    classes = int(group.max(initial=-1)) + 1
    low, high = (np.empty((classes, rows.places.shape[1]), np.int32) for _ in range(2))
    mask = np.empty((classes, rows.sets.shape[1]), np.uint64)
    counts, wide = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    cover(rows.places, rows.sets, group, low, high, mask, counts)
    measure_widths(low, high, mask, geometry, wide)
    return int(counts @ wide)
