"""The dual problem by IPCSD on strict Mondrian (Ghinita et al. 2009, Figure 3): l, or k, is searched by binary search.

Every probe is a run of the kernel on the rows that are in memory already. l is probed in thousandths, rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.kernels.bounds import measure_widest
from sqlanon.kernels.compiled import expect
from sqlanon.kernels.mondrian import grow, grow_by_median
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.mondrian.tree import CutInput, grow_tree
from sqlanon.methods.onedim.axes import weigh_geometry
from sqlanon.methods.onedim.dual import format_notes
from sqlanon.methods.onedim.ipcsd import THRESHOLD, search_l
from sqlanon.methods.shared import kernel_input
from sqlanon.methods.shared.loss_bound import bounds_of
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.diversity.requirement import FrequencyDiversity
from sqlanon.privacy.kanonymity.requirement import KAnonymity

_PARTS = 1000
"""Parts of 1 in which l is probed: few, so that the kernel's factors stay small."""


def assign(context: Context, *, median: bool) -> Assignment:
    """The most private strict Mondrian within the bound that the search finds.

    Args:
        context: the run; every probe keeps to the requirements, where the table admits them.
        median: cut at the median.

    Cost: about log2(10 n / most frequent) runs of Mondrian for l, log2(n) for k.
    """
    assert context.accuracy is not None
    n, goal = context.encoded.rows, context.accuracy.maximize
    expect(grow_by_median if median else grow)
    rid, codes, sensitive, _ = kernel_input.fetch_codes(context, False)
    geometry, bounds = kernel_input.make_geometry(context), bounds_of(context)
    cutting = weigh_geometry(context, geometry)
    rows = kernel_input.bare_of(codes, np.arange(n, dtype=np.int32), geometry, context.threads)
    spare = kernel_input.make_room(n, len(codes), geometry)
    best: dict[Fraction, np.ndarray[tuple[int], np.dtype[np.int32]]] = {}

    whole = kernel_input.whole_table(context)

    def probe(level: Fraction) -> int:
        raised = replace(context, requirements=_raise_requirement(context, level))
        demands = kernel_input.demands(raised, sensitive, n, whole)
        first = grow_tree(
            CutInput(rows, spare, cutting, demands, kernel_input.list_sizes(context)),
            context.threads,
            context.progress,
            median=median,
        )
        group = (np.cumsum(first) - 1).astype(np.int32)
        loss = measure_widest(rows.codes, group, int(group[-1]) + 1, geometry, bounds)
        if loss <= bounds.total:
            classes = np.empty(n, np.int32)
            classes[rows.number] = group
            best[level] = classes
        return loss

    top, threshold = Fraction(n), Fraction(1)
    if goal == "l":
        top, threshold = Fraction(n, int(np.bincount(sensitive[0]).max())), THRESHOLD
    best_probe = search_l(probe, top, bounds.total, threshold)
    if best_probe.l is None:
        raise InfeasibleError(
            f"method mondrian found no classes within the bound, whatever the {goal}; nothing was published. Allow "
            "more loss, ask for less under at_least, or use hilbert"
        )
    table = context.scratch.table("assign")
    context.scratch.engine.load_arrays(table, {"rid": rid, "class": best[best_probe.l]})
    return Assignment(table, "kernel", format_notes(best_probe, goal))


def _raise_requirement(context: Context, level: Fraction) -> Sequence[Requirement]:
    """The requirements, with the probed requirement as high as asked."""
    assert context.accuracy is not None
    goal = context.accuracy.maximize
    other_requirements = [item for item in context.requirements if item.name != goal]
    if goal == "k":
        return [*other_requirements, KAnonymity(Fraction(math.floor(level)))]
    column = context.encoded.sensitive[0].reading.name
    return [*other_requirements, FrequencyDiversity(Fraction(math.floor(level * _PARTS), _PARTS), column, 0)]
