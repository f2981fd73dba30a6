"""The table of roads in docs/scale.md, from benchmarks/results/roads.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.roads import TITLES, crossing
from benchmarks.tables import number, read, source, table

WINS = {
    "duckdb": "a table of a DuckDB file, of any size that its disk holds",
    "parquet": "files of up to some 100,000,000 rows",
    "delta": "a Delta table of up to some 100,000,000 rows, beside Spark too",
    "iceberg": "an Iceberg table of up to some 100,000,000 rows, beside Spark too",
    "postgres": "a table of PostgreSQL, where readers are on the same server",
    "server": "a table of PostgreSQL, where readers must not be on its server",
    "spark_small": "a table of at most 100,000 rows that only Spark reads",
    "spark_large": "a table beyond the disk or the hours of one machine, or that only Spark reads",
}
"""Where each road is the one to take."""
PAIRS = (
    ("delta", "spark_large"),
    ("iceberg", "spark_large"),
    ("parquet", "spark_large"),
    ("delta", "spark_small"),
    ("spark_small", "spark_large"),
    ("duckdb", "postgres"),
    ("postgres", "server"),
)
"""Roads of which one may have the choice."""


def roads(folder: Path) -> str:
    """Processor seconds, memory and bytes: a fixed part, and that of each million rows."""
    head = (
        "the table is",
        "rows measured",
        "processor seconds of any run",
        "and per million rows",
        "memory, GiB",
        "statements",
        "MB read per million rows",
        "MB written per million rows",
        "MB shuffled per million rows",
        "wins for",
    )

    def millions(amount: int | None, rows: int) -> str:
        return number(None if amount is None else amount / rows, ",.0f")

    def line(road: Mapping[str, Any]) -> tuple[object, ...]:
        most = road["sizes"][-1]
        return (
            TITLES[road["road"]],
            ", ".join(f"{one['rows']:,}" for one in road["sizes"]),
            number(road["fixed_seconds"], ".1f"),
            f"**{number(road['seconds_per_million'], ',.1f')}**",
            f"{most['memory_gib'] + (most['server_gib'] or 0):.1f}",
            most["statements"],
            *(millions(most[f"bytes_{kind}"], most["rows"]) for kind in ("read", "written", "shuffled")),
            WINS[road["road"]],
        )

    result = read(folder, "roads")
    if result is None:
        return ""
    sizes = [one for road in result["roads"] for one in road["sizes"]]
    days = sorted({one["date"] for one in sizes})
    commands = "`, `".join(dict.fromkeys(one["command"] for one in sizes))
    measured = {**result, "command": commands, "date": " to ".join(dict.fromkeys((days[0], days[-1])))}
    return f"{table(head, map(line, result['roads']))}\n\n{source(measured)}"


def crossings(folder: Path) -> str:
    """Up to how many rows a road takes fewer processor seconds than another."""
    result = read(folder, "roads")
    measured = {road["road"]: road for road in result["roads"]} if result else {}
    pairs = [pair for pair in PAIRS if all(road in measured for road in pair)]
    head = ("road", "takes fewer processor seconds than", "at")
    return table(
        head,
        ((TITLES[first], TITLES[second], _range(measured[first], measured[second])) for first, second in pairs),
    )


def _range(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """For which numbers of rows the first road takes fewer processor seconds."""
    rows = crossing(first, second)
    if rows is not None:
        word = "up to" if first["fixed_seconds"] < second["fixed_seconds"] else "from"
        most = min(road["sizes"][-1]["rows"] for road in (first, second))
        beyond = f", computed: {most:,} were measured" if rows > most else ""
        return f"{word} {float(f'{rows:.2g}'):,.0f} rows{beyond}"
    fewer = (first["fixed_seconds"], first["seconds_per_million"]) <= (
        second["fixed_seconds"],
        second["seconds_per_million"],
    )
    return "any number of rows" if fewer else "no number of rows"


SECTIONS: Mapping[str, Callable[[Path], str]] = {"roads": roads, "roads crossed": crossings}
