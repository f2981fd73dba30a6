"""Chooses the kind of versions for a policy, and decides whether a release is due; no other code does.

Versions of noisy statistics are paid, so that the clock alone makes them, and exact answers are kept in no table.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sqlanon.engines.base import Engine
from sqlanon.engines.lacks import NOISY as NOISY_STATISTICS
from sqlanon.engines.lacks import require
from sqlanon.errors import PolicyError
from sqlanon.release.budget.charged_versions import is_noisy_due
from sqlanon.release.catalog.other_counts import hold_counts
from sqlanon.release.catalog.refresh import is_due
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.divide.division import Division
from sqlanon.release.frozen.choose_lineage import lineage_of_run, shows_erased_keys
from sqlanon.release.publish.killed_counts import reconcile_beside
from sqlanon.release.stages.options import RunOptions
from sqlanon.release.stages.work import Version
from sqlanon.release.versions.full import FullVersion
from sqlanon.release.versions.lineage import OfLineage
from sqlanon.release.versions.nights import OfNights
from sqlanon.release.versions.noisy import OfNoisy, WaitingNoisy
from sqlanon.release.versions.not_due import WaitingVersion
from sqlanon.release.versions.statistics import OfStatistics
from sqlanon.release_kind import COUNTS, NOISY, ROWS, ReleaseKind
from sqlanon.spec import ReleaseSpec


class RowRules:
    """Rules of releases of rows; those of other kinds differ where they say so."""

    def check(self, engine: Engine, spec: ReleaseSpec, options: RunOptions) -> None:
        """Check that the engine and the options of a run are for this kind.

        Raises:
            UnsupportedError: the engine lacks it.
            PolicyError: an option is for another kind.
        """
        if options.spend:
            raise PolicyError(f"{spec.name}: --spend is for statistics with a budget")

    def hold(self, engine: Engine, spec: ReleaseSpec) -> AbstractContextManager[None]:
        """Further locks of a run, beside those of its releases."""
        return nullcontext()

    def waits(self, options: RunOptions) -> bool:
        """Whether a run leaves a release alone that is not due."""
        return options.only_due

    def is_due(self, state: ReleaseState) -> bool:
        """Whether the clock asks for a version, or something that an earlier run left."""
        moment = datetime.datetime.now(datetime.UTC)
        return state.published is None or is_due(state.spec, state.published, moment) or shows_erased_keys(state)

    def choose(self, state: ReleaseState, division: Division, options: RunOptions) -> Version:
        """The kind of the next version.

        Raises:
            PolicyError, GuardError, UnsupportedError: see `lineage_of_run`.
        """
        lineage_version = lineage_of_run(state, division, anew=options.new_lineage)
        return FullVersion() if lineage_version is None else OfLineage(*lineage_version)

    def wait(self) -> Version:
        """What a run makes of a release that is not due."""
        return WaitingVersion()


class CountRules(RowRules):
    """Rules of releases of counts."""

    def check(self, engine: Engine, spec: ReleaseSpec, options: RunOptions) -> None:
        super().check(engine, spec, options)
        _refuse_lineage(spec, options)

    @contextmanager
    def hold(self, engine: Engine, spec: ReleaseSpec) -> Iterator[None]:
        assert spec.statistics is not None
        source, together = str(engine.relation(spec.source).ref), spec.statistics.together
        with hold_counts(engine, source, together):
            reconcile_beside(engine, spec.name, source, together)
            yield

    def choose(self, state: ReleaseState, division: Division, options: RunOptions) -> Version:
        assert state.spec.statistics is not None
        return OfStatistics(state.spec.statistics, confirmed=options.allow_weaker)


class NoisyRules(RowRules):
    """Rules of differentially private statistics."""

    def check(self, engine: Engine, spec: ReleaseSpec, options: RunOptions) -> None:
        _refuse_lineage(spec, options)
        if options.keep_scratch:
            raise PolicyError(f"{spec.name}: --keep-scratch would keep exact answers beside the noisy ones")
        require(engine, NOISY_STATISTICS, spec.name)

    def waits(self, options: RunOptions) -> bool:
        return not options.spend

    def is_due(self, state: ReleaseState) -> bool:
        return is_noisy_due(state)

    def choose(self, state: ReleaseState, division: Division, options: RunOptions) -> Version:
        noisy = state.spec.noisy
        assert noisy is not None
        return OfNoisy(spend=options.spend) if noisy.nights is None else OfNights(spend=options.spend)

    def wait(self) -> Version:
        return WaitingNoisy()


RULES: Mapping[ReleaseKind, RowRules] = {ROWS: RowRules(), COUNTS: CountRules(), NOISY: NoisyRules()}
"""The rules of each kind of releases."""


def _refuse_lineage(spec: ReleaseSpec, options: RunOptions) -> None:
    if options.new_lineage:
        raise PolicyError(f"{spec.name}: --new-lineage is for releases of rows with refresh: {{mode: frozen}}")
