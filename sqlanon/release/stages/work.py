"""State of one table during a run (`Work`), the kind of its new `Version`, and the interface of a `Stage`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from sqlanon.engines.base import Engine
from sqlanon.progress import Progress, Stopwatch
from sqlanon.release.catalog.approvals import hold_approval
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import ReleaseState, read_state
from sqlanon.release.divide.classes import Machine
from sqlanon.release.divide.division import Division
from sqlanon.release.history.compare_versions import NOTHING_COMPARED, VersionComparison
from sqlanon.release.history.earlier_versions import EarlierVersions
from sqlanon.release.prepare.staged_source import PreparedSource, StagedSource, UnchangedSource
from sqlanon.release.prepare.workplace import RunFacts
from sqlanon.release.publish.content import Content
from sqlanon.release.publish.new_version import Judge
from sqlanon.release.publish.reconcile import reconcile
from sqlanon.release.trials.trial import Trial
from sqlanon.release.verify import tokens
from sqlanon.release.verify.accepted_risk import hold_threshold
from sqlanon.release.verify.proof import DividedSource
from sqlanon.results import DataChange, PlanReport, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.scratch import Scratch
from sqlanon.table.scratch_schema import has_remains, sweep


@dataclass(frozen=True, slots=True)
class Outline:
    """A run as plan announces it.

    Attributes:
        stages: the stages that the run would carry out.
        beside: other releases of the same policy.
    """

    stages: Sequence[Stage]
    beside: Sequence[ReleaseSpec] = ()


class Version:
    """How the next version of a release is made of the source and of earlier versions.

    Run, plan, preview and rehearsal go by these verbs, so that none of them asks for the kind.

    Attributes:
        brings: a small source may be worked on in memory of this process, see `RunFacts`.
        anew: every version is made of all rows of the source, whatever was published before.
        links: the columns that are hashed to find rows in private tables; None: as the policy says.
    """

    brings: ClassVar[bool] = False
    anew: ClassVar[bool] = True
    links: Sequence[str] | None = None

    @property
    def follows(self) -> bool:
        """Whether rows are matched with those of the version before by their keys while the source is read."""
        return False

    @property
    def owned(self) -> bool:
        """Whether the staged rows need a keyed hash of the person, though versions are made anew."""
        return False

    @property
    def begins(self) -> bool:
        """Whether it is made of all rows of the source, and can be compared with the versions before it."""
        return True

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """The decision, with the reasons for a new version that this kind of versions adds."""
        return decision

    def look(self, work: Work) -> None:
        """Compare the source, which was read, with the records of earlier versions.

        Raises:
            PrivacyViolation: a limit of the policy is exceeded.
        """

    def own_stages(self, work: Work) -> Sequence[Stage]:
        """All stages, of versions that read their source by themselves; none: it is staged, and `stages` follow."""
        return ()

    def stages(self, work: Work) -> Sequence[Stage]:
        """The stages from here to publication, for a source that was looked at."""
        raise NotImplementedError

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        """The report of a plan, but for the stages. Nothing is written.

        Raises:
            PolicyError, GuardError, InfeasibleError: errors that would stop the run.
        """
        raise NotImplementedError

    def profile(self, work: Work) -> None:
        """Find the domains of the rows, and whether the policy can be met."""

    def divide(self, work: Work) -> None:
        """Make the classes."""

    def compare(self, work: Work) -> None:
        """Find the disclosures of the version together with earlier versions."""

    def measure(self, work: Work) -> None:
        """Make the report so far, and the content to publish."""


@dataclass(slots=True)
class Work:
    """Inputs of the stages of one table, and results of each stage for later stages.

    Attributes:
        state: the release as the run found it.
        target: destination of the version.
        decision: the reason for the version.
        version: the kind of version.
        division: how the rows are divided.
        machine: resources of the run.
        watch: measures the stages.
        secret: key of the release's hashes.
        scratch: the run's tables.
        siblings: the tables that are published together with this one.
        read: the source, from `stage.ReadSources` on.
        ready: the domains of the source, from `stage.Profile` on.
        data: rows that came and went.
        made: the classes, from `stage.Divide` on.
        compared: with the versions before, from `stage.Compare` on.
        notes: for the report.
        content: the content to publish, from `stage.Measure` on.
        report: the result of the run, from the last stage on.
        judge: has the last word on the verified version; an erasure waits for nobody's decision.
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
    read: StagedSource | UnchangedSource | None = None
    ready: PreparedSource | None = None
    data: DataChange | None = None
    made: DividedSource | None = None
    compared: VersionComparison = NOTHING_COMPARED
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
        """The catalog's record of the source, which was read."""
        assert self.read is not None
        return self.read.source

    @property
    def staged(self) -> StagedSource:
        """The staged source, which is not as the published version saw it."""
        assert isinstance(self.read, StagedSource)
        return self.read

    @property
    def prepared(self) -> PreparedSource:
        """The profiled source."""
        assert self.ready is not None
        return self.ready

    @property
    def classes(self) -> DividedSource:
        """The classes that were made."""
        assert self.made is not None
        return self.made

    @property
    def bringing(self) -> RunFacts:
        """Facts on which the choice of the workplace depends, before the source is read."""
        whole = self.version.brings and self.division.brings and not self.scratch.keeps
        remains, previous = has_remains(self.state.found.tables), self.decision.previous
        if previous is None or not self.state.exists(previous.link):
            return RunFacts(whole, remains)
        return RunFacts(whole, remains, (previous.link,), int(previous.report.get("rows") or 0))

    def trial(self, progress: Progress) -> Trial:
        """Trials of the profiled source."""
        return Trial(self.spec, self.prepared, self.division, self.machine, progress, self.secret)

    @property
    def earlier(self) -> EarlierVersions:
        """The versions before."""
        return EarlierVersions(self.state, self.decision.previous, every=self.division.compares_all)

    def hold_approval(self) -> tuple[str, ...]:
        """Stop a release without a valid approval if the policy needs approval, or that of the version before did.

        Readers may look where another release was: its last version counts as the one before.

        Returns:
            a warning if the approval ends soon.

        Raises:
            GuardError, PrivacyViolation: see `sqlanon.release.catalog.approvals.hold_approval`.
        """
        before = self.state.last_shown or self.decision.instead
        return hold_approval(self.state.engine, self.spec, before=before)

    def hold_decisions(self, report: RunReport) -> RunReport:
        """Hold a verified version to people's decisions, in the publishing transaction: approvals end meanwhile.

        Raises:
            PrivacyViolation: the risk is above the threshold.
            GuardError: the policy's approval no longer holds.
        """
        notes = hold_threshold(self.spec, report)
        self.hold_approval()
        return replace(report, notes=(*report.notes, *notes))

    @property
    def finished(self) -> RunReport:
        """Report of the run."""
        assert self.report is not None
        return self.report

    @property
    def unchanged(self) -> bool:
        """Whether the source is as the published version saw it, and nothing else asks for a new version."""
        return self.decision.same_as is not None and self.decision.same_as == self.source.fingerprint


Works = Mapping[str, Work]
"""The work of each release of a run, by name, in their order."""


class Stage(Protocol):
    """A part of a run."""

    @property
    def text(self) -> str:
        """Description in one line for people; no value of a cell."""

    def run(self, works: Works) -> None:
        """Do it."""


def find_state(engine: Engine, spec: ReleaseSpec, watch: Stopwatch, *, every: bool = False) -> ReleaseState:
    """The state of a release with a held lock, after the remains of a killed run are removed.

    ``every``: with all versions of the release.
    """
    with watch.stage("state"):
        Catalog(engine).guard()
        state = read_state(engine, spec, every=every)
        if has_remains(state.found.tables):
            sweep(engine)
        tidied = reconcile(engine, spec.name, state.versions, state.found.tables)
        return read_state(engine, spec, every=every) if tidied else state


def secret_of(state: ReleaseState) -> str:
    """Key of a release's hashes: a new secret before the first version."""
    return state.secret or secrets.token_hex(32)
