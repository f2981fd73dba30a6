"""The picture of an evaluation: estimates with their bounds over the truth, relative errors, divergence by group-by.

matplotlib draws it, and nothing else needs it: it is an optional dependency.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.evaluate.report import Evaluation

KINDS = (".png", ".svg", ".pdf")
MOST_POINTS = 2000
"""Cells of one family that are drawn."""


def check(path: Path) -> None:
    """Whether a picture can be written there.

    Raises:
        PolicyError: the file's kind is not known, or its folder is not there.
        UnsupportedError: matplotlib is not installed.
    """
    if path.suffix.lower() not in KINDS:
        raise PolicyError(f"--plot {path}: pictures are {', '.join(KINDS)}")
    if not path.resolve().parent.is_dir():
        raise PolicyError(f"--plot {path}: there is no such directory")
    if find_spec("matplotlib") is None:
        raise UnsupportedError("--plot needs matplotlib, which is not installed: pip install 'sqlanon[plot]'")


def draw(report: Evaluation, path: Path) -> None:
    """Write the picture; see `check` for what can go wrong."""
    check(path)
    from matplotlib.figure import Figure

    answered = {name: [cell for cell in cells if cell.truth is not None and cell.estimate is not None]
                for name, cells in report.cells.items()}  # fmt: skip
    answered = {name: cells[:MOST_POINTS] for name, cells in answered.items() if cells}
    count = 2 * bool(answered) + bool(report.cubes)
    figure = Figure(figsize=(4.5 * max(count, 1), 3.8), dpi=100, layout="constrained")
    axes = list(figure.subplots(1, max(count, 1), squeeze=False)[0])
    if answered:
        _scatter(axes.pop(0), answered)
        _errors(axes.pop(0), answered)
    if report.cubes:
        _divergence(axes.pop(0), report)
    figure.suptitle(f"{report.release} against {report.source}", fontsize=9)
    figure.savefig(path)


def _scatter(axis: Any, answered: dict[str, list[Any]]) -> None:  # noqa: ANN401 - matplotlib has no types
    """Estimates over truths, with their bounds."""
    for name, cells in answered.items():
        truths = [cell.truth for cell in cells]
        below = [cell.estimate - cell.low if cell.low is not None else 0.0 for cell in cells]
        above = [cell.high - cell.estimate if cell.high is not None else 0.0 for cell in cells]
        axis.errorbar(
            truths, [cell.estimate for cell in cells], [[max(b, 0) for b in below], [max(a, 0) for a in above]],
            fmt=".", ms=3, lw=0.4, label=name,
        )  # fmt: skip
    ends = [cell.truth for cells in answered.values() for cell in cells]
    axis.plot([min(ends), max(ends)], [min(ends), max(ends)], "k-", lw=0.6)
    axis.set_xscale("symlog")
    axis.set_yscale("symlog")
    axis.set_xlabel("truth")
    axis.set_title("estimate and bounds", fontsize=9)
    axis.legend(fontsize=6)


def _errors(axis: Any, answered: dict[str, list[Any]]) -> None:  # noqa: ANN401 - matplotlib has no types
    """Share of answers whose relative error is at most x."""
    for name, cells in answered.items():
        errors = sorted(abs(cell.estimate - cell.truth) / abs(cell.truth) for cell in cells if cell.truth)
        if errors:
            axis.step(errors, [(i + 1) / len(errors) for i in range(len(errors))], where="post", label=name)
    axis.set_xlabel("relative error, at most")
    axis.set_ylim(0, 1.02)
    axis.set_title("share of the answers", fontsize=9)
    axis.legend(fontsize=6)


def _divergence(axis: Any, report: Evaluation) -> None:  # noqa: ANN401 - matplotlib has no types
    """KLD of every group-by; infinite ones are marked, not drawn."""
    for name, found in ((cube.name, cube.group_bys) for cube in report.cubes):
        finite = sorted(one.kld for one in found if not math.isinf(one.kld))
        infinite = len(found) - len(finite)
        label = f"{name}, {infinite} infinite" if infinite else name
        axis.plot(range(1, len(finite) + 1), finite, "o-", ms=3, lw=0.6, label=label)
    axis.set_xlabel("group-by, from the best")
    axis.set_title("KLD", fontsize=9)
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=6)
