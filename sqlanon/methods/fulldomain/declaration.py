"""Levels of hierarchies (after LeFevre et al. 2005)."""

from __future__ import annotations

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration
from sqlanon.declared.method_options import Whole, Word
from sqlanon.declared.request import Refusal, Request
from sqlanon.methods.shared.declaration import BOXES_ALONE, DIVIDE, NO_BOUND, refuse_judged_persons

MOST_NODES = 1_000_000
"""Nodes of a lattice of levels, at most: the state of each is kept in memory, and each is looked at in turn."""


def options_of_search(request: Request) -> Refusal | None:
    """Each search has separate options."""
    search = request.options["search"]
    key = f"{request.method}: search={search}"
    if search == "local" and request.options["metric"] != "loss":
        return Refusal(f"{key} goes by the loss", "leave metric out, or say search=global", "metric")
    if search == "local" and request.execution == "pushdown":
        return Refusal(f"{key} has no pushdown", "leave execution out (auto), or say search=global", "search")
    if search in ("global", "all") and request.options["nodes"] != MOST_NODES:
        return Refusal(
            f"{key} finds the best node, however many there are",
            "leave nodes out, or say search=local",
            "nodes",
        )
    return None


def refuse_refinement(request: Request) -> Refusal | None:
    """Refining moves single rows between classes."""
    if not request.refine:
        return None
    for key, needed in (("search", "local"), ("divide", "values")):
        if request.options[key] != needed:
            what = (
                f"{request.method}: {key}={request.options[key]} is not kept by refine, which moves single rows "
                "between classes"
            )
            return Refusal(what, f"leave refine out, or say {key}={needed}", key)
    return None


def population_nodes(request: Request) -> Refusal | None:
    """Rows of a population are found in the cells of nodes, which are the same for all rows in one search alone."""
    if not request.population or request.options["search"] == "global":
        return None
    what = f"{request.method}: search={request.options['search']} does not count {', '.join(request.population)}"
    return Refusal(what, "say search=global", "search")


def minimal_nodes(request: Request) -> Refusal | None:
    """A node is minimal where no finer node suffices.

    With a limit a coarser node may need more rows suppressed, by l.
    """
    if request.options["search"] != "all":
        return None
    if request.loose:
        what = (
            f"{request.method}: search=all lists minimal nodes, and above one that meets {', '.join(request.loose)} "
            "others may not"
        )
        return Refusal(what, "say search=global", "search")
    if not request.suppression or not request.diverse:
        return None
    what = (
        f"{request.method}: search=all lists minimal nodes, and with rows suppressed for "
        f"{', '.join(request.requirements)} there is no such thing"
    )
    return Refusal(what, "leave suppression out, or say search=global", "search")


def refuse_suppression(request: Request) -> Refusal | None:
    """Why suppression is refused in the local search; None if it is not.

    Rows that no node keeps are a class of their own. If l is asked, other classes lose less without it.
    """
    if request.options["search"] != "local" or not request.suppression:
        return None
    key = f"{request.method}: search=local"
    if not request.diverse:
        what = (
            f"{key} has classes of k rows for all rows but fewer than k, and to suppress these does not lower the loss"
        )
        return Refusal(what, "leave suppression out, or say search=global", "search")
    if request.left_out:
        return None
    what = (
        f"{key} stars no rows, and it would not help: starred rows are one class that meets the requirements, as the "
        "rows are that find no other"
    )
    return Refusal(what, "leave suppression out, or say rows: left_out", "search")


def persons_by_level(request: Request) -> Refusal | None:
    """Why a policy that keeps persons whole is refused; None if it is not.

    The rows of a person may need other levels than the person's class has, and rows are not suppressed one by one.
    """
    if not request.whole:
        return None
    if request.options["search"] != "local":
        key = f"{request.method}: search={request.options['search']}"
        what = f"{key} publishes levels of its own, and the rows of a person may not fit the person's"
        return Refusal(what, "with persons: whole say search=local, or use tree", "search")
    if request.suppression is not None:
        return Refusal("persons: whole suppresses no rows", "leave suppression out, or say persons: rows")
    return None


FULLDOMAIN = MethodDeclaration(
    "fulldomain",
    "By levels of hierarchies: one level a column (Incognito, LeFevre et al. 2005), or each class its own nodes "
    "(ours).",
    "sqlanon.methods.fulldomain.method:FullDomain",
    Cost(0.02, 0.038, rows=1.25, columns=7.0, worst=50.0),
    (
        Word(
            "search",
            ("local", "global", "all"),
            "Whether each class has its own nodes, or every column one level: the best, or the best of all minimal "
            "ones.",
            shown=True,
        ),
        Word(
            "metric",
            ("loss", "entropy", "height", "dm", "c_avg"),
            "What global and all minimize: LM, non-uniform entropy, the sum of levels, the discernability metric, or "
            "the mean class size.",
        ),
        Whole(
            "nodes",
            1,
            MOST_NODES,
            MOST_NODES,
            "Combinations of levels that local looks at, at most, before the rest becomes one class. The report says "
            "where the search ended.",
        ),
        DIVIDE,
    ),
    maximizes=NO_BOUND,
    formats=("ranges", "labels", "points", "suppressed"),
    other_formats=BOXES_ALONE,
    rules=(
        options_of_search,
        minimal_nodes,
        refuse_suppression,
        persons_by_level,
        refuse_judged_persons,
        refuse_refinement,
        population_nodes,
    ),
    suppresses="rows",
    persons=True,
    whole=True,
    population=True,
)
