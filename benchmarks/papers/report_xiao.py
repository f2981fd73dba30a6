"""The tables of the experiments of Xiao, Yi and Tao for ``docs/xiao2010.md``, where the paper's claims are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.papers.xiao.experiments import TITLES
from benchmarks.tables import Result, number, read, source, table


def _section(name: str, folder: Path) -> str:
    """One experiment: its figures by contender, TP's phases, and the pictures."""
    result = read(folder, f"xiao_{name}")
    if result is None:
        return ""
    own, form = ("kld", ".3f") if name.startswith("kld") else ("stars", ",.0f")
    what = "KL-divergence" if own == "kld" else "Stars"
    parts = [f"{what} / processor seconds of the method."]
    found = result["results"]
    for data in dict.fromkeys(one["data"] for one in found):
        mine = [one for one in found if one["data"] == data]
        names = list(dict.fromkeys(one["contender"] for one in mine))
        rows = []
        for x in dict.fromkeys(one["x"] for one in mine):
            here = {one["contender"]: one for one in mine if one["x"] == x}
            rows.append((f"{x:,}", *(_cell(here.get(who), own, form) for who in names)))
        parts += [table((f"{data}, {name.removeprefix('kld-')}", *names), rows), _phases(mine)]
        parts.append(f"![{TITLES[name]}, {data}](../benchmarks/results/xiao_{name}_{data}.png)")
    if name.endswith("d"):
        most = max(one["projections"] for one in found)
        parts.append(f"Means over at most {most} subsets of the columns for each d.")
    return "\n\n".join([*(part for part in parts if part), source(result)])


def _cell(one: Result | None, own: str, form: str) -> str:
    if one is None:
        return "-"
    if one["processor_seconds"] is None:
        return "infeasible" if one["infeasible"] else "refused"
    return f"{number(one[own], form)} / {number(one['processor_seconds'], '.2f')}"


def _phases(found: list[Result]) -> str:
    """How many runs of TP alone ended in each phase."""
    counts: dict[str, int] = {}
    for one in found:
        if one["contender"] == "TP":
            for phase, runs in one["phases"].items():
                counts[phase] = counts.get(phase, 0) + runs
    ended = [f"{runs} in phase {phase}" for phase, runs in sorted(counts.items())]
    return f"Runs of TP that ended: {', '.join(ended)}." if ended else ""


SECTIONS: Mapping[str, Callable[[Path], str]] = {f"xiao {name}": partial(_section, name) for name in TITLES}
