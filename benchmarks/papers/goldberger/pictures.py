"""A small picture for each experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.papers.goldberger.experiments import TABLE_2, TITLES

SHOWN = {
    "k": ("lm",),
    "others": ("lm", "processor_seconds"),
    "rows": ("processor_seconds",),
    "columns": ("processor_seconds",),
    "l": ("lm",),
    "w": ("entropy",),
}
LABELS = {"lm": "LM", "processor_seconds": "processor seconds of the method", "entropy": "bits"}


def draw(name: str, found: list[dict[str, Any]], file: Path) -> None:
    """Write the experiment's picture, where it has one."""
    from matplotlib.figure import Figure

    if name not in SHOWN:
        return
    picture = Figure(figsize=(4.5 * len(SHOWN[name]), 3.4), dpi=80, layout="constrained")
    axes = picture.subplots(1, len(SHOWN[name]), squeeze=False)[0]
    for axis, figure in zip(axes, SHOWN[name], strict=True):
        for who in dict.fromkeys(one["who"] for one in found):
            line = [one for one in found if one["who"] == who]
            axis.plot(
                [one["x"] for one in line], [one[figure] for one in line], "o-" if name != "k" else "o", ms=4, label=who
            )
        if name == "k":
            axis.plot(list(TABLE_2), list(TABLE_2.values()), "k--", label="the paper's averages")
        axis.set_xlabel("k" if name in ("k", "others") else name)
        axis.set_title(LABELS[figure])
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=6)
    picture.suptitle(TITLES[name], fontsize=9)
    picture.savefig(file, metadata={"Software": None})
