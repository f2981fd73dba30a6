"""The tables of method freeform for ``docs/freeform.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import Result, number, read, source, table

NAMES = {
    "ncp": "NCP", "method_seconds": "seconds", "verify_seconds": "verification", "peak_gib": "memory", "growth": "seconds a row",
}  # fmt: skip
"""What is wanted of a release, as tables name it."""
FORMS = {"ncp": ".4f", "method_seconds": ".1f", "verify_seconds": ".1f", "peak_gib": ".1f", "growth": ".2f"}


def releases(folder: Path) -> str:
    """Loss, seconds and memory of every release, with what is meant to be reached."""
    result = read(folder, "freeform")
    if result is None or not result["results"]:
        return ""
    head = (
        "table", "rows", "k", "method", "NCP", "at most", "method (s)", "at most", "verification (s)", "GiB", "met",
    )  # fmt: skip
    rows = [
        (
            one["case"], f"{one['rows']:,}", one["k"], f"`{one['method']}`" + (", refined" if one["refine"] else ""),
            f"**{one['ncp']:.4f}**", number(one["wanted"].get("ncp"), ".4f"), f"{one['method_seconds']:.1f}",
            number(one["wanted"].get("method_seconds"), "g"), f"{one['verify_seconds']:.1f}", f"{one['peak_gib']:.1f}", _met(one),
        )
        for one in result["results"]
    ]  # fmt: skip
    return f"{table(head, rows)}\n\n{source(result)}"


def _met(one: Result) -> str:
    missed = [NAMES[name] for name, met in one["met"].items() if not met]
    if missed:
        return f"**no**: {', '.join(missed)}"
    return "yes" if one["met"] else "-"


def counts(folder: Path) -> str:
    """COUNT queries: mean error and width of the bounds over `tree`, and what share of them the others have."""
    result = read(folder, "freeform_counts")
    if result is None or not result["results"]:
        return ""
    found = {(one["text"], one["queries"], one["system"]): one for one in result["results"]}
    rows = []
    for text, queries in dict.fromkeys((text, queries) for text, queries, _ in found):
        tree, refined, own = (found[text, queries, system] for system in ("tree", "tree refined", "freeform"))
        shares = [
            [f"{tree[name]:.0f}", *(f"{one[name] / tree[name]:.0%}" for one in (refined, own))]
            for name in ("error", "width")
        ]
        inside, cells = (sum(one[name] for one in (tree, refined, own)) for name in ("inside", "cells"))
        rows.append((text, queries, *shares[0], *shares[1], f"{inside} of {cells}"))
    head = (
        "text", "queries over", "error (rows), tree", "refined", "freeform", "width of bounds (rows), tree", "refined", "freeform",
        "true counts in their bounds",
    )  # fmt: skip
    return f"{table(head, rows)}\n\n{source(result)}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {"freeform": releases, "freeform counts": counts}
