"""Rows in the order `tree`, cut into blocks that are clustered one by one; ties between rows are broken by that order.

A block is as many rows as its method's option says, or the whole table. One that does not meet the requirements joins the next, so that
neither memory nor threads decide about a class.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.declared.methods import MOST_CLUSTERED
from sqlanon.errors import InfeasibleError
from sqlanon.kernels.requirements import Demands, new_counters, satisfied
from sqlanon.methods.base import Assignment, Context, Problem
from sqlanon.methods.onedim.orders import Tree
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.class_boxes import spans

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.kernels.extent import Geometry
    from sqlanon.kernels.rows import Rows

    Ints = npt.NDArray[np.int32]

Work = Callable[["Rows", "Geometry", Demands, "Ints"], int]
"""Clusters rows: writes the cluster of each, from 0, and gives their number."""


def lacks_memory(name: str, problem: Problem) -> str | None:
    """What to do where the table does not fit into the memory that kernels may use."""
    d, s = len(problem.quasi), problem.counted
    lack = problem.lacks(problem.rows * (12 * (d + s) + 40 * (d + 8) + 120))
    return f"method {name} {lack}, or use mondrian" if lack else None


def clustered(context: Context, name: str, block: int, work: Work) -> Assignment:
    """The classes that ``work`` makes of every block, numbered in the order of the rows.

    Args:
        context: the run.
        name: the method, for errors.
        block: rows of a block.
        work: the kernel.

    Raises:
        InfeasibleError: so many blocks in a row fail that the square of their rows would take too long.

    Cost: that of the order, and of ``work`` for every block, on as many threads as there are.
    """
    loaded, order = kernel_input.load(context), Tree()
    found = order.arrange(context, loaded)
    order.within(context, found.bare, loaded.geometry)
    rows = found.arranged(loaded.geometry, context.threads).rows
    n = len(rows.number)
    demands = kernel_input.demands(context, loaded.sensitive, n, kernel_input.whole_table(context))
    cuts = list(pairwise(bounds(demands, rows.number, block)))
    largest = max(stop - start for start, stop in cuts)
    most = max(MOST_CLUSTERED, 2 * block)
    if largest > most:
        raise InfeasibleError(
            f"method {name}: blocks of {block} rows do not meet the requirements by themselves, and {largest} rows would be clustered "
            f"together, of at most {most}; use a larger block, or method tree with refine: {{search: 32}}"
        )
    group = np.zeros(n, np.int32)

    def made(span: tuple[int, int]) -> int:
        start, stop = span
        return work(rows.part(start, stop), loaded.geometry, demands, group[start:stop])

    classes = 0
    with ThreadPoolExecutor(context.threads) as pool:
        for done, (span, count) in enumerate(zip(cuts, pool.map(made, cuts), strict=True), 1):
            group[slice(*span)] += classes
            classes += count
            context.progress.update(done, len(cuts), "blocks clustered")
    of_row = np.empty(n, np.int32)
    of_row[rows.number] = group
    table = context.scratch.table("assign")
    context.scratch.engine.load_arrays(table, {"rid": loaded.rid, "class": of_row})
    boxes = spans(context, found.bare, loaded.geometry, group, np.arange(classes, dtype=np.int32))
    return Assignment(table, "kernel", spans=boxes)


def bounds(demands: Demands, numbers: Ints, block: int) -> list[int]:
    """Where blocks begin and end: each meets the requirements, if all rows together do.

    Args:
        demands: the requirements.
        numbers: the number in them of every row, in order.
        block: rows of a block, at least 1.
    """
    n = len(numbers)
    counters = new_counters(demands, n)

    def holds(start: int, stop: int) -> bool:
        return bool(satisfied(demands, numbers[start:stop], np.arange(stop - start), counters))

    cuts = [0]
    for end in range(block, n, block):
        if holds(cuts[-1], end):
            cuts.append(end)
    while len(cuts) > 1 and not holds(cuts[-1], n):
        cuts.pop()
    return [*cuts, n]
