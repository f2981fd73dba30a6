"""The first figures of ``docs/benchmarks.md``: loss by method, and the goals that are not reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.report_goals import goals
from benchmarks.tables import Result, contender, read, table

TABLES = {
    "adult": "Adult, 30,162 rows, 8 quasi-identifiers",
    "adult7": "Adult, 30,162 rows, 7 quasi-identifiers",
    "sal": "SAL, 500,000 rows, 7 quasi-identifiers",
}
CONTENDERS = {
    "tree + refine": "tree, refined",
    "tree": "tree",
    "hilbert": "hilbert",
    "mondrian strict loss": "mondrian",
    "mondrian strict median": "mondrian, cut=median",
}


def loss(folder: Path) -> str:
    """Range NCP by table, k and method, with the goal where there is one."""
    result = read(folder, "loss")
    if result is None:
        return ""
    measured = {(one["table"], one["k"], contender(one)): one for one in result["results"]}
    rows = [
        (TABLES[name], k, *(_loss(measured.get((name, k, who))) for who in CONTENDERS))
        for name, k in dict.fromkeys((name, k) for name, k, _ in measured)
    ]
    return table(("data", "k", *CONTENDERS.values()), rows)


def _loss(one: Result | None) -> str:
    if one is None:
        return "-"
    goal = f" (goal {one['target']:g})" if one.get("target") else ""
    return f"{one['evaluator']['range_ncp']:.4f}{goal}"


def missed(folder: Path) -> str:
    """Every goal of any result file that is not reached, or that there is none; nothing is left out by hand."""
    found = list(goals(folder))
    if not found:
        return ""
    lines = [f"- {what}: {value}, goal {goal}" for what, value, goal, met in found if not met]
    return "\n".join(["Goals that are not reached:", "", *lines]) if lines else "Every goal is reached."


SECTIONS: Mapping[str, Callable[[Path], str]] = {"methods": loss, "missed": missed}
