"""Data that the optimal solver accepts: the quasi columns are a line, and short enough.

Limits of policies are declared elsewhere.
"""

from __future__ import annotations

from math import prod

from sqlanon.methods.base import Problem
from sqlanon.privacy.base import shapes_beyond_rows

MOST_BOUNDARIES = 1 << 24
"""Boundaries that the optimal solvers keep, 24 bytes each."""


def explain_refusal(name: str, problem: Problem) -> str | None:
    """Reason why the optimal solver does not take the data, and an alternative; None if it does."""
    from sqlanon.methods.onedim.kernels.optimal_diverse import MOST_STEPS, steps

    key, dual = f"method {name}: solver=optimal", problem.accuracy is not None or _fractional(problem)
    heuristic = "solver=auto, the heuristic, takes any"
    if len(problem.quasi) != 1 or problem.quasi[0].reading.treatment != "ordered":
        return f"{key} takes one quasi column that is a line (numbers, dates or an order); {heuristic}"
    if problem.quasi[0].has_null:
        return f"{key} takes a quasi column without NULLs; {heuristic}"
    counts = problem.occurrences(problem.sensitive[0])
    states, work = prod(rows + 1 for rows in counts), steps(counts, dual)
    if states > MOST_BOUNDARIES or work > MOST_STEPS or len(counts) > 62:
        return (
            f"{key} is for small tables: {problem.rows} rows with {len(counts)} sensitive values make {_size(states)} "
            f"boundaries and up to {_size(work)} steps; at most {MOST_BOUNDARIES} and {MOST_STEPS} are allowed; "
            f"{heuristic}"
        )
    if not problem.finite(problem.quasi[0]):
        return f"{key} takes finite values, and the quasi column holds infinities or NaN; {heuristic}"
    return None


def _fractional(problem: Problem) -> bool:
    """Whether a group may hold a value more than once: the solver looks at more groups then."""
    from sqlanon.methods.onedim.direct import whole_l

    return not whole_l(shapes_beyond_rows(problem.requirements))


def _size(number: int) -> str:
    """A count, however large."""
    return str(number) if number < 1_000_000 else f"10^{len(str(number)) - 1}"
