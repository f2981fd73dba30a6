"""Mondrian (LeFevre et al. 2006)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.methods.shared.declaration import NO_POPULATION, one_sensitive


def refuse_maximize_in_sql(request: Request) -> Refusal | None:
    """With ``maximize`` only the kernel searches."""
    if request.maximize is None or request.execution != "pushdown":
        return None
    what = f"{request.method} has no pushdown when {request.maximize} is maximized"
    return Refusal(what, "leave execution out (auto)")


def refuse_maximize_relaxed(request: Request) -> Refusal | None:
    """Rows of equal values are not divided where a bound on the loss holds for every class."""
    if request.maximize is None or request.options["variant"] == "strict":
        return None
    return Refusal(
        f"{request.method}: variant=relaxed does not maximize",
        f"maximize {request.maximize} with variant=strict",
        "variant",
    )


MONDRIAN = MethodDeclaration(
    "mondrian",
    "Greedy multidimensional partitioning (LeFevre et al. 2006).",
    "sqlanon.methods.mondrian.method:Mondrian",
    Cost(0.025, 0.012, rows=1.1, k=-0.35, squared=0.3, pushed=Cost(2.0, 3.3, columns=2.2)),
    (
        Word("variant", ("strict", "relaxed"), "Whether rows of equal values stay together.", shown=True),
        Word("cut", ("loss", "median"), "The cut that loses least (ours), or the paper's, at the median.", shown=True),
    ),
    maximizes=("k", "l"),
    rules=(refuse_maximize_in_sql, refuse_maximize_relaxed, one_sensitive),
    persons=True,
    whole=True,
    population=NO_POPULATION,
    in_blocks="levels",
)
