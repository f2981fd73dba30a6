"""Which solver takes which problem: what `OneDimensional` refuses, and what to use instead."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Protocol

from sqlanon.methods.base import Problem
from sqlanon.privacy.base import Requirement

MOST_BOUNDARIES = 1 << 24
"""Boundaries that the optimal solvers keep, 24 bytes each."""


class Asked(Protocol):
    """A method's options."""

    name: ClassVar[str]
    order: ClassVar[str]
    fast: ClassVar[bool]
    minimize: str
    solver: str


def refusal(method: Asked, problem: Problem) -> str | None:
    """Why a method cannot solve a dual problem, or a direct one with a solver of its own choice; None if it can."""
    if problem.accuracy is not None:
        return _dual(method, problem)
    return _direct(method, problem)


def _dual(method: Asked, problem: Problem) -> str | None:
    assert problem.accuracy is not None
    own, goal = f"method {method.name}", problem.accuracy.maximize
    if method.fast:
        return f"{own} measures classes on its curve, and a bound needs their real loss: maximize {goal} with {method.order}"
    if method.minimize != "gcp":
        return f"{own}: minimize goes with k and l that are asked, not with maximize; leave minimize out"
    if method.solver == "dual":
        return (
            f"{own}: solver=dual is for l that is asked; with maximize use solver=auto, optimal, ac or ipcsd"
        )
    if goal == "k":
        if method.solver != "auto":
            return f"{own}: solver={method.solver} maximizes l; k is maximized by solver=auto, over all runs of the order"
        return None
    if len(problem.sensitive) != 1:
        return (
            f"{own} maximizes l of one sensitive column, the policy has {len(problem.sensitive)}; "
            "publish each in a release of its own, or maximize k"
        )
    return _optimal(method, problem) if method.solver == "optimal" else None


def _direct(method: Asked, problem: Problem) -> str | None:
    from sqlanon.methods.onedim.direct import asking

    own, checks = f"method {method.name}: solver={method.solver}", asking(problem.requirements)
    if method.solver in ("ac", "ipcsd"):
        return f"{own} maximizes l within a bound on the loss; here l is asked: use solver=auto"
    if method.fast:
        return f"{own} measures the real loss of classes: use {method.order}"
    if len(checks) != 1 or checks[0].kind != "frequency" or len(problem.sensitive) != 1:
        return f"{own} is for l of one sensitive column and nothing else; use solver=auto"
    k = _rows(problem.requirements)
    if k * checks[0].q > checks[0].p:
        return f"{own} looks at l alone, and k={k} is more than l: use solver=auto"
    if method.solver == "dual":
        if method.minimize == "max":
            return None
        return (
            f"{own} minimizes the largest loss of a class, nothing else: say minimize=max, or use solver=auto"
        )
    if method.minimize == "gcp":
        return f"{own} minimizes the sum of extents or the largest one: say minimize=sum or minimize=max, or use solver=auto"
    return _optimal(method, problem)


def _optimal(method: Asked, problem: Problem) -> str | None:
    """Whether the quasi columns are a line, and short enough."""
    from sqlanon.kernels.optimal_diverse import MOST_STEPS, steps

    own, dual = f"method {method.name}: solver=optimal", problem.accuracy is not None or _fractional(problem)
    heuristic = "solver=auto, the heuristic, takes any"
    if len(problem.quasi) != 1 or problem.quasi[0].reading.treatment != "ordered":
        return f"{own} takes one quasi column that is a line (numbers, dates or an order); {heuristic}"
    if problem.quasi[0].has_null:
        return f"{own} takes a quasi column without NULLs; {heuristic}"
    counts = problem.occurrences(problem.sensitive[0])
    found, work = prod(rows + 1 for rows in counts), steps(counts, dual)
    if found > MOST_BOUNDARIES or work > MOST_STEPS or len(counts) > 62:
        return (
            f"{own} is for small tables: {problem.rows} rows with {len(counts)} sensitive values make {_size(found)} boundaries "
            f"and up to {_size(work)} steps; at most {MOST_BOUNDARIES} and {MOST_STEPS} are allowed; {heuristic}"
        )
    if not problem.finite(problem.quasi[0]):
        return f"{own} takes finite values, and the quasi column holds infinities or NaN; {heuristic}"
    return None


def _fractional(problem: Problem) -> bool:
    """Whether a group may hold a value more than once: the solver looks at more groups then."""
    from sqlanon.methods.onedim.direct import asking, whole_l

    return not whole_l(asking(problem.requirements))


def _rows(requirements: Sequence[Requirement]) -> int:
    checks = [item.check() for item in requirements]
    return max([1] + [check.p for check in checks if check.kind == "rows"])


def _size(number: int) -> str:
    """A count, however large."""
    return str(number) if number < 1_000_000 else f"10^{len(str(number)) - 1}"
