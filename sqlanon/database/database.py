"""A connected database: the facade over every room."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Unpack

from sqlanon import policy
from sqlanon.database.hierarchy_tables import with_tables
from sqlanon.database.lineage import reporting
from sqlanon.database.proposal import propose_for_table, try_proposal
from sqlanon.database.readable import ReadableDatabase
from sqlanon.database.release import Release
from sqlanon.declared.effort import take_new_classes
from sqlanon.declared.options import AnonymizeOptions
from sqlanon.errors import UnsupportedError
from sqlanon.noisy_spec import BudgetSpec
from sqlanon.release.budget.budget import Budget
from sqlanon.release.catalog.attacks import keep_attacks
from sqlanon.release.erase import erase
from sqlanon.release.frozen.exact_casts import keys_as_texts
from sqlanon.release.prepare.row_security import warn_of_hidden_rows
from sqlanon.release.publish import approve as approving
from sqlanon.release.publish import rollback as versions
from sqlanon.release.publish.clean import clean
from sqlanon.release.publish.compact import compact, compaction_of
from sqlanon.release.publish.unpublish import unpublish
from sqlanon.release.run import run, run_tables
from sqlanon.release.stages.options import RunOptions
from sqlanon.results import (
    AttackReport,
    CompactReport,
    EraseReport,
    NoisyCandidatesReport,
    RollbackReport,
    RunReport,
    UnpublishReport,
)
from sqlanon.results.approvals import Approval
from sqlanon.results.counts import CountsAttackReport
from sqlanon.results.kept_attacks import KeptAttacks, keep_figures
from sqlanon.spec import PrivacySpec, ReleaseSpec
from sqlanon.table import functions
from sqlanon.table.labels import labels_of


class Database(ReadableDatabase):
    """A connected database with tables to anonymize in place. A context manager.

    Example:
        >>> import sqlanon
        >>> db = sqlanon.connect("duckdb:///:memory:")
        >>> db.engine.execute("CREATE TABLE t AS SELECT i // 5 AS age, 'flu' AS diagnosis FROM range(20) AS r(i)")
        >>> release = db.anonymize("t", quasi="age", sensitive="diagnosis", k=5)
        >>> release.report.classes, release.report.min_class
        (4, 5)
    """

    def anonymize(
        self,
        source: str,
        *,
        allow_weaker: bool = False,
        keep_scratch: bool = False,
        **options: Unpack[AnonymizeOptions],
    ) -> Release:
        """Make, verify and publish one release of a table: a new version in any case, as the arguments specify it.

        Args:
            source: table or view, ``table`` or ``schema.table``.
            allow_weaker: confirm that the call promises less than the published version of this name.
            keep_scratch: keep every intermediate table in the private schema; see `run`.
            options: requirements on the release, `sqlanon.AnonymizeOptions`; docs/policy.md describes each under
                the key that it sets.

        Raises:
            PolicyError, GuardError, InfeasibleError, PrivacyViolation, DatabaseError: nothing was published.
            TypeError: an unknown argument, or no quasi column.
        """
        spec = with_tables(self.engine, policy.release(source=source, **options))
        self._forget_queries()
        how = RunOptions(compare=False, allow_weaker=allow_weaker, keep_scratch=keep_scratch)
        with reporting(self.engine, self.namespace, "run", [spec.name]):
            report = run(self.engine, spec, self._machine, self._progress, how)
        return Release(self, spec, report)

    def run(  # noqa: PLR0913 - keywords of the public interface
        self,
        spec: ReleaseSpec,
        *,
        full: bool = False,
        allow_weaker: bool = False,
        only_due: bool = False,
        keep_scratch: bool = False,
        new_lineage: bool = False,
        new_classes: bool = False,
        spend: bool = False,
    ) -> RunReport:
        """Bring one release up to date: make, verify and publish a version if anything changed, else leave it.

        Args:
            spec: the release.
            full: make a new version in any case.
            allow_weaker: confirm that the policy promises less than that of the published version.
            only_due: leave a release alone that a run looked at less than ``every`` ago.
            keep_scratch: keep every intermediate table in the private schema, source values included, until the next
                run of the release or `clean`; ``scratch`` of the report lists them.
            new_lineage: with ``refresh: {mode: frozen}`` publish all rows anew, as those of a release of their own.
            new_classes: where the policy names no method, take that of a new release, not that of published versions.
            spend: of differentially private statistics pay for a version now, whatever the clock says.

        Raises:
            GuardError: the policy is weaker than before, and that was not confirmed.
            SchemaChangedError: the source has a new column that the policy does not name.
        """
        self._forget_queries()
        how = RunOptions(full, allow_weaker, only_due, keep_scratch=keep_scratch, new_lineage=new_lineage, spend=spend)
        release = with_tables(self.engine, take_new_classes(spec) if new_classes else spec)
        with reporting(self.engine, self.namespace, "run", [release.name]):
            return run(self.engine, release, self._machine, self._progress, how)

    def run_tables(
        self,
        specs: Sequence[ReleaseSpec],
        *,
        full: bool = False,
        allow_weaker: bool = False,
        only_due: bool = False,
        new_classes: bool = False,
    ) -> tuple[RunReport, ...]:
        """Bring all tables of one release up to date in one transaction.

        See `run` and `sqlanon.release.run.run_tables`.
        """
        self._forget_queries()
        releases = [with_tables(self.engine, take_new_classes(spec) if new_classes else spec) for spec in specs]
        how = RunOptions(full=full, allow_weaker=allow_weaker, only_due=only_due)
        with reporting(self.engine, self.namespace, "run", [spec.name for spec in specs]):
            return run_tables(self.engine, releases, self._machine, self._progress, how)

    def erase(self, spec: ReleaseSpec, keys: Sequence[Mapping[str, object]], *, confirmed: bool = False) -> EraseReport:
        """Erase keys from a release with ``refresh: {mode: frozen}``; see `sqlanon.release.erase.erase`.

        Args:
            spec: the release.
            keys: the values of the key's columns, by their names.
            confirmed: do it; without it the report says the cost.
        """
        self._forget_queries()
        names, texts = keys_as_texts(spec.name, keys)
        with reporting(self.engine, self.namespace, "erase", [spec.name] if confirmed else []):
            return erase(
                self.engine,
                with_tables(self.engine, spec),
                self._machine,
                names,
                texts,
                self._progress,
                confirmed=confirmed,
            )

    def raise_budget(self, budget: BudgetSpec, epsilon: Fraction, because: str) -> None:
        """Record a larger budget; see `sqlanon.release.budget.budget.Budget.raise_to`."""
        opened_budget = Budget(self.engine, budget)
        opened_budget.look()
        opened_budget.check_raise(epsilon)
        with opened_budget.hold():
            opened_budget.raise_to(epsilon, because)

    def recover_budget(self, budget: BudgetSpec, because: str) -> int:
        """Take over the events of the anchor; see `sqlanon.release.budget.budget.Budget.recover`."""
        return Budget(self.engine, budget).recover(because)

    def compare_noisy(
        self, spec: ReleaseSpec, epsilons: Sequence[Fraction] = (), *, alone: bool = False
    ) -> NoisyCandidatesReport:
        """Candidates of noisy statistics side by side; see `sqlanon.evaluate.noisy_candidates.compare_noise`.

        Charges and publishes nothing. For the owner.
        """
        from sqlanon.evaluate.run import compare_noisy

        spec = with_tables(self.engine, spec)
        return compare_noisy(self.engine, spec, epsilons, alone=alone, progress=self._progress)

    def rollback(self, release: str, to: int | None = None, *, allow_weaker: bool = False) -> RollbackReport:
        """Publish an earlier version again, in one transaction; see `sqlanon.release.publish.rollback.rollback`."""
        self._forget_queries()
        with reporting(self.engine, self.namespace, "rollback", [release]):
            return versions.rollback(self.engine, release, to, allow_weaker=allow_weaker)

    def approve(
        self,
        release: str,
        *,
        by: str,
        until: str,
        condition: str | None = None,
        key: str | os.PathLike[str] | None = None,
        planned: ReleaseSpec | None = None,
    ) -> Approval:
        """Record that somebody approved a release; see docs/evidence.md.

        Args:
            release: ``NAME`` for the published version, or ``NAME@VERSION``.
            by: who approves it.
            until: the last day (UTC) on which that holds, ``2027-06-30``.
            condition: in the approver's words.
            key: the file of a private SSH key that signs it.
            planned: approve this policy, in place of that of a version.

        Raises:
            PolicyError: no such version, a date that has passed, or a signature that cannot be made.
        """
        how = approving.Decision(by, until, condition, None if key is None else Path(key))
        spec = None if planned is None else with_tables(self.engine, planned)
        return approving.approve(self.engine, release, how, spec)

    def revoke(
        self, release: str, *, by: str, reason: str | None = None, key: str | os.PathLike[str] | None = None
    ) -> Approval:
        """Revoke every approval of a release; with ``needs_approval`` runs of the release stop from now on."""
        return approving.revoke(self.engine, release, by, reason, None if key is None else Path(key))

    def keep_attacks(self, report: AttackReport | CountsAttackReport) -> KeptAttacks:
        """Keep the figures of attacks with the version that was attacked: numbers and no value of a cell.

        Reports show them over the versions.

        Raises:
            UnsupportedError: they are of a release of counts, which has a single version.
        """
        if not isinstance(report, AttackReport):
            raise UnsupportedError(f"{report.release} has counts: figures of attacks on it are not kept")
        figures = keep_figures(report, datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))
        keep_attacks(self.engine, figures)
        return figures

    def unpublish(self, release: str, *, purge: bool = False) -> UnpublishReport:
        """Withdraw a release from readers; ``purge`` drops all versions as well.

        See `sqlanon.release.publish.unpublish.unpublish`.
        """
        self._forget_queries()
        with reporting(self.engine, self.namespace, "unpublish", [release]):
            return unpublish(self.engine, release, purge=purge)

    def propose(self, source: str, *, from_labels: bool = False) -> policy.Proposal:
        """Propose the policy of a release of a table, and check it by the checks of `plan`.

        Args:
            source: the table.
            from_labels: the security labels of PostgreSQL Anonymizer on the columns decide their roles first.

        ``proposal.policy(url, source)`` is the policy's text. Where even the best proposal is refused, ``refused`` is
        the reason.
        Cost: one GROUP BY a column and for each column that may be a person's number, and some plans.
        """
        labels = labels_of(self.engine, source) if from_labels else None
        bare = ReleaseSpec("", source, (), PrivacySpec())
        hidden = warn_of_hidden_rows(self.engine, bare, self.engine.relation(source).ref)
        return propose_for_table(self, source, labels, hidden)

    def checked(self, proposal: policy.Proposal, source: str) -> policy.Proposal:
        """A proposal with the result of `plan`.

        The format is the first that `plan` accepts; if `plan` refuses all, the result has the reasons.
        """
        return try_proposal(self, proposal, source)[0]

    def install_functions(self, schema: str = functions.SCHEMA) -> tuple[str, ...]:
        """Install the SQL functions of docs/functions.md in a schema of this database.

        See `sqlanon.table.functions.install`.
        """
        return functions.install(self.engine, schema)

    def clean(self) -> tuple[str, ...]:
        """Drop the remains of killed runs and old versions; returns their names.

        Those are tables that the catalog names, and on an engine without temporary tables the scratch tables of ended
        runs.
        """
        return clean(self.engine)

    @property
    def lingering(self) -> str:
        """Traces of dropped tables and deleted rows in the database's files, and how to remove them; empty: none."""
        if self.engine.compaction is not None:
            return self.engine.compaction.leaves
        lack = self.engine.lacks["--compact"]
        return "" if lack.kind == "never" else lack.why  # never: there are no files

    def check_compaction(self) -> None:
        """Check that `compact` can begin, before something is dropped; raises the same errors."""
        compaction_of(self.engine).check_compaction()

    def compact(self, releases: Sequence[str] | None = None) -> CompactReport:
        """Write the database's file, or the private tables, anew; see `sqlanon.release.publish.compact.compact`.

        On DuckDB the connection is made anew: temporary tables, attached databases and settings of before are gone.
        """
        self._forget_queries()
        return compact(self.engine, releases, self._progress)
