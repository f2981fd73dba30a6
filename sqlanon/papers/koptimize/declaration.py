"""Cut points of ordered columns (after Bayardo and Agrawal 2005)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import Whole, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import never, notimpl
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_BOUND, NO_POPULATION, ROWS_ALONE

MOST_CUTS = 2000
"""Cut points of all columns, at most: each is looked at with every set of cuts."""
MOST_SETS = 1_000_000
"""Sets of cuts that are looked at, at most."""

SECONDS = 10
"""Seconds of a search without ``sets``, at most, by the estimate of `affordable_sets`."""
_SET, _CODE = 250_000, 15
"""Nanoseconds of a set, and for each code of the different rows; fitted to benchmarks/results/koptimize.json."""


def affordable_sets(records: int, columns: int) -> int:
    """Sets of cuts that take `SECONDS`, roughly; ``records``: different rows.

    >>> affordable_sets(300, 2), affordable_sets(30_000, 8)
    (38610, 2597)
    """
    return max(min(SECONDS * 10**9 // (_SET + _CODE * records * columns), MOST_SETS), 1)


def one_sensitive_column(request: Request) -> Refusal | None:
    """The classification metric is of one sensitive column."""
    if request.options["metric"] != "cm" or request.sensitive == 1:
        return None
    what = f"{request.method}: metric=cm is for one sensitive column, and there are {request.sensitive}"
    return Refusal(what, "use metric=loss or metric=dm", "metric")


def refuse_refinement(request: Request) -> Refusal | None:
    """Refining moves single rows between classes, which then are not intervals of the cuts."""
    if not request.refine:
        return None
    what = f"{request.method}: its intervals are not kept by refine, which moves single rows between classes"
    return Refusal(what, "leave refine out, or use fulldomain")


KOPTIMIZE = MethodDeclaration(
    "koptimize",
    "The best cut points of ordered columns, the same for all rows (after K-Optimize, Bayardo and Agrawal 2005).",
    "sqlanon.papers.koptimize.method:KOptimize",
    # From what is proven at once to the whole budget: data decide, and the number of sets that is asked for.
    Cost(0.1, 0.4, rows=0.5, columns=0.5, worst=100.0, budget=("sets", SECONDS)),
    (
        Word(
            "metric",
            ("loss", "dm", "cm", "c_avg"),
            "What is minimized: LM, the discernability metric, the classification metric, or the mean class size.",
        ),
        Whole(
            "sets",
            0,
            MOST_SETS,
            0,
            "Sets of cuts that are looked at, at most; 0: as many as take about 10 s by an estimate. The report says "
            "where the search ended, and how far below its cost the best set may be.",
        ),
    ),
    pushdown=notimpl("it looks at sets of cuts one after the other, each in what those before it have left"),
    requirements=("k",),
    other_requirements=notimpl("its bounds on what a set of cuts costs are of classes of k rows"),
    maximizes=NO_BOUND,
    formats=("ranges", "labels", "points", "suppressed"),
    other_formats=BOXES_ALONE,
    suppresses="rows",
    persons=ROWS_ALONE,
    whole=never("it publishes intervals of its own, and the rows of a person may not fit the person's"),
    population=NO_POPULATION,
    rules=(one_sensitive_column, refuse_refinement),
    instead="fulldomain or mondrian",
    after="fulldomain",
    replaces=("search", "single"),
)
