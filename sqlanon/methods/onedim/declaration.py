"""The one-dimensional framework: an order of the rows, and a solver that divides it (Ghinita et al. 2009)."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.declared.cost import Cost
from sqlanon.declared.method import MethodDeclaration, SizeLimit
from sqlanon.declared.method_options import Word
from sqlanon.declared.request import Refusal, Request, Rule
from sqlanon.lack import notimpl
from sqlanon.methods.shared.declaration import NO_POPULATION, ROWS_ALONE, one_sensitive

_ONEDIM = "sqlanon.methods.onedim.method"


FRAMEWORK = "Ghinita et al. 2009"
"""Where it is from."""


MINIMIZE = Word(
    "minimize",
    ("gcp", "sum", "max"),
    "What the division into runs minimizes: the loss of all rows, the sum of the classes' losses, or the largest.",
    shown=True,
)


SOLVER = Word(
    "solver",
    ("auto", "optimal", "ac", "ipcsd", "dual"),
    "What divides the order; docs/onedim.md says which solver takes which problem.",
)


OPTIONS = (MINIMIZE, SOLVER)
"""Of every method along an order."""


OF_EXTENTS = notimpl(
    "it measures classes by their extents on the curve, which is for k and for l of one sensitive column"
)


def most_of_sum(instead: str) -> SizeLimit:
    """The exact sum of extents costs the square of the rows."""
    return SizeLimit("rows", 20_000, instead, "its cost is quadratic", ("minimize", "sum"))


def goal_of_solver(request: Request) -> Refusal | None:
    """Each solver is made for a single problem: privacy that is asked, or privacy that is maximized."""
    solver, goal = request.options["solver"], request.maximize
    key = f"{request.method}: solver={solver}"
    if goal is None:
        if solver in ("ac", "ipcsd"):
            what = f"{key} maximizes l within a bound on the loss; here l is asked"
            return Refusal(what, "use solver=auto", "solver")
        return None
    if solver == "dual":
        return Refusal(f"{key} is for l that is asked", "with maximize use solver=auto, optimal, ac or ipcsd", "solver")
    if goal == "k" and solver != "auto":
        what = f"{key} maximizes l; k is maximized by solver=auto, over all runs of the order"
        return Refusal(what, "leave solver out", "solver")
    return None


def minimize_of_goal(request: Request) -> Refusal | None:
    """``minimize`` chooses among solutions for k alone."""
    minimize = request.options["minimize"]
    if minimize == "gcp":
        return None
    if request.maximize is not None:
        what = f"{request.method}: minimize goes with k and l that are asked, not with maximize"
        return Refusal(what, "leave minimize out", "minimize")
    if request.options["solver"] == "auto" and request.diverse:
        return Refusal(
            f"{request.method}: minimize={minimize} is for k alone", "with l leave minimize out (gcp)", "minimize"
        )
    return None


def solver_of_l(request: Request) -> Refusal | None:
    """The solvers other than the heuristic are for l of one sensitive column and nothing else."""
    solver, minimize = request.options["solver"], request.options["minimize"]
    if request.maximize is not None or solver not in ("optimal", "dual"):
        return None
    key, auto = f"{request.method}: solver={solver}", "use solver=auto"
    if not request.l_alone or request.l is None:
        return Refusal(f"{key} is for l of one sensitive column and nothing else", auto, "solver")
    if request.k > request.l:
        return Refusal(f"{key} looks at l alone, and k={request.k} is more than l", auto, "solver")
    if solver == "dual" and minimize != "max":
        what = f"{key} minimizes the largest loss of a class, nothing else"
        return Refusal(what, f"say minimize=max, or {auto}", "solver")
    if solver == "optimal" and minimize == "gcp":
        what = f"{key} minimizes the sum of extents or the largest one"
        return Refusal(what, f"say minimize=sum or minimize=max, or {auto}", "solver")
    return None


def optimal_line(request: Request) -> Refusal | None:
    """The optimal solver takes one column that is a line; whether it is a line, the type decides."""
    if request.options["solver"] != "optimal" or request.quasi == 1:
        return None
    what = f"{request.method}: solver=optimal takes one quasi column that is a line (numbers, dates or an order)"
    return Refusal(what, "solver=auto, the heuristic, takes any", "solver")


def list_fast_rules(order: str) -> tuple[Rule, ...]:
    """Rules of methods that measure classes on a curve: requests that only the exact method ``order`` takes."""

    def one_column(request: Request) -> Refusal | None:
        if not request.diverse or request.l_alone:
            return None
        return Refusal(f"{request.method} takes l of one sensitive column", f"for several use {order}")

    def own_solver(request: Request) -> Refusal | None:
        if request.options["solver"] not in ("optimal", "dual"):
            return None
        what = f"{request.method}: solver={request.options['solver']} measures the real loss of classes"
        return Refusal(what, f"use {order}", "solver")

    return (one_column, own_solver)


RULES: tuple[Rule, ...] = (minimize_of_goal, goal_of_solver, one_sensitive, solver_of_l, optimal_line)
"""Of every method along an order."""


TREE = MethodDeclaration(
    "tree",
    "Along the leaves of loss-cut trees (ours).",
    f"{_ONEDIM}:Tree",
    Cost(0.04, 0.045, squared=0.12),
    OPTIONS,
    maximizes=("k", "l"),
    limits=(most_of_sum("minimize=gcp"),),
    rules=RULES,
    persons=True,
    whole=True,
    population=NO_POPULATION,
    in_blocks="curve",
)


HILBERT = replace(
    TREE,
    name="hilbert",
    about=f"Along the Hilbert curve, exact loss ({FRAMEWORK}).",
    code=f"{_ONEDIM}:Hilbert",
    cost=Cost(0.045, 0.01),
    limits=(most_of_sum("minimize=gcp or hilbert_fast"),),
)


HILBERT_FAST = MethodDeclaration(
    "hilbert_fast",
    f"Along the Hilbert curve, extents on the curve ({FRAMEWORK}, section 6.1).",
    f"{_ONEDIM}:HilbertFast",
    Cost(0.025, 0.004, rows=1.1),
    OPTIONS,
    requirements=("k", "l"),
    other_requirements=OF_EXTENTS,
    maximizes=OF_EXTENTS,
    persons=ROWS_ALONE,
    whole=ROWS_ALONE,
    population=NO_POPULATION,
    rules=(*list_fast_rules("hilbert"), *RULES),
    instead="hilbert",
    in_blocks="curve",
)
