"""Search: classes of refined rows are divided anew in trials (see `kernels.search`), block by block.

Where more than a number of rows is asked of a class, three quarters of the trials make way for annealing (`annealing`).

Blocks, trials and random streams are fixed by the rows alone, so that neither threads nor memory change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.declared.trials import STEPS
from sqlanon.methods.shared.search_table import SearchTable, measure_lost
from sqlanon.privacy.base import least_rows, shapes_beyond_rows

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs

BLOCK = 25_000
"""Rows that are searched together; from round to round the cuts move by half of it."""
ROUND = 4
"""Trials of a round, for every class that loses something."""
FEW = 1_000
"""Rows of a table that keeps all its trials where it is annealed."""
POOLED, POOLED_ABOVE, LARGE = 16, 8, 20
"""Rows that are pooled, at most, in least classes: of up to `LARGE` rows, and of more."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The class of every row, 0 to the number of classes - 1, and how many trials each class had."""

    group: Longs
    trials: int


def search_classes(table: SearchTable, classes: Longs, trials: int, least_gain: Fraction = Fraction(0)) -> SearchResult:
    """Search for classes that lose less.

    Every class that loses something gets the same number of trials.

    Args:
        table: the rows.
        classes: int64[n], class of each row.
        trials: how many, at most.
        least_gain: trials end after two rounds that lower the loss by a smaller share together.

    Cost: O(n k d) a trial, blocks on all threads.
    """
    group: Longs = np.unique(classes, return_inverse=True)[1]
    if not shapes_beyond_rows(table.context.requirements):
        return _run_trials(table, group, range(trials), least_gain)
    from sqlanon.methods.shared.annealing import anneal_classes

    some = trials // 8 if table.rows > FEW else trials
    first = _run_trials(table, group, range(some), least_gain)
    last = _run_trials(table, anneal_classes(table, first.group, STEPS * trials), range(some, 2 * some), least_gain)
    return SearchResult(last.group, first.trials + last.trials)


def _run_trials(table: SearchTable, group: Longs, trials: range, least_gain: Fraction) -> SearchResult:
    """Some trials."""
    context, n = table.context, table.rows
    least = max([least_rows(context.requirements)] + [-(-s.p // s.q) for s in shapes_beyond_rows(context.requirements)])
    most = (POOLED if least <= LARGE else POOLED_ABOVE) * least
    rounds, rows_done, gain_before = -(-len(trials) // ROUND), 0, None
    for turn in range(rounds):
        # Classes by the mean place of their rows, so that those of a block are similar.
        group = _renumber_classes(group)
        order = np.argsort(group, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(group)))
        marks = np.append(0, np.arange(BLOCK - turn % 2 * (BLOCK // 2), n, BLOCK))
        cuts = np.unique(np.append(np.searchsorted(starts, marks), len(starts) - 1))

        def improve(number: int, span: tuple[int, int]) -> tuple[Ints, int, int]:
            from sqlanon.kernels.random import seed_state
            from sqlanon.methods.shared.kernels.search import search

            part = order[starts[span[0]] : starts[span[1]]]  # noqa: B023 - done before the next round
            _, rows, demands = table.take(part)
            part_group = (group[part] - span[0]).astype(np.int32)  # noqa: B023
            lost = measure_lost(rows, table.geometry, part_group) if least_gain else 0
            turned = (context.search_seed, trials.start + turn, number)  # noqa: B023
            random_words = np.random.SeedSequence(turned).generate_state(1, np.uint64)
            gained = search(
                rows.places,
                rows.sets,
                table.geometry,
                demands,
                part_group,
                span[1] - span[0],
                least,
                min(most, len(part)),
                min(ROUND, len(trials) - turn * ROUND),  # noqa: B023
                seed_state(int(random_words[0])),
            )
            return part_group, int(gained), lost

        spans = [(int(a), int(b)) for a, b in pairwise(cuts)]
        renumbered, past, gain, lost = np.empty(n, np.int64), 0, 0, 0
        with ThreadPoolExecutor(context.threads) as pool:
            for span, (part_group, own_gain, own_lost) in zip(
                spans, pool.map(improve, range(len(spans)), spans), strict=True
            ):
                renumbered[order[starts[span[0]] : starts[span[1]]]] = part_group.astype(np.int64) + past
                past += int(part_group.max(initial=0)) + 1
                gain, lost, rows_done = gain + own_gain, lost + own_lost, rows_done + len(part_group)
                context.progress.update(rows_done, rounds * n, "rows searched, of all rounds")
        group = renumbered
        # Two rounds: their cuts are not the same.
        if least_gain and gain_before is not None and gain_before + gain < least_gain * lost:
            return SearchResult(_renumber_classes(group), min((turn + 1) * ROUND, len(trials)))
        gain_before = gain
    return SearchResult(_renumber_classes(group), len(trials))


def _renumber_classes(group: Longs) -> Longs:
    """Classes numbered anew, without gaps: by the mean place of their rows, then by their first row."""
    n, size = len(group), np.bincount(group)
    nonempty, first = np.flatnonzero(size), np.empty(len(size), np.int64)
    first[group[::-1]] = np.arange(n - 1, -1, -1)  # of equal indices the last assignment holds
    mean = np.bincount(group, weights=np.arange(n, dtype=np.float64))[nonempty] // size[nonempty]
    number = np.empty(len(size), np.int64)
    number[nonempty[np.lexsort((first[nonempty], mean))]] = np.arange(len(nonempty))
    return number[group]
