"""Orders by keys that a row's codes determine: common code, and the Hilbert curve.

All see one axis per attribute on one scale, so that no attribute's range decides (Goldberger & Tassa 2010, section
6.2.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from sqlanon.engines.base import TableRef
from sqlanon.kernels.canonical_order import order_by_words
from sqlanon.kernels.extent import Geometry
from sqlanon.kernels.rows import TreeRows
from sqlanon.methods.base import Context
from sqlanon.methods.onedim.axes import make_axes as axes_of
from sqlanon.methods.onedim.kernels import hilbert
from sqlanon.methods.onedim.row_orders import RankedRows, SortedRows, SortKeys, arrange_rows
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.kernel_input import LoadedTable
from sqlanon.methods.shared.threads import sort_by, spread, spread_runs
from sqlanon.table.encode import by_code
from sqlanon.table.functions import install_temporary
from sqlanon.table.wide_tables import in_parts

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs


class Curve:
    """An order by keys that are computed from a row's codes alone, and from figures that `measure` computes once."""

    rearranges: ClassVar[bool] = False

    def measure(self, context: Context, geometry: Geometry, sample: Sample) -> Keys:
        """Figures of the table, before any key is made; ``sample`` reads the codes of some rows."""
        raise NotImplementedError

    def kernels(self) -> tuple[object, ...]:
        return ()

    def arrange(self, context: Context, loaded: LoadedTable, ranked: RankedRows | None = None) -> SortedRows:
        """See `Order`; ``ranked``: the result of `rank`, where it is known."""
        ranked = ranked or self.rank(context, loaded)
        return arrange_rows(context, loaded, ranked.order, ranked.begins, ranked.line, ranked.span, exact=ranked.exact)

    def find_stretch(self, rows: int) -> int:
        """Rows between the multiples of which `within` rearranges a table of ``rows`` rows."""
        return rows

    def rank(self, context: Context, loaded: LoadedTable) -> RankedRows:
        """Sort the rows by their keys. Cost: O(n) for each 11 bits."""

        def sample(picked: Longs) -> Ints:
            along = np.lexsort(tuple(loaded.codes[::-1]))
            return loaded.codes[:, along[picked]]

        keys = self.measure(context, loaded.geometry, sample)
        words = keys.of(loaded.codes, context.threads, leading=True)
        order, line = sort_by(words[0], context.threads)
        begins = np.ones(len(order), np.bool_)
        np.not_equal(line[1:], line[:-1], out=begins[1:])
        if len(words) > 1:
            alone = begins.copy()
            alone[:-1] &= begins[1:]
            tied = order[~alone]
            later_words = np.array(words[1:])
            later_words[:, tied] = keys.of(np.take(loaded.codes, tied, axis=1), context.threads)[1:]
            spread_runs(
                lambda begin, to: order_by_words(order[begin:to], begins[begin:to], later_words),
                begins,
                context.threads,
            )
        return RankedRows(order, begins, line, keys.span, keys.exact)

    def within(self, context: Context, rows: TreeRows, geometry: Geometry) -> None:
        """See `Order`: keys are all."""

    def key_rows(self, context: Context, block: int) -> SortKeys:
        scratch, quasi = context.scratch, [domain.code for domain in context.encoded.quasi]

        def sample(picked: Longs) -> Ints:
            places = scratch.table("picked")
            scratch.engine.load_arrays(places, {"place": picked.astype(np.int32)})
            statement = scratch.sql("onedim/sample", work=context.encoded.work, picked=places, quasi=quasi)
            codes = np.stack(scratch.fetch_arrays(statement, ["int32"] * len(quasi)))
            scratch.drop(places)
            return codes.astype(np.int32, copy=False)

        keys = self.measure(context, kernel_input.make_geometry(context), sample)
        table = scratch.table("keyed")
        past = context.encoded.past
        for start in range(0, past, block):
            rid, codes, _, _ = kernel_input.fetch_codes(context, tie_break=False, span=(start, start + block))
            words = keys.of(codes, context.threads)
            columns = {f"key{i}": word for i, word in enumerate(words)}
            scratch.engine.load_arrays(table, {"rid": rid, **columns})
            context.progress.update(min(start + block, past), past, "keys")
        return SortKeys(table, tuple(columns), keys.span)


class Sample(Protocol):
    """Reads rows of the table."""

    def __call__(self, picked: Longs) -> Ints:
        """Codes, int32[d, m], of the rows at these places of the table by QI codes."""


class Keys(Protocol):
    """Makes keys of codes."""

    @property
    def span(self) -> int:
        """The largest key there can be."""

    @property
    def exact(self) -> bool:
        """Whether rows of equal keys have equal codes."""

    def of(self, codes: Ints, threads: int, *, leading: bool = False) -> list[Longs]:
        """Keys of int32[d, n] codes as columns to sort by, the leading first; or zeros in place of the others."""


class Hilbert(Curve):
    """Along the Hilbert curve (Ghinita et al. 2009, section 6; Skilling 2004)."""

    def key_rows(self, context: Context, block: int) -> SortKeys:
        """See `Order`.

        Under ``execution: pushdown`` the stored function is used if it exists; keys from here are several times
        faster.
        """
        keys = self.measure(context, kernel_input.make_geometry(context))
        functions = context.scratch.engine.capabilities.temporary_functions
        if context.execution != "pushdown" or keys.words > 1 or not functions:
            return Curve.key_rows(self, context, block)
        scratch, table = context.scratch, context.scratch.table("keyed")
        axes = []
        for j, places in zip(keys.turned, keys.tables, strict=True):
            axes.append({"code": context.encoded.quasi[j].code, "table": scratch.table(f"axis{j}")})
            columns = {"code": np.arange(len(places), dtype=np.int32), "cell": places.astype(np.int32)}
            scratch.engine.load_arrays(scratch.table(f"axis{j}"), columns)

        def cells_of(part: TableRef, some: Sequence[dict[str, Any]], _: bool) -> list[str]:
            scratch.execute("onedim/hilbert_cells", part=part, work=context.encoded.work, axes=some)
            return [axis["code"] for axis in some]

        cells = in_parts(scratch, "cells", "rid", axes, cells_of)
        with install_temporary(scratch.engine) as schema:
            scratch.execute(
                "onedim/hilbert_keys",
                keyed=table,
                cells=cells,
                axes=[axis["code"] for axis in axes],
                bits=keys.bits,
                functions=schema,
            )
        scratch.drop(cells)
        return SortKeys(table, ("key0",), keys.span)

    def measure(self, context: Context, geometry: Geometry, sample: Sample | None = None) -> _HilbertKeys:
        axes = axes_of(context, geometry)
        numbers = by_code(context.scratch, "table/domain_counts", context.encoded.quasi, "int64")
        counts = [count.astype(np.int64) for _, count in numbers]
        turned = hilbert.order_axes(axes, counts)
        turned = [j for j in turned if axes[j].any()] or turned[:1]
        bits = hilbert.count_grid_bits([axes[j] for j in turned])
        tables = [hilbert.make_cells(axes[j], bits) for j in turned]
        return _HilbertKeys(bits, turned, tables, all(j in turned or len(axes[j]) == 1 for j in range(len(axes))))


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

    def of(self, codes: Ints, threads: int, *, leading: bool = False) -> list[Longs]:
        words = np.zeros((self.words, codes.shape[1]), np.int64)
        turned, cells = np.array(self.turned), np.concatenate(self.tables)
        begin = np.cumsum([0] + [len(table) for table in self.tables[:-1]])
        # The leading digits of a key are those of the cell on a coarser grid.
        bits = min(self.bits, -(-hilbert.WORD_BITS // len(turned))) if leading else self.bits
        cells = cells >> np.uint32(self.bits - bits)
        key_words = words[:1] if leading else words
        spread(
            lambda start, to: hilbert.make_code_keys(codes, turned, cells, begin, bits, key_words, start, to),
            codes.shape[1],
            threads,
        )
        return list(words)
