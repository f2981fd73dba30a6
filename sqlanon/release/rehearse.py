"""Rehearsal: the classes of a release as a run would make them, in scratch tables.

Nothing is written elsewhere, published, kept or logged: attacks with a control group and comparisons of policies read
it, and it is gone at the end, or with the session of a killed process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import UnsupportedError
from sqlanon.formats.layout import Names
from sqlanon.progress import Progress, SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.collations import find_collated
from sqlanon.release.catalog.entry import require_rows
from sqlanon.release.catalog.metadata import COLUMNS, facts_of, metadata_name, metadata_rows
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import read_state
from sqlanon.release.catalog.target import target_of
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine, measure_loss
from sqlanon.release.prepare.prepare import profile
from sqlanon.release.prepare.staged_source import StagedSource
from sqlanon.release.publish.content import list_columns
from sqlanon.release.stages.stage import execute, list_steps, read_of, stages_after_reading
from sqlanon.release.stages.work import Work
from sqlanon.release.verify.proof import DividedSource
from sqlanon.release.versions.full import FullVersion
from sqlanon.results import LossReport
from sqlanon.spec import RefreshSpec, ReleaseSpec
from sqlanon.table.scratch import Scratch

TABLE = "rehearsed"
"""Name of the table of the rows."""
Choose = Callable[[Scratch, StagedSource], StagedSource]
"""Gives the staged rows that are released, of all that were read."""


@dataclass(frozen=True, slots=True)
class RehearsedRelease:
    """A release that was made in scratch tables.

    Attributes:
        scratch: the run that drops them.
        spec: the release, with the method that a run would take.
        staged: the rows that it was made of.
        made: the classes.
        table: the rows that would be published.
        names: of each quasi column of the source, the columns in ``table``.
    """

    scratch: Scratch
    spec: ReleaseSpec
    staged: StagedSource
    made: DividedSource
    table: TableRef
    names: dict[str, Names]

    def write_metadata(self) -> None:
        """Write the metadata of the rows next to them, so that queries can be asked of ``table`` as of a view."""
        spec = self.spec
        # The reached values of a bounded loss are measured by verification alone, and no query reads them.
        spec = replace(spec, privacy=replace(spec.privacy, accuracy=None))
        roles, layout = self.made.encoded.roles, self.made.recoded.layout
        names = {domain.reading.alias: layout.names[domain.code] for domain in self.made.encoded.quasi}
        facts = facts_of(self.made.recoded, self.table.name) | find_collated(self.scratch.engine, roles)
        place = self.scratch.table(metadata_name(TABLE))
        self.scratch.engine.load_rows(place, COLUMNS, metadata_rows(spec, roles, names, 1, facts, ()))

    def loss(self) -> LossReport:
        """Losses of the rows, by every metric that is asked."""
        return measure_loss(self.scratch, self.spec, self.made)


class _OfPart(FullVersion):
    """A version of some rows of the source: a value of the policy may occur in the others alone."""

    def profile(self, work: Work) -> None:
        memory = work.machine.memory
        work.ready = profile(work.scratch, work.staged, work.division, work.watch, memory=memory, part=True)


@contextmanager
def rehearse(
    engine: Engine,
    spec: ReleaseSpec,
    machine: Machine,
    progress: Progress | None = None,
    *,
    seed: int | None = None,
    choose: Choose | None = None,
) -> Iterator[RehearsedRelease]:
    """Context manager: make a release in scratch tables, which are dropped at the end.

    Args:
        engine: the source's database.
        spec: the release; with ``refresh: {mode: frozen}`` the first version is made.
        machine: resources of the method.
        progress: gets stages, counts and notes.
        seed: of the run's random numbers and hashes; None: as the policy says.
        choose: the rows that are released; None: all.

    Raises:
        PolicyError, GuardError, InfeasibleError, PrivacyViolation: errors that would stop the run.
        UnsupportedError: the release has no rows with cells of their own (counts, format anatomy).

    Cost: that of a run without the last third: the table is not verified as written.
    """
    require_rows(spec.kind, spec.name, "it has no rows that could be tried")
    spec = replace(spec, refresh=RefreshSpec(), seed=spec.seed if spec.seed is not None else seed)
    progress = progress or SilentProgress()
    watch = Stopwatch(spec.name, progress)
    try:
        with watch.stage("state"):
            Catalog(engine).guard()
            state = read_state(engine, spec)
            division = division_of_run(state.spec, engine.workers)
            target = target_of(state)
        with Scratch(engine, watch) as scratch:
            decision = Decision("made anew", (), (), None, None)
            secret = sha256(f"rehearsal {seed or 0}".encode()).hexdigest()
            work = Work(
                state,
                target,
                decision,
                FullVersion() if choose is None else _OfPart(),
                division,
                machine,
                watch,
                secret,
                scratch,
            )
            works = {spec.name: work}
            execute([read_of(works)], works)
            if choose is not None:
                work.read = choose(scratch, work.staged)
            execute(list_steps(stages_after_reading(works), "profile", "divide"), works)
            classes = work.classes
            if classes.recoded.sensitive:
                raise UnsupportedError(
                    f"{spec.name}: format {spec.format.kind} publishes two tables; a release of one table is needed"
                )
            table = scratch.table(TABLE)
            scratch.execute(
                "persons/shown",
                shown=table,
                classed=classes.classed.table,
                released=classes.recoded.released,
                published=list_columns(classes.recoded.columns),
            )
            names = {domain.reading.name: classes.recoded.layout.names[domain.code] for domain in classes.encoded.quasi}
            yield RehearsedRelease(scratch, work.spec, work.staged, classes, table, names)
    finally:
        progress.finish(spec.name)
