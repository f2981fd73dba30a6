"""Top-down specialization (after Fung, Wang and Yu 2005)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import ColumnOption, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import notimpl
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_BOUND, NO_POPULATION, ROWS_ALONE


def refuse_unknown_target(request: Request) -> Refusal | None:
    """A node's information about the target is counted by codes, which sensitive columns have."""
    target = str(request.options["target"])
    # Engines compare names in their own way; the method itself compares with the source's columns.
    if not target or target.lower() in {name.lower() for name in request.named}:
        return None
    names_known = f" ({', '.join(request.named)})" if request.named else ""
    what = f"{request.method}: target is no sensitive column of the policy"
    return Refusal(what, f"name one{names_known}, or leave target out", "target")


def refuse_refinement(request: Request) -> Refusal | None:
    """Refining moves single rows between classes, which then are not at the nodes of the cut."""
    if not request.refine or request.options["publish"] == "least":
        return None
    what = f"{request.method}: publish=cut is not kept by refine, which moves single rows between classes"
    return Refusal(what, "leave refine out, or say publish=least", "publish")


TDS = MethodDeclaration(
    "tds",
    "Top-down specialization: nodes of hierarchies are replaced by their children (after Fung, Wang and Yu 2005).",
    "sqlanon.papers.tds.method:TDS",
    Cost(0.01, 0.011, columns=0.75, worst=10.0),
    (
        ColumnOption(
            "target",
            "A sensitive column: of all nodes the one is specialized that says most of it for the fall of the smallest "
            "class. Without it the one that makes the boxes of the most rows smaller.",
        ),
        Word(
            "publish",
            ("least", "cut"),
            "Whether a class is published at its least common node, or at the nodes of the cut.",
        ),
    ),
    pushdown=notimpl("it is not written as SQL"),
    maximizes=NO_BOUND,
    formats=("ranges", "labels", "points", "suppressed"),
    other_formats=BOXES_ALONE,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    rules=(refuse_unknown_target, refuse_refinement),
    after="best",
)
