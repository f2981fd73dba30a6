"""The tables of frozen refreshes for ``docs/benchmarks.md``: what they lose from night to night, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import Result, figures, number, read, source, table

LIMITS = ("max_stale", "max_retained", "max_waiting")


def drift(folder: Path) -> str:
    """The last night of every setting, and the nights on which limits would have stopped it."""
    head = (
        "a night",
        "l",
        "GCP, times fresh",
        "at most",
        "waiting, mean",
        "waiting, most",
        "stale",
        "retained",
        "failing",
        "failing of full runs",
        *(f"`{limit}` 5 %, 10 %, 20 %: night" for limit in LIMITS),
    )
    return figures(
        folder,
        "frozen_drift",
        head,
        lambda result: (
            (
                one["setting"],
                one["l"] or "-",
                f"**{one['ratio']:.2f}**",
                result["goal"]["ratio"],
                f"{one['mean_waiting']:.1%}",
                f"{one['most_waiting']:.1%}",
                f"{one['stale']:.1%}",
                f"{one['retained']:.1%}",
                one["failing"],
                _full(one),
                *(", ".join(number(night, "d") for night in one["stopped"][limit].values()) for limit in LIMITS),
            )
            for one in result["runs"]
        ),
    )


def _full(one: Result) -> str:
    found = [night["full_failing"] for night in one["nights"] if night.get("full_failing") is not None]
    return f"{min(found):,} to {max(found):,}" if found else "-"


def curve(folder: Path) -> str:
    """GCP by the nights of a cohort."""
    head = ("nights of a cohort", "rows", "GCP, times fresh", "waiting, mean", "waiting, most")
    result = read(folder, "frozen_drift")
    return (
        ""
        if result is None
        else table(
            head,
            (
                (
                    one["cohort_nights"],
                    f"{one['cohort_nights'] * result['rows'] // 100:,}",
                    f"**{one['ratio']:.2f}**",
                    f"{one['mean_waiting']:.1%}",
                    f"{one['most_waiting']:.1%}",
                )
                for one in result["curve"]
            ),
        )
    )


def year(folder: Path) -> str:
    """One lineage over many nights, and the nights on which limits would have stopped it."""
    result = read(folder, "frozen_year")
    if result is None:
        return ""
    head = ("night", "rows", "GCP, times fresh", "waiting", "stale", "retained")
    lines = (
        (
            one["night"],
            f"{one['rows']:,}",
            f"**{one['ratio']:.2f}**",
            *(f"{one[share]:.1%}" for share in ("waiting", "stale", "retained")),
        )
        for one in result["nights"]
    )
    stops = "; ".join(
        f"`{limit}` of 5, 10, 20 %: {', '.join(number(night, 'd') for night in result['stopped'][limit].values())}"
        for limit in LIMITS
    )
    first = (
        f"Nights on which a limit would have stopped the run (`-`: none): {stops}. Failing rows over all versions: "
        f"{result['failing']:,}."
    )
    return f"{table(head, lines)}\n\n{first}\n\n{source(result)}"


def cost(folder: Path) -> str:
    """Seconds of a frozen run and of a full one, by stage."""
    result = read(folder, "frozen_cost")
    if result is None:
        return ""
    best = result["best"]
    stages = [name for name in best["full"]["stages"] if name != "total"]
    head = ("run", "processor s", "s", *stages)
    lines = [
        (
            way,
            f"{best[way]['cpu_seconds']:.2f}",
            f"{best[way]['seconds']:.2f}",
            *(f"{best[way]['stages'].get(stage, 0.0):.2f}" for stage in stages),
        )
        for way in ("full", "frozen")
    ]
    wanted = f"{result['rows']:,} rows. At most {result['goal']:.2f} is wanted."
    ratios = ("frozen / full", f"**{result['cpu_seconds_ratio']:.2f}**", f"{result['seconds_ratio']:.2f}")
    lines.append((*ratios, *("" for _ in stages)))
    return f"{table(head, lines)}\n\n{wanted}\n\n{source(result)}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {
    "frozen_drift": drift,
    "frozen_curve": curve,
    "frozen_year": year,
    "frozen_cost": cost,
}
