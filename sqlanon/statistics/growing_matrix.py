"""A matrix to which rows are appended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


class Rows:
    """A matrix that grows by rows: an array of all of them, without a copy for each.

    Args:
        width: of a row.
        dtype: type of the numbers.
    """

    def __init__(self, width: int, dtype: type) -> None:
        self._array: npt.NDArray[np.generic] = np.zeros((16, width), dtype)
        self._rows = 0

    def add(self, row: npt.NDArray[np.generic]) -> None:
        """Add a row."""
        if self._rows == len(self._array):
            self._array = np.concatenate(
                [self._array, np.zeros((max(16, self._rows), self._array.shape[1]), self._array.dtype)]
            )
        self._array[self._rows] = row
        self._rows += 1

    def take(self, some: npt.NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        subset = Rows(self._array.shape[1], self._array.dtype.type)
        subset._array, subset._rows = self.array[some], int(some.sum())
        return subset

    @property
    def array(self) -> Any:  # noqa: ANN401 - of its type
        """The rows so far."""
        return self._array[: self._rows]
