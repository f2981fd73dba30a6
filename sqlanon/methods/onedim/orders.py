"""Orders: total orders in which neighbouring rows are alike (design, section 5).

An order arranges rows in memory, or makes a table of keys by which the engine sorts tables beyond memory; both give the
same order. All see one axis per attribute on one scale, so that no attribute's range decides (Goldberger & Tassa 2010,
section 6.2.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels import hilbert, idistance
from sqlanon.kernels.canonical_order import by_words, settle
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.mondrian import grow
from sqlanon.kernels.requirements import demands_of
from sqlanon.kernels.rows import Bare, Rows
from sqlanon.methods.base import Context
from sqlanon.methods.mondrian.tree import grow_tree
from sqlanon.methods.onedim.axes import axes as axes_of
from sqlanon.methods.onedim.axes import preferring
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import Loaded
from sqlanon.methods.shared.threads import sorted_by, spread, spread_runs
from sqlanon.table.encode import by_code
from sqlanon.table.functions import temporary
from sqlanon.table.wide import in_parts

if TYPE_CHECKING:
    import numpy.typing as npt

    Longs = npt.NDArray[np.int64]
    Ints = npt.NDArray[np.int32]

ONE_TREE, TREE_ROWS = 1 << 16, 1 << 11
"""A table of up to `ONE_TREE` rows has one tree; a larger one has a tree for every `TREE_ROWS` rows of the curve. Measured on
500,000 rows of the SAL census, k = 10: range NCP 0.0094 with trees of 2^9 to 2^12 rows (0.0096 with the smallest), 0.0095 with one."""

_TOGETHER = 32
"""Trees that are grown by one call."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """Rows in order, as solvers take them.

    Attributes:
        rows: the rows, in order; ``number`` is each one's place in what was loaded.
        line, span: as in `Sorted`.
    """

    rows: Rows
    line: Longs | None
    span: int


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows in order.

    Attributes:
        bare: the rows, in order; ``number`` is each one's place in what was loaded.
        line: int64[n], ascending keys whose differences are distances; None where the order has none.
        span: the largest key there can be.
    """

    bare: Bare
    line: Longs | None = None
    span: int = 0

    def arranged(self, geometry: Geometry, threads: int, *, codes: bool = True) -> Arranged:
        """The rows as they are now."""
        return Arranged(kernel_input.filled(self.bare, geometry, threads, codes=codes), self.line, self.span)


@dataclass(frozen=True, slots=True)
class Keyed:
    """Keys in the database: a scratch table (rid, one or more bigint columns to sort by); ``span`` as in `Sorted`."""

    table: TableRef
    columns: tuple[str, ...]
    span: int = 0


class Order(Protocol):
    """A total order of rows: keys, and a rearrangement of the rows between fixed places."""

    rearranges: ClassVar[bool]
    """Whether `within` does anything."""

    def arrange(self, context: Context, loaded: Loaded) -> Sorted:
        """Bring rows in memory into the order of their keys."""

    def keyed(self, context: Context, block: int) -> Keyed:
        """Make a table of keys; memory is that of ``block`` rows, and what the order itself needs."""

    def within(self, context: Context, rows: Bare, geometry: Geometry) -> None:
        """Rearrange rows that are sorted by their keys, in place: those between two multiples of `ONE_TREE` among themselves."""


class _Curve:
    """An order by keys that are computed from a row's codes alone, given what ``_measure`` finds out once."""

    rearranges: ClassVar[bool] = False

    def _measure(self, context: Context, geometry: Geometry, sample: _Sample) -> _Keys:
        raise NotImplementedError

    def arrange(self, context: Context, loaded: Loaded) -> Sorted:
        """See `Order`."""

        def sample(picked: Longs) -> Ints:
            along = np.lexsort(tuple(loaded.codes[::-1]))
            return loaded.codes[:, along[picked]]

        keys = self._measure(context, loaded.geometry, sample)
        words = keys.of(loaded.codes, context.threads)
        order, line = sorted_by(words[0], context.threads)
        begins = np.zeros(len(order), np.bool_)
        np.not_equal(line[1:], line[:-1], out=begins[1:])
        if len(words) > 1:
            others = np.array(words[1:])
            spread_runs(lambda at, to: by_words(order[at:to], begins[at:to], others), begins, context.threads)
        return settled(context, loaded, order, begins, line, keys.span, exact=keys.exact)

    def within(self, context: Context, rows: Bare, geometry: Geometry) -> None:
        """See `Order`: keys are all."""

    def keyed(self, context: Context, block: int) -> Keyed:
        """See `Order`."""
        scratch, quasi = context.scratch, [domain.code for domain in context.encoded.quasi]

        def sample(picked: Longs) -> Ints:
            places = scratch.table("picked")
            scratch.engine.load_arrays(places, {"place": picked.astype(np.int32)})
            statement = scratch.sql("order/sample", work=context.encoded.work, picked=places, quasi=quasi)
            codes = np.stack(scratch.fetch_arrays(statement, ["int32"] * len(quasi)))
            scratch.drop(places)
            return codes.astype(np.int32, copy=False)

        keys = self._measure(context, kernel_input.geometry(context), sample)
        table = scratch.table("keyed")
        past = context.encoded.past
        for start in range(0, past, block):
            rid, codes, _, _ = kernel_input.fetch_codes(context, tie_break=False, span=(start, start + block))
            words = keys.of(codes, context.threads)
            columns = {f"key{i}": word for i, word in enumerate(words)}
            scratch.engine.load_arrays(table, {"rid": rid, **columns})
            context.progress.update(min(start + block, past), past, "keys")
        return Keyed(table, tuple(columns), keys.span)


class _Sample(Protocol):
    def __call__(self, picked: Longs) -> Ints:
        """Codes, int32[d, m], of the rows at these places of the table by QI codes."""


class _Keys(Protocol):
    @property
    def span(self) -> int:
        """The largest key there can be."""

    @property
    def exact(self) -> bool:
        """Whether rows of equal keys have equal codes."""

    def of(self, codes: Ints, threads: int) -> list[Longs]:
        """Keys of int32[d, n] codes as columns to sort by, the leading one first."""


class Hilbert(_Curve):
    """Along the Hilbert curve (Ghinita et al. 2009, section 6; Skilling 2004)."""

    def keyed(self, context: Context, block: int) -> Keyed:
        """See `Order`. Under ``execution: pushdown`` by the stored function; keys from here are several times faster."""
        keys = self._measure(context, kernel_input.geometry(context))
        if context.execution != "pushdown" or keys.words > 1:
            return _Curve.keyed(self, context, block)
        scratch, table = context.scratch, context.scratch.table("keyed")
        axes = []
        for j, places in zip(keys.turned, keys.tables, strict=True):
            axes.append({"code": context.encoded.quasi[j].code, "table": scratch.table(f"axis{j}")})
            columns = {"code": np.arange(len(places), dtype=np.int32), "cell": places.astype(np.int32)}
            scratch.engine.load_arrays(scratch.table(f"axis{j}"), columns)

        def cells_of(part: TableRef, some: Sequence[dict[str, Any]], _: bool) -> list[str]:
            scratch.execute("order/hilbert_cells", part=part, work=context.encoded.work, axes=some)
            return [axis["code"] for axis in some]

        cells = in_parts(scratch, "cells", "rid", axes, cells_of)
        with temporary(scratch.engine) as schema:
            scratch.execute(
                "order/hilbert_keys",
                keyed=table,
                cells=cells,
                axes=[axis["code"] for axis in axes],
                bits=keys.bits,
                functions=schema,
            )
        scratch.drop(cells)
        return Keyed(table, ("key0",), keys.span)

    def _measure(self, context: Context, geometry: Geometry, sample: _Sample | None = None) -> _HilbertKeys:
        axes = axes_of(context, geometry)
        numbers = by_code(context.scratch, "table/domain_counts", context.encoded.quasi, "int64")
        counts = [count.astype(np.int64) for _, count in numbers]
        turned = hilbert.axes_by_spread(axes, counts)
        turned = [j for j in turned if axes[j].any()] or turned[:1]
        bits = hilbert.grid_bits([axes[j] for j in turned])
        tables = [hilbert.cells(axes[j], bits) for j in turned]
        return _HilbertKeys(
            bits, turned, tables, all(j in turned or len(axes[j]) == 1 for j in range(len(axes)))
        )


@dataclass(frozen=True, slots=True)
class _HilbertKeys:
    bits: int
    turned: Sequence[int]
    tables: Sequence[npt.NDArray[np.uint32]]
    all_turned: bool

    @property
    def span(self) -> int:
        return (1 << min(self.bits * len(self.turned), 63)) - 1

    @property
    def exact(self) -> bool:
        return self.all_turned and all(len(np.unique(table)) == len(table) for table in self.tables)

    @property
    def words(self) -> int:
        return -(-self.bits * len(self.turned) // hilbert.WORD_BITS)

    def of(self, codes: Ints, threads: int) -> list[Longs]:
        words = np.empty((self.words, codes.shape[1]), np.int64)
        turned, cells = np.array(self.turned), np.concatenate(self.tables)
        begin = np.cumsum([0] + [len(table) for table in self.tables[:-1]])
        spread(
            lambda at, to: hilbert.code_keys(codes, turned, cells, begin, self.bits, words, at, to),
            codes.shape[1],
            threads,
        )
        return list(words)


class IDistance(_Curve):
    """Nearest centre, then distance from it (Zhang et al. 2005; Ghinita et al. 2009, section 6).

    The sample is drawn along the table by QI codes, so that it does not depend on how rows are stored.
    """

    def __init__(self, centres: int = idistance.CENTRES) -> None:
        self.centres = centres

    def _measure(self, context: Context, geometry: Geometry, sample: _Sample) -> _Keys:
        n = context.encoded.rows
        size = idistance.sample_size(n, self.centres)
        picked = np.random.default_rng(context.seed).choice(n, size=size, replace=False)
        axes = [line.astype(np.int32) for line in axes_of(context, geometry)]
        centres = idistance.find_centres(_points(axes, sample(np.sort(picked))), self.centres)
        return _DistanceKeys(axes, centres)


@dataclass(frozen=True, slots=True)
class _DistanceKeys:
    axes: Sequence[Ints]
    centres: Ints
    exact: ClassVar[bool] = False

    @property
    def span(self) -> int:
        return len(self.centres) * idistance.offset(len(self.axes))

    def of(self, codes: Ints, threads: int) -> list[Longs]:
        keys, n = np.empty(codes.shape[1], np.int64), codes.shape[1]

        def some(at: int, to: int) -> None:
            idistance.distance_keys(_points(self.axes, codes[:, at:to]), self.centres, keys[at:to])

        spread(some, n, threads)
        return [keys]


def _points(axes: Sequence[Ints], codes: Ints) -> Ints:
    return np.ascontiguousarray(
        np.stack([table[column] for table, column in zip(axes, codes, strict=True)], axis=1)
    )


class Tree(Hilbert):
    """Leaves of loss-cut trees, one over all rows or over stretches of the Hilbert curve (ours; design, section 5).

    One tree over a large table would cost more and lose more: its first cuts, which are straight, pass through rows that
    belong together, while the curve's stretches are of any shape.
    """

    rearranges: ClassVar[bool] = True

    def arrange(self, context: Context, loaded: Loaded) -> Sorted:
        """See `Order`: the curve. Its keys are no line, since `within` leaves them."""
        return Sorted(super().arrange(context, loaded).bare)

    def keyed(self, context: Context, block: int) -> Keyed:
        """See `Order`."""
        return replace(super().keyed(context, block), span=0)

    def within(self, context: Context, rows: Bare, geometry: Geometry) -> None:
        """See `Order`.

        A single tree is grown down to equal rows. Many trees take most of the time, so their leaves hold up to a class of
        rows, in the curve's order. Range NCP of SAL, k = 10: 0.0001 more than with single rows, in half the time.

        Cost: O(n d^2) a level of a tree.
        """
        d, n = len(geometry.facts), len(rows.number)
        free, domains = demands_of(1, []), kernel_input.sizes(context)
        one, geometry = context.encoded.rows <= ONE_TREE, preferring(context, geometry)
        if one:
            spare = kernel_input.room(n, d, geometry)
            grow_tree(rows, spare, geometry, free, domains, context.threads, context.progress)
            return
        leaf, together = kernel_input.least_class(context), _TOGETHER * TREE_ROWS

        def some(start: int) -> None:
            stop = min(start + together, n)
            spare, begins = kernel_input.room(TREE_ROWS, d, geometry), np.zeros(stop - start, np.bool_)
            bounds = np.append(np.arange(0, stop - start, TREE_ROWS), stop - start)
            grow(rows.part(start, stop), spare, begins, bounds, geometry, free, domains, False, False, leaf)

        with ThreadPoolExecutor(context.threads) as pool:
            for done, _ in enumerate(pool.map(some, range(0, n, together)), 1):
                context.progress.update(min(done * together, n), n, "rows in order")


ORDERS: Mapping[str, type[Order]] = {"hilbert": Hilbert, "idistance": IDistance, "tree": Tree}
"""Every order by name."""


def canonical(context: Context, loaded: Loaded) -> Sorted:
    """By QI codes in column order, with the ties every order has: what methods that draw at random start from."""
    order = np.lexsort(tuple(loaded.codes[::-1]))
    begins = np.zeros(len(order), np.bool_)
    for column in loaded.codes:
        begins[1:] |= column[order[1:]] != column[order[:-1]]
    return settled(context, loaded, order, begins, exact=True)


def settled(
    context: Context, loaded: Loaded, order: Longs, begins: npt.NDArray[np.bool_], line: Longs | None = None,
    span: int = 0, *, exact: bool,
) -> Sorted:  # fmt: skip
    """Break ties, then bring the rows into the order; ``exact`` says that the rows of a tie have equal codes."""
    codes = loaded.codes[:0] if exact else loaded.codes
    sensitive = loaded.sensitive_matrix
    spread_runs(
        lambda at, to: settle(order[at:to], begins[at:to], codes, sensitive, loaded.rid),
        begins,
        context.threads,
    )
    bare = kernel_input.bare_of(loaded.codes, order.astype(np.int32), loaded.geometry, context.threads)
    return Sorted(bare, line, span)
