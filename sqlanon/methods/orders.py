"""Orders: total orders of rows in which rows that stand near are alike (design, section 5).

An order is given rows in memory and returns them arranged; for tables beyond memory it makes a table of keys that the
engine sorts by. All see one position per code on one grid, so that no attribute's range decides (Goldberger & Tassa 2010,
section 6.2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sqlanon.kernels import hilbert, idistance
from sqlanon.kernels.demands import Demands
from sqlanon.kernels.rows import Rows
from sqlanon.kernels.ties import settle
from sqlanon.methods import arrays
from sqlanon.methods.arrays import Loaded
from sqlanon.methods.base import Context
from sqlanon.methods.growth import grow_tree

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Arranged:
    """Rows in order.

    Attributes:
        rows: the rows, in order; ``number`` is each one's place in what was loaded.
        line: int64[n], ascending keys whose differences are distances; None where the order has none.
        span: the largest key there can be.
    """

    rows: Rows
    line: Longs | None = None
    span: int = 0


class Order(Protocol):
    """A total order of rows."""

    def arrange(self, context: Context, loaded: Loaded) -> Arranged:
        """Bring rows in memory into the order."""


class Hilbert:
    """Along the Hilbert curve (Ghinita et al. 2009, section 6; Skilling 2004)."""

    def arrange(self, context: Context, loaded: Loaded) -> Arranged:
        """See `Order`. Cost: O(n (d bits + log n))."""
        axes = loaded.axes
        bits = hilbert.grid_bits(axes)
        turned = hilbert.axes_by_spread(axes, loaded.counts)
        tables = [hilbert.cells(axes[j], bits) for j in turned]
        points = [loaded.codes[j] for j in turned]
        d, n = loaded.codes.shape
        if d * bits <= hilbert.WORD_BITS:
            keys = np.empty(n, np.int64)
            _spread(
                lambda at, to: hilbert.word_keys(_cells(tables, points, at, to), bits, keys[at:to]),
                n,
                context,
            )
            order = np.argsort(keys)
            return _settled(context, loaded, order, keys[order], (1 << (d * bits)) - 1)
        long = np.empty((n, -(-d * bits // 8)), np.uint8)
        _spread(
            lambda at, to: hilbert.byte_keys(_cells(tables, points, at, to), bits, long[at:to]), n, context
        )
        words = _words(long)
        order = np.lexsort(tuple(words[::-1]))
        # Distances on the line are those of the leading digits.
        line = (words[0][order] >> np.uint64(1)).astype(np.int64)
        return _settled(context, loaded, order, line, (1 << 63) - 1, _changes(words, order))


class IDistance:
    """Nearest centre, then distance from it (Zhang et al. 2005; Ghinita et al. 2009, section 6)."""

    def arrange(self, context: Context, loaded: Loaded) -> Arranged:
        """See `Order`. Cost: O(n c d) for c centres at worst."""
        d, n = loaded.codes.shape
        points = np.empty((n, d), np.int32)
        for j, places in enumerate(loaded.axes):
            points[:, j] = places.astype(np.int32)[loaded.codes[j]]
        # The sample is drawn along an order of the rows, so that it does not depend on how they are stored.
        along = np.lexsort(tuple(loaded.codes[::-1]))
        picked = np.random.default_rng(context.seed).choice(n, size=idistance.sample_size(n), replace=False)
        centres = idistance.find_centres(points[along[np.sort(picked)]])
        keys = np.empty(n, np.int64)
        _spread(lambda at, to: idistance.distance_keys(points[at:to], centres, keys[at:to]), n, context)
        order = np.argsort(keys)
        return _settled(context, loaded, order, keys[order], len(centres) * idistance.offset(d))


class Tree:
    """Leaves of the loss-cut tree, taken down to single QI tuples (ours; design, section 5)."""

    def arrange(self, context: Context, loaded: Loaded) -> Arranged:
        """See `Order`. Cost: O(n d^2 log n)."""
        d, n = loaded.codes.shape
        rows = arrays.rows_of(loaded.codes, np.arange(n, dtype=np.int32), loaded.geometry, context.threads)
        none, empty = np.zeros(0, np.int64), np.zeros((0, n), np.int32)
        free = Demands(1, none, none, none, empty, empty, 0, 0)
        spare = arrays.room(n, d, loaded.geometry)
        begins = grow_tree(
            rows, spare, loaded.geometry, free, arrays.sizes(context), context.threads, context.progress
        )
        # A leaf is one QI tuple: only the row numbers have to change places.
        order = rows.number.astype(np.int64)
        settle(order, begins, np.zeros((0, n), np.int32), loaded.sensitive_matrix, loaded.rid)
        return Arranged(rows._replace(number=order.astype(np.int32)))


def canonical(context: Context, loaded: Loaded) -> Arranged:
    """By QI codes in column order, with the ties every order has: what methods that draw at random start from."""
    order = np.lexsort(tuple(loaded.codes[::-1]))
    return _settled(context, loaded, order, np.zeros(0, np.int64), 0, _changes(loaded.codes, order))


ORDERS: Mapping[str, type[Order]] = {"hilbert": Hilbert, "idistance": IDistance, "tree": Tree}
"""Every order by name."""


def _spread(work: Callable[[int, int], None], n: int, context: Context) -> None:
    """Deal rows 0 to n among the threads."""
    bounds = [n * part // context.threads for part in range(context.threads + 1)]
    with ThreadPoolExecutor(context.threads) as pool:
        futures = [pool.submit(work, *span) for span in pairwise(bounds)]
    for future in futures:
        future.result()


def _cells(
    tables: Sequence[npt.NDArray[np.uint32]], points: Sequence[npt.NDArray[np.int32]], start: int, stop: int
) -> npt.NDArray[np.uint32]:
    """Grid cells of some rows, uint32[rows, d]."""
    block = np.empty((stop - start, len(tables)), np.uint32)
    for j, (table, codes) in enumerate(zip(tables, points, strict=True)):
        block[:, j] = table[codes[start:stop]]
    return block


def _changes(columns: Iterable[npt.NDArray[Any]], order: Longs) -> npt.NDArray[np.bool_]:
    """Where, along an order, any column changes."""
    begins = np.zeros(len(order), np.bool_)
    for column in columns:
        begins[1:] |= column[order[1:]] != column[order[:-1]]
    return begins


def _words(keys: npt.NDArray[np.uint8]) -> list[npt.NDArray[np.uint64]]:
    """Byte keys as 64-bit words, the leading one first."""
    n, width = keys.shape
    padded = np.zeros((n, -(-width // 8) * 8), np.uint8)
    padded[:, :width] = keys
    return [column.astype(np.uint64) for column in padded.view(">u8").T]


def _settled(
    context: Context, loaded: Loaded, order: Longs, line: Longs, span: int,
    begins: npt.NDArray[np.bool_] | None = None,
) -> Arranged:  # fmt: skip
    """Break ties, then bring the rows into the order."""
    if begins is None:
        begins = _changes([line], np.arange(len(line)))
    begins[:1] = True
    settle(order, begins, loaded.codes, loaded.sensitive_matrix, loaded.rid)
    rows = arrays.rows_of(
        np.ascontiguousarray(loaded.codes[:, order]), order.astype(np.int32), loaded.geometry, context.threads
    )
    return Arranged(rows, line, span)
