"""Two small pictures for each experiment and family of tables: loss (or privacy) and time.

For l-diversity there are pictures of the other metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.papers.ghinita.contenders import ANONYMOUS, DIVERSE, DUAL, HILB_SAMPLE, TOPDOWN
from benchmarks.papers.ghinita.experiments import RANGES, TITLES

MARKERS = {who.name: who.marker for who in (*ANONYMOUS, *DIVERSE, *DUAL, HILB_SAMPLE, TOPDOWN)}
LABELS = {
    "gcp": "GCP",
    "pm": "PM",
    "method_seconds": "seconds of the method",
    "weighted_max_ncp": "weighted maximum NCP",
    "avg_ncp": "average NCP",
    "weighted_avg_volume": "weighted average volume",
    "n": "N",
    "e": "E",
    "alpha": "α",
}
METRICS = ("weighted_max_ncp", "avg_ncp", "weighted_avg_volume")


def parameter(experiment: str) -> str:
    """What an experiment varies."""
    return experiment.removesuffix(RANGES).rpartition("-")[2]


def draw(experiment: str, found: list[dict[str, Any]], folder: Path) -> None:
    """Write the experiment's pictures."""
    own = "pm" if experiment.startswith("e") else "gcp"
    for data in dict.fromkeys(one["data"] for one in found):
        mine = [one for one in found if one["data"] == data]
        title = f"{TITLES[experiment]}, {data}"
        stem = folder / f"ghinita_{experiment}_{data}"
        _picture(mine, (own, "method_seconds"), parameter(experiment), title, stem.with_suffix(".png"))
        if experiment in ("l", "l-n"):
            metrics = stem.with_name(f"{stem.name}_metrics.png")
            _picture(mine, METRICS, parameter(experiment), title, metrics)


def _picture(found: list[dict[str, Any]], figures: Sequence[str], x: str, title: str, file: Path) -> None:
    from matplotlib.figure import Figure

    picture = Figure(figsize=(4.5 * len(figures), 3.4), dpi=80, layout="constrained")
    axes = picture.subplots(1, len(figures))
    for axis, figure in zip(axes, figures, strict=True):
        for name in dict.fromkeys(one["contender"] for one in found):
            line = [one for one in found if one["contender"] == name and one[figure] is not None]
            if line:
                axis.plot([one["x"] for one in line], [one[figure] for one in line], MARKERS[name], ms=4, label=name)
        axis.set_xlabel(LABELS.get(x, x))
        axis.set_title(LABELS[figure])
        axis.set_yscale("log" if figure not in ("gcp", "pm") else "linear")
        if figure in ("gcp", "pm"):
            axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=6)
    picture.suptitle(title, fontsize=9)
    picture.savefig(file, metadata={"Software": None})
