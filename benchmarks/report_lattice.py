"""The tables of methods fulldomain and koptimize for their pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import Result, number, read, source, table


def lattice(folder: Path) -> str:
    """Loss and processor seconds of every release, with what is meant to be reached."""
    result = read(folder, "lattice")
    if result is None:
        return ""
    rows = [
        (
            f"{one['part']}, {one['rows']:,}",
            _method(one),
            _asked(one),
            f"**{one['lm']:.4f}**",
            number(one["most_lm"], "g"),
            f"{one['processor_seconds']:.2f}",
            number(one["most_seconds"], "g"),
            _met(one),
        )
        for one in result["results"]
    ]
    head = (
        "table, rows",
        "method",
        "asked",
        "LM",
        "at most",
        "processor seconds of the method",
        "at most",
        "met",
    )
    return f"{table(head, rows)}\n\n{source(result)}"


def _method(one: Result) -> str:
    name, _, options = one["method"].partition(":")
    search = options.removeprefix("search=").partition(",")[0] if name == "fulldomain" else ""
    return f"{name} {search}".strip() + (" + refine" if one["refine"] else "")


def _asked(one: Result) -> str:
    asked = f"l = {one['l']}" if "l" in one else f"k = {one['k']}"
    return asked + (f", {one['suppressed'] / one['rows']:.1%} suppressed" if one["suppressed"] else "")


def _met(one: Result) -> str:
    if one["met"] is None:
        return "-"
    if "ratio" in one:
        return f"{'yes' if one['met'] else '**no**'}: {one['ratio']:.2f} times tree's"
    if one["part"] == "nested":
        return f"{'yes' if one['met'] else '**no**'}, {one['gib']:.1f} GiB"
    meant = one["most_lm"] is not None or one["most_seconds"] is not None
    return ("yes" if one["met"] else "**no**") if meant else "-"


def koptimize(folder: Path) -> str:
    """The best cut points, with the cost that no others are below."""
    results = (read(folder, name) for name in ("koptimize_loss", "koptimize"))
    return "\n\n".join(_show_cuts(result) for result in results if result is not None)


def _show_cuts(result: Result) -> str:
    rows = [
        (
            f"{one['table']}, {one['rows']:,}",
            one["columns"],
            f"k = {one['k']}",
            "any" if one["limit"] else "none",
            f"{one['metric']} **{_cost(one, 'cost')}**",
            "proven" if one["proven"] else _cost(one, "bound"),
            "-" if one["proven"] else f"{one['gap']:.1%}",
            f"{one['sets']:,}",
            f"{one['processor_seconds']:.1f}",
        )
        for one in result["results"]
    ]
    head = (
        "table, rows",
        "columns",
        "asked",
        "suppressed rows allowed",
        "cost",
        "no set costs less than",
        "gap",
        "sets",
        "processor seconds of the release",
    )
    return f"{table(head, rows)}\n\n{source(result)}"


def _cost(one: Result, name: str) -> str:
    return f"{one[name]:,.0f}" if one["metric"] == "dm" else f"{one[name]:.4f}"


SECTIONS: Mapping[str, Callable[[Path], str]] = {"lattice": lattice}
CUTS: Mapping[str, Callable[[Path], str]] = {"koptimize": koptimize}
