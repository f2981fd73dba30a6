"""The tables of the experiments of Doka et al. for ``docs/doka2015.md``, where the paper's claims are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.papers.doka.experiments import TITLES
from benchmarks.papers.doka.pictures import LABELS, gain
from benchmarks.papers.doka.systems import MIP
from benchmarks.tables import Result, number, read, source, table


def _section(figure: str, folder: Path) -> str:
    """One figure: a table for each panel, and the pictures."""
    result = read(folder, f"doka_{figure}")
    if result is None:
        return ""
    found = result["results"]
    parts = [f"{'Gain / GCP' if figure == '7' else 'GCP / processor seconds'}, a dash where a system was not run."]
    for data in dict.fromkeys(one["data"] for one in found):
        mine = [one for one in found if one["data"] == data]
        for panel in dict.fromkeys(one["panel"] for one in mine):
            here = [one for one in mine if one["panel"] == panel]
            names = list(dict.fromkeys(one["system"] for one in here))
            rows = []
            for x in dict.fromkeys(one["x"] for one in here):
                line = {one["system"]: one for one in here if one["x"] == x}
                rows.append((f"{x:,}", *(_cell(figure, here, line.get(name)) for name in names)))
            parts.append(table((f"{data}, {panel}, {LABELS.get(figure, 'N')}", *names), rows))
        if figure in LABELS:
            parts.append(f"![{TITLES[figure]}, {data}](../benchmarks/results/doka_{figure}_{data}.png)")
    return "\n\n".join([*parts, source(result)])


def _cell(figure: str, found: list[Result], one: Result | None) -> str:
    if one is None or one["gcp"] is None:
        return "-"
    if figure == "7":
        return f"{number(gain(found, one), '.2f')} / {one['gcp']:.4f}"
    return f"{one['gcp']:.4f} / {one['processor_seconds']:{'.4f' if figure == '7b' else '.2f'}}"


def _excess(folder: Path) -> str:
    """How much more than the optimum each system loses, as a mean over the draws."""
    result = read(folder, "doka_excess")
    if result is None:
        return ""
    rows = []
    for data in dict.fromkeys(one["data"] for one in result["results"]):
        mine = {one["system"]: one["losses"] for one in result["results"] if one["data"] == data}
        best = mine.pop(MIP.name)
        for name, losses in mine.items():
            more = fmean(loss / least - 1 for loss, least in zip(losses, best, strict=True))
            rows.append((data, name, f"{more:.1%}", len(losses)))
    return f"{table(('table', 'system', 'loss above the optimum', 'draws'), rows)}\n\n{source(result)}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {
    **{f"doka {figure}": partial(_section, figure) for figure in TITLES if figure != "excess"},
    "doka excess": _excess,
}
