"""Values shown or hidden: TP (Xiao, Yi and Tao 2010) and the cascade."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration, SizeLimit
from sqlanon.declared.method_options import Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import never, notimpl
from sqlanon.methods.shared.declaration import DIVIDE, NO_BOUND, NO_POPULATION, ROWS_ALONE

MOST_SUBSETS = 12
"""Quasi columns of the cascade: 2^12 subsets."""


MOST_MATCHED = 4000
"""Rows of the minimum matching."""


def rest_of_tp(request: Request) -> Refusal | None:
    """The residue of TP is divided by another method, or by the cascade."""
    if request.options["rest"] == "none" or request.options["variant"] == "tp":
        return None
    what = (
        f"{request.method}: rest={request.options['rest']} divides what variant=tp leaves, and the cascade divides it "
        "itself"
    )
    return Refusal(what, "leave rest out, or say variant=tp", "rest")


def refuse_unmatched_values(request: Request) -> Refusal | None:
    """The matching is for pairs of rows of two sensitive values."""
    if request.options["solver"] != "optimal":
        return None
    key, auto = f"{request.method}: solver=optimal", "leave solver out"
    if not request.l_alone or request.l != 2:
        return Refusal(f"{key} is for l = 2 of one sensitive column and nothing else", auto, "solver")
    if request.frozen:
        what = (
            f"{key} refuses rows of more or fewer values, and mode: frozen tries no cohort whose rows could be refused "
            "by their values and tried again"
        )
        return Refusal(what, f"{auto}, or use mode: full", "solver")
    if request.k > 2:
        return Refusal(f"{key} makes classes of two rows, and k={request.k} is more", auto, "solver")
    if request.execution == "pushdown":
        return Refusal(f"{key} has no pushdown", "leave execution out (auto)", "solver")
    if request.options["divide"] == "whole" or request.options["rest"] != "none":
        return Refusal(f"{key} divides all rows by itself", "leave divide and rest out", "solver")
    return None


def refuse_capped_classes(request: Request) -> Refusal | None:
    """The cap is on the single class that tp or the cascade leaves; others may make many classes that show nothing."""
    if request.suppression is None:
        return None
    for key, default in (("rest", "none"), ("solver", "auto")):
        if request.options[key] != default:
            what = (
                f"{request.method}: {key}={request.options[key]} makes many classes of rows that lose every value, "
                "which suppression does not cap"
            )
            return Refusal(what, "leave one out", key)
    return None


def refuse_refinement(request: Request) -> Refusal | None:
    """Refining makes boxes smaller; a row that moves adds stars to classes that agree, and evades the cap."""
    if not request.refine:
        return None
    return Refusal(f"{request.method}: refine lowers the loss of boxes, and adds stars", "leave refine out")


SUPPRESS = MethodDeclaration(
    "suppress",
    "Values shown where a class agrees, else hidden: TP (Xiao, Yi and Tao 2010) and a cascade after it (ours).",
    "sqlanon.methods.suppress.method:Suppress",
    Cost(0.04, 0.35, columns=6.9, worst=5.0),  # of the cascade; the other start of few rows takes longer than it
    (
        Word(
            "variant",
            ("better", "cascade", "tp"),
            "The cascade hides one column more each time (ours); tp, the paper's, hides all that differ in what its "
            "groups cannot keep. better: up to 20,000 rows the classes of the cascade or of tree with refine, "
            "whichever hide fewer values; the cascade with suppression, with divide: whole, and above.",
            shown=True,
        ),
        Word("rest", ("none", "hilbert", "tree", "mondrian"), "The method that divides what tp leaves (TP+)."),
        DIVIDE,
        Word(
            "solver",
            ("auto", "optimal"),
            "optimal: the fewest stars for two sensitive values and l = 2, by a minimum matching.",
        ),
    ),
    requirements=("k", "l", "distinct_l"),
    other_requirements=notimpl("its groups grow by how often each value occurs"),
    maximizes=NO_BOUND,
    formats=("suppressed", "labels", "ranges", "points"),
    other_formats=never("format anatomy publishes quasi values as they are, and it hides them"),
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    suppresses="cap",
    limits=(
        SizeLimit(
            "quasi columns",
            MOST_SUBSETS,
            "variant=tp",
            "its steps are the subsets of the columns",
            ("variant", "better"),
        ),
        SizeLimit(
            "quasi columns",
            MOST_SUBSETS,
            "variant=tp",
            "its steps are the subsets of the columns",
            ("variant", "cascade"),
        ),
        SizeLimit("rows", MOST_MATCHED, "solver=auto", "its cost is cubic", ("solver", "optimal")),
    ),
    rules=(rest_of_tp, refuse_unmatched_values, refuse_capped_classes, refuse_refinement),
    instead="tree, hilbert or mondrian",
)
