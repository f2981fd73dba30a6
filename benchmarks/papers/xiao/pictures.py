"""A small picture an experiment and table: stars (or the divergence) and seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.papers.xiao.experiments import MARKERS, TITLES

LABELS = {"stars": "stars", "kld": "KL-divergence", "processor_seconds": "processor seconds of the method", "n": "N"}


def draw(experiment: str, found: list[dict[str, Any]], folder: Path) -> None:
    """Write the experiment's pictures."""
    from matplotlib.figure import Figure

    x = experiment.removeprefix("kld-")
    figures = ("kld",) if experiment.startswith("kld") else ("stars", "processor_seconds")
    for data in dict.fromkeys(one["data"] for one in found):
        picture = Figure(figsize=(4.5 * len(figures), 3.4), dpi=80, layout="constrained")
        axes = picture.subplots(1, len(figures), squeeze=False)[0]
        for axis, figure in zip(axes, figures, strict=True):
            for name in dict.fromkeys(one["contender"] for one in found):
                line = [
                    one for one in found if (one["data"], one["contender"]) == (data, name) and one[figure] is not None
                ]
                if line:
                    axis.plot(
                        [one["x"] for one in line], [one[figure] for one in line], MARKERS[name], ms=4, label=name
                    )
            axis.set_xlabel(LABELS.get(x, x))
            axis.set_title(LABELS[figure])
            axis.set_ylim(bottom=0)
        axes[0].legend(fontsize=6)
        picture.suptitle(f"{TITLES[experiment]}, {data}", fontsize=9)
        picture.savefig(folder / f"xiao_{experiment}_{data}.png", metadata={"Software": None})
