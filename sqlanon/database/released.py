"""A release that was just made, and what can be asked about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError
from sqlanon.release.store.swap import spelled
from sqlanon.release.store.target import view_of
from sqlanon.results import (
    AuditReport,
    LossReport,
    RunReport,
)
from sqlanon.spec import ReleaseSpec, WorkloadSpec

if TYPE_CHECKING:
    from sqlanon.database.database import Database
    from sqlanon.evaluate.report import Evaluation
    from sqlanon.query.answer import Answer


class Release:
    """A release that was just made: its report, and ways to ask about it."""

    def __init__(self, database: Database, spec: ReleaseSpec, report: RunReport) -> None:
        self._database = database
        self.spec = spec
        self.report = report

    def loss(self) -> LossReport:
        """Information loss, as measured when the release was made."""
        return self.report.loss

    def audit(self) -> AuditReport:
        """Audit the published view against the policy, now; it may be in another file."""
        engine = self._database.engine
        return self._database.audit(spelled(view_of(engine, self.spec)), spec=self.spec)

    def evaluate(self, workload: str | os.PathLike[str] | WorkloadSpec | None = None) -> Evaluation:
        """Measure how well this release answers for its source; see `Database.evaluate`."""
        return self._database.evaluate(self.spec.name, workload)

    def query(self, sql: str, *, allow_linking: bool = False) -> Answer:
        """Ask this release in SQL, whatever the query calls it; see `Database.query`.

        Raises:
            PolicyError: the release went to another file; connect to it and ask it there.
        """
        if self.spec.publish_file:
            raise PolicyError(
                f"the release is in {self.spec.publish_file}: sqlanon.connect to it and ask it there"
            )
        view = spelled(view_of(self._database.engine, self.spec))
        return self._database.query(sql, release=view, allow_linking=allow_linking)
