"""The part of a connected database that reads tables and releases and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sqlanon.database.connection import read_workload
from sqlanon.database.hierarchy_tables import with_tables
from sqlanon.database.measurable import MeasurableDatabase
from sqlanon.declared.effort import take_new_classes
from sqlanon.errors import PolicyError
from sqlanon.noisy_spec import BudgetSpec
from sqlanon.release.budget.report import report_budgets
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.receiver import Receiver
from sqlanon.release.catalog.views import views_of
from sqlanon.release.plan import plan as make_plan
from sqlanon.release.preview import Preview
from sqlanon.release.preview import preview as make_preview
from sqlanon.release.publish import approve as approving
from sqlanon.release.publish import rollback as versions
from sqlanon.results import DiffReport, PlanReport, ReleaseRow, VersionReport
from sqlanon.results.approvals import ListedApproval
from sqlanon.results.budget import BudgetReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.profile import ColumnProfile, profile
from sqlanon.workload_spec import WorkloadSpec

if TYPE_CHECKING:
    from sqlanon.query.answer import Answer
    from sqlanon.query.parse.parameters import Parameters


class ReadableDatabase(MeasurableDatabase):
    """A connected database with tables and releases to plan, measure and query. A context manager."""

    def plan(
        self,
        spec: ReleaseSpec,
        beside: Sequence[ReleaseSpec] = (),
        *,
        new_lineage: bool = False,
        new_classes: bool = False,
    ) -> PlanReport:
        """Plan of a run of ``spec``; ``beside`` are the other releases of the same policy. Publishes nothing."""
        spec = with_tables(self.engine, take_new_classes(spec) if new_classes else spec)
        if spec.together is not None:
            beside = [
                with_tables(self.engine, release) if release.together == spec.together else release
                for release in beside
            ]
        return make_plan(self.engine, spec, self._progress, beside, self._machine, new_lineage=new_lineage)

    def preview(self, spec: ReleaseSpec, rows: int = 20) -> Preview:
        """Rows of the source and their values in a run of ``spec``, for the owner.

        See `sqlanon.release.preview.preview`.
        """
        return make_preview(self.engine, with_tables(self.engine, spec), self._machine, self._progress, rows)

    def budgets(self, budgets: Sequence[BudgetSpec], name: str | None = None) -> tuple[BudgetReport, ...]:
        """Spent and remaining parts of the budgets of a policy; ``name``: of one alone."""
        return report_budgets(self.engine, tuple(budgets), name)

    def version(self, name: str) -> VersionReport:
        """Everything the catalog knows of ``NAME@VERSION``, or of the published version of ``NAME``."""
        return versions.report_version(self.engine, name)

    def approvals(
        self, release: str | None = None, *, signers: str | os.PathLike[str] | None = None
    ) -> tuple[ListedApproval, ...]:
        """Approvals and revocations of a release, or of all, oldest first.

        Args:
            release: the name of the release.
            signers: a file of allowed signers (ssh-keygen(1)), by which signatures are checked.

        Raises:
            PrivacyViolation: a signature is wrong.
            PolicyError: there is no such release.
        """
        return tuple(approving.list_approvals(self.engine, release, None if signers is None else Path(signers)))

    def diff(self, first: str, second: str) -> DiffReport:
        """Two versions, ``NAME@2`` and ``NAME@3``, side by side."""
        return versions.diff(self.engine, first, second)

    def report(
        self,
        release: str,
        *,
        audience: Literal["owner", "readers"] = "owner",
        form: Literal["html", "md"] = "html",
        workload: str | os.PathLike[str] | WorkloadSpec | None = None,
        attack: bool = False,
        frame: str | None = None,
    ) -> str:
        """The report of a published release as a text to write to a file; docs/report.md describes it.

        Args:
            release: name or view of the release.
            audience: ``owner``: confidential, it shows the source. ``readers``: made of the view and the metadata
                alone.
            form: ``html``: one file that needs no other; ``md``: Markdown, without pictures.
            workload: for the owner: queries for which accuracy is measured as well.
            attack: for the owner: run the attacks of `Database.attack` as well.
            frame: the name of a regulation or guideline that gives the report its terms: ``wp216``, ``hipaa``,
                ``ema0070``, ``iso27559``, ``sdc`` or ``edpb2025``. It has figures of the source, and no value.

        Raises:
            PolicyError, DatabaseError: no such release, or the database refused.
        """
        from sqlanon.report import frame_report, owner_report, readers_report, write_page

        if frame is not None:
            if audience == "readers" or workload is not None:
                raise PolicyError("a frame is for the owner, and measures no workload; leave out one of them")
            return write_page(frame_report(self.engine, release, frame, self._progress, attack=attack), form)
        if audience == "readers":
            if workload is not None:
                raise PolicyError("a report for readers measures no workload: that needs the source")
            if attack:
                raise PolicyError("a report for readers has no attacks: they need the source")
            return write_page(readers_report(self.engine, release), form)
        spec = read_workload(workload)
        return write_page(owner_report(self.engine, release, spec, self._progress, attack=attack), form)

    def evidence(self, release: str, *, audience: Literal["owner", "readers"] = "owner") -> bytes:
        """A bundle of evidence about the published version, as a ZIP archive; docs/evidence.md describes it.

        Args:
            release: name or view of the release.
            audience: ``readers``: without catalog, approvals and figures of the source.

        Raises:
            PolicyError, DatabaseError: no such release, or the database refused.
        """
        from sqlanon.report.evidence import make_bundle

        return make_bundle(self.engine, release, audience, self._progress)

    def releases(self, name: str | None = None) -> tuple[ReleaseRow, ...]:
        """The catalog's versions, oldest first; then those that another database sent (``publish_to``)."""
        received_rows = Receiver(self.engine).list_rows(name)
        return (*(entry.row() for entry in Catalog(self.engine).entries(name)), *received_rows)

    def profile(self, source: str) -> tuple[ColumnProfile, ...]:
        """Counts about every column of a table."""
        return profile(self.engine, source)

    def query(  # noqa: PLR0913 - keywords of the public interface
        self,
        sql: str,
        *,
        release: str | None = None,
        allow_linking: bool = False,
        spec: ReleaseSpec | None = None,
        role: str | None = None,
        seconds: float = 60.0,
        as_of_source: bool = False,
        interval: float | None = None,
        parameters: Parameters | None = None,
        merge_narrow: float | None = None,
    ) -> Answer:
        """Ask a release in SQL against the source's columns: estimates with sound bounds; see `sqlanon.query.ask.ask`.

        With ``role``, a role of the database, the rights of that role decide which tables are read. ``parameters`` are
        values for ``?`` and ``$1``, as a list, or for ``:name``, by name. With ``merge_narrow``, a percentage,
        neighbouring groups are merged until the bounds of each are apart by at most that share of the estimate.

        Example:
            >>> import sqlanon
            >>> db = sqlanon.connect("duckdb:///:memory:")
            >>> db.engine.execute("CREATE TABLE t AS SELECT i AS age, 'flu' AS diagnosis FROM range(20) AS r(i)")
            >>> release = db.anonymize("t", quasi="age", sensitive="diagnosis", k=5)
            >>> answer = db.query("SELECT count(*) AS n FROM t WHERE age < 7")
            >>> answer.rows[0]["n"].low, answer.rows[0]["n"].high
            (6, 9)
        """
        from sqlanon.query.ask import ask
        from sqlanon.query.find import Names

        self._asked = Names() if self._asked is None else self._asked
        return ask(
            self.engine,
            sql,
            release=release,
            allow_linking=allow_linking,
            spec=spec,
            role=role,
            seconds=seconds,
            names=self._asked,
            as_of_source=as_of_source,
            interval=interval,
            parameters=parameters,
            merge_narrow=merge_narrow,
        )

    def _forget_queries(self) -> None:
        """Forget what queries know of releases, as another version may follow."""
        if self._asked:
            from sqlanon.query.find import forget

            forget(self.engine, self._asked)

    def sample(self, table: str, rows: int = 5) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Column names and a few rows of a *published release*; any other table is refused.

        Raises:
            PolicyError: the table is not a release of this database's catalog.
        """
        relation = self.engine.relation(table)
        published = Catalog(self.engine).entries(statuses=("published",), views=[relation.ref])
        views = {view for entry in published for view in views_of(entry)}
        if relation.ref not in views:
            raise PolicyError(f"{table} is not a published release; only releases may be shown")
        names = tuple(column.name for column in relation.columns)
        query = statement("audit/sample", self.engine.dialect, {"rows": rows}, target=relation.ref, columns=list(names))
        return names, self.engine.fetch(query)
