"""The part of a connected database that reads tables and releases and changes nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from sqlanon import policy
from sqlanon.budgeted import BudgetSpec
from sqlanon.database.hierarchy_tables import with_tables
from sqlanon.declared.effort import take_new_classes
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress
from sqlanon.release.audit.audit import audit
from sqlanon.release.audit.place import is_release, open_place, table_named
from sqlanon.release.audit.together import audit_together
from sqlanon.release.budget.report import report_budgets
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import refuse_counts
from sqlanon.release.catalog.views import views_of
from sqlanon.release.divide.classes import Machine
from sqlanon.release.history.history import audit_history
from sqlanon.release.plan import plan as make_plan
from sqlanon.release.preview import Preview
from sqlanon.release.preview import preview as make_preview
from sqlanon.release.publish import approve as approving
from sqlanon.release.publish import rollback as versions
from sqlanon.release.verify.persons import counted_rows
from sqlanon.results import (
    AttackReport,
    AuditReport,
    CandidatesReport,
    ControlReport,
    DiffReport,
    HistoryReport,
    IdentifyingReport,
    KnownReport,
    PlanReport,
    ReleaseRow,
    RiskReport,
    TogetherReport,
    VersionReport,
)
from sqlanon.results.approvals import ListedApproval
from sqlanon.results.budget import BudgetReport
from sqlanon.risk import (
    THRESHOLD,
    VALUE,
    AssessedColumns,
    Population,
    assess,
    class_sizes,
    identify,
    measure_known,
    of_persons,
)
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.profile import ColumnProfile, profile
from sqlanon.workload_spec import WorkloadSpec

if TYPE_CHECKING:
    from types import TracebackType

    from sqlanon.evaluate.levels import Levels
    from sqlanon.evaluate.report import Evaluation
    from sqlanon.query.answer import Answer
    from sqlanon.query.counts.published import CountsSpelling
    from sqlanon.query.find import Names
    from sqlanon.query.parse.parameters import Parameters
    from sqlanon.results.counts import CountsAttackReport
    from sqlanon.results.disclosure import DisclosureReport


class Readable:
    """A connected database with tables and releases to plan, measure and query. A context manager."""

    def __init__(self, engine: Engine, progress: Progress, machine: Machine) -> None:
        self.engine = engine
        self._progress = progress
        self._machine = machine
        self._asked: Names | None = None
        self.namespace = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.engine.close()

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

    def audit(
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        spec: ReleaseSpec | None = None,
    ) -> AuditReport:
        """Measure k, l and risk of any table, or of a release by name; see `sqlanon.release.audit.audit.audit`."""
        return audit(
            self.engine,
            table_named(self.engine, table),
            quasi=_to_sequence(quasi),
            sensitive=_to_sequence(sensitive) or (),
            identifiers=_to_sequence(identifiers) or (),
            spec=None if spec is None else with_tables(self.engine, spec),
        )

    def assess(  # noqa: PLR0913 - keywords of the public interface
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        household: Sequence[str] = (),
        weight: str | None = None,
        population: str | None = None,
        population_size: int | None = None,
        threshold: float = THRESHOLD,
        null_is: str = VALUE,
    ) -> RiskReport:
        """Measure every privacy model and the risk of any table, without a policy; see `sqlanon.risk.assess.assess`.

        ``weight``, ``population`` and ``population_size`` describe the population: `sqlanon.risk.assess.Population`.
        ``null_is="wildcard"`` is refused for a release of this database: the values that NULL and ``*`` cover there are
        known. Of a release that may have several rows of a person the prosecutor counts persons, by the private tables,
        unless ``identifiers`` name others.
        """
        if null_is != VALUE and is_release(self.engine, table):
            raise PolicyError(
                f"audit {table}: {null_is} is for tables of others; this is a release, in which * is a value of its own"
            )
        with open_place(self.engine, table, None) as place:
            if place.entry is not None:
                purpose = "audit checks its certificate, and it has no rows whose risk could be measured"
                refuse_counts(place.entry, purpose)
        known_population = Population(population, population_size, weight)
        risk = assess(
            self.engine,
            table,
            AssessedColumns(
                _to_sequence(quasi),
                _to_sequence(sensitive) or (),
                _to_sequence(identifiers) or (),
                _to_sequence(household) or (),
            ),
            population=known_population,
            threshold=threshold,
            null_is=null_is,
        )
        if identifiers or risk.prosecutor is None:
            return risk
        with open_place(self.engine, table, None) as place, counted_rows(self.engine, place.entry) as counted_tables:
            if counted_tables is None:
                return risk
            if known_population.known:
                raise PolicyError(
                    f"audit {table}: a population is compared with rows that are persons, and a person may have "
                    "several rows of this release; leave the population out"
                )
            if household:
                raise PolicyError(
                    f"audit {table}: a person may have several rows of this release, and no column says which; the "
                    "risk of households is measured of its source, with identifiers"
                )
            rows, persons = counted_tables
            return of_persons(risk, class_sizes(self.engine, rows, ("class",), persons))

    def find_quasi(
        self, table: str, columns: Sequence[str] | None = None, *, left_out: Sequence[str] = ()
    ) -> IdentifyingReport:
        """How well sets of columns of any table distinguish rows; see `sqlanon.risk.identifying.identify`."""
        return identify(self.engine, table, _to_sequence(columns), _to_sequence(left_out) or ())

    def known(
        self, table: str, most: int, columns: Sequence[str] | None = None, *, left_out: Sequence[str] = ()
    ) -> KnownReport:
        """Disclosures of any table by up to ``most`` known columns; see `sqlanon.risk.known.measure_known`."""
        return measure_known(self.engine, table, most, _to_sequence(columns), _to_sequence(left_out) or ())

    def together(self, first: str, second: str) -> TogetherReport:
        """Measure the k and l that remain when a reader holds two releases of one source."""
        return audit_together(self.engine, first, second)

    def audit_statistics(
        self,
        tables: Sequence[str] | Mapping[str, str],
        spelling: CountsSpelling | None = None,
        *,
        persons: int | None = None,
        seconds: int = 300,
    ) -> DisclosureReport:
        """Disclosures of hidden cells to readers of published tables of counts; see `audit_tables`.

        Args:
            tables: names of tables, or of releases of counts; a mapping gives the name of each in the report.
            spelling: spelling of counts in tables of others.
            persons: numbers below it are small.
            seconds: after them intervals are wider, and count as undecided.
        """
        from sqlanon.query.counts.disclosure import audit_tables
        from sqlanon.query.counts.published import CountsSpelling

        until = time.monotonic() + seconds
        table_of_name = tables if isinstance(tables, Mapping) else {table: table for table in tables}
        names = {name: table_named(self.engine, table) for name, table in table_of_name.items()}
        return audit_tables(self.engine, names, spelling or CountsSpelling(), persons, lambda: until - time.monotonic())

    def budgets(self, budgets: Sequence[BudgetSpec], name: str | None = None) -> tuple[BudgetReport, ...]:
        """Spent and remaining parts of the budgets of a policy; ``name``: of one alone."""
        return report_budgets(self.engine, tuple(budgets), name)

    def history(self, release: str) -> tuple[HistoryReport, ...]:
        """Joint disclosures of every version of a release and the version before; needs a key in the policy."""
        return audit_history(self.engine, release)

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

    def evaluate(
        self, release: str | None = None, workload: str | os.PathLike[str] | WorkloadSpec | None = None
    ) -> Evaluation:
        """Measure how well a release answers for the source; see `sqlanon.evaluate.run.evaluate`.

        Args:
            release: name or view of the release; None: the only release.
            workload: a workload file or a `WorkloadSpec`; None: generators that fit any release.

        Raises:
            PolicyError, DatabaseError: nothing was measured.
        """
        from sqlanon.evaluate.run import evaluate

        spec = _read_workload(workload)
        return evaluate(self.engine, release, spec, self._progress)

    def hierarchy(self, release: str, column: str) -> Levels:
        """The levels of a quasi column's hierarchy, with the source's rows in every node.

        The result is for the owner: nodes are values.

        Args:
            release: name or view of the release.
            column: the column's name in the source.

        Raises:
            PolicyError: no such release, or the column has no hierarchy.
        """
        from sqlanon.evaluate.levels import read_levels

        return read_levels(self.engine, release, column)

    def attack(
        self, release: str | None = None, *, known: Sequence[str] | None = None, victims: int | None = None
    ) -> AttackReport | CountsAttackReport:
        """Results of attacks on a release with values of the source; see `sqlanon.attack.attack.attack`.

        Of a release of counts: findings about small cells; see `sqlanon.attack.counts.attack_counts`.

        Args:
            release: name or view of the release; None: the only release.
            known: quasi columns of which an attacker may know any set, at most 10; None: all.
            victims: published victims that are compared at most, drawn at random; None: all, or as many as take some 20
                seconds. Of counts: insiders who are tried.

        Raises:
            PolicyError, DatabaseError: nothing was measured.
        """
        from sqlanon.attack import attack, attack_counts, find_counts

        entry = find_counts(self.engine, release)
        if entry is not None:
            if known:
                raise PolicyError("attack: --known is of columns of rows; a release of counts has none")
            return attack_counts(self.engine, entry, insiders=victims, progress=self._progress)

        return attack(self.engine, release, known=_to_sequence(known), victims=victims, progress=self._progress)

    def compare(
        self,
        specs: Sequence[ReleaseSpec],
        *,
        control: float = 0.2,
        seed: int | None = None,
        target: str | None = None,
        workload: str | os.PathLike[str] | WorkloadSpec | None = None,
    ) -> CandidatesReport:
        """Candidate releases of one source side by side; see `sqlanon.attack.candidates.compare_candidates`.

        Publishes nothing.
        """
        from sqlanon.attack.candidates import Asked, compare_candidates

        releases = [with_tables(self.engine, spec) for spec in specs]
        options = Asked(control, seed, target, _read_workload(workload))
        return compare_candidates(self.engine, releases, self._machine, options, self._progress)

    def attack_with_control(
        self,
        spec: ReleaseSpec,
        share: float = 0.2,
        *,
        sets: Sequence[Sequence[str]] | None = None,
        seed: int | None = None,
    ) -> ControlReport:
        """Try a release in scratch on a part of the persons, and attack them and the others.

        See `sqlanon.attack.control.run.attack_with_control`. Publishes nothing.
        """
        from sqlanon.attack.control.run import attack_with_control

        spec = with_tables(self.engine, spec)
        return attack_with_control(
            self.engine, spec, self._machine, share, sets=sets, seed=seed, progress=self._progress
        )

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
        spec = _read_workload(workload)
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
        """The catalog's versions, oldest first."""
        return tuple(entry.row() for entry in Catalog(self.engine).entries(name))

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
            known=self._asked,
            as_of_source=as_of_source,
            interval=interval,
            parameters=parameters,
            merge_narrow=merge_narrow,
        )

    def _forget_asked(self) -> None:
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


def _read_workload(workload: str | os.PathLike[str] | WorkloadSpec | None) -> WorkloadSpec | None:
    """A workload, or the contents of the file of this name."""
    return workload if workload is None or isinstance(workload, WorkloadSpec) else policy.load_workload(workload)


def _to_sequence(names: str | Sequence[str] | None) -> Sequence[str] | None:
    return [names] if isinstance(names, str) else names
