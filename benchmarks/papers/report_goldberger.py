"""The tables of the experiments of Goldberger and Tassa for ``docs/goldberger2010.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.papers.goldberger.experiments import TITLES
from benchmarks.papers.goldberger.pictures import SHOWN
from benchmarks.tables import Result, number, read, source, table

_FIGURES = {
    "lm": ("LM", ".4f"),
    "entropy": ("entropy of classes, bits", ".3f"),
    "accuracy": ("accuracy", ".4f"),
    "majority": ("most frequent value", ".4f"),
    "count_error": ("median error of COUNT", ".1%"),
    "classes": ("classes", ",d"),
    "processor_seconds": ("processor seconds", ".2f"),
}
_HOLDS = {True: "yes", False: "**no**", None: "not comparable: fewer rows"}


def section(name: str, folder: Path, stem: str = "") -> str:
    """One experiment: every release, and what the paper says."""
    stem = stem or f"goldberger_{name}"
    result = read(folder, stem)
    if result is None:
        return ""
    found: list[Result] = result["results"]
    shown = [figure for figure in _FIGURES if any(figure in one for one in found)]
    head = ("", "x", "rows", *(_FIGURES[figure][0] for figure in shown))
    rows = [
        (
            one["who"],
            f"{one['x']:g}",
            number(one.get("rows"), ",d"),
            *(number(one.get(figure), _FIGURES[figure][1]) for figure in shown),
        )
        for one in found
    ]
    claims = table(
        ("the paper", "here", "holds"),
        [(one["claim"], one["here"], _HOLDS[one["holds"]]) for one in result["verdicts"]],
    )
    picture = f"![{TITLES[name]}](../benchmarks/results/{stem}.png)" if name in SHOWN else ""
    return "\n\n".join(part for part in (table(head, rows), claims, picture, source(result)) if part)


_OF_PART, _OF_ALL = ("k", "others", "w"), ("k", "rows", "columns", "l", "learn")
"""The experiments that the page has of 3,000 rows, and of the whole table."""
SECTIONS: Mapping[str, Callable[[Path], str]] = {
    **{f"goldberger {name}": partial(section, name) for name in _OF_PART},
    **{f"goldberger {name} whole": partial(section, name, stem=f"goldberger_{name}_whole") for name in _OF_ALL},
    **{f"goldberger k {k} whole": partial(section, "k", stem=f"goldberger_k_{k}_whole") for k in (10, "rest", 100)},
}
