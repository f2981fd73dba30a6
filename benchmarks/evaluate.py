"""Measures of a published view, computed with NumPy from the view and the source alone.

Shares no code with `sqlanon`: the benchmarks store these figures beside sqlanon's own, and they must agree. It reads
views of format ``ranges`` whose columns are all ordered and hold no NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb


@dataclass(frozen=True, slots=True)
class Measured:
    """What a reader of the view can compute. Classes are the groups of rows with the same box."""

    rows: int
    classes: int
    min_class: int
    max_class: int
    dm: float
    c_avg: float
    range_ncp: float
    columns: dict[str, float]


def _positions(source: NDArray[Any], ends: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """Ends of ranges as shares of the domain: numbers by value, text by rank among the source's values."""
    if source.dtype.kind in "OU":
        values = sorted(set(source.tolist()), key=lambda text: text.encode())
        rank = {value: place for place, value in enumerate(values)}
        width = max(len(values) - 1, 1)
        return [np.array([rank[value] / width for value in end.tolist()]) for end in ends]
    low, high = float(source.min()), float(source.max())
    return [(end.astype(np.float64) - low) / ((high - low) or 1.0) for end in ends]


def measure(
    connection: duckdb.DuckDBPyConnection, source: str, view: str, quasi: Sequence[str], k: int
) -> Measured:
    """Range NCP, C_DM and C_AVG of ``view`` over ``source``.

    Range NCP of a row is the mean over columns of (hi - lo) / (max - min), max and min over the source; the release's
    is the mean over rows. C_DM is the sum of squared class sizes, C_AVG is rows / (classes * k).

    Raises:
        ValueError: if the view holds NULLs or another number of rows than the source.
    """
    ends = [f"{column}_{end}" for column in quasi for end in ("lo", "hi")]
    released = connection.execute(f"SELECT {', '.join(ends)} FROM {view}").fetchnumpy()
    original = connection.execute(f"SELECT {', '.join(quasi)} FROM {source}").fetchnumpy()
    if any(np.ma.is_masked(values) for values in released.values()):
        raise ValueError("the view holds NULLs")
    rows = len(released[ends[0]])
    if rows != len(original[quasi[0]]):
        raise ValueError("the view has another number of rows than the source")
    columns: dict[str, float] = {}
    box = np.zeros(rows, dtype=np.int64)
    for column in quasi:
        both = [np.asarray(released[f"{column}_{end}"]) for end in ("lo", "hi")]
        low, high = _positions(np.asarray(original[column]), both)
        columns[column] = float(np.mean(high - low))
        for end in (low, high):  # number the boxes seen so far together with this end of theirs
            values, code = np.unique(end, return_inverse=True)
            box = np.unique(box * len(values) + code, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(box)
    return Measured(
        rows=rows,
        classes=len(sizes),
        min_class=int(sizes.min()),
        max_class=int(sizes.max()),
        dm=float((sizes.astype(np.float64) ** 2).sum()),
        c_avg=rows / (len(sizes) * k),
        range_ncp=float(np.mean(list(columns.values()))),
        columns=columns,
    )
