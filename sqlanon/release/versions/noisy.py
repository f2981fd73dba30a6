"""Versions of differentially private statistics: charged, bounded, drawn once, published.

See docs/differential-privacy.md. The order protects persons: a version is charged, in the database and in the anchor,
the source is read; the noisy table is stored together with the ledger's row about it; and a table left behind by
a run is published as it is, never drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlanon.errors import GuardError, PrivacyViolation, SqlanonError
from sqlanon.noisy.answers import bound_rows, check_columns, read_answers, verify_norms
from sqlanon.noisy.draw import add_noise, import_opendp, try_law
from sqlanon.noisy.published import column_types, drawn_rows, estimate, kept_share
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import Noise, noise_of
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.charged import (
    describe_end,
    drawn_table,
    is_waiting,
    last_spending,
    person_tables,
    policy_mark,
    settle,
)
from sqlanon.release.budget.events import Event, Kind, Spending
from sqlanon.release.catalog.refresh import Decision, policy_changes
from sqlanon.release.catalog.state import ReleaseState, read_state
from sqlanon.release.plans.noisy import plan_noisy
from sqlanon.release.prepare.row_security import refuse_hidden, source_snapshot
from sqlanon.release.publish.publish import make_room
from sqlanon.release.stages.stage import Publish
from sqlanon.release.stages.work import Outline, Stage, Version, Work
from sqlanon.release.versions.noisy_content import content_of_drawn
from sqlanon.release.versions.waiting import Waiting
from sqlanon.results import PlanReport
from sqlanon.spec import ReleaseSpec


@dataclass(frozen=True, slots=True)
class Reserve:
    """Charge a version, before the source is read."""

    release: str
    budget: str
    epsilon: float

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: charge the budget {self.budget} with epsilon {self.epsilon:g}"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        _noisy_version_of(work).reserve(work)


@dataclass(frozen=True, slots=True)
class Answer:
    """Bound each person's rows, add them up, verify, draw noise, and store the noisy table."""

    release: str
    tables: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        tables = f"{self.tables} table{'s' if self.tables > 1 else ''}"
        return f"{self.release}: bound each person's rows, answer {tables}, draw noise"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        _noisy_version_of(work).answer(work)


@dataclass(frozen=True, slots=True)
class Take:
    """Take the noisy table that an earlier run stored; nothing is drawn or spent."""

    release: str

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return f"{self.release}: take the noisy table that an earlier run stored"

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        _noisy_version_of(work).take(work)


@dataclass(frozen=True, slots=True)
class PublishDrawn:
    """Publish the noisy table, and record it in the ledger."""

    release: str
    version: int

    @property
    def text(self) -> str:
        """See `Stage.text`."""
        return Publish((self.release,), (self.version,)).text

    def run(self, works: Mapping[str, Work]) -> None:
        """See `Stage.run`."""
        work = works[self.release]
        version = _noisy_version_of(work)
        try:
            Publish((self.release,), (self.version,)).run(works)
        except PrivacyViolation:
            version.record(work, "withheld")
            raise
        version.record(work, "published")


def _noisy_version_of(work: Work) -> OfNoisy:
    assert isinstance(work.version, OfNoisy)
    return work.version


def list_stages(spec: ReleaseSpec, version: int) -> list[Stage]:
    """The stages of a version that is paid."""
    noisy = spec.noisy
    assert noisy is not None
    charge = Reserve(spec.name, noisy.budget.name, float(noisy.epsilon))
    return [charge, Answer(spec.name, len(noisy.tables)), PublishDrawn(spec.name, version)]


class OfNoisy(Version):
    """See `Version`. For one run only: it keeps the results of the stages.

    Args:
        spend: a new version is requested whatever the clock says, or after a version was lost.
    """

    def __init__(self, *, spend: bool = False) -> None:
        self._spend = spend
        self._event: Event | None = None
        self._noise: Noise | None = None

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """See `Version.decide`: whether the source changed is never looked at.

        Raises:
            GuardError: a version was lost or withheld, or is withdrawn, and payment for another was not asked for.
        """
        spec, previous = state.spec, state.last_shown
        last = last_spending(state)
        if last is not None and is_waiting(state, last):
            if self._resumes(state, last):
                return Decision("made anew", ("an earlier run drew it",), (), previous, None)
            if not self._spend:
                raise GuardError(
                    f"{spec.name}: an earlier run drew a version by another policy or sqlanon, and did not publish "
                    "it: restore that, which publishes it at no cost; run --spend pays another one"
                ).advising("--spend")
        if previous is not None and decision.why == ("asked for with --full",):
            raise GuardError(f"{spec.name}: a new version is paid from the budget: ask for it with --spend")
        if last is not None and last.state in ("reserved", "lost", "withheld") and not self._spend:
            raise GuardError(
                f"{spec.name}: the last version was charged and never published ({describe_end(last)}): a run that "
                "is repeated could spend the whole budget. Find out why; then run --spend pays another one"
            ).advising("--spend")
        if previous is None:
            return decision
        if previous.status != "published" and not self._spend:
            raise GuardError(
                f"{spec.name}: version {previous.version} is withdrawn: rollback publishes it again, at no cost; run "
                "--spend pays a new one"
            ).advising("--spend")
        changes = tuple(str(change) for change in policy_changes(previous, spec))
        why = ("asked for with --spend",) if self._spend else ("the time of a new version has come",)
        return Decision("made anew", (*why, *changes), decision.weaker, previous, None)

    def own_stages(self, work: Work) -> Sequence[Stage]:
        """See `Version.own_stages`."""
        spec, state = work.spec, work.state
        last = last_spending(state)
        if last is not None and self._resumes(state, last):
            return [Take(spec.name), PublishDrawn(spec.name, work.target.version)]
        return list_stages(spec, work.target.version)

    def _resumes(self, state: ReleaseState, last: Spending) -> bool:
        """Whether the noisy table that an earlier run stored is published."""
        if not is_waiting(state, last) or last.reserved.body["policy"] != policy_mark(state.spec):
            return False
        # Another sqlanon may have drawn other noise by the same policy, and the metadata say which.
        return last.reserved.mechanisms == list(noise_of(shape_of(state.spec)).mechanisms)

    def reserve(self, work: Work) -> None:
        """Charge the version. Versions left unfinished by an earlier run are lost, or were published after all.

        Raises:
            PolicyError: the source cannot be measured; nothing is spent.
            InfeasibleError: the budget does not suffice; nothing is spent.
        """
        spec, engine = work.spec, work.state.engine
        noisy = spec.noisy
        assert noisy is not None
        with work.watch.stage("state"):
            shape = shape_of(spec)
            check_columns(shape, spec.person, work.state.source)
            if spec.row_security is None:  # before it costs anything
                refuse_hidden(engine, spec, work.state.source.ref)
            # The names of its columns are tried before it costs anything.
            engine.load_rows(work.scratch.table("columns"), column_types(shape), ())
            noise = self._noise = noise_of(shape)
            import_opendp()
            for scale in dict.fromkeys(noise.scales):
                try_law(noise.law, scale)
            make_room(work.state, work.target, work.secret)
            work.state = read_state(engine, spec)
            budget = Budget(engine, noisy.budget)
            with budget.hold():
                settle(budget, work.state)
                facts = {
                    "release": spec.name,
                    "version": work.target.version,
                    "policy": policy_mark(spec),
                    "epsilon": str(noisy.epsilon),
                }
                self._event = budget.reserve(person_tables(engine, spec), noise.mechanisms, facts)

    def answer(self, work: Work) -> None:
        """Read the source, verify the bounded answers, draw noise, store the noisy table. Only then is it no loss.

        Raises:
            PrivacyViolation: a person contributes more than is declared, or two queries differ; the version is charged.
        """
        try:
            self._draw(work)
        except PrivacyViolation:
            self.record(work, "withheld")
            raise
        except BaseException:
            with suppress(SqlanonError):  # the caller must hear of the first failure
                self.record(work, "lost")
            raise

    def _draw(self, work: Work) -> None:
        spec, engine, scratch = work.spec, work.state.engine, work.scratch
        noisy_spec = spec.noisy
        assert noisy_spec is not None
        shape, noise = shape_of(spec), self._noise
        assert noise is not None  # of the charge
        with work.watch.stage("snapshot"), source_snapshot(engine, [(spec, work.state.source.ref)]):
            source = engine.relation(spec.source)
            coded = bound_rows(scratch, shape, spec.person, source, work.secret)
            verify_norms(scratch, shape, coded)
            exact = read_answers(scratch, shape, coded, work.secret)
        with work.watch.stage("method"):
            noisy = [add_noise(answers, noise.law, scale) for answers, scale in zip(exact, noise.scales, strict=True)]
            del exact
            share_kept = kept_share(noisy) if noisy_spec.kept else None
            rows = drawn_rows(shape, estimate(shape, noise, noisy))
        budget, reserved = Budget(engine, noisy_spec.budget), self._reserved
        table = drawn_table(engine, noisy_spec.budget.name, reserved)
        with work.watch.stage("recode"), budget.hold():
            drawn_event = budget.event_of("drawn", reserved, {"table": table.name, "kept": share_kept})
            with engine.publishing():
                engine.load_rows(table, column_types(shape), rows)
                budget.put(drawn_event)
            budget.follow(drawn_event)
        work.content = content_of_drawn(work, self._reserved, share_kept)

    def take(self, work: Work) -> None:
        """Find the noisy table that was stored."""
        last = last_spending(work.state)
        assert last is not None
        self._event = last.reserved
        work.content = content_of_drawn(work, self._reserved, last.last.body.get("kept"))

    @property
    def _reserved(self) -> Event:
        assert self._event is not None
        return self._event

    def record(self, work: Work, state: Kind) -> None:
        """Note the outcome of the version, which stays charged; an outcome that cannot follow the state is left out."""
        noisy = work.spec.noisy
        assert noisy is not None
        budget = Budget(work.state.engine, noisy.budget)
        with work.watch.stage("state"), budget.hold():
            budget.note(state, self._reserved, {"version": work.target.version})

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        """See `Version.plan`."""
        return plan_noisy(work, outline)


class WaitingNoisy(Waiting):
    """See `Waiting`; its plan says what the next version costs."""

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        """See `Version.plan`."""
        return plan_noisy(work, outline)
