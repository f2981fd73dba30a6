"""Search: classes of refined rows are divided anew in trials (see `kernels.search`), block by block.

Where more than a number of rows is asked of a class, half of the trials make way for annealing (`annealing`).

Blocks, trials and random streams are fixed by the rows alone, so that neither threads nor memory change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.kernels.extent import Geometry
from sqlanon.methods.base import Context
from sqlanon.methods.shared import kernel_input
from sqlanon.privacy.base import least_rows, shapes_beyond_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Longs = npt.NDArray[np.int64]

BLOCK = 25_000
"""Rows that are searched together; from round to round the cuts move by half of it."""
ROUND = 4
"""Trials of a round, for every class that loses something."""
POOLED, POOLED_ABOVE, LARGE = 16, 8, 20
"""Rows that are pooled, at most, in least classes: of up to `LARGE` rows, and of more."""


def search_classes(
    context: Context,
    codes: Ints,
    sensitive: list[Ints],
    geometry: Geometry,
    whole: kernel_input.WholeTable,
    classes: Longs,
    trials: int,
) -> Longs:
    """The class of every row after the search, 0 to the number of classes - 1.

    Every class that loses something gets the same number of trials.

    Args:
        context: the run; its ``search_seed`` decides what is drawn.
        codes: int32[d, n], of rows in an order in which near rows are similar.
        sensitive: as `kernel_input.fetch_codes` returns it, of the same rows.
        geometry: the attributes.
        whole: what `kernel_input.whole_table` read.
        classes: int64[n], class of each row.
        trials: how many.

    Cost: O(n k d) a trial, blocks on all threads.
    """
    group: Longs = np.unique(classes, return_inverse=True)[1]
    if not shapes_beyond_rows(context.requirements):
        return _tried(context, codes, sensitive, geometry, whole, group, range(trials))
    from sqlanon.methods.shared.annealing import STEPS, annealed

    some = trials // 4
    group = _tried(context, codes, sensitive, geometry, whole, group, range(some))
    group = annealed(context, codes, sensitive, geometry, whole, group, STEPS * trials)
    return _tried(context, codes, sensitive, geometry, whole, group, range(some, 2 * some))


def _tried(
    context: Context,
    codes: Ints,
    sensitive: list[Ints],
    geometry: Geometry,
    whole: kernel_input.WholeTable,
    group: Longs,
    trials: range,
) -> Longs:
    """The class of every row after some trials."""
    n = codes.shape[1]
    least = max([least_rows(context.requirements)] + [-(-s.p // s.q) for s in shapes_beyond_rows(context.requirements)])
    most = (POOLED if least <= LARGE else POOLED_ABOVE) * least
    rounds, done = -(-len(trials) // ROUND), 0
    for turn in range(rounds):
        # Classes by the mean place of their rows, so that those of a block are similar.
        group = _renumber_classes(group)
        order = np.argsort(group, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(group)))
        marks = np.append(0, np.arange(BLOCK - turn % 2 * (BLOCK // 2), n, BLOCK))
        cuts = np.unique(np.append(np.searchsorted(starts, marks), len(starts) - 1))

        def improve(number: int, span: tuple[int, int]) -> Ints:
            from sqlanon.kernels.random import seed_state
            from sqlanon.kernels.search import search

            part = order[starts[span[0]] : starts[span[1]]]  # noqa: B023 - done before the next round
            numbers = np.arange(len(part), dtype=np.int32)
            rows = kernel_input.rows_of(np.ascontiguousarray(codes[:, part]), numbers, geometry)
            demands = kernel_input.demands(context, [column[part] for column in sensitive], len(part), whole)
            own = (group[part] - span[0]).astype(np.int32)  # noqa: B023
            turned = (context.search_seed, trials.start + turn, number)  # noqa: B023
            drawn = np.random.SeedSequence(turned).generate_state(1, np.uint64)
            search(
                rows.places,
                rows.sets,
                geometry,
                demands,
                own,
                span[1] - span[0],
                least,
                min(most, len(part)),
                min(ROUND, len(trials) - turn * ROUND),  # noqa: B023
                seed_state(int(drawn[0])),
            )
            return own

        spans = [(int(a), int(b)) for a, b in pairwise(cuts)]
        found, past = np.empty(n, np.int64), 0
        with ThreadPoolExecutor(context.threads) as pool:
            for span, own in zip(spans, pool.map(improve, range(len(spans)), spans), strict=True):
                found[order[starts[span[0]] : starts[span[1]]]] = own.astype(np.int64) + past
                past += int(own.max(initial=0)) + 1
                done += len(own)
                context.progress.update(done, rounds * n, "rows searched, of all rounds")
        group = found
    return _renumber_classes(group)


def _renumber_classes(group: Longs) -> Longs:
    """Classes numbered anew, without gaps: by the mean place of their rows, then by their first row."""
    n, size = len(group), np.bincount(group)
    used, first = np.flatnonzero(size), np.empty(len(size), np.int64)
    first[group[::-1]] = np.arange(n - 1, -1, -1)  # of equal indices the last assignment holds
    mean = np.bincount(group, weights=np.arange(n, dtype=np.float64))[used] // size[used]
    number = np.empty(len(size), np.int64)
    number[used[np.lexsort((first[used], mean))]] = np.arange(len(used))
    return number[group]
