"""One table on its way through a run: its `Work`, the kind of `Version` that it gets, and a `Stage`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlanon.engines.base import Engine
from sqlanon.progress import Progress, Stopwatch
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import ReleaseState, read_state
from sqlanon.release.divide.classes import Machine
from sqlanon.release.divide.division import Division
from sqlanon.release.history.compare_versions import NOTHING_COMPARED, Compared
from sqlanon.release.history.earlier import Earlier
from sqlanon.release.prepare.staged import Prepared, Staged, Unchanged
from sqlanon.release.publish.publish import Content, Judge
from sqlanon.release.publish.second_file import reconcile
from sqlanon.release.trials.trial import Trial
from sqlanon.release.verify import tokens
from sqlanon.release.verify.made import Made
from sqlanon.results import DataChange, PlanReport, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Planned:
    """The rows of a version that is planned.

    Attributes:
        ready: the rows that a method would divide; where there are none, the source's, of which the columns alone were
            read.
        tried: a method would run.
        notes: what happens to which rows.
    """

    ready: Prepared
    tried: bool
    notes: tuple[str, ...] = ()


class Version(Protocol):
    """How the next version of a release is made of its source and of the versions before it."""

    @property
    def follows(self) -> bool:
        """Whether rows are matched with those of the version before by their keys while the source is read."""

    @property
    def anew(self) -> bool:
        """Whether every version is made of all rows of the source, whatever was published before."""

    @property
    def begins(self) -> bool:
        """Whether it is made of all rows of the source, and can be compared with the versions before it."""

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """The decision, with what this kind of versions adds to the reasons for a new one."""

    def look(self, work: Work) -> None:
        """Compare the source, which was read, with what is kept of the versions before.

        Raises:
            PrivacyViolation: a limit of the policy is exceeded.
        """

    def own_stages(self, work: Work) -> Sequence[Stage]:
        """All stages, of versions that read their source by themselves; none: it is staged, and `stages` follow."""

    def stages(self, work: Work) -> Sequence[Stage]:
        """The stages from here to the one that publishes, for a source that was looked at."""

    def plan(self, work: Work) -> Planned | PlanReport:
        """Profile the rows that a method would divide. Nothing is written.

        A kind that divides no rows makes the report itself, but for its stages and its change.
        """

    def profile(self, work: Work) -> None:
        """Find the domains of the rows, and whether the policy can be met."""

    def divide(self, work: Work) -> None:
        """Make the classes."""

    def compare(self, work: Work) -> None:
        """Find what the version reveals together with those before it."""

    def measure(self, work: Work) -> None:
        """Make the report so far, and what is to be published."""


@dataclass(slots=True)
class Work:
    """What the stages of one table get, and what each finds for those after it.

    Attributes:
        state: the release as the run found it.
        target: where the version goes.
        decision: why there is one.
        version: the kind of version.
        division: how its rows are divided.
        machine: what the run may use.
        watch: measures the stages.
        secret: what the release's hashes are keyed with.
        scratch: the run's tables.
        siblings: the tables that are published together with this one.
        read: the source, from `stage.ReadSources` on.
        ready: its domains, from `stage.Profile` on.
        data: rows that came and went.
        made: the classes, from `stage.Divide` on.
        compared: with the versions before, from `stage.Compare` on.
        notes: for the report.
        content: what is to be published, from `stage.Measure` on.
        report: what the run gives, from the last stage on.
        judge: has the last word on the verified version: what people decided about the release.
    """

    state: ReleaseState
    target: Publication
    decision: Decision
    version: Version
    division: Division
    machine: Machine
    watch: Stopwatch
    secret: str
    scratch: Scratch
    siblings: tokens.Siblings | None = None
    read: Staged | Unchanged | None = None
    ready: Prepared | None = None
    data: DataChange | None = None
    made: Made | None = None
    compared: Compared = NOTHING_COMPARED
    notes: tuple[str, ...] = ()
    content: Content | None = None
    report: RunReport | None = None
    judge: Judge = lambda report: report

    @property
    def spec(self) -> ReleaseSpec:
        """The release."""
        return self.state.spec

    @property
    def source(self) -> SourceState:
        """What the catalog keeps of the source, which was read."""
        assert self.read is not None
        return self.read.source

    @property
    def staged(self) -> Staged:
        """The staged source, which is not as the published version saw it."""
        assert isinstance(self.read, Staged)
        return self.read

    @property
    def prepared(self) -> Prepared:
        """The profiled source."""
        assert self.ready is not None
        return self.ready

    @property
    def classes(self) -> Made:
        """The classes that were made."""
        assert self.made is not None
        return self.made

    def trial(self, progress: Progress) -> Trial:
        """What is tried of the profiled source."""
        return Trial(self.spec, self.prepared, self.division, self.machine, progress, self.secret)

    @property
    def earlier(self) -> Earlier:
        """The versions before."""
        return Earlier(self.state, self.decision.previous, every=self.division.compares_all)

    @property
    def finished(self) -> RunReport:
        """What the run gives."""
        assert self.report is not None
        return self.report

    @property
    def unchanged(self) -> bool:
        """Whether the source is as the published version saw it, and nothing else asks for a new one."""
        return self.decision.same_as is not None and self.decision.same_as == self.source.fingerprint


Works = Mapping[str, Work]
"""The work of each release of a run, by name, in their order."""


class Stage(Protocol):
    """A part of a run."""

    @property
    def text(self) -> str:
        """What is done, in one line for people; no value of a cell."""

    def run(self, works: Works) -> None:
        """Do it."""


def find_state(engine: Engine, spec: ReleaseSpec, watch: Stopwatch, *, every: bool = False) -> ReleaseState:
    """The state of a release with a held lock, after the remains of a killed run are removed.

    ``every``: with all its versions.
    """
    with watch.stage("state"):
        Catalog(engine).guard()
        state = read_state(engine, spec, every=every)
        return read_state(engine, spec, every=every) if reconcile(engine, spec.name, state.versions) else state


def secret_of(state: ReleaseState) -> str:
    """What a release's hashes are keyed with: a new secret before its first version."""
    return state.secret or secrets.token_hex(32)
