"""Matchings, one by one in blocks of the order; each is improved by removing it and making it again.

See `sqlanon.methods.freeform.kernels.assign`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.methods.freeform.kernels.assign import improve
from sqlanon.methods.freeform.kernels.remix import remix
from sqlanon.methods.freeform.kernels.stream import stream

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.extent import Geometry


def windows_of(n: int, block: int, shift: int = 0) -> Longs:
    """First and past-last rows of blocks, int64[w, 2]; a block shorter than half joins a neighbour.

    >>> windows_of(10, 4).tolist()
    [[0, 4], [4, 8], [8, 10]]
    >>> windows_of(9, 4, 2).tolist()
    [[0, 2], [2, 6], [6, 9]]
    """
    cuts = [0, *range(shift or block, n, block), n]
    if len(cuts) > 2 and 2 * (cuts[-1] - cuts[-2]) < block:
        del cuts[-2]
    return np.array([cuts[:-1], cuts[1:]], np.int64).T.copy()


@dataclass(frozen=True, slots=True)
class BlockWalk:
    """How many matchings are made, and in which blocks and passes.

    Attributes:
        k: how many matchings; at most the number of rows.
        block: rows that are assigned together.
        passes: how often every matching is made anew.
        key: of the random numbers by which passes remix.
    """

    k: int
    block: int
    passes: int
    key: bytes = field(repr=False)


def walk_blocks(
    codes: Ints, geometry: Geometry, walk: BlockWalk, threads: int, progress: Callable[[int, int], None] | None = None
) -> Longs:
    """The matchings, int64[k, n]: the box of every row in each of them, no box twice.

    Args:
        codes: int32[d, n], the rows in an order that neighbours are alike in.
        geometry: the attributes.
        walk: number, blocks and passes of the matchings.
        threads: at most; the matchings do not depend on them.
        progress: gets matchings done, of how many.

    Cost: O(n b^2) a matching at worst with blocks of b rows, and O(n (b + k) d).
    """
    k, block, passes, n = walk.k, walk.block, walk.passes, codes.shape[1]
    targets = np.empty((k, n), np.int64)
    targets[0] = np.arange(n)
    positions, price, moved = targets.copy(), np.zeros(n, np.int64), 0
    with ThreadPoolExecutor(threads) as pool:

        def all_of(t: int, matchings: int, windows: Longs) -> None:
            nonlocal moved
            parts = np.array_split(windows, min(4 * threads, len(windows)))
            for _ in pool.map(lambda w: improve(codes, geometry, targets, positions, t, matchings, w, price), parts):
                pass
            moved += 1
            if progress is not None:
                progress(moved, k * (passes + 1) - 1)

        for t in range(1, k):
            all_of(t, t, windows_of(n, block))
        for turn in range(passes if k > 1 else 0):
            mixed = targets.astype(np.int32)
            remix(mixed, k, 1, stream(walk.key, turn))
            targets[:] = mixed
            for t in range(k):
                positions[t, targets[t]] = np.arange(n)
            windows = windows_of(n, block, block // 2 if turn % 2 else 0)
            for t in range(k):
                all_of(t, k, windows)
    return targets
