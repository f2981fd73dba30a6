"""A connected database: the facade over every room."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from sqlanon import policy
from sqlanon.database.hierarchy_tables import with_tables
from sqlanon.database.kept import Kept
from sqlanon.database.proposing import propose_for_table, try_proposal
from sqlanon.database.released import Release
from sqlanon.declared.options import AnonymizeOptions
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.progress import Progress
from sqlanon.release.audit.audit import audit
from sqlanon.release.audit.place import is_release, open_place, table_named
from sqlanon.release.audit.together import audit_together
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import refuse_counts
from sqlanon.release.catalog.views import views_of
from sqlanon.release.divide.classes import Machine
from sqlanon.release.erase import erase
from sqlanon.release.frozen.exact_casts import keys_as_texts
from sqlanon.release.history.history import audit_history
from sqlanon.release.plan.plan import plan as make_plan
from sqlanon.release.prepare.row_security import hidden_rows
from sqlanon.release.preview import Preview
from sqlanon.release.preview import preview as make_preview
from sqlanon.release.publish import rollback as versions
from sqlanon.release.publish.unpublish import unpublish
from sqlanon.release.run import RunOptions, run, run_tables
from sqlanon.release.verify.persons import counted_rows
from sqlanon.results import (
    AttackReport,
    AuditReport,
    DiffReport,
    EraseReport,
    HistoryReport,
    IdentifyingReport,
    PlanReport,
    ReleaseRow,
    RiskReport,
    RollbackReport,
    RunReport,
    TogetherReport,
    UnpublishReport,
    VersionReport,
)
from sqlanon.risk import THRESHOLD, VALUE, Population, assess, class_sizes, identify, of_persons
from sqlanon.spec import PrivacySpec, ReleaseSpec, WorkloadSpec
from sqlanon.sqltext import statement
from sqlanon.table import functions
from sqlanon.table.labels import labels_of
from sqlanon.table.profile import ColumnProfile, profile

if TYPE_CHECKING:
    from types import TracebackType

    from sqlanon.evaluate.levels import Levels
    from sqlanon.evaluate.report import Evaluation
    from sqlanon.query.answer import Answer
    from sqlanon.query.find import Names


class Database(Kept):
    """A connected database whose tables can be anonymized in place. A context manager.

    Example:
        >>> import sqlanon
        >>> db = sqlanon.connect("duckdb:///:memory:")
        >>> db.engine.execute("CREATE TABLE t AS SELECT i // 5 AS age, 'flu' AS diagnosis FROM range(20) AS r(i)")
        >>> release = db.anonymize("t", quasi="age", sensitive="diagnosis", k=5)
        >>> release.report.classes, release.report.min_class
        (4, 5)
    """

    def __init__(self, engine: Engine, progress: Progress, machine: Machine) -> None:
        self.engine = engine
        self._progress = progress
        self._machine = machine
        self._asked: Names = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.engine.close()

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
            options: what the release must be, `sqlanon.AnonymizeOptions`; docs/policy.md describes each under the key
                that it sets.

        Raises:
            PolicyError, GuardError, InfeasibleError, PrivacyViolation, DatabaseError: nothing was published.
            TypeError: an argument that there is not, or no quasi column.
        """
        spec = with_tables(self.engine, policy.release(source=source, **options))
        self._asked.clear()
        how = RunOptions(compare=False, allow_weaker=allow_weaker, keep_scratch=keep_scratch)
        report = run(self.engine, spec, self._machine, self._progress, how)
        return Release(self, spec, report)

    def plan(self, spec: ReleaseSpec, beside: Sequence[ReleaseSpec] = (), *, new_lineage: bool = False) -> PlanReport:
        """What a run of ``spec`` would do; ``beside`` are the other releases of its policy. Publishes nothing."""
        spec = with_tables(self.engine, spec)
        if spec.together is not None:
            beside = [with_tables(self.engine, one) if one.together == spec.together else one for one in beside]
        return make_plan(self.engine, spec, self._progress, beside, self._machine, new_lineage=new_lineage)

    def preview(self, spec: ReleaseSpec, rows: int = 20) -> Preview:
        """Rows of the source with what a run of ``spec`` would publish of them, for the owner.

        See `sqlanon.release.preview.preview`.
        """
        return make_preview(self.engine, with_tables(self.engine, spec), self._machine, self._progress, rows)

    def run(
        self,
        spec: ReleaseSpec,
        *,
        full: bool = False,
        allow_weaker: bool = False,
        only_due: bool = False,
        keep_scratch: bool = False,
        new_lineage: bool = False,
    ) -> RunReport:
        """Bring one release up to date: make, verify and publish a version if anything changed, else leave it.

        Args:
            spec: the release.
            full: make a new version in any case.
            allow_weaker: confirm that the policy promises less than that of the published version.
            only_due: leave a release alone that a run looked at less than ``every`` ago.
            keep_scratch: keep every intermediate table of the run in the private schema, source values included, until
                the next run of the release or `clean`; ``scratch`` of the report lists them with stage, statement, rows
                and seconds.
            new_lineage: with ``refresh: {mode: frozen}`` publish all rows anew, as those of a release of their own.

        Raises:
            GuardError: the policy is weaker than before, and that was not confirmed.
            SchemaChangedError: the source has a new column that the policy does not name.
        """
        self._asked.clear()
        how = RunOptions(
            full=full,
            allow_weaker=allow_weaker,
            only_due=only_due,
            keep_scratch=keep_scratch,
            new_lineage=new_lineage,
        )
        return run(self.engine, with_tables(self.engine, spec), self._machine, self._progress, how)

    def run_tables(
        self,
        specs: Sequence[ReleaseSpec],
        *,
        full: bool = False,
        allow_weaker: bool = False,
        only_due: bool = False,
    ) -> tuple[RunReport, ...]:
        """Bring all tables of one release up to date in one transaction.

        See `run` and `sqlanon.release.run.run_tables`.
        """
        self._asked.clear()
        found = [with_tables(self.engine, spec) for spec in specs]
        how = RunOptions(full=full, allow_weaker=allow_weaker, only_due=only_due)
        return run_tables(self.engine, found, self._machine, self._progress, how)

    def erase(self, spec: ReleaseSpec, keys: Sequence[Mapping[str, object]], *, confirmed: bool = False) -> EraseReport:
        """Erase keys from a release with ``refresh: {mode: frozen}``; see `sqlanon.release.erase.erase`.

        Args:
            spec: the release.
            keys: the values of the key's columns, by their names.
            confirmed: do it; without it the report says what it would cost.
        """
        self._asked.clear()
        names, texts = keys_as_texts(spec.name, keys)
        return erase(
            self.engine,
            with_tables(self.engine, spec),
            self._machine,
            names,
            texts,
            self._progress,
            confirmed=confirmed,
        )

    def audit(
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        spec: ReleaseSpec | None = None,
    ) -> AuditReport:
        """Measure k, l and risk of any table, or of a release by its name; see `sqlanon.release.audit.audit.audit`."""
        return audit(
            self.engine,
            table_named(self.engine, table),
            quasi=_to_sequence(quasi),
            sensitive=_to_sequence(sensitive) or (),
            identifiers=_to_sequence(identifiers) or (),
            spec=None if spec is None else with_tables(self.engine, spec),
        )

    def assess(
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        weight: str | None = None,
        population: str | None = None,
        population_size: int | None = None,
        threshold: float = THRESHOLD,
        null_is: str = VALUE,
    ) -> RiskReport:
        """Measure every privacy model and the risk of any table, without a policy; see `sqlanon.risk.assess.assess`.

        ``weight``, ``population`` and ``population_size`` say what is known of the population:
        `sqlanon.risk.assess.Population`. ``null_is="wildcard"`` is refused for a release of this database: what its
        NULL and ``*`` cover is known. Of a release whose persons may have several rows the prosecutor counts persons,
        by its private tables, unless ``identifiers`` name others.
        """
        if null_is != VALUE and is_release(self.engine, table):
            raise PolicyError(
                f"audit {table}: {null_is} is for tables of others; this is a release, in which * is a value of its own"
            )
        entry = Catalog(self.engine).published(table) if is_release(self.engine, table) else None
        if entry is not None:
            refuse_counts(entry, "audit checks its certificate, and it has no rows whose risk could be measured")
        known = Population(population, population_size, weight)
        found = assess(
            self.engine,
            table,
            quasi=_to_sequence(quasi),
            sensitive=_to_sequence(sensitive) or (),
            identifiers=_to_sequence(identifiers) or (),
            population=known,
            threshold=threshold,
            null_is=null_is,
        )
        if identifiers or found.prosecutor is None:
            return found
        with open_place(self.engine, table, None) as place, counted_rows(self.engine, place.entry) as counted:
            if counted is None:
                return found
            if known.known:
                raise PolicyError(
                    f"audit {table}: a population is compared with rows that are persons, and a person may have "
                    "several rows of this release; leave the population out"
                )
            rows, persons = counted
            return of_persons(found, class_sizes(self.engine, rows, ("class",), persons))

    def find_quasi(
        self, table: str, columns: Sequence[str] | None = None, *, left_out: Sequence[str] = ()
    ) -> IdentifyingReport:
        """How well sets of columns of any table distinguish its rows; see `sqlanon.risk.identifying.identify`."""
        return identify(self.engine, table, _to_sequence(columns), _to_sequence(left_out) or ())

    def together(self, first: str, second: str) -> TogetherReport:
        """What two releases of one source leave of k and l when a reader holds both."""
        return audit_together(self.engine, first, second)

    def history(self, release: str) -> tuple[HistoryReport, ...]:
        """What every version of a release reveals together with the one before; needs a key in the policy."""
        return audit_history(self.engine, release)

    def rollback(self, release: str, to: int | None = None, *, allow_weaker: bool = False) -> RollbackReport:
        """Publish an earlier version again, in one transaction; see `sqlanon.release.publish.rollback.rollback`."""
        self._asked.clear()
        return versions.rollback(self.engine, release, to, allow_weaker=allow_weaker)

    def unpublish(self, release: str, *, purge: bool = False) -> UnpublishReport:
        """Withdraw a release from its readers; ``purge`` drops its versions as well.

        See `sqlanon.release.publish.unpublish.unpublish`.
        """
        self._asked.clear()
        return unpublish(self.engine, release, purge=purge)

    def version(self, name: str) -> VersionReport:
        """Everything the catalog knows of ``NAME@VERSION``, or of the published version of ``NAME``."""
        return versions.report_version(self.engine, name)

    def diff(self, first: str, second: str) -> DiffReport:
        """Two versions, ``NAME@2`` and ``NAME@3``, side by side."""
        return versions.diff(self.engine, first, second)

    def evaluate(
        self, release: str | None = None, workload: str | os.PathLike[str] | WorkloadSpec | None = None
    ) -> Evaluation:
        """Measure how well a release answers for its source; see `sqlanon.evaluate.run.evaluate`.

        Args:
            release: its name or view; None: the only one there is.
            workload: a workload file, or what one is read into; None: generators that fit any release.

        Raises:
            PolicyError, DatabaseError: nothing was measured.
        """
        from sqlanon.evaluate.run import evaluate

        spec = workload if workload is None or isinstance(workload, WorkloadSpec) else policy.load_workload(workload)
        return evaluate(self.engine, release, spec, self._progress)

    def hierarchy(self, release: str, column: str) -> Levels:
        """The levels of a quasi column's hierarchy, with the source's rows in every node.

        The result is for the owner: nodes are values.

        Args:
            release: its name or view.
            column: its name in the source.

        Raises:
            PolicyError: no such release, or the column has no hierarchy.
        """
        from sqlanon.evaluate.levels import read_levels

        return read_levels(self.engine, release, column)

    def attack(
        self, release: str | None = None, *, known: Sequence[str] | None = None, victims: int | None = None
    ) -> AttackReport:
        """What an attacker who has values of the source finds in a release; see `sqlanon.attack.attack.attack`.

        Args:
            release: its name or view; None: the only one there is.
            known: quasi columns of which an attacker may know any set, at most 10; None: all.
            victims: published victims that are compared at most, drawn at random; None: all, or as many as take some 20
                seconds.

        Raises:
            PolicyError, DatabaseError: nothing was measured.
        """
        from sqlanon.attack import attack

        return attack(self.engine, release, known=_to_sequence(known), victims=victims, progress=self._progress)

    def report(
        self,
        release: str,
        *,
        audience: Literal["owner", "readers"] = "owner",
        form: Literal["html", "md"] = "html",
        workload: str | os.PathLike[str] | WorkloadSpec | None = None,
        attack: bool = False,
    ) -> str:
        """The report of a published release as a text to write to a file; docs/report.md describes it.

        Args:
            release: its name or view.
            audience: ``owner``: confidential, it shows the source. ``readers``: made of the view and its metadata
                alone.
            form: ``html``: one file that needs no other; ``md``: Markdown, without pictures.
            workload: for the owner: queries whose accuracy is measured as well.
            attack: for the owner: run the attacks of `Database.attack` as well.

        Raises:
            PolicyError, DatabaseError: no such release, or the database refused.
        """
        from sqlanon.report import owner_report, readers_report, write_page

        if audience == "readers":
            if workload is not None:
                raise PolicyError("a report for readers measures no workload: that needs the source")
            if attack:
                raise PolicyError("a report for readers has no attacks: they need the source")
            return write_page(readers_report(self.engine, release), form)
        spec = workload if workload is None or isinstance(workload, WorkloadSpec) else policy.load_workload(workload)
        return write_page(owner_report(self.engine, release, spec, self._progress, attack=attack), form)

    def releases(self, name: str | None = None) -> tuple[ReleaseRow, ...]:
        """The catalog's versions, oldest first."""
        return tuple(entry.row() for entry in Catalog(self.engine).entries(name))

    def profile(self, source: str) -> tuple[ColumnProfile, ...]:
        """Counts about every column of a table."""
        return profile(self.engine, source)

    def propose(self, source: str, *, from_labels: bool = False) -> policy.Proposal:
        """Propose the policy of a release of a table, and check it by what `plan` checks.

        Args:
            source: the table.
            from_labels: the security labels of PostgreSQL Anonymizer on its columns decide their roles first.

        ``proposal.policy(url, source)`` is its text. Where even the best proposal is refused, ``refused`` is the
        reason.
        Cost: one GROUP BY a column and for each column that may be a person's number, and some plans.
        """
        labels = labels_of(self.engine, source) if from_labels else None
        bare = ReleaseSpec("", source, (), PrivacySpec())
        hidden = hidden_rows(self.engine, bare, self.engine.relation(source).ref)
        return propose_for_table(self, source, labels, hidden)

    def checked(self, proposal: policy.Proposal, source: str) -> policy.Proposal:
        """A proposal with the result of `plan`.

        Its format is the first that `plan` accepts; if `plan` refuses all, the result has the reasons.
        """
        return try_proposal(self, proposal, source)[0]

    def query(
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
    ) -> Answer:
        """Ask a release in SQL against the source's columns: estimates with sound bounds; see `sqlanon.query.ask.ask`.

        With ``role``, which has to be one of the database's, its rights decide what is read.

        Example:
            >>> import sqlanon
            >>> db = sqlanon.connect("duckdb:///:memory:")
            >>> db.engine.execute("CREATE TABLE t AS SELECT i AS age, 'flu' AS diagnosis FROM range(20) AS r(i)")
            >>> release = db.anonymize("t", quasi="age", sensitive="diagnosis", k=5)
            >>> answer = db.query("SELECT count(*) AS n FROM t WHERE age < 7")
            >>> answer.rows[0]["n"].low, answer.rows[0]["n"].high
            (5, 10)
        """
        from sqlanon.query.ask import ask

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
        )

    def install_functions(self, schema: str = functions.SCHEMA) -> tuple[str, ...]:
        """Install the SQL functions of docs/functions.md in a schema of this database.

        See `sqlanon.table.functions.install`.
        """
        return functions.install(self.engine, schema)

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
        made = statement("audit/sample", self.engine.dialect, {"rows": rows}, target=relation.ref, columns=list(names))
        return names, self.engine.fetch(made)


def _to_sequence(names: str | Sequence[str] | None) -> Sequence[str] | None:
    return [names] if isinstance(names, str) else names
