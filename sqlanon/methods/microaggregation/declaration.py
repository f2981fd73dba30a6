"""Method ``microaggregation``: groups of k rows or more by squared error."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import Whole, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import notimpl
from sqlanon.methods.clustering.declaration import BLOCK, CLUSTERED, WITH_BOXES
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_BOUND, NO_POPULATION, NO_SQL, ROWS_ALONE


def refuse_refinement(request: Request) -> Refusal | None:
    """Refining lowers the loss of boxes."""
    if not request.refine:
        return None
    what = f"{request.method}: refine lowers the loss of boxes, not the squared error"
    return Refusal(what, "leave refine out; its own search is the option search")


def unread_gamma(request: Request) -> Refusal | None:
    """``gamma`` is an option of a single start."""
    if request.options["gamma"] == 20 or request.options["start"] == "vmdav":
        return None
    return Refusal(f"{request.method}: gamma is for start=vmdav", "leave gamma out, or say start=vmdav", "gamma")


MICROAGGREGATION = MethodDeclaration(
    "microaggregation",
    "Groups of least squared error for numbers, from MDAV or V-MDAV, which a search improves (Domingo-Ferrer and "
    "Mateo-Sanz 2002; Solanas and Martinez-Balleste 2006).",
    "sqlanon.methods.microaggregation.method:Microaggregation",
    Cost(0.05, 0.6, rows=1.3, columns=0.8, worst=10.0, row_bytes=700, column_bytes=60, block="block"),
    (
        Word("start", ("mdav", "vmdav"), "The groups that the search begins with: of k rows, or of k to 2k - 1."),
        Whole("gamma", 0, 1000, 20, "Percent; of start=vmdav: 20 for scattered rows, 110 for rows in clusters."),
        Whole("search", 0, 100_000, 4000, "Steps of the search for each row; 0: the groups stay as they begin."),
        BLOCK,
    ),
    pushdown=NO_SQL,
    requirements=("k",),
    other_requirements=notimpl("its search counts the rows of groups alone"),
    maximizes=NO_BOUND,
    formats=WITH_BOXES,
    other_formats=BOXES_ALONE,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    limits=CLUSTERED,
    rules=(refuse_refinement, unread_gamma),
)
