"""Synthetic rows from noisy counts of pairs of columns in the classes of a target.

The pairs are a tree. So the largest entropy with given counts of the pairs is a product: in a class, the value of a
column depends on the neighbour's value alone. Everything here is computed of noisy counts, and costs nothing; the
random numbers follow from the noisy counts, so that the same counts give the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.noisy.pairs import Pair


ROUNDS = 50
"""Rounds of proportional fitting, at most: margins agree to far less than a row."""
LEAST = 1e-9
"""Of independence: no cell is quite 0 where both columns have rows, so that the margins can be reached. Margins that
agree to this share of the rows are fitted no further."""


@dataclass(frozen=True, slots=True)
class FittedCounts:
    """Counts that agree with each other, and are not below 0.

    Attributes:
        classes: float64[classes], rows of each class of the target.
        columns: for each column float64[values, classes].
        pairs: for each pair float64[values of one, values of the other, classes].
    """

    classes: Doubles
    columns: tuple[Doubles, ...]
    pairs: tuple[Doubles, ...]


def fit_tables(pairs: Sequence[Pair], noisy: Sequence[Longs]) -> FittedCounts:
    """Counts near the noisy ones that agree with each other.

    The noise of all numbers has the same deviation. Margins are means of the tables that have them, weighted by their
    variances, and then moved to the nearest ones that are not below 0 and add up; the table of a pair is moved to its
    margins, cut at 0, and fitted in proportion (Deming, Stephan 1940).

    Args:
        pairs: a tree of the columns, which are numbered from 0.
        noisy: for each pair int64[values of one, values of the other, classes].

    Cost: linear in the number of cells.
    """
    tables = [table.astype(np.float64) for table in noisy]
    weights = np.array([1 / (table.shape[0] * table.shape[1]) for table in tables])
    sums = np.array([table.sum(axis=(0, 1)) for table in tables])
    classes = np.maximum((weights[:, None] * sums).sum(axis=0) / weights.sum(), 0.0)
    columns = tuple(
        _fit_column(column, pairs, tables, classes) for column in range(1 + max(max(pair) for pair in pairs))
    )
    fitted = tuple(
        np.stack(
            [
                _fit_pair(table[:, :, place], columns[first][:, place], columns[second][:, place])
                for place in range(len(classes))
            ],
            axis=2,
        )
        for (first, second), table in zip(pairs, tables, strict=True)
    )
    return FittedCounts(classes, columns, fitted)


def _fit_column(column: int, pairs: Sequence[Pair], tables: Sequence[Doubles], classes: Doubles) -> Doubles:
    """The counts of a column by class."""
    margins, weights = [], []
    for pair, table in zip(pairs, tables, strict=True):
        if column in pair:
            axis = 1 - pair.index(column)
            margins.append(table.sum(axis=axis))
            weights.append(1 / table.shape[axis])
    mean = np.average(margins, axis=0, weights=weights)
    by_class: list[Doubles] = [project(mean[:, place], float(total)) for place, total in enumerate(classes)]
    return np.asarray(np.stack(by_class, axis=1))


def project(numbers: Doubles, total: float) -> Doubles:
    """The nearest numbers that are not below 0 and have this sum (Held, Wolfe, Crowder 1974).

    >>> project(np.array([3.0, 1.0, -2.0]), 3.0).tolist()
    [2.5, 0.5, 0.0]
    """
    if total <= 0:
        return np.zeros(len(numbers))
    ordered = np.sort(numbers)[::-1]
    beyond = (np.cumsum(ordered) - total) / np.arange(1, len(numbers) + 1)
    # A sum that is far below the largest number is lost in rounding: then all are 0.
    last = max(np.nonzero(ordered > beyond)[0].tolist(), default=0)
    return np.asarray(np.maximum(numbers - beyond[last], 0.0))


def _fit_pair(noisy: Doubles, first: Doubles, other: Doubles) -> Doubles:
    """The counts of a pair in a class, with the counts of both columns."""
    total = float(first.sum())
    if total <= 0:
        return np.zeros(noisy.shape)
    rows, columns = noisy.shape
    moved = noisy + ((first - noisy.sum(axis=1)) / columns)[:, None] + ((other - noisy.sum(axis=0)) / rows)[None, :]
    moved -= (total - noisy.sum()) / noisy.size
    fitted = np.maximum(moved, 0.0) + LEAST * np.outer(first, other) / total
    for _ in range(ROUNDS):
        for axis, margin in ((1, first), (0, other)):
            sums = fitted.sum(axis=axis, keepdims=True)
            target = np.expand_dims(margin, axis)
            fitted *= np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
        if np.abs(fitted.sum(axis=1) - first).max() < LEAST * total:
            break
    return np.asarray(fitted)


def draw_rows(pairs: Sequence[Pair], noisy: Sequence[Longs]) -> Longs:
    """Synthetic rows as codes of the columns, and of the target in the last column.

    Numbers of rows are rounded so that what is rounded off in one group is carried to the next. The order is random.

    Args:
        pairs: a tree; each pair has one column of those before, the first one column 0.
        noisy: for each pair int64[values of one, values of the other, classes].

    Returns:
        int64[rows, columns + 1].

    Cost: a sort of the rows for each pair.
    """
    seed = hashlib.sha256(b"".join(np.ascontiguousarray(table, np.int64).tobytes() for table in noisy)).digest()
    draw = np.random.default_rng(int.from_bytes(seed, "big"))
    fitted = fit_tables(pairs, noisy)
    of_class = _round(fitted.classes, round(float(fitted.classes.sum())))
    rows = np.full((int(of_class.sum()), len(fitted.columns) + 1), -1, np.int64)
    rows[:, -1] = np.repeat(np.arange(len(of_class)), of_class)
    _assign(rows, 0, -1, fitted.columns[0].T, draw)
    for (first, second), table in zip(pairs, fitted.pairs, strict=True):
        given_column, new = (first, second) if len(rows) == 0 or rows[0, first] >= 0 else (second, first)
        by_class = np.moveaxis(table, 2, 0) if given_column == first else np.moveaxis(table, 2, 0).transpose(0, 2, 1)
        classes, values, _ = by_class.shape
        group = rows[:, -1] * values + rows[:, given_column]
        _assign(rows, new, group, by_class.reshape(classes * values, -1), draw)
    return np.asarray(rows[draw.permutation(len(rows))])


def _assign(rows: Longs, column: int, group: Longs | int, weights: Doubles, draw: np.random.Generator) -> None:
    """Give the rows of each group the values of a column, as the weights of the group say."""
    key = rows[:, -1] if isinstance(group, int) else group
    many = np.bincount(key, minlength=len(weights))
    carried: Doubles = np.asarray(draw.random(weights.shape[1:])) - 0.5
    carried -= carried.mean()
    counts = np.zeros(weights.shape, np.int64)
    for place in np.nonzero(many)[0].tolist():
        total = float(weights[place].sum())
        share = weights[place] / total if total > 0 else np.full(weights.shape[1], 1 / weights.shape[1])
        expected = carried + share * many[place]
        counts[place] = _round(expected, int(many[place]))
        carried = expected - counts[place]
    order = np.lexsort((draw.random(len(rows)), key))
    rows[order, column] = np.repeat(np.tile(np.arange(weights.shape[1]), len(weights)), counts.reshape(-1))


def _round(numbers: Doubles, total: int) -> Longs:
    """Whole numbers of this sum, not below 0; those with the largest remainders are rounded up."""
    cut = np.maximum(numbers, 0.0)
    whole = np.floor(cut).astype(np.int64)
    missing = total - int(whole.sum())
    order = np.argsort(whole - cut, kind="stable")
    whole[order[: max(missing, 0)]] += 1
    while (above := int(whole.sum()) - total) > 0:  # cut numbers made it too large
        least = [index for index in order[::-1].tolist() if whole[index] > 0][:above]
        whole[least] -= 1
    return whole
