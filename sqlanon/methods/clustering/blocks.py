"""Cuts the rows in the order `tree` into blocks that are clustered one by one; the order also breaks ties.

A block is as many rows as the method's option says, or the whole table. A block that does not meet the requirements
joins the next, so that neither memory nor threads decide about a class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.kernels.requirements import Demands, make_counters, satisfied
from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.methods.clustering.declaration import MOST_CLUSTERED
from sqlanon.methods.onedim.orders import Tree
from sqlanon.methods.onedim.row_orders import SortedRows
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.class_boxes import make_spans

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs
    from sqlanon.kernels.extent import Geometry
    from sqlanon.kernels.rows import Rows
    from sqlanon.methods.shared.kernel_input import LoadedTable


EVERY = 0.5
"""Seconds between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that are clustered together.

    Attributes:
        number: of the block, from 0.
        rows: the rows, in the order `tree`.
        demands: the requirements.
        group: int32[n], for the cluster of each row, from 0.
        stop: int8[1], set where the run was interrupted or another block failed: the clusters are not wanted any more.
        done: int64[1], for the work done on the block.
    """

    number: int
    rows: Rows
    demands: Demands
    group: Ints
    stop: npt.NDArray[np.int8]
    done: Longs

    def cluster(
        self, kernel: Callable[..., int], geometry: Geometry, *more: object, first: tuple[object, ...] = ()
    ) -> int:
        """Run a kernel on the block; ``first`` and ``more`` are its arguments before the rows and after them."""
        rows = self.rows
        arguments = (rows.places, rows.sets, geometry, self.demands, rows.number)
        return int(kernel(*first, *arguments, *more, self.group, self.stop, self.done))


@dataclass(frozen=True, slots=True)
class Blocks:
    """A table in blocks.

    Attributes:
        context: the run.
        loaded: the table, which the numbers of rows index.
        found: the block's rows along the order.
        demands: the requirements.
        cuts: first and past-the-last row of each block.
    """

    context: Context
    loaded: LoadedTable
    found: SortedRows
    demands: Demands
    cuts: Sequence[tuple[int, int]]

    def cluster_blocks(
        self, work: Callable[[Block], int], memory: int = 0, unit: str = "rows clustered", each: int = 1
    ) -> Assignment:
        """The classes of all blocks, numbered in the order of the rows.

        Args:
            work: clusters a block: writes ``group``, and returns the number of clusters. If it takes minutes it looks
                at ``stop``: Python waits for the threads, so that Ctrl-C would be of no use before it ends.
            memory: bytes for a block in addition to the table.
            unit: of the counts in ``done``, for progress.
            each: units of a row, in the end; 0: not known. Then blocks are counted, at the end of each.

        Cost: that of ``work`` for every block, on as many threads as there are and as memory holds blocks.
        """
        context, loaded = self.context, self.loaded
        room = context.memory - table_bytes(len(loaded.rid), len(loaded.codes), len(loaded.sensitive))
        threads = min(context.threads, max(1, room // memory)) if memory else context.threads
        rows = self.found.arrange(loaded.geometry, context.threads).rows
        n = len(rows.number)
        group, stop, progress = np.zeros(n, np.int32), np.zeros(1, np.int8), np.zeros(len(self.cuts), np.int64)

        def solve_block(number: int, span: tuple[int, int]) -> int:
            block_progress, part = progress[number : number + 1], group[slice(*span)]
            count = work(Block(number, rows.part(*span), self.demands, part, stop, block_progress))
            block_progress[0] = max(block_progress[0], each * len(part))
            return count

        def report(ended: int) -> None:
            if each == 0 and ended > 0:
                context.progress.update(ended, len(self.cuts), "blocks clustered")
            else:
                context.progress.update(int(progress.sum()), each * n, unit)

        with ThreadPoolExecutor(threads) as pool:
            try:
                blocks = [pool.submit(solve_block, number, span) for number, span in enumerate(self.cuts)]
                pending = set(blocks)
                while pending:
                    ended, pending = wait(pending, EVERY, FIRST_EXCEPTION)
                    for block in ended:
                        block.result()
                    report(len(blocks) - len(pending))
            except BaseException:
                stop[0] = 1
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        classes = 0
        for span, block in zip(self.cuts, blocks, strict=True):
            group[slice(*span)] += classes
            classes += block.result()
        of_row = np.empty(n, np.int32)
        of_row[rows.number] = group
        table = context.scratch.table("assign")
        context.scratch.engine.load_arrays(table, {"rid": loaded.rid, "class": of_row})
        boxes = make_spans(context, self.found.bare, loaded.geometry, group, np.arange(classes, dtype=np.int32))
        return Assignment(table, "kernel", spans=boxes)


def table_bytes(rows: int, d: int, s: int) -> int:
    """Bytes that rows of d quasi columns and s counted columns hold in memory, at most."""
    return rows * (12 * (d + s) + 40 * (d + 8) + 120)


def lacks_memory(name: str, problem: Problem, more: int = 0) -> str | None:
    """The remedy where the table, and ``more`` bytes, do not fit into the memory that kernels may use."""
    lack = problem.lacks(table_bytes(problem.rows, len(problem.quasi), problem.counted) + more)
    return f"method {name} {lack}, or use mondrian" if lack else None


def in_blocks(context: Context, name: str, block: int) -> Blocks:
    """Read a table and cut it into blocks.

    Args:
        context: the run.
        name: the method, for errors.
        block: rows of a block.

    Raises:
        InfeasibleError: so many blocks in a row fail that the square of their rows would take too long.

    Cost: that of the order.
    """
    loaded, order = kernel_input.load(context), Tree()
    arranged = order.arrange(context, loaded)
    order.within(context, arranged.bare, loaded.geometry)
    n = len(arranged.bare.number)
    demands = kernel_input.demands(context, loaded.sensitive, n, kernel_input.whole_table(context))
    cuts = list(pairwise(find_bounds(demands, arranged.bare.number, block)))
    largest = max(stop - start for start, stop in cuts)
    most = max(MOST_CLUSTERED, 2 * block)
    if largest > most:
        raise InfeasibleError(
            f"method {name}: blocks of {block} rows do not meet the requirements by themselves, and {largest} rows "
            f"would be clustered together, of at most {most}; use a larger block, or method tree with refine: "
            "{search: 32}"
        )
    return Blocks(context, loaded, arranged, demands, cuts)


def find_bounds(demands: Demands, numbers: Ints, block: int) -> list[int]:
    """Where blocks begin and end: each meets the requirements, if all rows together do.

    Args:
        demands: the requirements.
        numbers: the number in them of every row, in order.
        block: rows of a block, at least 1.
    """
    n = len(numbers)
    counters = make_counters(demands, n)

    def holds(start: int, stop: int) -> bool:
        return bool(satisfied(demands, numbers[start:stop], np.arange(stop - start), counters))

    cuts = [0]
    for end in range(block, n, block):
        if holds(cuts[-1], end):
            cuts.append(end)
    while len(cuts) > 1 and not holds(cuts[-1], n):
        cuts.pop()
    return [*cuts, n]
