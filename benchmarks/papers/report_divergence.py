"""The tables of KL-divergence.

Figures 35 and 36 are for ``docs/ghinita2009.md``, their seconds and LeFevre's Figure 17 for ``docs/benchmarks.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import isinf
from pathlib import Path

from benchmarks.papers.divergence import EVERYONE, TITLES
from benchmarks.tables import Result, number, read, source, table


def _figure(name: str, folder: Path) -> str:
    """KLD of every contender, x down; one table a family of tables, and its picture."""
    result = read(folder, f"divergence_{name}")
    if result is None:
        return ""
    parts = ["KLD, mean over the group-bys of the level."]
    for data in dict.fromkeys(one["data"] for one in result["results"]):
        mine = [one for one in result["results"] if one["data"] == data]
        names = [who.name for who in EVERYONE if any(one["contender"] == who.name for one in mine)]
        rows = []
        for x in dict.fromkeys(one["x"] for one in mine):
            here = {one["contender"]: one for one in mine if one["x"] == x}
            rows.append((f"{x:,.10g}", *(_cell(here.get(who)) for who in names)))
        parts += [table((f"{data}, {name}", *names), rows)]
        parts += [f"![{TITLES[name]}, {data}](../benchmarks/results/divergence_{name}_{data}.png)"]
    return "\n\n".join([*parts, source(result)])


def _cell(one: Result | None) -> str:
    if one is None:
        return "-"
    if one["kld"] is None:
        return "refused"
    return "infinite" if isinf(one["kld"]) else f"{one['kld']:.4g}"


def kld(folder: Path) -> str:
    """Seconds of the divergence on every engine, against what is promised."""
    found = [result for engine in ("duckdb", "postgres") if (result := read(folder, f"kld_{engine}"))]
    rows = [
        (
            result["engine"],
            one["case"],
            one["method"],
            f"{one['rows']:,}",
            one["group_bys"],
            number(one["kld"], ".4g"),
            number(one["seconds"], ".1f"),
            f"{one['promised']:g}",
            number(one.get("processor_seconds"), ".1f"),
        )
        for result in found
        for one in result["results"]
    ]
    if not found:
        return ""
    head = ("engine", "SAL", "method", "rows", "group-bys", "KLD", "seconds", "at most", "processor seconds")
    return "\n\n".join([table(head, rows), *map(source, found)])


def figure17(folder: Path) -> str:
    """Errors of COUNT by one attribute: ours over the seeds, beside the paper's."""
    result = read(folder, "lefevre17")
    if result is None:
        return ""
    rows = [
        (
            one["k"],
            one["method"],
            one["attribute"],
            f"{one['mean']:.2f} / {one['deviation']:.2f}",
            f"{one['least']:.2f} to {one['most']:.2f}",
            one["paper"] or "-",
        )
        for one in result["results"]
    ]
    head = ("k", "method", "predicate on", "mean / deviation", "means over the seeds", "the paper")
    return f"{table(head, rows)}\n\n{source(result)}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {f"divergence {name}": partial(_figure, name) for name in TITLES}
