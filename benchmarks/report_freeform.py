"""The tables of method freeform for ``docs/freeform.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import Result, number, read, source, table

NAMES = {
    "ncp": "NCP",
    "method_seconds": "seconds",
    "verify_seconds": "verification",
    "peak_gib": "memory",
    "growth": "seconds a row",
}
"""What is wanted of a release, as tables name it."""
FORMS = {"ncp": ".4f", "method_seconds": ".1f", "verify_seconds": ".1f", "peak_gib": ".1f", "growth": ".2f"}


def releases(folder: Path) -> str:
    """Loss, seconds and memory of every release, with what is meant to be reached."""
    result = read(folder, "freeform")
    if result is None or not result["results"]:
        return ""
    head = ("table", "rows", "k", "method", "NCP", "at most", "method (s)", "at most", "verification (s)", "GiB", "met")
    rows = [
        (
            one["case"],
            f"{one['rows']:,}",
            one["k"],
            f"`{one['method']}`" + (", refined" if one["refine"] else ""),
            f"**{one['ncp']:.4f}**",
            number(one["wanted"].get("ncp"), ".4f"),
            f"{one['method_seconds']:.1f}",
            number(one["wanted"].get("method_seconds"), "g"),
            f"{one['verify_seconds']:.1f}",
            f"{one['peak_gib']:.1f}",
            _met(one),
        )
        for one in result["results"]
    ]
    return f"{table(head, rows)}\n\n{source(result)}"


def _met(one: Result) -> str:
    missed = [NAMES[name] for name, met in one["met"].items() if not met]
    if missed:
        return f"**no**: {', '.join(missed)}"
    return "yes" if one["met"] else "-"


def counts(folder: Path) -> str:
    """Results of COUNT queries.

    They are loss, mean error and width of the bounds of `tree`, and the shares of these in the other systems.
    """
    result = read(folder, "freeform_counts")
    if result is None or not result["results"]:
        return ""
    found = {(one["text"], one["system"], one["queries"]): one for one in result["results"]}
    families = list(dict.fromkeys(one["queries"] for one in result["results"]))
    rows = []
    for text, system in dict.fromkeys((text, system) for text, system, _ in found):
        tree, mine = ([found[text, who, family] for family in families] for who in ("tree", system))
        shares = [
            f"{one[name]:.0f}" if system == "tree" else f"{one[name] / its[name]:.0%}"
            for name in ("error", "width")
            for one, its in zip([*mine, _sum(mine)], [*tree, _sum(tree)], strict=True)
        ]
        inside = f"{_sum(mine)['inside']} of {_sum(mine)['cells']}"
        rows.append((text, system, f"{mine[0]['gcp']:.4f}", *shares, inside))
    head = (
        "text",
        "method",
        "GCP",
        *(f"{what}, {over}" for what in ("error", "width") for over in (*families, "all")),
        "true counts in bounds",
    )
    return f"{table(head, rows)}\n\n{source(result)}"


def _sum(families: list[Result]) -> dict[str, float]:
    """What is measured of several families of queries, added up."""
    return {name: sum(one[name] for one in families) for name in ("error", "width", "inside", "cells")}


SECTIONS: Mapping[str, Callable[[Path], str]] = {"freeform": releases, "freeform counts": counts}
