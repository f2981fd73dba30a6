"""``sqlanon evaluate``: how well a release answers for the source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlanon.cli.options import Db, PolicyFile, find_policy, find_url, open_database, option
from sqlanon.cli.screen import Screen
from sqlanon.errors import PolicyError

WORKLOAD = Path("workload.yml")


def evaluate(
    screen: Screen,
    release: Annotated[
        str | None,
        typer.Argument(show_default=False, help="A release's name or view (default: the only one there is)."),
    ] = None,
    workload: Annotated[
        Path | None,
        option(
            "--workload",
            "FILE",
            "Queries and generators (default: ./workload.yml if it is there, else generators that fit any release).",
            short="-w",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", hidden=True)] = None,
    db: Db = None,
    policy: PolicyFile = None,
) -> int | None:
    """Ask a workload of a release and of the source: errors, bounds, KL-divergence.

    Exit code 1 where a truth lies outside of the bounds: the source has changed since the release was made, or it is a
    defect.
    """
    if workload is not None and not workload.is_file():
        raise PolicyError(f"no workload file {workload}")
    workload_file = workload or (WORKLOAD if WORKLOAD.is_file() else None)
    if plot is not None:
        raise PolicyError(
            "--plot: the picture is in the report of a release: sqlanon report NAME -w workload.yml -o report.html"
        )
    spec = find_policy(db, policy)
    with open_database(find_url(db, spec), screen, read_only=True) as connected:
        report = connected.evaluate(release, workload_file)
    screen.emit(report.to_dict())
    if not screen.silent:
        from sqlanon.cli.show.evaluate import show_evaluation

        show_evaluation(screen, report)
    return 0 if report.sound else 1
