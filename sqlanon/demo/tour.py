"""Steps of the demonstration: fill a warehouse, run both releases, measure before, after and together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.demo.compile import second_process
from sqlanon.demo.layout import POLICY, claim_directory, create, fill, write
from sqlanon.progress import Progress

if TYPE_CHECKING:
    from sqlanon.results import AuditReport, RunReport, TogetherReport

SAMPLE_ROWS, SAMPLE_FROM = 3, 20_000
"""Rows to show, spread over the first rows of the release, which is sorted."""


@dataclass(frozen=True, slots=True)
class DemoRelease:
    """One release: its run, the risk of the source by the same columns, and of the published table."""

    run: RunReport
    before: AuditReport
    after: AuditReport


@dataclass(frozen=True, slots=True)
class DemoReport:
    """All that the demonstration did.

    Attributes:
        directory: where its files are; ``replaced`` names those of an earlier one.
        engine: duckdb or spark.
        sample: columns and rows of the first published view.
    """

    directory: Path
    engine: str
    replaced: tuple[str, ...]
    rows: int
    seed: int
    releases: tuple[DemoRelease, ...]
    together: TogetherReport
    sample: tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, without the sample."""
        return {
            "directory": str(self.directory),
            "engine": self.engine,
            "replaced": list(self.replaced),
            "rows": self.rows,
            "seed": self.seed,
            "releases": [release.run.to_dict() for release in self.releases],
            "before": [release.before.to_dict() for release in self.releases],
            "after": [release.after.to_dict() for release in self.releases],
            "together": self.together.to_dict(),
            "seconds": self.seconds,
        }


def run_tour(directory: Path, rows: int, seed: int, progress: Progress, engine: str = "duckdb") -> DemoReport:
    """Build the demonstration's directory and release its table twice.

    Args:
        directory: made if it is missing; one that is not the demonstration's own is refused.
        rows: patients in the table.
        seed: the same seed makes the same patients.
        progress: gets each step.
        engine: duckdb or spark.
    """
    import sqlanon
    from sqlanon.policy import load

    start = time.perf_counter()
    replaced = claim_directory(directory)
    if replaced:
        progress.note(f"replacing the demo's own {', '.join(replaced)}")
    progress.stage("demo", f"draw {rows:,} patients")
    write(directory, rows, seed, engine)
    with chdir(directory):  # where the user will run it: the catalog keeps the paths as the policy names them
        policy = load(POLICY)
    released = []
    with second_process(), sqlanon.connect(create(directory, engine), progress=progress) as database:
        progress.stage("demo", "fill the warehouse")
        fill(database, directory, engine)
        for spec in policy.releases:
            quasi = [column.name for column in spec.with_role("quasi")]
            sensitive = [column.name for column in spec.with_role("sensitive")]
            before = database.audit(spec.source, quasi=quasi, sensitive=sensitive)
            run = database.run(spec)
            after = database.audit(run.published, sensitive=sensitive, spec=spec)
            released.append(DemoRelease(run, before, after))
        together = database.together(policy.releases[0].name, policy.releases[1].name)
        names, sample = database.sample(released[0].run.published, rows=min(rows, SAMPLE_FROM))
    progress.finish("demo")
    return DemoReport(
        directory=directory,
        engine=engine,
        replaced=replaced,
        rows=rows,
        seed=seed,
        releases=tuple(released),
        together=together,
        sample=(tuple(names), _spread(sample)),
        seconds=time.perf_counter() - start,
    )


def _spread(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    """A few rows, evenly apart."""
    return tuple(tuple(rows[len(rows) * (2 * index + 1) // (2 * SAMPLE_ROWS)]) for index in range(SAMPLE_ROWS))
