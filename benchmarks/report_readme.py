"""The README's figures: loss, and the goals that are not reached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

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
ENGINES = {"duckdb": "DuckDB", "postgres": "PostgreSQL"}


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
    goals = [*_speed_goals(folder), *_loss_goals(folder), *_second_goals(folder)]
    if not goals:
        return ""
    lines = [f"- {what}: {value}, goal {goal}" for what, value, goal, met in goals if not met]
    return "\n".join(["Goals that are not reached:", "", *lines]) if lines else "Every goal is reached."


Goal = tuple[str, str, str, bool]
"""What it is of, what was measured, what was wanted, whether it is reached."""


def _speed_goals(folder: Path) -> Iterator[Goal]:
    for file in sorted(folder.glob("speed_*.json")):
        one = json.loads(file.read_text())
        if one["target_ratio"]:
            method = one["method"].partition(":")[0]
            what = f"speed of `{method}`, k={one['k']}, {ENGINES[one['engine']]}, {one['table']}"
            ratio, goal = one["ratio"], one["target_ratio"]
            yield what, f"{ratio:.2f}x", f"{goal:g}x", ratio <= goal


def _loss_goals(folder: Path) -> Iterator[Goal]:
    result = read(folder, "loss")
    for one in result["results"] if result else ():
        if one.get("target"):
            found, goal = one["evaluator"]["range_ncp"], one["target"]
            what = f"range NCP of `{contender(one)}`, k={one['k']}, {one['table']}"
            yield what, f"{found:.4f}", f"{goal:g}", found <= goal
    result = read(folder, "nominal")
    for one in result["results"] if result else ():
        if one.get("target"):
            value = f"{one['evaluator']['set_ncp']:.4f}"
            yield (
                f"set loss of `{one['contender']}`, k={one['k']}, Adult",
                value,
                f"{one['target']:g}",
                one["met"],
            )


def _second_goals(folder: Path) -> Iterator[Goal]:
    result = read(folder, "growth")
    for one in result["results"] if result else ():
        if one.get("target_seconds"):
            found, goal = one["seconds"], one["target_seconds"]
            yield (
                f"release by `{one['method']}`, SAL, part {one['part']}",
                f"{found:.1f} s",
                f"{goal:g} s",
                found <= goal,
            )
    result = read(folder, "startup")
    for name in ("import", "help") if result else ():
        one = result[name] if result else {}
        yield (
            f"startup, {name}",
            f"{one['seconds']:.2f} s",
            f"{one['target']:g} s",
            one["seconds"] <= one["target"],
        )


SECTIONS: Mapping[str, Callable[[Path], str]] = {"loss": loss, "missed": missed}
