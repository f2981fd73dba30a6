"""The best single-dimensional partition of ordered columns, published as intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sqlanon.errors import InfeasibleError
from sqlanon.kernels.compiled import expect
from sqlanon.methods.base import Assignment, Context
from sqlanon.methods.fulldomain.cells import Cells, attach
from sqlanon.methods.fulldomain.kernels.lattice import group
from sqlanon.papers.koptimize.cut_search import CutSearch
from sqlanon.papers.koptimize.cut_sets import CutSets, read_records
from sqlanon.papers.koptimize.declaration import SECONDS, affordable_sets
from sqlanon.papers.koptimize.kernels.cut_bounds import cut_bounds
from sqlanon.papers.koptimize.kernels.cut_intervals import search_intervals
from sqlanon.papers.koptimize.kernels.cut_slabs import bound_slabs

if TYPE_CHECKING:
    import numpy.typing as npt

    from sqlanon.arrays import Flags, Ints
    from sqlanon.engines.base import TableRef
    from sqlanon.papers.koptimize.cut_sets import Records


def assign(context: Context, metric: str, most: int) -> Assignment:
    """The best set of cuts, or the best of ``most``; 0: of those that take about `SECONDS`.

    Raises:
        InfeasibleError: no set keeps within the limit of suppressed rows.
    """
    expect(cut_bounds, bound_slabs, search_intervals, group)
    records, cells = read_records(context, metric)
    sets = CutSets(context, metric, records)
    search = CutSearch(sets, context.most_unassigned, context.progress)
    proven = search.run(most or affordable_sets(len(records.rows), len(records.codes)))
    if search.best is None:
        raise InfeasibleError(
            "koptimize: no set of cuts has suppressed rows that are a class of k rows within the limit: raise limit, "
            "or say rows: left_out"
        )
    score, head = search.best
    assignment = _assign_set(context, sets, cells, head, tuple(_notes(search, sets, score, head, most, proven=proven)))
    bound = {"bound": round(sets.value(search.bound))} if metric == "dm" else {}
    return replace(assignment, search={"looked_at": search.looked, **bound})


def _notes(search: CutSearch, sets: CutSets, score: int, head: Flags, most: int, *, proven: bool) -> list[str]:
    best = (
        f"{search.looked} sets of cuts were looked at, {int(head.sum())} of {sets.count} cuts are published; "
        f"{sets.metric} {sets.describe(score)}"
    )
    if proven:
        return [f"koptimize: {best}, the least of all"]
    why = f"as sets: {most} says" if most else f"after about {SECONDS} s; sets: N looks at N"
    gap = 1 - sets.value(search.bound) / max(sets.value(score), 1e-300)
    return [
        f"koptimize: {best}",
        (
            f"koptimize: the search ended there, {why}; no set costs less than "
            f"{sets.describe(search.bound)}, {gap:.2%} below"
        ),
    ]


def _assign_set(context: Context, sets: CutSets, cells: Cells, head: Flags, notes: tuple[str, ...]) -> Assignment:
    """The classes of a set: numbered by their intervals, those below k starred or left out."""
    label, classes = sets.group_rows(head, sets.records)
    few = classes.rows < sets.k
    order = np.lexsort(list(reversed(classes.codes)))
    order = order[~few[order]]
    number = np.full(len(few), len(order) if sets.starred else -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    kept_records = np.flatnonzero(number[label] >= 0)
    table, _ = attach(
        context, cells, kept_records.astype(np.int32), number[label][kept_records], cells.rows[kept_records]
    )
    star = len(order) if sets.starred and few.any() else None
    gone = int(classes.rows[few].sum()) if star is not None else 0
    code = cells.codes[:, ~few[label]]
    spans = _spans(context, sets.parts(head), code, classes, order, gone)
    leaves_out = context.suppression is not None and not sets.starred and context.most_unassigned > 0
    return Assignment(
        table, "kernel", notes, spans=spans, wider=True, divided=False, unassigned=leaves_out, starred=star
    )


def _spans(
    context: Context,
    parts: list[Ints],
    present: Ints,
    classes: Records,
    order: npt.NDArray[np.intp],
    starred: int,
) -> TableRef:
    """The intervals of the classes, as recode/spans makes them.

    ``starred`` rows, if there are any, have the whole domain.

    An interval ends at values of rows that have a class (``present``, int32[d, f]), the same in all classes: a value
    that only suppressed rows have is not shown by others.
    """
    star = [starred] if starred else []
    columns: dict[str, npt.NDArray[np.generic]] = {
        "class": np.arange(len(order) + len(star), dtype=np.int32),
        "n": np.append(classes.rows[order], star).astype(np.int64),
    }
    for j, (domain, part) in enumerate(zip(context.encoded.quasi, parts, strict=True)):
        own_codes, codes = part[classes.codes[j][order]], np.unique(present[j])
        low = codes[np.searchsorted(part[codes], own_codes, side="left")]
        high = codes[np.searchsorted(part[codes], own_codes, side="right") - 1]
        columns[f"lo_{domain.code}"] = np.append(low, [0] * len(star)).astype(np.int32)
        columns[f"hi_{domain.code}"] = np.append(high, [len(part) - 1] * len(star)).astype(np.int32)
    table = context.scratch.table("spans")
    context.scratch.engine.load_arrays(table, columns)
    return table
