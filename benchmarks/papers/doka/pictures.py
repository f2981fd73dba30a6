"""Small pictures: a row of panels for GCP (or its gain) and one for seconds, a file for each figure and table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.papers.doka.experiments import TITLES
from benchmarks.papers.doka.systems import KC, MARKERS, MIP

LABELS = {"6": "N", "7": "k", "7b": "N", "8": "k", "9": "columns d", "10": "N"}


def gain(found: list[dict[str, Any]], one: dict[str, Any]) -> float | None:
    """The part of the loss between k-c and the optimum that a system gains: 1 for the optimum, 0 for k-c."""
    means = {
        other["system"]: other["gcp"]
        for other in found
        if (other["data"], other["x"]) == (one["data"], one["x"]) and other["gcp"] is not None
    }
    if one["gcp"] is None or not {KC.name, MIP.name} <= means.keys() or means[KC.name] == means[MIP.name]:
        return None
    return (means[KC.name] - one["gcp"]) / (means[KC.name] - means[MIP.name])


def draw(figure: str, found: list[dict[str, Any]], folder: Path) -> None:
    """Write a figure's pictures; comparisons without one have none."""
    from matplotlib.figure import Figure

    if figure not in LABELS:
        return
    for data in dict.fromkeys(one["data"] for one in found):
        mine = [one for one in found if one["data"] == data]
        panels = list(dict.fromkeys(one["panel"] for one in mine))
        picture = Figure(figsize=(4.2 * len(panels), 6.2), dpi=80, layout="constrained")
        axes = picture.subplots(2, len(panels), squeeze=False)
        for at, panel in enumerate(panels):
            here = [one for one in mine if one["panel"] == panel]
            for row, what in enumerate(("gain" if figure == "7" else "gcp", "processor_seconds")):
                axis = axes[row][at]
                for name in dict.fromkeys(one["system"] for one in here):
                    line = [
                        (one["x"], gain(here, one) if what == "gain" else one[what])
                        for one in here
                        if one["system"] == name
                    ]
                    drawn = [(x, y) for x, y in line if y is not None]
                    if drawn:
                        axis.plot(*zip(*drawn, strict=True), MARKERS[name], ms=4, label=name)
                axis.set_xlabel(LABELS[figure])
                axis.set_title(f"{what.replace('_', ' ')}, {panel}", fontsize=9)
                if figure in ("6", "10"):
                    axis.set_xscale("log", base=2)
                if what == "processor_seconds":
                    axis.set_yscale("log")
                elif what == "gcp":
                    axis.set_ylim(bottom=0)
        axes[0][0].legend(fontsize=6)
        picture.suptitle(f"{TITLES[figure]}, {data}", fontsize=9)
        picture.savefig(folder / f"doka_{figure}_{data}.png", metadata={"Software": None})
