"""Measures of a published view, computed with NumPy from the view and the source alone.

Shares no code with `sqlanon`: the benchmarks store these figures beside sqlanon's own, and they must agree. It reads
views of format ``ranges`` whose columns hold no NULL; `measure` wants all of them ordered, `set_loss` takes sets as
well.
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


@dataclass(frozen=True, slots=True)
class Sizes:
    """The classes of a view."""

    rows: int
    classes: int
    min_class: int
    max_class: int
    dm: float
    c_avg: float


@dataclass(frozen=True, slots=True)
class SetLoss:
    """Loss by the source's values in every class; ``set_ncp`` is the mean of ``columns``."""

    rows: int
    classes: int
    min_class: int
    max_class: int
    set_ncp: float
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


def measure(connection: duckdb.DuckDBPyConnection, source: str, view: str, quasi: Sequence[str], k: int) -> Measured:
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


def class_sizes(connection: duckdb.DuckDBPyConnection, source: str, view: str, quasi: Sequence[str], k: int) -> Sizes:
    """C_DM and C_AVG of ``view``, ranges or nodes; classes are the rows with equal published columns.

    Raises:
        ValueError: if the view has another number of rows than the source.
    """
    published = [row[0] for row in connection.execute(f"DESCRIBE {view}").fetchall()]
    box = [name for name in published if any(name in (c, f"{c}_lo", f"{c}_hi") for c in quasi)]
    counted = connection.execute(f"SELECT count(*) AS n FROM {view} GROUP BY {', '.join(box)}").fetchnumpy()
    size = np.asarray(counted["n"], dtype=np.float64)
    (rows,) = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)
    if rows != size.sum():
        raise ValueError("the view has another number of rows than the source")
    return Sizes(rows, len(size), int(size.min()), int(size.max()), float((size**2).sum()), rows / (len(size) * k))


def set_loss(connection: duckdb.DuckDBPyConnection, source: str, view: str, quasi: Sequence[str], key: str) -> SetLoss:
    """Loss of a release that counts values: the mean over rows and *all* quasi columns, numeric ones too, of
    (distinct values of the source in the class - 1) / (distinct values in the source - 1).

    Classes are the rows with equal published columns. The values behind them are in the source alone, so both must
    carry ``key``, a number of the row; a release that keeps one is for measuring, never for readers.

    Raises:
        ValueError: if a row of the source is not in the view once, or the other way round.
    """
    published = [row[0] for row in connection.execute(f"DESCRIBE {view}").fetchall()]
    box = [name for name in published if any(name in (c, f"{c}_lo", f"{c}_hi") for c in quasi)]
    joined = f"{source} AS s JOIN {view} AS v ON s.{key} = v.{key}"
    matched = f"SELECT count(*), count(DISTINCT s.{key}) FROM {joined}"
    counted = f"SELECT (SELECT count(*) FROM {source}), (SELECT count(*) FROM {view})"
    found = {*(connection.execute(matched).fetchone() or ()), *(connection.execute(counted).fetchone() or ())}
    if len(found) != 1:
        raise ValueError("the view and the source do not hold the same rows")
    classes = connection.execute(
        f"SELECT count(*) AS n, {', '.join(f'count(DISTINCT s.{column}) AS {column}' for column in quasi)} FROM "
        f"{joined} GROUP BY {', '.join(f'v.{name}' for name in box)}"
    ).fetchnumpy()
    whole = connection.execute(
        f"SELECT {', '.join(f'count(DISTINCT {column}) AS {column}' for column in quasi)} FROM {source}"
    ).fetchnumpy()
    size = np.asarray(classes["n"], dtype=np.float64)
    columns = {
        column: float((size * (np.asarray(classes[column]) - 1)).sum() / size.sum()) / max(int(whole[column][0]) - 1, 1)
        for column in quasi
    }
    return SetLoss(
        rows=int(size.sum()),
        classes=len(size),
        min_class=int(size.min()),
        max_class=int(size.max()),
        set_ncp=float(np.mean(list(columns.values()))),
        columns=columns,
    )
