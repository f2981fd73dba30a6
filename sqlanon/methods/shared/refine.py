"""Refine.

It is a local improvement of any method's classes, and a search after it (ours, not a paper's; see `kernels.refine`).

Classes must be numbered so that near numbers are alike, as methods with an order number them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError
from sqlanon.methods.base import Assignment, Context
from sqlanon.spec import RefineSpec

if TYPE_CHECKING:
    from sqlanon.arrays import Ints, Longs
    from sqlanon.methods.shared.kernel_input import LoadedTable

BLOCK = 200_000
"""Rows that are refined together. A fixed number, so that neither memory nor threads change the result."""


def refine_assignment(context: Context, assignment: Assignment, spec: RefineSpec) -> Assignment:
    """The assignment with less loss, or as it was; every class still meets the requirements.

    Suppressed rows stay as they are: those without a class, and the starred class.

    Raises:
        PolicyError: the method decides at which levels classes are published, so that the loss is not that of boxes.

    Cost: O(n (window + k) d) a pass, and O(n k d) a trial of the search.
    """
    if assignment.levels is not None:
        raise PolicyError(
            "refine lowers the loss of boxes, and this method publishes classes at levels of its own; leave refine out"
        )
    from sqlanon.methods.shared import kernel_input

    rid, codes, sensitive, label = kernel_input.fetch_codes(
        context, tie_break=False, part=assignment.table, label="class"
    )
    loaded = kernel_input.LoadedTable(rid, codes, sensitive, kernel_input.make_geometry(context))
    classes, search = refine_classes(context, loaded, label, spec, assignment.starred)
    refined = context.scratch.table("refined")
    context.scratch.engine.load_arrays(refined, {"rid": rid, "class": classes})
    for old in (assignment.table, assignment.spans):
        if old is not None:
            context.scratch.drop(old)
    return replace(
        assignment,
        table=refined,
        spans=None,
        divided=True,
        shared=None,
        refined=True,
        search={**assignment.search, **search},
    )


def refine_loaded(
    context: Context, loaded: LoadedTable, label: Ints, execution: str, notes: tuple[str, ...]
) -> Assignment:
    """The refined assignment of classes that a method has in memory: they are stored once, and their boxes beside.

    Args:
        context: the run, with what is asked of the local pass.
        loaded: all rows.
        label: int32[n], the class of each row; none is suppressed.
        execution: of the method.
        notes: of the method.
    """
    import numpy as np

    from sqlanon.methods.shared.class_boxes import make_spans
    from sqlanon.methods.shared.kernel_input import bare_of

    assert context.refine is not None
    classes, search = refine_classes(context, loaded, label, context.refine)
    refined = context.scratch.table("refined")
    context.scratch.engine.load_arrays(refined, {"rid": loaded.rid, "class": classes})
    names, group = np.unique(classes, return_inverse=True)
    order = np.argsort(group, kind="stable").astype(np.int32)
    rows = bare_of(loaded.codes, order, loaded.geometry, context.threads)
    spans = make_spans(context, rows, loaded.geometry, group[order].astype(np.int32), names)
    return Assignment(refined, execution, notes, spans, refined=True, search=search)


def refine_classes(
    context: Context, loaded: LoadedTable, label: Ints, spec: RefineSpec, starred: int | None = None
) -> tuple[Ints, dict[str, int]]:
    """The same of rows in memory.

    Args:
        context: the run.
        loaded: the rows.
        label: int32[n], the class of each row.
        spec: passes and trials.
        starred: the class that stays as it is.

    Returns:
        int32[n], the new classes; and for the report the number of trials.
    """
    import numpy as np

    from sqlanon.kernels.canonical_order import settle
    from sqlanon.methods.shared import kernel_input

    codes, sensitive, geometry = loaded.codes, loaded.sensitive, loaded.geometry
    whole = kernel_input.whole_table(context)
    order = np.argsort(label, kind="stable").astype(np.int32)
    if starred is not None:
        order = order[label[order] != starred]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = label[order[1:]] != label[order[:-1]]
    settle(order, begins, codes, loaded.sensitive_matrix, loaded.rid)
    starts = np.append(np.flatnonzero(begins), len(order))
    classes = label[order].copy()

    def improve(bounds: Longs) -> None:
        from sqlanon.methods.shared.kernels.refine import refine

        start, stop = int(bounds[0]), int(bounds[-1])
        part = order[start:stop]
        rows = kernel_input.rows_of(
            np.ascontiguousarray(codes[:, part]), np.arange(len(part), dtype=np.int32), geometry
        )
        demands = kernel_input.demands(context, [column[part] for column in sensitive], len(part), whole)
        group = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
        names = classes[bounds[:-1]]
        refine(rows.places, rows.sets, geometry, demands, group, len(names), spec.window, spec.passes)
        classes[start:stop] = names[group]

    # A block ends with the class that passes its last row.
    ends = np.searchsorted(starts, np.arange(0, len(order), BLOCK))
    cuts = np.unique(np.append(ends, len(starts) - 1))
    passes = 0
    with ThreadPoolExecutor(context.threads) as pool:
        for _ in pool.map(improve, [starts[a : b + 1] for a, b in pairwise(cuts)]):
            passes += 1
            context.progress.update(passes, len(cuts) - 1, "blocks refined")
    trials = 0
    if spec.search:
        from sqlanon.methods.shared.search import search_classes
        from sqlanon.methods.shared.search_table import SearchTable

        ordered = [column[order] for column in sensitive]
        for number, part in enumerate(spec.list_searches()):
            seeded = replace(context, search_seed=context.search_seed + number)
            table = SearchTable(seeded, np.ascontiguousarray(codes[:, order]), ordered, geometry, whole)
            searched = search_classes(table, classes.astype(np.int64), part.search or 0, part.least_gain)
            classes, trials = searched.group.astype(np.int32), trials + searched.trials
        if starred is not None:  # a number of its own
            classes += classes >= starred
    out = label.astype(np.int32)
    out[order] = classes
    return out, {"trials": trials} if spec.search else {}
