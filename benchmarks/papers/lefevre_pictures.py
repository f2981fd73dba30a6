"""Pictures of LeFevre's experiments.

They are Figures 10 to 14 by the swept parameter, and Figures 15 and 16, partitions of two attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

STYLES = {
    "strict, median": "o-",
    "strict, loss": "o--",
    "relaxed, median": "s-",
    "relaxed, loss": "s--",
    "Incognito": "^-",
    "K-Optimize": "x-",
}
Box = tuple[int, int, int, int]


def plot(found: list[dict[str, Any]], folder: Path) -> None:
    """One small picture a figure: C_DM and C_AVG of the contenders, and the bounds, over the swept parameter."""
    from matplotlib.figure import Figure

    labels = {"figure12_sigma": "σ", "figure13_d": "attributes d"}
    for figure in sorted({one["figure"] for one in found}):
        mine = [one for one in found if one["figure"] == figure]
        picture = Figure(figsize=(9, 3.4), dpi=80, layout="constrained")
        axes = picture.subplots(1, 2)
        for measured, upper, lower, axis in (
            ("dm", "dm_upper", "dm_lower", axes[0]),
            ("c_avg", "c_avg_upper", None, axes[1]),
        ):
            for name in dict.fromkeys(one["contender"] for one in mine):
                line = [one for one in mine if one["contender"] == name]
                axis.plot([one["x"] for one in line], [one[measured] for one in line], STYLES[name], ms=4, label=name)
            strict = [one for one in mine if one["contender"] == "strict, median"]
            x = [one["x"] for one in strict]
            axis.plot(x, [one[upper] for one in strict], ":", color="gray", label="strict bound")
            least = [one[lower] if lower else 1.0 for one in strict]
            axis.plot(x, least, ":", color="black", label="least possible")
            axis.set_xlabel(labels.get(figure, "k"))
            axis.set_yscale("log")
            if figure not in labels:
                axis.set_xscale("log")
            axis.set_title("C_DM" if measured == "dm" else "C_AVG")
        axes[1].legend(fontsize=6)
        picture.suptitle(figure.replace("_", " "))
        picture.savefig(folder / f"lefevre_{figure}.png", metadata={"Software": None})


def partitions(
    points: NDArray[np.int16], boxes: Mapping[str, Sequence[Box]], values: int, title: str, file: Path
) -> None:
    """Boxes of two attributes beside each other, a panel a method, over the points.

    Args:
        points: int16[n, 2].
        boxes: of each method x from, x to, y from, y to, ends included.
        values: of an attribute.
        title: of the picture.
        file: to write.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    picture = Figure(figsize=(4.2 * len(boxes), 4.2), dpi=80, layout="constrained")
    for axis, (name, found) in zip(picture.subplots(1, len(boxes), squeeze=False)[0], boxes.items(), strict=True):
        axis.plot(points[:, 0], points[:, 1], ".", ms=2, color="tab:blue")
        for x, to_x, y, to_y in found:
            axis.add_patch(
                Rectangle((x - 0.5, y - 0.5), to_x - x + 1, to_y - y + 1, fill=False, linewidth=0.6, color="gray")
            )
        axis.set_xlim(-1, values)
        axis.set_ylim(-1, values)
        axis.set_title(f"{name}, {len(found)} classes", fontsize=9)
    picture.suptitle(title, fontsize=9)
    picture.savefig(file, metadata={"Software": None})
