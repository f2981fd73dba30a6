"""``sqlanon demo``: see it all once, on a hospital that does not exist."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sqlanon.cli.options import flag
from sqlanon.cli.screen import Screen

FEWEST = 5_000
ROWS = {"duckdb": 200_000, "spark": 20_000}
"""Spark takes seconds for a statement of few rows too, and a release is about a hundred."""


def demo(
    screen: Screen,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows", min=FEWEST, help="Patients in the table; default: 200,000, on Spark 20,000.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed makes the same patients.")] = 7,
    directory: Annotated[Path, flag("--dir", "Where it is built; made if missing.")] = Path("sqlanon-demo"),
    engine: Annotated[
        Literal["duckdb", "spark"], flag("--engine", "Where the table is; Spark needs Java 17.")
    ] = "duckdb",
) -> int | None:
    """Release a synthetic hospital twice, and show the effect."""
    from sqlanon.demo.tour import run_tour

    report = run_tour(directory, rows or ROWS[engine], seed, screen.progress(), engine)
    screen.close()
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.demo import demo_report

        demo_report(screen, report)
    satisfied = all(result.satisfied for released in report.releases for result in released.after.requirements)
    return 0 if satisfied and all(released.run.verified for released in report.releases) else 1
