"""Versions of differentially private statistics: charged, bounded, drawn once, published.

See docs/differential-privacy.md. The order protects persons: a version is charged, in the database and in the anchor,
the source is read; the noisy table is stored together with the ledger's row about it; and a table left behind by
a run is published as it is, never drawn again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import GuardError, PrivacyViolation, SqlanonError
from sqlanon.noisy.answers import CodedSource, bound_coded, check_columns, code_rows, read_answers, verify_norms
from sqlanon.noisy.draw import add_noise, import_opendp, try_law
from sqlanon.noisy.published_values import column_types, estimate, list_drawn_rows, measure_kept_share
from sqlanon.noisy.rows import choose_tables
from sqlanon.noisy.shape import Shape, shape_of
from sqlanon.noisy.split import Noise, noise_of
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.charged_versions import (
    account_in,
    describe_end,
    find_last_spending,
    is_waiting,
    person_tables,
    policy_mark,
    settle,
)
from sqlanon.release.budget.events import Event, Kind, Spending
from sqlanon.release.budget.home import home_of, name_drawn_table
from sqlanon.release.budget.ledger import Account
from sqlanon.release.budget.nights import is_drawn_as
from sqlanon.release.catalog.collations import mark_collated
from sqlanon.release.catalog.refresh import Decision, policy_changes
from sqlanon.release.catalog.state import ReleaseState, read_state
from sqlanon.release.plans.noisy import plan_noisy
from sqlanon.release.prepare.row_security import refuse_hidden, source_snapshot
from sqlanon.release.publish.new_version import make_room
from sqlanon.release.stages.work import Outline, Stage, Version, Work
from sqlanon.release.versions.noisy_content import build_drawn_content
from sqlanon.release.versions.noisy_stages import list_stages, list_stages_taken
from sqlanon.release.versions.not_due import WaitingVersion
from sqlanon.results import PlanReport

if TYPE_CHECKING:
    from sqlanon.arrays import Longs
    from sqlanon.noisy.accounting import Mechanism

    Charge = tuple[list[Mechanism], dict[str, Any]]


DRAWN_BEFORE = ("an earlier run drew it",)
"""Why a version is published of which nothing is drawn or spent."""


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
        last = find_last_spending(state)
        if last is not None and is_waiting(state, last):
            if self._resumes(state, last):
                return Decision("made anew", DRAWN_BEFORE, (), previous, None)
            if not self._spend:
                raise GuardError(
                    f"{spec.name}: an earlier run drew a version by another policy or sqlanon, and did not publish "
                    "it: restore that, which publishes it at no cost; run --spend pays another one"
                ).with_advice("--spend")
        if previous is not None and decision.why == ("asked for with --full",):
            raise GuardError(f"{spec.name}: a new version is paid from the budget: ask for it with --spend")
        if last is not None and last.state in ("reserved", "lost", "withheld") and not self._spend:
            raise GuardError(
                f"{spec.name}: the last version was charged and never published ({describe_end(last)}): a run that "
                "is repeated could spend the whole budget. Find out why; then run --spend pays another one"
            ).with_advice("--spend")
        if previous is None:
            return decision
        if previous.status != "published" and not self._spend:
            raise GuardError(
                f"{spec.name}: version {previous.version} is withdrawn: rollback publishes it again, at no cost; run "
                "--spend pays a new one"
            ).with_advice("--spend")
        changes = tuple(str(change) for change in policy_changes(previous, spec))
        why = ("asked for with --spend",) if self._spend else ("the time of a new version has come",)
        return Decision("made anew", (*why, *changes), decision.weaker, previous, None)

    def own_stages(self, work: Work) -> Sequence[Stage]:
        spec, state = work.spec, work.state
        last = find_last_spending(state)
        if last is not None and self._resumes(state, last):
            return list_stages_taken(spec.name, work.target.version)
        return list_stages(spec, work.target.version)

    def _resumes(self, state: ReleaseState, last: Spending) -> bool:
        """Whether the noisy table that an earlier run stored is published."""
        if not is_waiting(state, last) or last.reserved.body["policy"] != policy_mark(state.spec):
            return False
        # Another sqlanon may have drawn other noise by the same policy, and the metadata say which.
        account = account_in(state)
        assert account is not None
        return is_drawn_as(account, last.reserved, noise_of(shape_of(state.spec)))

    def charge(self, work: Work, account: Account | None, shape: Shape, noise: Noise) -> Charge:
        """The mechanisms and the facts of the event that charges the version, inside `Budget.hold`."""
        return list(noise.mechanisms), {}

    def measure_rows(self, work: Work, shape: Shape, coded: CodedSource) -> list[Longs]:
        """The exact answers of every series, verified, in the snapshot of the source."""
        return read_answers(work.scratch, shape, coded, work.secret)

    def estimate_rows(self, shape: Shape, noise: Noise, noisy: Sequence[Longs]) -> Iterable[tuple[object, ...]]:
        """The rows of the drawn table."""
        return list_drawn_rows(shape, estimate(shape, noise, noisy))

    def keep(self, work: Work, noisy: Sequence[Longs]) -> None:
        """Store what later versions need, in the transaction that stores the drawn table."""

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
            check_columns(shape, spec.person, mark_collated(work.scratch, work.state.source))
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
                mechanisms, more = self.charge(work, budget.account, shape, noise)
                facts = {
                    "release": spec.name,
                    "version": work.target.version,
                    "policy": policy_mark(spec),
                    "epsilon": str(noisy.epsilon),
                    **more,
                }
                self._event = budget.reserve(person_tables(engine, spec), mechanisms, facts)

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
            rows = code_rows(scratch, shape, spec.person, source)
            pairs = None
            if shape.spec.of_rows is not None:
                pairs = choose_tables(scratch, shape, rows, noise) if shape.chooses else shape.spec.of_rows.pairs
                shape = shape_of(spec, pairs)
            coded = bound_coded(scratch, shape, rows, work.secret)
            verify_norms(scratch, shape, coded)
            exact = self.measure_rows(work, shape, coded)
        with work.watch.stage("method", "noise"):
            scales = noise.scales[1:] if shape.chooses else noise.scales
            noisy = [add_noise(answers, noise.law, scale) for answers, scale in zip(exact, scales, strict=True)]
            del exact
            if shape.chooses:  # their noise was drawn when the pairs were chosen
                noisy.insert(0, np.zeros(0, np.int64))
            share_kept = measure_kept_share(noisy) if noisy_spec.kept else None
            numbers = self.estimate_rows(shape, noise, noisy)
        budget, reserved, home = Budget(engine, noisy_spec.budget), self.reserved, home_of(engine)
        table = name_drawn_table(engine, noisy_spec.budget.name, reserved)
        with work.watch.stage("recode", "write"), budget.hold():
            facts = {"table": table.name, "kept": share_kept} | ({"pairs": pairs} if pairs else {})
            drawn_event = budget.event_of("drawn", reserved, facts)
            with home.publishing():
                home.load_rows(table, column_types(shape), numbers)
                self.keep(work, noisy)
                budget.put(drawn_event)
            budget.follow(drawn_event)
        work.content = build_drawn_content(work, reserved, drawn_event)

    def take(self, work: Work) -> None:
        """Find the noisy table that was stored."""
        last = find_last_spending(work.state)
        assert last is not None
        self._event = last.reserved
        work.content = build_drawn_content(work, self.reserved, last.last)

    @property
    def reserved(self) -> Event:
        """The event that charged the version."""
        assert self._event is not None
        return self._event

    def record(self, work: Work, state: Kind) -> None:
        """Note the outcome of the version, which stays charged; an outcome that cannot follow the state is left out."""
        noisy = work.spec.noisy
        assert noisy is not None
        budget = Budget(work.state.engine, noisy.budget)
        with work.watch.stage("state"), budget.hold():
            budget.note(state, self.reserved, {"version": work.target.version})

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        return plan_noisy(work, outline)


class WaitingNoisy(WaitingVersion):
    """See `WaitingVersion`; its plan says what the next version costs."""

    def plan(self, work: Work, outline: Outline) -> PlanReport:
        return plan_noisy(work, outline)
