"""Combinations of a policy that a method does not take, one function each, by what is known before a database is read.

What depends on the data (NULLs, infinities, occurrences, memory) is refused by the method's code.
"""

from __future__ import annotations

from sqlanon.declared.formats import FORMATS
from sqlanon.declared.method import MOST_NODES, Asked, Refused, Rule

# --- the one-dimensional framework -----------------------------------------------------------------------------------


def goal_of_solver(asked: Asked) -> Refused | None:
    """Each solver is made for one problem: privacy that is asked, or privacy that is maximized."""
    solver, goal = asked.options["solver"], asked.maximize
    own = f"{asked.method}: solver={solver}"
    if goal is None:
        if solver in ("ac", "ipcsd"):
            what = f"{own} maximizes l within a bound on the loss; here l is asked"
            return Refused(what, "use solver=auto", "solver")
        return None
    if solver == "dual":
        return Refused(
            f"{own} is for l that is asked", "with maximize use solver=auto, optimal, ac or ipcsd", "solver"
        )
    if goal == "k" and solver != "auto":
        what = f"{own} maximizes l; k is maximized by solver=auto, over all runs of the order"
        return Refused(what, "leave solver out", "solver")
    return None


def minimize_of_goal(asked: Asked) -> Refused | None:
    """``minimize`` chooses among solutions for k alone."""
    minimize = asked.options["minimize"]
    if minimize == "gcp":
        return None
    if asked.maximize is not None:
        what = f"{asked.method}: minimize goes with k and l that are asked, not with maximize"
        return Refused(what, "leave minimize out", "minimize")
    if asked.options["solver"] == "auto" and asked.diverse:
        return Refused(
            f"{asked.method}: minimize={minimize} is for k alone",
            "with l leave minimize out (gcp)",
            "minimize",
        )
    return None


def one_sensitive(asked: Asked) -> Refused | None:
    """L is maximized for one sensitive column."""
    if asked.maximize != "l" or asked.sensitive == 1:
        return None
    what = f"{asked.method} maximizes l of one sensitive column, the policy has {asked.sensitive}"
    return Refused(what, "publish each in a release of its own, or maximize k")


def solver_of_l(asked: Asked) -> Refused | None:
    """The solvers other than the heuristic are for l of one sensitive column and nothing else."""
    solver, minimize = asked.options["solver"], asked.options["minimize"]
    if asked.maximize is not None or solver not in ("optimal", "dual"):
        return None
    own, auto = f"{asked.method}: solver={solver}", "use solver=auto"
    if not asked.l_alone or asked.l is None:
        return Refused(f"{own} is for l of one sensitive column and nothing else", auto, "solver")
    if asked.k > asked.l:
        return Refused(f"{own} looks at l alone, and k={asked.k} is more than l", auto, "solver")
    if solver == "dual" and minimize != "max":
        what = f"{own} minimizes the largest loss of a class, nothing else"
        return Refused(what, f"say minimize=max, or {auto}", "solver")
    if solver == "optimal" and minimize == "gcp":
        what = f"{own} minimizes the sum of extents or the largest one"
        return Refused(what, f"say minimize=sum or minimize=max, or {auto}", "solver")
    return None


def optimal_line(asked: Asked) -> Refused | None:
    """The optimal solver takes one column that is a line; whether it is one, its type decides."""
    if asked.options["solver"] != "optimal" or asked.quasi == 1:
        return None
    what = (
        f"{asked.method}: solver=optimal takes one quasi column that is a line (numbers, dates or an order)"
    )
    return Refused(what, "solver=auto, the heuristic, takes any", "solver")


def fast(order: str) -> tuple[Rule, ...]:
    """What methods that measure classes on their curve leave to the exact ones, which are called ``order``."""

    def one_column(asked: Asked) -> Refused | None:
        if not asked.diverse or asked.l_alone:
            return None
        return Refused(f"{asked.method} takes l of one sensitive column", f"for several use {order}")

    def own_solver(asked: Asked) -> Refused | None:
        if asked.options["solver"] not in ("optimal", "dual"):
            return None
        what = f"{asked.method}: solver={asked.options['solver']} measures the real loss of classes"
        return Refused(what, f"use {order}", "solver")

    return (one_column, own_solver)


# --- mondrian --------------------------------------------------------------------------------------------------------


def maximized_in_memory(asked: Asked) -> Refused | None:
    """What is maximized is searched by the kernel."""
    if asked.maximize is None or asked.execution != "pushdown":
        return None
    what = f"{asked.method} has no pushdown when {asked.maximize} is maximized"
    return Refused(what, "leave execution out (auto)")


def maximized_strictly(asked: Asked) -> Refused | None:
    """Rows of equal values are not divided where a bound on the loss holds for every class."""
    if asked.maximize is None or asked.options["variant"] == "strict":
        return None
    return Refused(
        f"{asked.method}: variant=relaxed does not maximize",
        f"maximize {asked.maximize} with variant=strict",
        "variant",
    )


# --- anatomy ---------------------------------------------------------------------------------------------------------

_BESIDE = "or use tree or mondrian (format: anatomy takes their classes as well)"


def groups_of_one_column(asked: Asked) -> Refused | None:
    """Groups are made of the values of one sensitive column."""
    if asked.sensitive == 1:
        return None
    what = f"anatomy is for one sensitive column, and there are {asked.sensitive}"
    return Refused(what, _BESIDE.removeprefix("or "))


def groups_of_l_rows(asked: Asked) -> Refused | None:
    """A group has l rows of l different values."""
    if asked.distinct_l is not None:
        what = "anatomy takes l, not distinct_l: l rows of a group have l different values"
        return Refused(what, f"ask for l: {asked.distinct_l}, {_BESIDE}")
    if asked.l is None:
        return Refused("anatomy makes groups of l rows", f"ask for l, such as l: 2, {_BESIDE}")
    if asked.l.denominator != 1 or asked.l < 2:
        what = f"anatomy makes groups of l rows, so that l is a whole number of at least 2, not {float(asked.l):g}"
        return Refused(what, f"ask for l: {max(-(-asked.l.numerator // asked.l.denominator), 2)}, {_BESIDE}")
    if asked.k > asked.l:
        what = f"anatomy makes groups of l = {asked.l} rows, fewer than k = {asked.k}"
        return Refused(what, f"ask for l: {asked.k}, {_BESIDE}")
    return None


# --- suppress --------------------------------------------------------------------------------------------------------


def rest_of_tp(asked: Asked) -> Refused | None:
    """What TP leaves is divided by another method, or by the cascade."""
    if asked.options["rest"] == "none" or asked.options["variant"] == "tp":
        return None
    what = f"{asked.method}: rest={asked.options['rest']} divides what variant=tp leaves, and the cascade divides it itself"
    return Refused(what, "leave rest out, or say variant=tp", "rest")


def matched_values(asked: Asked) -> Refused | None:
    """The matching is for pairs of rows of two sensitive values."""
    if asked.options["solver"] != "optimal":
        return None
    own, auto = f"{asked.method}: solver=optimal", "leave solver out"
    if not asked.l_alone or asked.l != 2:
        return Refused(f"{own} is for l = 2 of one sensitive column and nothing else", auto, "solver")
    if asked.k > 2:
        return Refused(f"{own} makes classes of two rows, and k={asked.k} is more", auto, "solver")
    if asked.execution == "pushdown":
        return Refused(f"{own} has no pushdown", "leave execution out (auto)", "solver")
    if asked.options["divide"] == "whole" or asked.options["rest"] != "none":
        return Refused(f"{own} divides all rows by itself", "leave divide and rest out", "solver")
    return None


def capped_classes(asked: Asked) -> Refused | None:
    """The cap is on the one class that tp or the cascade leaves; others may make many classes that show nothing."""
    if asked.suppression is None:
        return None
    for option, default in (("rest", "none"), ("solver", "auto")):
        if asked.options[option] != default:
            what = f"{asked.method}: {option}={asked.options[option]} makes many classes of rows that lose every value, which suppression does not cap"
            return Refused(what, "leave one out", option)
    return None


def refined_stars(asked: Asked) -> Refused | None:
    """Refining makes boxes smaller; a row that moves adds stars to classes that agree, and evades the cap."""
    if not asked.refine:
        return None
    return Refused(f"{asked.method}: refine lowers the loss of boxes, and adds stars", "leave refine out")


# --- fulldomain ------------------------------------------------------------------------------------------------------


def options_of_search(asked: Asked) -> Refused | None:
    """Each search has options of its own."""
    search = asked.options["search"]
    own = f"{asked.method}: search={search}"
    if search == "local" and asked.options["metric"] != "loss":
        return Refused(f"{own} goes by the loss", "leave metric out, or say search=global", "metric")
    if search == "local" and asked.execution == "pushdown":
        return Refused(f"{own} has no pushdown", "leave execution out (auto), or say search=global", "search")
    metric = asked.options["metric"]
    if search in ("global", "all") and metric in ("cm", "c_avg"):
        return Refused(
            f"{own} does not minimize {metric}", "use another metric, or say search=single", "metric"
        )
    if search in ("global", "all") and asked.options["nodes"] != MOST_NODES:
        return Refused(
            f"{own} finds the best node, however many there are",
            "leave nodes out, or say search=local",
            "nodes",
        )
    return None


def single_search(asked: Asked) -> Refused | None:
    """The enumeration of cuts is for k, in memory, and its metrics are sums over rows."""
    if asked.options["search"] != "single":
        return None
    own, metric = f"{asked.method}: search=single", asked.options["metric"]
    if asked.diverse:
        what = f"{own} is for k alone"
        return Refused(
            what, f"with {', '.join(asked.requirements)} say search=global or search=local", "search"
        )
    if metric not in ("loss", "dm", "cm", "c_avg"):
        what = f"{own} minimizes loss, dm, cm or c_avg"
        return Refused(what, "use one of them, or say search=global", "metric")
    if metric == "cm" and asked.sensitive != 1:
        what = f"{own} with metric=cm is for one sensitive column, and there are {asked.sensitive}"
        return Refused(what, "use metric=loss or metric=dm", "metric")
    if asked.execution == "pushdown":
        return Refused(f"{own} has no pushdown", "leave execution out (auto), or say search=global", "search")
    return None


def refined_classes(asked: Asked) -> Refused | None:
    """Refining moves single rows between classes."""
    if not asked.refine:
        return None
    for option, needed in (("search", "local"), ("divide", "values")):
        if asked.options[option] != needed:
            what = f"{asked.method}: {option}={asked.options[option]} is not kept by refine, which moves single rows between classes"
            return Refused(what, f"leave refine out, or say {option}={needed}", option)
    return None


def minimal_nodes(asked: Asked) -> Refused | None:
    """A node is minimal where no finer one suffices; with a limit a coarser node may need more rows suppressed, by l."""
    if asked.options["search"] != "all" or not asked.suppression or not asked.diverse:
        return None
    what = f"{asked.method}: search=all lists minimal nodes, and with rows suppressed for {', '.join(asked.requirements)} there is no such thing"
    return Refused(what, "leave suppression out, or say search=global", "search")


def suppressed_by_level(asked: Asked) -> Refused | None:
    """What no node keeps is a class of its own in the local search; without it, where l is asked, other classes lose less."""
    if asked.options["search"] != "local" or not asked.suppression:
        return None
    own = f"{asked.method}: search=local"
    if not asked.diverse:
        what = f"{own} has classes of k rows for all rows but fewer than k, and to suppress these does not lower the loss"
        return Refused(what, "leave suppression out, or say search=global", "search")
    if asked.left_out:
        return None
    what = f"{own} stars no rows, and it would not help: starred rows are one class that meets the requirements, as the rows are that find no other"
    return Refused(what, "leave suppression out, or say rows: left_out", "search")


# --- tds -------------------------------------------------------------------------------------------------------------


def specialized_in_memory(asked: Asked) -> Refused | None:
    """Cells are kept in memory."""
    if asked.execution != "pushdown":
        return None
    return Refused(f"{asked.method} has no pushdown", "leave execution out (auto), or use mondrian")


def refined_cut(asked: Asked) -> Refused | None:
    """Refining moves single rows between classes, which then are not at the nodes of the cut."""
    if not asked.refine or asked.options["publish"] == "least":
        return None
    what = f"{asked.method}: publish=cut is not kept by refine, which moves single rows between classes"
    return Refused(what, "leave refine out, or say publish=least", "publish")


# --- best ------------------------------------------------------------------------------------------------------------


def counted_stars(asked: Asked) -> Refused | None:
    """Where a cell is the value or nothing, extents say nothing of what is lost."""
    metric, either = asked.options["metric"], FORMATS[asked.format].either
    if either and metric in ("gcp", "ncp", "lm"):
        what = f"{asked.method}: metric={metric} measures boxes, and format {asked.format} publishes a value or nothing"
        return Refused(what, "say metric=stars", "metric")
    if not either and metric == "stars":
        what = f"{asked.method}: metric=stars counts hidden values, and format {asked.format} publishes boxes"
        return Refused(what, "leave metric out (gcp)", "metric")
    return None
