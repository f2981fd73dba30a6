"""The README's two tables: loss, and speed with memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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


def speed(folder: Path) -> str:
    """Sort, release, ratio and memory of every case."""
    rows = []
    for file in sorted(folder.glob("speed_*.json")):
        one = json.loads(file.read_text())
        memory = one["memory"]
        held = memory.get("release_gib", 0) + memory.get("release_server_gib", 0)
        rows.append(
            (
                f"{ENGINES[one['engine']]}, {one['table']}",
                f"{one['method'].partition(':')[0]}, {one['k']}",
                f"{one['rows']:,}",
                f"{one['base_seconds']:.1f}",
                f"{one['release_seconds']:.1f}",
                f"{one['ratio']:.1f}x",
                f"{one['target_ratio']:g}x" if one["target_ratio"] else "-",
                f"{held:.1f}" if held else "-",
            )
        )
    head = (
        "engine, table",
        "method, k",
        "rows",
        "sort, s",
        "release, s",
        "ratio",
        "goal: at most",
        "peak memory, GiB",
    )
    return table(head, rows) if rows else ""


SECTIONS: Mapping[str, Callable[[Path], str]] = {"loss": loss, "speed": speed}
