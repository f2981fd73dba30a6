"""Releases that are not due: keeps the published version."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.release.catalog.refresh import Decision
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.publish.keep_published import refuse_few
from sqlanon.release.stages.stage import WaitStage
from sqlanon.release.stages.work import Stage, Version, Work


class WaitingVersion(Version):
    """No version: the clock asks for none, and the source is not read."""

    def decide(self, state: ReleaseState, decision: Decision) -> Decision:
        """See `Version.decide`.

        Raises:
            PrivacyViolation: a class has fewer persons than the policy now asks.
        """
        assert state.published is not None
        refuse_few(state.spec, state.published)
        return decision

    def own_stages(self, work: Work) -> Sequence[Stage]:
        assert work.decision.previous is not None
        return [WaitStage(work.spec.name, work.decision.previous.version)]
