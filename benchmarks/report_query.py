"""Forty-two queries of analysts, and how often truths lie in intervals.

The results are in ``docs/benchmarks.md``, those of intervals in ``docs/query.md`` too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import Result, figures, number, read, source, table


def analysts(folder: Path) -> str:
    """Every query with its error and width, and those that are refused with the reason."""
    result = read(folder, "analysts")
    if result is None:
        return ""
    total = result["summary"]
    head = ("query", "SQL", "error of the estimate", "width of the bounds")
    lines = [(one["query"], f"`{_cell(one['sql'])}`", *_measured(one)) for one in result["queries"]]
    return (
        f"{total['answered']} of {total['queries']} answered, {total['inside']:,} of {total['cells']:,} cells inside "
        f"of their bounds; the median error is {total['error']:.1%} of the truth, the median width "
        f"{total['width']:.0%}.\n\n{table(head, lines)}\n\n{source(result)}"
    )


def _measured(one: Result) -> tuple[str, str]:
    if not one["answered"]:
        return "refused", _cell(one["reason"].split(";")[0])
    return number(one["error"], ".1%"), number(one["width"], ".0%")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def intervals(folder: Path) -> str:
    """How often the truth lies in the interval of 95 %, and how wide it is."""
    head = (
        "table",
        "rows",
        "queries",
        "truths in the interval",
        "width of the interval",
        "width of the bounds",
        "by boxes alone",
        "error of the estimate",
    )
    return figures(
        folder,
        "intervals",
        head,
        lambda result: (
            (
                one["table"],
                f"{one['rows']:,}",
                one["queries"],
                f"**{one['interval_holds']:.0%}**",
                f"{one['interval_width']:.1%}",
                f"{one['bounds_width']:.0%}",
                f"{one['boxes_width']:.0%}",
                f"{one['error']:.1%}",
            )
            for one in result["results"]
        ),
    )


def drawn(folder: Path) -> str:
    """How often the truth lies in the interval where sources are drawn as it assumes."""
    head = (
        "table",
        "of",
        "queries",
        "truths in the interval",
        "width, of that of 10,000 draws",
        "queries with an error of at most 0.05",
        "truths in these",
    )
    return figures(
        folder,
        "intervals_drawn",
        head,
        lambda result: (
            (
                one["table"],
                one["of"],
                f"{one['queries']:,}",
                f"**{one['holds']:.1%}**",
                f"{one['by_draws']:.2f} ({one['compared']} queries)",
                one["small_error"],
                number(one["holds_small_error"], ".1%"),
            )
            for one in result["results"]
        ),
    )


def on_postgres(folder: Path) -> str:
    """The same questions on PostgreSQL, all together."""
    result = read(folder, "query_postgres")
    if result is None:
        return ""
    total = result["summary"]
    ratios = sorted(one["release_s"] / one["source_s"] for one in result["questions"])
    return (
        f"On PostgreSQL, without parallel processes, the questions take {total['ratio']:.1f} times the processor time "
        f"of the source ({total['release_s']:.1f} s, {total['source_s']:.1f} s), server and client together, each from "
        f"{ratios[0]:.1f} to {ratios[-1]:.1f} times; {total['kept_s']:.1f} s for the temporary tables, once, are in "
        f"none of these figures.\n\n{source(result)}"
    )


SECTIONS: Mapping[str, Callable[[Path], str]] = {
    "analysts": analysts,
    "intervals_drawn": drawn,
    "query_postgres": on_postgres,
}
PAGE: Mapping[str, Callable[[Path], str]] = {"intervals": intervals}
