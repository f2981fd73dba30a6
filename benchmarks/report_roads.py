"""The table of roads in docs/scale.md, from benchmarks/results/roads.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.roads import TITLES
from benchmarks.tables import figures, number

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


def roads(folder: Path) -> str:
    """Processor seconds, memory and bytes for each million rows."""
    head = (
        "the table is",
        "rows measured",
        "processor seconds per million rows",
        "memory, GiB",
        "statements",
        "MB read per million rows",
        "MB written per million rows",
        "MB shuffled per million rows",
        "wins for",
    )

    def millions(amount: int | None, rows: int) -> str:
        return number(None if amount is None else amount / rows, ",.0f")

    return figures(
        folder,
        "roads",
        head,
        lambda result: (
            (
                TITLES[one["road"]],
                f"{one['rows']:,}",
                f"**{one['cpu_seconds'] / one['rows'] * 1e6:,.1f}**",
                f"{one['memory_gib'] + (one['server_gib'] or 0):.1f}",
                one["statements"],
                *(millions(one[f"bytes_{kind}"], one["rows"]) for kind in ("read", "written", "shuffled")),
                WINS[one["road"]],
            )
            for one in result["roads"]
        ),
    )


SECTIONS: Mapping[str, Callable[[Path], str]] = {"roads": roads}
