"""Clusters of rows, in blocks of the order `tree`."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration, SizeLimit
from sqlanon.declared.method_options import Whole, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_BOUND, NO_POPULATION, NO_SQL, ROWS_ALONE

MOST_CLUSTERED = 50_000
"""Rows that are clustered together, at most: the cost is their square."""


BLOCK = Whole(
    "block",
    1,
    MOST_CLUSTERED,
    MOST_CLUSTERED,
    "Rows of the order `tree` that are clustered together; by default the whole table, which may have no more rows "
    "than this.",
)


CLUSTERED = (
    SizeLimit(
        "rows",
        MOST_CLUSTERED,
        "block=4096, or tree with refine and its search",
        "its cost is quadratic",
        ("block", MOST_CLUSTERED),
    ),
)
"""Of every method that clusters rows."""


WITH_BOXES = ("ranges", "labels", "points", "suppressed")
"""Formats of boxes."""


KMEMBER = MethodDeclaration(
    "kmember",
    "Greedy clusters, each around a row far from the last (Byun et al. 2007).",
    "sqlanon.methods.clustering.kmember:KMember",
    Cost(0.02, 0.27, rows=1.9, columns=0.9, worst=10.0, row_bytes=440, column_bytes=52, block="block", flat=8.0),
    (
        Word(
            "grow",
            ("cluster", "centre"),
            "Whether a cluster takes the row that widens it least, or those nearest to its first row (as Goldberger "
            "and Tassa 2010 put it).",
            shown=True,
        ),
        BLOCK,
    ),
    pushdown=NO_SQL,
    maximizes=NO_BOUND,
    formats=WITH_BOXES,
    other_formats=BOXES_ALONE,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    limits=CLUSTERED,
    unites=True,
)


def refuse_counted_values(request: Request) -> Refusal | None:
    """By pmi alone classes become uniform in the sensitive column."""
    objective = request.options["objective"]
    if objective not in ("pmi", "mixed"):
        return None
    key, instead = f"{request.method}: objective={objective}", "use objective=loss or mi"
    if request.sensitive != 1:
        return Refusal(f"{key} is for one sensitive column, and there are {request.sensitive}", instead, "objective")
    if not {"l", "distinct_l"} & set(request.requirements):
        what = f"{key} makes classes of one sensitive value unless l or distinct_l is asked"
        return Refusal(what, f"ask for l: 2, or {instead}", "objective")
    if request.frozen:
        what = (
            f"{key} refuses rows of more than 256 values, and mode: frozen tries no cohort whose rows could be refused "
            "by their values and tried again"
        )
        return Refusal(what, f"{instead}, or mode: full", "objective")
    return None


def refuse_weight(request: Request) -> Refusal | None:
    """``w`` weighs the two parts of ``mixed``."""
    if request.options["w"] == 50 or request.options["objective"] == "mixed":
        return None
    what = f"{request.method}: w is for objective=mixed"
    return Refusal(what, "leave w out, or say objective=mixed", "w")


def refuse_repetition(request: Request) -> Refusal | None:
    """Only a random start can give something else."""
    if request.options["runs"] == 1 or request.options["start"] == "random":
        return None
    what = f"{request.method}: start=tree draws nothing, so that every run gives the same"
    return Refusal(what, "leave runs out, or say start=random", "runs")


def refuse_refinement(request: Request) -> Refusal | None:
    """Refining lowers the loss of boxes."""
    objective = request.options["objective"]
    if not request.refine or objective == "loss":
        return None
    what = f"{request.method}: refine lowers the loss, not objective={objective}"
    return Refusal(what, "leave refine out, or say objective=loss", "objective")


SEQUENTIAL = replace(
    KMEMBER,
    name="sequential",
    about="Clusters that rows move between while an objective falls (Goldberger and Tassa 2010).",
    code="sqlanon.methods.clustering.sequential:Sequential",
    cost=Cost(
        0.05,
        24.0,
        rows=2.0,
        k=-0.8,
        worst=10.0,
        row_bytes=500,
        column_bytes=52,
        block="block",
        times="runs",
        slower=(("objective", "mi", 1.1), ("objective", "pmi", 0.9), ("objective", "mixed", 2.6)),
        flat=0.2,
        beyond=1.9,
    ),
    options=(
        Word(
            "start",
            ("random", "tree"),
            "Whether rows are dealt out to clusters at random or along the order `tree`.",
            shown=True,
        ),
        Word(
            "objective",
            ("loss", "mi", "pmi", "mixed"),
            "What falls: the loss; the metric `mi_loss`; `pmi_loss`, for classes of one sensitive value; or both, by "
            "`w`.",
            shown=True,
        ),
        Whole("w", 0, 100, 50, "Percent that mi weighs in objective=mixed; the rest is pmi."),
        Whole("runs", 1, 20, 1, "How often it begins anew, with other random numbers; the least cost counts."),
        Whole("alpha", 10, 200, 50, "Percent of k: rows of a cluster at the start."),
        Whole("omega", 101, 200, 150, "Percent of k: larger clusters are split in two where the cost does not rise."),
        BLOCK,
    ),
    rules=(refuse_counted_values, refuse_weight, refuse_repetition, refuse_refinement),
)
