"""The Python API: `connect` to a database and anonymize its tables, or `anonymize` a file. The facade over every room."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlanon import policy
from sqlanon.declared import FORMATS
from sqlanon.engines import connect as open_engine
from sqlanon.engines.base import Engine, FileReading, TableRef
from sqlanon.errors import PolicyError, SqlanonError, file_errors
from sqlanon.private_folder import PrivateFolder, put_in_place, sweep
from sqlanon.progress import Progress, Silent
from sqlanon.release.check import audit as auditing
from sqlanon.release.check.history import audit_history
from sqlanon.release.make.plan import plan as make_plan
from sqlanon.release.make.run import Machine, run
from sqlanon.release.store import rollback as versions
from sqlanon.release.store.catalog import Catalog
from sqlanon.release.store.publish import drop_old
from sqlanon.release.store.second_file import reconcile
from sqlanon.release.store.swap import spelled
from sqlanon.release.store.target import sensitive_of, view_of, views_of
from sqlanon.release.store.unpublish import unpublish
from sqlanon.results import (
    AuditReport,
    DiffReport,
    HistoryReport,
    LossReport,
    PlanReport,
    ReleaseRow,
    RollbackReport,
    RunReport,
    TogetherReport,
    UnpublishReport,
    VersionReport,
)
from sqlanon.spec import FormatSpec, ReleaseSpec, WorkloadSpec
from sqlanon.sqltext import identifier, statement
from sqlanon.table import functions
from sqlanon.table.profile import ColumnProfile, profile

if TYPE_CHECKING:
    from types import TracebackType

    from sqlanon.evaluate.report import Evaluation
    from sqlanon.query.answer import Answer
    from sqlanon.query.find import Names

FILES = (".csv", ".csv.gz", ".parquet")
"""Files that `anonymize` reads; it writes all but ``.csv.gz``."""


class Database:
    """A connected database whose tables can be anonymized in place. A context manager.

    Example:
        >>> db = connect("duckdb:///:memory:")
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

    def anonymize(self, source: str, *, allow_weaker: bool = False, **arguments: Any) -> Release:
        """Make, verify and publish one release of a table: a new version in any case, as the call says it.

        Args:
            source: table or view, ``table`` or ``schema.table``.
            allow_weaker: confirm that the call promises less than the published version of this name.
            arguments: `sqlanon.policy.release` lists them: quasi, sensitive, identifiers, insensitive, rest, k, l,
                distinct_l, joint, requirements, max_loss, max_extent, maximize, at_least, presence, hierarchies, ordered, weights,
                method, refine, format, mean, execution, memory, seed, rows_are, persons, accept_unique, accept_repeats, publish,
                publish_file, readers, dimensions, key, every, keep, max_failing, name.

        Raises:
            PolicyError, GuardError, InfeasibleError, PrivacyViolation, DatabaseError: nothing was published.
        """
        spec = policy.release(source=source, **arguments)
        self._asked.clear()
        report = run(
            self.engine, spec, self._machine, self._progress, compare=False, allow_weaker=allow_weaker
        )
        return Release(self, spec, report)

    def plan(self, spec: ReleaseSpec, beside: Sequence[ReleaseSpec] = ()) -> PlanReport:
        """What a run of ``spec`` would do; ``beside`` are the other releases of its policy. Publishes nothing."""
        return make_plan(self.engine, spec, self._progress, beside, self._machine)

    def run(
        self,
        spec: ReleaseSpec,
        *,
        full: bool = False,
        allow_weaker: bool = False,
        only_due: bool = False,
    ) -> RunReport:
        """Bring one release up to date: make, verify and publish a version if anything changed, else leave it.

        Args:
            spec: the release.
            full: make a new version in any case.
            allow_weaker: confirm that the policy promises less than that of the published version.
            only_due: leave a release alone that a run looked at less than ``every`` ago.

        Raises:
            GuardError: the policy is weaker than before, and nobody confirmed it.
            SchemaChangedError: the source has a new column that the policy does not name.
        """
        self._asked.clear()
        return run(
            self.engine, spec, self._machine, self._progress,
            full=full, allow_weaker=allow_weaker, only_due=only_due,
        )  # fmt: skip

    def audit(
        self,
        table: str,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        spec: ReleaseSpec | None = None,
    ) -> AuditReport:
        """Measure k, l and risk of any table; see `sqlanon.release.check.audit.audit`."""
        return auditing.audit(
            self.engine,
            table,
            quasi=_listed(quasi),
            sensitive=_listed(sensitive) or (),
            identifiers=_listed(identifiers) or (),
            spec=spec,
        )

    def together(self, first: str, second: str) -> TogetherReport:
        """What two releases of one source leave of k and l when a reader holds both."""
        return auditing.together(self.engine, first, second)

    def history(self, release: str) -> tuple[HistoryReport, ...]:
        """What every version of a release tells together with the one before; needs a key in the policy."""
        return audit_history(self.engine, release)

    def rollback(self, release: str, to: int | None = None, *, allow_weaker: bool = False) -> RollbackReport:
        """Publish an earlier version again, in one transaction; see `sqlanon.release.store.rollback.rollback`."""
        self._asked.clear()
        return versions.rollback(self.engine, release, to, allow_weaker=allow_weaker)

    def unpublish(self, release: str, *, purge: bool = False) -> UnpublishReport:
        """Withdraw a release from its readers; ``purge`` drops its versions as well. See `sqlanon.release.store.unpublish.unpublish`."""
        self._asked.clear()
        return unpublish(self.engine, release, purge=purge)

    def version(self, name: str) -> VersionReport:
        """Everything the catalog knows of ``NAME@VERSION``, or of the published version of ``NAME``."""
        return versions.version(self.engine, name)

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

        spec = (
            workload
            if workload is None or isinstance(workload, WorkloadSpec)
            else policy.load_workload(workload)
        )
        return evaluate(self.engine, release, spec, self._progress)

    def releases(self, name: str | None = None) -> tuple[ReleaseRow, ...]:
        """The catalog's versions, oldest first."""
        return tuple(entry.row() for entry in Catalog(self.engine).entries(name))

    def profile(self, source: str) -> tuple[ColumnProfile, ...]:
        """Counts about every column of a table."""
        return profile(self.engine, source)

    def propose(self, source: str) -> policy.Proposal:
        """Propose the policy of a release of a table, and check it by what `plan` checks.

        ``proposal.policy(url, source)`` is its text. Where even the best proposal is refused, ``refused`` says why.
        Cost: one GROUP BY a column, and a plan.
        """
        proposal = policy.propose(self.profile(source))
        refused: tuple[str, ...] = ()
        # A format that adds no columns, whose names could be taken or too long, is the second choice.
        plain = next(facts.name for facts in FORMATS.values() if facts.source_names)
        for form in (FormatSpec().kind, plain):
            tried = proposal.published_as(form)
            (spec,) = policy.loads(tried.policy(None, source), {}).releases
            try:
                self.plan(spec)
            except PolicyError as error:
                refused = refused or tuple(error.problems)
            except SqlanonError as error:
                refused = refused or tuple(str(error).split("\n"))
                break
            else:
                return tried
        return proposal.because(refused)

    def clean(self) -> tuple[str, ...]:
        """Drop what killed runs and old versions left; only what the catalog names. Returns what was dropped."""
        dropped: list[str] = []
        Catalog(self.engine).guard()
        for name in sorted({entry.release for entry in Catalog(self.engine).entries()}):
            with self.engine.lock(f"release {name}"):
                dropped += reconcile(self.engine, name)
                dropped += drop_old(self.engine, name)
        return tuple(dropped)

    def query(
        self,
        sql: str,
        *,
        release: str | None = None,
        allow_linking: bool = False,
        spec: ReleaseSpec | None = None,
        role: str | None = None,
        seconds: float = 60.0,
    ) -> Answer:
        """Ask a release in SQL against the source's columns: estimates with sound bounds; see `sqlanon.query.ask.ask`.

        With ``role``, which has to be one of the database's, its rights decide what is read.

        Example:
            >>> db = connect("duckdb:///:memory:")
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
        )

    def install_functions(self, schema: str = functions.SCHEMA) -> tuple[str, ...]:
        """Install the SQL functions of docs/functions.md in a schema of this database; see `sqlanon.table.functions.install`."""
        return functions.install(self.engine, schema)

    def sample(self, table: str, rows: int = 5) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Column names and a few rows of a *published release*; any other table is refused.

        Raises:
            PolicyError: the table is not a release of this database's catalog.
        """
        relation = self.engine.relation(table)
        published = [entry for entry in Catalog(self.engine).entries() if entry.status == "published"]
        views = {view for entry in published for view in views_of(entry)}
        if relation.ref not in views:
            raise PolicyError(f"{table} is not a published release; only releases may be shown")
        names = tuple(column.name for column in relation.columns)
        made = statement(
            "audit/sample", self.engine.dialect, {"rows": rows}, target=relation.ref, columns=list(names)
        )
        return names, self.engine.fetch(made)


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


def _listed(names: str | Sequence[str] | None) -> Sequence[str] | None:
    return [names] if isinstance(names, str) else names


def connect(
    url: str,
    *,
    progress: Progress | None = None,
    threads: int | None = None,
    memory: int | None = None,
    read_only: bool = False,
) -> Database:
    """Connect to ``duckdb:///path``, ``duckdb:///:memory:`` or ``postgresql://...``.

    Args:
        url: the database.
        progress: told how far long work is; None shows nothing.
        threads: threads for DuckDB and the kernels; None: all cores.
        memory: bytes for DuckDB and the kernels; None: about half of the machine's together.
        read_only: to audit, list, query and evaluate: nothing but scratch tables is written. Several processes can have a
            DuckDB file open so.

    Raises:
        PolicyError: no engine for the URL.
        DatabaseError: the database cannot be opened; the text says what to do.
    """
    here = Machine.here()
    machine = Machine(memory or here.memory, threads or here.threads)
    engine = open_engine(url, threads=threads, memory=memory or int(here.memory * 1.4), read_only=read_only)
    return Database(engine, progress or Silent(), machine)


def anonymize(
    path: str | os.PathLike[str],
    *,
    to: str | os.PathLike[str],
    progress: Progress | None = None,
    null: str | Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    types: Mapping[str, str] | None = None,
    **arguments: Any,
) -> RunReport:
    """Anonymize a CSV (also .gz) or Parquet file into a CSV or Parquet file, through an in-memory DuckDB.

    Args:
        path: the file to read.
        to: the file to write; it appears only when the release has been verified. Format anatomy writes the sensitive values
            of ``out.csv`` into ``out_sensitive.csv``.
        progress: told how far long work is.
        null: CSV: texts that stand for a missing value, besides the empty one.
        delimiter: CSV: the character between two fields; None: guessed.
        encoding: CSV: utf-8 (as by default), latin-1 or utf-16.
        types: CSV: column -> DuckDB's type, such as VARCHAR; the others are guessed from all rows.
        arguments: as for `Database.anonymize`, without publish and publish_file.

    Raises:
        PolicyError: a file's kind is not known, a header names a column twice, or an option does not fit the file.
        DatabaseError: a file cannot be read or written; of a CSV with its line and column.
    """
    source, target = Path(path), Path(to)
    how = FileReading(tuple(_listed(null) or ()), delimiter, encoding, types or {})
    if not str(source).lower().endswith(FILES):
        raise PolicyError(f"{source}: files are {', '.join(FILES)}; for a table, connect to its database")
    if target.suffix.lower() not in (".csv", ".parquet"):
        raise PolicyError(f"{target}: releases are written as .csv or .parquet")
    view = TableRef("release", "data")
    files = {view: target}
    if not target.resolve().parent.is_dir():
        raise PolicyError(f"{target}: there is no such directory")
    for key in ("publish", "publish_file"):
        if arguments.pop(key, None):
            raise PolicyError(f"{key} is for tables in a database; a file is written with to")
    name = arguments.pop("name", None) or source.name.split(".")[0] or "release"
    memory = arguments.get("memory")
    table = source.name.split(".")[0] or "source"
    spec = policy.release(source=identifier(table), name=name, publish="release.data", **arguments)
    if FORMATS[spec.format.kind].paired:
        beside = target.with_name(sensitive_of(TableRef(None, target.stem)).name + target.suffix)
        files[sensitive_of(view)] = beside
        if beside.exists() and not target.exists():
            raise PolicyError(
                f"{beside} exists, and without {target} it is not of an earlier release; move it away or choose another name"
            )
    for file in files.values():
        if source.exists() and file.exists() and source.resolve() == file.resolve():
            raise PolicyError(f"{file} is the source itself; choose another file")
    with connect("duckdb:///:memory:", progress=progress, memory=spec.memory if memory else None) as database:
        database.engine.import_file(source, database.engine.target(spec.source), how)
        report = database.run(spec)
        _export(database.engine, files)
    second = files.get(sensitive_of(view))
    return replace(
        report,
        source=str(source),
        published=str(target),
        published_sensitive=str(second) if second else None,
    )


def propose_file(
    path: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    null: str | Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    types: Mapping[str, str] | None = None,
) -> policy.Proposal:
    """Propose how to anonymize a file; see `Database.propose`, and `anonymize` for the arguments."""
    source = Path(path)
    if not str(source).lower().endswith(FILES):
        raise PolicyError(f"{source}: files are {', '.join(FILES)}; for a table, connect to its database")
    how = FileReading(tuple(_listed(null) or ()), delimiter, encoding, types or {})
    with connect("duckdb:///:memory:", progress=progress) as database:
        name = identifier(source.name.split(".")[0] or "source")
        database.engine.import_file(source, database.engine.target(name), how)
        return database.propose(name)


def _export(engine: Engine, files: Mapping[TableRef, Path]) -> None:
    """Write tables to files; none takes its place before all are written."""
    some = next(iter(files.values()))
    with file_errors(some):
        sweep(some)
        with PrivateFolder(some) as folder:
            for table, path in files.items():
                engine.export_file(table, folder.path / path.name)
            for path in files.values():
                put_in_place(folder.path / path.name, path)


__all__ = ["Database", "Release", "anonymize", "connect", "propose_file"]
