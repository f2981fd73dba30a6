"""Singling out: predicates read from the release, each satisfied by exactly one row of the source.

Giomi, Boenisch, Wehmeyer and Tasnádi 2023, "A unified framework for quantifying privacy risk in synthetic data",
section 4.1 and appendix; Cohen and Nissim 2020, "Towards formalizing the GDPR's notion of singling out". A predicate is
tried if exactly one released row satisfies it for certain. Univariate: a value, or the least or greatest value, of one
column. Multivariate: of some columns of a random released row the cell, or of an ordered column all values at the outer
side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.attack.control.base import FEWEST, WORK, Attack, MissingFigure, Outcome, Successes, Trial

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.attack.kernels.predicates import Predicates

COLUMNS = 3
"""Of a multivariate predicate, at most."""
MOST = 2000
"""Predicates that are tried, at most."""
BATCH, BATCHES = 2000, 20
"""Predicates that are drawn at once, and how often at most."""


def univariate(trial: Trial) -> Iterator[Outcome | MissingFigure]:
    """All predicates over one column that a single released row satisfies, or `MOST` of them, drawn at random."""
    predicates = _keep_single(trial, _list_univariate(trial))
    most = _limit_predicates(trial)
    every = len(predicates.columns) <= most
    if not every:
        predicates = _take(
            predicates, np.sort(trial.rng("univariate").choice(len(predicates.columns), most, replace=False))
        )
    yield _measure(trial, "one column", predicates, 1, every=every)


def multivariate(trial: Trial) -> Iterator[Outcome | MissingFigure]:
    """Predicates over random columns of random released rows, `MOST` at most, of those that are drawn."""
    width = min(COLUMNS, len(trial.columns))
    if width < 2:
        yield MissingFigure("singling out by several columns: one column is published")
        return
    rng, space, most = trial.rng("multivariate"), trial.space, _limit_predicates(trial)
    medians = _medians(trial)
    chances = space.members / space.members.sum()
    singles: list[Predicates] = []
    single = 0
    batch = int(np.clip(WORK // (4 * len(space.members)), 100, BATCH))
    for _ in range(int(np.clip(WORK // (2 * batch * len(space.members)), 1, BATCHES))):
        rows = rng.choice(len(space.members), batch, p=chances)
        columns = rng.permuted(np.tile(np.arange(len(trial.columns)), (batch, 1)), axis=1)[:, :width]
        some = _keep_single(trial, _of_rows(trial, rows, np.sort(columns, axis=1), medians))
        singles = [_distinct(trial, _join([*singles, some]))]
        before, single = single, len(singles[0].columns)
        if single >= most or (single == before and single):
            break
    predicates = singles[0]
    predicates = _take(predicates, np.arange(min(len(predicates.columns), most)))
    yield _measure(trial, f"{width} columns", predicates, width, every=False)


def _limit_predicates(trial: Trial) -> int:
    """How many predicates are compared with every row."""
    return int(np.clip(WORK // (4 * len(trial.inside)), FEWEST, MOST))


def _list_univariate(trial: Trial) -> Predicates:
    from sqlanon.attack.kernels.predicates import AT_LEAST, AT_MOST, IN, Predicates

    space, singles = trial.space, []
    for a in range(len(trial.columns)):
        cells = np.array([space.low[a], space.high[a], space.null[a], space.cells[a]])
        _, first, of = np.unique(cells, axis=1, return_index=True, return_inverse=True)
        times = np.bincount(of.ravel(), space.members, len(first))
        singles += [(a, IN, int(j)) for j in first[times == 1]]
        if space.ordered[a] and not space.kinds[a]:
            some = (space.low[a] <= space.high[a]) & ~space.null[a] & (space.low[a] >= space.nulls[a])
            if some.any():
                singles += [(a, AT_MOST, int(space.high[a][some].min())), (a, AT_LEAST, int(space.low[a][some].max()))]
    table = np.array(singles, np.int32).reshape(-1, 3)
    return Predicates(*(np.ascontiguousarray(table[:, part : part + 1]) for part in range(3)))


def _medians(trial: Trial) -> Doubles:
    """The weighted median of the middle of the cells of each column."""
    space, medians = trial.space, np.zeros(len(trial.columns))
    for a in range(len(medians)):
        middle = (space.low[a].astype(np.float64) + space.high[a]) / 2
        order = np.argsort(middle, kind="stable")
        middle_place = np.searchsorted(np.cumsum(space.members[order]), space.members.sum() / 2)
        medians[a] = middle[order][middle_place]
    return medians


def _of_rows(trial: Trial, rows: Longs, columns: Longs, medians: Doubles) -> Predicates:
    """The predicates of released rows, by their places, over columns, int64[p, m]."""
    from sqlanon.attack.kernels.predicates import AT_LEAST, AT_MOST, IN, Predicates

    space = trial.space
    row = rows[:, None]
    low, high = space.low[columns, row], space.high[columns, row]
    line = space.ordered[columns] & (space.kinds[columns] == 0) & ~space.null[columns, row] & (low <= high)
    line &= low >= space.nulls[columns]
    above = (low.astype(np.float64) + high) / 2 > medians[columns]
    kinds = np.where(line, np.where(above, AT_LEAST, AT_MOST), IN)
    values = np.where(line, np.where(above, low, high), np.broadcast_to(row, low.shape))
    return Predicates(*(np.ascontiguousarray(part, np.int32) for part in (columns, kinds, values)))


def _keep_single(trial: Trial, predicates: Predicates) -> Predicates:
    from sqlanon.attack.kernels.predicates import count_released

    return _take(predicates, np.flatnonzero(count_released(trial.space, predicates, 1) == 1))


def _take(predicates: Predicates, places: Longs) -> Predicates:
    from sqlanon.attack.kernels.predicates import Predicates

    return Predicates(*(np.ascontiguousarray(part[places]) for part in predicates))


def _join(predicates: list[Predicates]) -> Predicates:
    from sqlanon.attack.kernels.predicates import Predicates

    return Predicates(*(np.concatenate(parts) for parts in zip(*predicates, strict=True)))


def _distinct(trial: Trial, predicates: Predicates) -> Predicates:
    """Each predicate once, in the order in which they were drawn: cells of equal rows are the same."""
    from sqlanon.attack.kernels.predicates import IN

    space, cell = trial.space, predicates.kinds == IN
    j = np.where(cell, predicates.values, 0)
    parts = [
        np.where(cell, part[predicates.columns, j], predicates.values) for part in (space.low, space.high, space.cells)
    ]
    parts.append(np.where(cell, space.null[predicates.columns, j], 0))
    keys = np.hstack([predicates.columns, predicates.kinds, *parts])
    _, first = np.unique(keys, axis=0, return_index=True)
    return _take(predicates, np.sort(first))


def _measure(trial: Trial, what: str, pool: Predicates, width: int, *, every: bool) -> Outcome:
    from sqlanon.attack.kernels.predicates import count_rows

    n, space = len(pool.columns), trial.space
    names = tuple(column.name for column in trial.columns)
    inside = count_rows(space, pool, trial.inside, 1)
    outside = count_rows(space, pool, trial.outside, len(trial.outside))
    isolated = correct_size(outside, len(trial.outside), len(trial.inside))
    predicates = _draw_random(trial, max(n, 1), width)
    naive = float((count_rows(space, predicates, trial.inside, 1) == 1).mean()) if n else 0.0
    return Outcome(
        f"singled out by {what}",
        names,
        Successes(int((inside == 1).sum()), n),
        Successes(min(isolated, float(n)), n),
        naive,
        every,
    )


def _draw_random(trial: Trial, predicates: int, width: int) -> Predicates:
    """Predicates of random columns, comparisons and values: nothing of the release is in them."""
    from sqlanon.attack.kernels.predicates import AT_LEAST, AT_MOST, EQUAL, NOT, Predicates

    rng, space = trial.rng("random predicates"), trial.space
    every = np.tile(np.arange(len(trial.columns)), (predicates, 1))
    columns = np.sort(rng.permuted(every, axis=1)[:, :width], axis=1)
    values = rng.random(columns.shape) * space.codes[columns]
    line, plain = rng.choice([AT_LEAST, AT_MOST, EQUAL, NOT], columns.shape), rng.choice([EQUAL, NOT], columns.shape)
    kinds = np.where(space.ordered[columns], line, plain)
    return Predicates(*(np.ascontiguousarray(part, np.int32) for part in (columns, kinds, values)))


def correct_size(counts: Longs, rows: int, sought: int) -> float:
    """How many predicates would isolate a row among as many rows as were not held out.

    A predicate of weight w isolates one of n rows with probability n w (1 - w)^(n - 1), so that the smaller control
    group must not be compared as it is. Giomi et al. 2023, appendix: the mean of this over weights from 0 to w times a
    factor is fitted to the successes in samples of the control group. Here these are expected, not drawn.

    Args:
        counts: int64[p], rows of the control group that satisfy each predicate.
        rows: of the control group.
        sought: rows of the other group.

    Returns:
        The expected number; that of the control group where both have the same size.
    """
    here = float((counts == 1).sum())
    if not rows or rows == sought or not counts.any():
        return here
    sizes = np.unique(np.linspace(min(max(rows // 20, 2), rows), rows, 20).astype(np.int64))
    expected = np.array([expect_isolated(counts, rows, int(size)) for size in sizes])
    best, factor = np.inf, 1.0
    for weight in np.geomspace(1e-3 / max(rows, sought), 1.0, 400):
        shape = _isolate_on_average(sizes.astype(np.float64), weight)
        square = float(shape @ shape)
        if square <= 0:
            continue
        norm = float(shape @ expected) / square
        error = float(((norm * shape - expected) ** 2).sum())
        if error < best:
            ends = _isolate_on_average(np.array([float(rows), float(sought)]), weight)
            best, factor = error, float(ends[1] / ends[0]) if ends[0] > 0 else 1.0
    return here * factor


def _isolate_on_average(n: Doubles, weight: float) -> Doubles:
    """The integral of n w (1 - w)^(n - 1) over w from 0 to ``weight``."""
    none = np.exp(n * np.log1p(-weight)) if weight < 1 else np.zeros(len(n))
    expected: Doubles = (1 - none * (n * weight + 1)) / (n + 1)
    return expected


def expect_isolated(counts: Longs, rows: int, size: int) -> float:
    """How many predicates exactly one row of a random sample satisfies: the sum of c C(n - c, s - 1) / C(n, s).

    Args:
        counts: int64[p], rows that satisfy each predicate.
        rows: of which the sample is drawn.
        size: of the sample.

    >>> round(expect_isolated(np.array([1, 2]), 4, 2), 6)  # 2 of 4; 2 x 2 of the 6 pairs
    1.166667
    """
    expected = 0.0
    numbers, times = np.unique(counts[counts > 0], return_counts=True)
    for c, n in zip(numbers.tolist(), times.tolist(), strict=True):
        if rows - c < size - 1:
            continue
        # The hypergeometric chance of exactly one, as a product: s c / n over the other rows of the sample.
        steps = np.arange(c - 1, dtype=np.float64)
        chance = size * c / rows * float(np.prod((rows - size - steps) / (rows - 1 - steps)))
        expected += n * max(chance, 0.0)
    return expected


UNIVARIATE = Attack("univariate", "predicates over one column that isolate a person", univariate)
MULTIVARIATE = Attack("multivariate", "predicates over several columns that isolate a person", multivariate)
