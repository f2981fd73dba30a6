"""Previews a release: a few source rows next to their published form, for the owner alone.

Nothing is written, kept or logged.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.rows import read_integers
from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.progress import Progress, SilentProgress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import require_rows
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import read_state
from sqlanon.release.catalog.target import target_of
from sqlanon.release.divide.choose_division import division_of_run
from sqlanon.release.divide.classes import Machine
from sqlanon.release.publish.content import list_columns
from sqlanon.release.stages.options import RunOptions
from sqlanon.release.stages.stage import execute, list_steps, read_of, stages_after_reading
from sqlanon.release.stages.work import Work, secret_of
from sqlanon.release.verify.exposure import count_exposure
from sqlanon.release.versions.choose_version import RULES
from sqlanon.results import Exposure
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch

MOST = 100
"""Rows of a preview, at most."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Rows of a source, and their values in the release.

    They contain cell values of the source: they are no report, and for the owner alone.

    Attributes:
        release, source: names of the release and of the source.
        rows: of the source.
        classes, min_class: number and least size of the classes to publish, where classes that publish the same are
            united; a run may make others, as it draws anew.
        columns: columns of the source that are published in some form, and the columns that each becomes, in the order
            of the policy.
        exposed: the risk with every published column; None: no column is published unchanged.
        pairs: of each row that was drawn, the values by column of the source, and by published column; None: it would
            be left out.
    """

    release: str
    source: str
    rows: int
    classes: int
    min_class: int
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    exposed: Exposure | None
    pairs: tuple[tuple[dict[str, object], dict[str, object] | None], ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "release": self.release,
            "source": self.source,
            "rows": self.rows,
            "classes": self.classes,
            "min_class": self.min_class,
            "columns": {name: list(published) for name, published in self.columns},
            "exposed": None if self.exposed is None else asdict(self.exposed),
            "pairs": [{"before": before, "after": after} for before, after in self.pairs],
        }


def preview(
    engine: Engine,
    spec: ReleaseSpec,
    machine: Machine,
    progress: Progress | None = None,
    rows: int = 20,
) -> Preview:
    """Make the classes of a release as a run would, and look at some rows of the source before and after.

    Args:
        engine: the source's database; nothing but scratch tables is written, which are gone at the end.
        spec: the release.
        machine: resources of the method.
        progress: gets stages, counts and notes.
        rows: how many are drawn, at random, 1 to `MOST`.

    Raises:
        PolicyError, GuardError, InfeasibleError, PrivacyViolation: errors that would stop the run.
        UnsupportedError: the release keeps cells from version to version, so that no run makes all classes.

    Cost: that of a run without the last third: no table is written, verified or published.
    """
    if not 1 <= rows <= MOST:
        raise PolicyError(f"preview: 1 to {MOST} rows are shown")
    require_rows(spec.kind, spec.name, "preview shows rows, and it has none; plan says what a run would publish")
    progress = progress or SilentProgress()
    watch = Stopwatch(spec.name, progress)
    try:
        with watch.stage("state"):
            Catalog(engine).guard()
            state = read_state(engine, spec)
            division = division_of_run(spec, engine.workers)
            version = RULES[spec.kind].choose(state, division, RunOptions())
            if not version.anew:
                raise UnsupportedError(
                    f"{spec.name}: with refresh: {{mode: frozen}} a run makes classes of new rows alone; sqlanon plan "
                    "shows which"
                )
            target = target_of(state)
        with Scratch(engine, watch) as scratch:
            decision = Decision("made anew", (), (), None, None)
            work = Work(state, target, decision, version, division, machine, watch, secret_of(state), scratch)
            works = {spec.name: work}
            execute([read_of(works)], works)
            stages = stages_after_reading(works)
            execute(list_steps(stages, "profile"), works)
            ready = work.prepared
            rids = secrets.SystemRandom().sample(range(ready.rows), min(rows, ready.rows))
            readings = ready.roles.quasi + ready.roles.kept
            aliases = [reading.alias for reading in readings]
            staged = scratch.fetch("preview/before", stage=ready.stage, columns=aliases, rids=rids)
            execute(list_steps(stages, "divide"), works)
            classification = work.classes
            recoded = classification.recoded
            recoded_rows = scratch.fetch(
                "preview/after",
                classed=classification.classed.table,
                released=recoded.released,
                published=list_columns(recoded.columns),
                rids=rids,
            )
            names = {
                domain.reading.alias: recoded.layout.names[domain.code].list_columns()
                for domain in classification.encoded.quasi
            }
            published = [column.name for column in recoded.columns]
            after = {row[0]: dict(zip(published, row[1:], strict=True)) for row in recoded_rows}
            columns = tuple(
                (reading.name, tuple(name for name in names.get(reading.alias, (reading.name,)) if name in published))
                for reading in readings
            )
            exact = [(reading.alias, reading.name) for reading in ready.roles.insensitive]
            classes, smallest, exposed = recoded.classes, recoded.min_class, None
            if not recoded.sensitive and recoded.members.unite:
                grouped = scratch.table("rows_of_groups")
                scratch.execute(
                    "table/of_groups",
                    rows=grouped,
                    classed=classification.classed.table,
                    groups=recoded.groups,
                    columns=[alias for alias, _ in exact],
                )
                query = scratch.sql("verify/k_anonymity", {"asked": 1}, target=grouped, classes=["place"], count=None)
                classes, smallest = read_integers(engine.fetch(query)[0][:2])
                exposed = count_exposure(engine, grouped, ["place"], exact)
            pairs = tuple(
                (dict(zip([reading.name for reading in readings], row[1:], strict=True)), after.get(row[0]))
                for row in staged
            )
        return Preview(
            spec.name,
            str(ready.roles.relation.ref),
            ready.rows,
            classes,
            smallest,
            columns,
            exposed,
            pairs,
        )
    finally:
        progress.finish(spec.name)
