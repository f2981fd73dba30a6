"""Searches for whole numbers that end after counted steps, the same on every machine."""

from __future__ import annotations

from typing import Any

from sqlanon.statistics.highs import import_highs
from sqlanon.statistics.work import Work

GAP = 0.1
"""The weight of a change in whole numbers may exceed the least weight by this share."""
MOST_NODES = 500
"""Nodes that a search may visit."""
MOST_CHECKS = 5_000
"""A search ends when HiGHS has asked so often whether it shall, which it does in heuristics as well as at nodes."""


def search_whole(solver: Any, work: Work | None = None, *, gap: float = GAP, nodes: int = MOST_NODES) -> bool:  # noqa: ANN401
    """Run a program with whole numbers; whether it has a solution.

    Args:
        solver: the program.
        work: counts the cost; None: nobody does.
        gap: the share by which the solution may exceed the least one.
        nodes: nodes of the search, at most.

    Raises:
        ExhaustedError: a limit of the work is exceeded.
    """
    for name, option in (("presolve", "on"), ("mip_rel_gap", gap), ("mip_max_nodes", nodes)):
        solver.setOptionValue(name, option)
    highs, checks = import_highs(), [0]
    kind = highs.cb.HighsCallbackType.kCallbackMipInterrupt

    def check(_kind: Any, _text: str, _output: Any, answer: Any, _data: Any) -> None:  # noqa: ANN401
        checks[0] += 1
        if checks[0] > MOST_CHECKS:
            answer.user_interrupt = True

    solver.setCallback(check, checks)
    solver.startCallback(kind)
    try:
        solver.run()
    finally:
        solver.stopCallback(kind)
        solver.setCallback(None, None)
    if work is not None:
        work.add(solver)
    return bool(solver.getInfo().primal_solution_status == highs.SolutionStatus.kSolutionStatusFeasible)
