"""The stages of a run, and the execution of a list of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Literal

from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import list_reader_warnings
from sqlanon.release.prepare.prepare import read_source
from sqlanon.release.prepare.row_security import source_snapshot
from sqlanon.release.prepare.staged_source import Reading, StagedSource, UnchangedSource
from sqlanon.release.publish.keep_published import keep, keep_readers, refuse_few, report_published
from sqlanon.release.publish.new_version import NewVersion
from sqlanon.release.publish.publish import put_in
from sqlanon.release.stages.work import Stage, Work, Works
from sqlanon.release.trials.persons_cost import persons_cost
from sqlanon.results.figures import format_rows

log = logging.getLogger("sqlanon.stages")

Verb = Literal["profile", "divide", "compare", "measure"]
"""Methods of `Version` that are stages of their own."""


def execute(stages: Iterable[Stage], works: Works) -> None:
    """Carry out stages, one after the other; each is named in the log ``sqlanon.stages``."""
    for stage in stages:
        log.debug("%s", stage.text)
        stage.run(works)


def list_stages(works: Works) -> Iterator[Stage]:
    """The stages of a run in their order; those after the reading of sources follow once these were read."""
    own_stages = [stage for work in works.values() for stage in work.version.own_stages(work)]
    if own_stages:
        yield from own_stages
    else:
        yield read_of(works)
        yield from stages_after_reading(works)


def carry_out(works: Works) -> None:
    """Carry out all stages of a run."""
    execute(list_stages(works), works)


def announce(works: Works) -> list[Stage]:
    """All stages of a run that is planned: sources are read, and nothing else is done."""
    stages = []
    for stage in list_stages(works):
        if isinstance(stage, ReadSources):
            stage.run(works, planned=True)
        stages.append(stage)
    return stages


def read_of(works: Works) -> ReadSources:
    """The first stage."""
    return ReadSources(tuple(works), tuple(str(work.state.source.ref) for work in works.values()))


def stages_after_reading(works: Works) -> list[Stage]:
    """The further stages, now that the sources were read: where any table has anything new, all get a new version."""
    if all(work.unchanged for work in works.values()):
        return [LeaveStage(name, _version(work)) for name, work in works.items()]
    stages = [stage for work in works.values() for stage in work.version.stages(work)]
    return [*stages, PublishStage(tuple(works), tuple(work.target.version for work in works.values()))]


def _version(work: Work) -> int:
    assert work.decision.previous is not None
    return work.decision.previous.version


@dataclass(frozen=True, slots=True)
class ReadSources:
    """Read the sources of releases in one snapshot into scratch tables."""

    releases: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"read {', '.join(self.sources)} in one snapshot"

    def run(self, works: Works, *, planned: bool = False) -> None:
        """See `Stage.run`; ``planned``: no rows are released, and all rows are read."""
        all_of = [works[name] for name in self.releases]
        several = len(all_of) > 1
        sources = [(work.spec, work.state.source.ref) for work in all_of]
        # One table that must be made anew is enough for all of them to be read.
        compare = not planned and all(work.decision.same_as is not None for work in all_of)
        with source_snapshot(all_of[0].state.engine, sources, planned=planned) if several else nullcontext():
            for work in all_of:
                _read(work, compare=compare, share=several, planned=planned)
            if any(isinstance(work.read, StagedSource) for work in all_of):
                for work in all_of:
                    if isinstance(work.read, UnchangedSource):
                        _read(work, compare=False, share=several, planned=planned)
        for work in all_of:
            work.decision = work.decision.decide_again(work.source)
        changed = not all(work.unchanged for work in all_of)
        for work in all_of:
            if changed and work.unchanged:
                why = ("the tables that it is published together with changed",)
                work.decision = replace(work.decision, state="made anew", why=why, same_as=None)
            if isinstance(work.read, StagedSource):
                work.version.look(work)


def _read(work: Work, *, compare: bool, share: bool, planned: bool = False) -> None:
    how = Reading(
        work.secret,
        work.machine.memory,
        tokens=work.state.tokens,
        same_as=work.decision.same_as if compare else None,
        held=share,
        follows=work.version.follows,
        lasting=not work.version.anew,
        owned=work.version.owned,
        planned=planned,
        snapshot=work.decision.snapshot,
        links=work.version.links,
        bringing=work.bringing,
    )
    work.read = read_source(work.scratch, work.spec, work.state.source, work.watch, how)
    if isinstance(work.read, StagedSource):
        work.notes += work.read.place.notes


@dataclass(frozen=True, slots=True)
class LeaveStage:
    """Leave the published version of a source that has not changed, and note in the catalog that a run looked."""

    release: str
    version: int

    @property
    def text(self) -> str:
        return f"{self.release}: leave version {self.version} as it is"

    def run(self, works: Works) -> None:
        work = works[self.release]
        entry = work.decision.previous
        assert entry is not None
        refuse_few(work.spec, entry)
        with work.watch.stage("publish"):
            keep(work.state, entry, work.source.read_at)
        same = report_published(work.spec, entry, "unchanged", work.decision.why, work.watch)
        warned = list_reader_warnings(work.state)
        work.report = replace(same, warnings=(*same.warnings, *warned))


@dataclass(frozen=True, slots=True)
class WaitStage:
    """Leave the published version of a release that is not due; readers that the policy names now get their rights."""

    release: str
    version: int

    @property
    def text(self) -> str:
        return f"{self.release}: leave version {self.version}, as it is not due yet"

    def run(self, works: Works) -> None:
        work = works[self.release]
        entry = work.decision.previous
        assert entry is not None
        keep_readers(work.state.engine, work.spec, entry)
        work.report = report_published(work.spec, entry, "fresh", work.decision.why, work.watch)


@dataclass(frozen=True, slots=True)
class VersionStage:
    """A stage of one release that its kind of versions carries out.

    Attributes:
        release: the release's name.
        verb: the method of `Version`.
        text: its line of a plan.
    """

    release: str
    verb: Verb
    text: str

    def run(self, works: Works) -> None:
        work = works[self.release]
        version = work.version
        verbs: dict[Verb, Callable[[Work], None]] = {
            "profile": version.profile,
            "divide": version.divide,
            "compare": version.compare,
            "measure": version.measure,
        }
        verbs[self.verb](work)


def list_steps(stages: Iterable[Stage], *verbs: Verb) -> list[VersionStage]:
    """Those of a list of stages that carry out one of some verbs."""
    return [stage for stage in stages if isinstance(stage, VersionStage) and stage.verb in verbs]


def profile_of(name: str, rows: int) -> VersionStage:
    """Find the domains of the rows that a method divides, and whether the policy can be met."""
    return VersionStage(name, "profile", f"{name}: profile {format_rows(rows)}")


def comparison_of(name: str, before: Entry | None) -> VersionStage:
    """Find the disclosures of a version together with earlier versions; the version's keys make a history."""
    if before is None:
        return VersionStage(name, "compare", f"{name}: keep what later versions are compared with")
    return VersionStage(name, "compare", f"{name}: compare with version {before.version}")


def measurement_of(name: str) -> VersionStage:
    """Measure the loss, and the other facts that the report states about the rows to publish."""
    return VersionStage(name, "measure", f"{name}: measure the loss")


@dataclass(frozen=True, slots=True)
class ComparePersons:
    """Divide a sample once with `persons: whole` and once with `rows`, and note both losses."""

    release: str

    @property
    def text(self) -> str:
        return f"{self.release}: compare the loss of persons: whole with that of rows, on a sample"

    def run(self, works: Works) -> None:
        work = works[self.release]
        with work.watch.stage("method") as progress:
            note = persons_cost(work.scratch, work.trial(progress))
        work.notes += (note,) if note else ()


@dataclass(frozen=True, slots=True)
class PublishStage:
    """Write the versions, verify them against the policy, and show them to readers.

    It is done for all tables or for none.
    """

    releases: tuple[str, ...]
    versions: tuple[int, ...]

    @property
    def text(self) -> str:
        version_names = (f"version {n} of {name}" for name, n in zip(self.releases, self.versions, strict=True))
        return f"write, verify and publish {', '.join(version_names)}"

    def run(self, works: Works) -> None:
        all_of = [works[name] for name in self.releases]
        parts = []
        for work in all_of:
            assert work.content is not None
            parts.append(NewVersion(work.state, work.target, work.content, work.watch, work.judge, work.scratch.clear))
        for work, report in zip(all_of, put_in(parts), strict=True):
            work.report = report
