"""Declaration of ``best``: several methods, and the result of least loss."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.formats import FORMATS
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import MethodsOption, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.lack import notimpl
from sqlanon.methods.shared.declaration import BOXES_ALONE, NO_POPULATION, refuse_judged_persons


def refuse_counted_stars(request: Request) -> Refusal | None:
    """Where a cell is the value or nothing, extents do not measure the loss."""
    metric, either = request.options["metric"], FORMATS[request.format].either
    if either and metric in ("gcp", "ncp", "lm"):
        published = f"format {request.format} publishes a value or nothing"
        what = f"{request.method}: metric={metric} measures boxes, and {published}"
        return Refusal(what, "say metric=stars", "metric")
    if not either and metric == "stars":
        what = f"{request.method}: metric=stars counts hidden values, and format {request.format} publishes boxes"
        return Refusal(what, "leave metric out (gcp)", "metric")
    return None


BEST = MethodDeclaration(
    "best",
    "Runs several methods and keeps the classes that lose least (ours).",
    "sqlanon.methods.best.method:Best",
    Cost(0.01, 0.002),  # of the decision; each of the methods has a cost of its own
    (
        MethodsOption(
            "of",
            "tree; hilbert; fulldomain:search=local",
            "The methods, each as `name:option=value`; those that do not take what is asked are left out, and a note "
            "says so. With l, `divide` is `whole` where a method has it and does not say otherwise.",
            shown=True,
        ),
        Word(
            "metric",
            ("gcp", "ncp", "lm", "dm", "c_avg", "stars"),
            "What decides, as reports name it; stars: hidden values, for format suppressed. Of equal ones the first "
            "counts.",
            shown=True,
        ),
        Word(
            "run",
            ("all", "sparing"),
            "`all`: every method with the trials of `refine`. `sparing`: trials for the classes that are kept alone, "
            "and of more than 1,000,000 rows the first method alone.",
        ),
    ),
    first_alone=("run", "sparing"),
    maximizes=notimpl("it compares losses, and each of its methods would reach another k or l"),
    formats=("ranges", "labels", "points", "suppressed"),
    other_formats=BOXES_ALONE,
    rules=(refuse_counted_stars, refuse_judged_persons),
    persons=True,
    whole=notimpl("it compares losses of rows, not of persons in place of their rows"),
    population=NO_POPULATION,
)
