"""The catalog: one row a version of a release, in the private schema of the source's database. Never a cell value."""

from __future__ import annotations

import datetime
import getpass
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from sqlanon._version import __version__
from sqlanon.engines.base import PRIVATE_SCHEMA, Bind, Engine, Found, Row, Statement, TableRef
from sqlanon.release.store.rights import drop_statistics, reading
from sqlanon.results import ReleaseRow, RunReport
from sqlanon.results.base import plain
from sqlanon.spec import Hierarchy, ReleaseSpec
from sqlanon.sqltext import identifier, statement

LATER = ("fingerprint", "source_columns", "checked_at")
"""Columns that a catalog of an older sqlanon lacks: read as NULL there, and added by its next run."""


READ = (
    "release", "version", "status", "view_schema", "view_name", "file", "physical", "source", "policy", "policy_hash", "report",
    "published_at", "published_by", "sqlanon", *LATER,
)  # fmt: skip
"""The columns of catalog/list, in its order."""

STEP = "step"
"""Where an engine changes no rows: which of the rows of a version is the last. Other engines' catalogs need no such column."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of a release as the catalog holds it."""

    release: str
    version: int
    status: str
    view_schema: str | None
    view_name: str | None
    file: str | None
    physical: str
    source: str
    policy: Mapping[str, Any]
    policy_hash: str
    report: Mapping[str, Any]
    published_at: str
    published_by: str
    sqlanon: str
    fingerprint: str | None = None
    source_columns: tuple[tuple[str, str], ...] | None = None
    checked_at: str | None = None
    database: str | None = None

    @property
    def view(self) -> TableRef | None:
        """The public view, where it is in this database."""
        if not self.view_name or self.file:
            return None
        return TableRef(self.view_schema, self.view_name, self.database)

    @property
    def table(self) -> TableRef:
        """The versioned physical table."""
        return TableRef(PRIVATE_SCHEMA, self.physical, self.database)

    @property
    def link(self) -> TableRef:
        """The private table that ties released rows to source rows."""
        return TableRef(PRIVATE_SCHEMA, f"{self.physical}_link", self.database)

    @property
    def history(self) -> TableRef:
        """Where the version's history stays; it is not dropped with the version."""
        return TableRef(PRIVATE_SCHEMA, f"{self.physical}_history", self.database)

    def row(self) -> ReleaseRow:
        """As the command line shows it."""
        report = self.report
        asked = ", ".join(
            f"{item['name']}{'(' + item['column'] + ')' if item['column'] else ''}={item['asked']:g}"
            for item in report.get("requirements", ())
        )
        return ReleaseRow(
            self.release, self.version, self.status, report.get("published", ""), self.source, self.published_at,
            self.published_by, report.get("rows", 0), report.get("classes", 0), report.get("min_class", 0),
            report.get("max_class", 0), report.get("loss", {}).get("gcp", 0.0), report.get("method", ""), asked,
            self.sqlanon, report.get("format", ""), report.get("suppressed", 0),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SourceState:
    """The source as a version saw it: a fingerprint of its rows, (name, type) of its columns, when the run began."""

    fingerprint: str
    columns: tuple[tuple[str, str], ...]
    read_at: str


class Catalog:
    """The catalog table of one database; made on first use."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.table = private_table(engine, "catalog")
        self._secrets = private_table(engine, "secrets")
        self._later = LATER if engine.updates else (*LATER, STEP)

    @property
    def tables(self) -> tuple[TableRef, ...]:
        """What is looked up before the catalog is read."""
        return (self.table, self._secrets)

    def complete(self, found: Found) -> bool:
        """Whether there is a catalog with every column of today."""
        known = {column.name for column in found.columns(self.table)}
        return known.issuperset(self._later) and self._secrets in found.relations

    def create(self, found: Found, schemas: Sequence[TableRef] = ()) -> None:
        """Make the private schema and the catalog if they are missing; an older catalog gets its later columns.

        Args:
            found: `tables` and ``schemas``, as they were looked up; under the lock of schemas, if there is a catalog.
            schemas: tables whose schemas are made as well.
        """
        dialect = self._engine.dialect
        anew = self.table not in found.relations
        makes = [schema_of(self._engine, self.table)] if anew else []
        if self._engine.rights:
            self._engine.execute_all(makes)
            self._engine.rights.seclude(PRIVATE_SCHEMA, anew=anew)
            makes = []
        known = {column.name for column in found.columns(self.table)}
        if anew:
            makes.append(statement("catalog/create", dialect, catalog=self.table))
            known = set(LATER)
        makes += [
            statement("catalog/add_column", dialect, catalog=self.table, column=name)
            for name in self._later
            if name not in known
        ]
        if self._secrets not in found.relations:
            makes.append(statement("catalog/create_secrets", dialect, secrets=self._secrets))
        makes += [schema_of(self._engine, ref) for ref in schemas if ref.schema not in found.schemas]
        self._engine.execute_all(makes)

    def drop_statistics(self, entries: Sequence[Entry]) -> None:
        """Keep the planner's statistics of the catalog and of tables of hashes free of values, of older versions' as well."""
        links = [entry.link for entry in entries]
        hashes = links + [replace(entry.link, name=f"{entry.physical}_history") for entry in entries]
        drop_statistics(self._engine, [self.table, self._secrets, *hashes])

    def guard(self) -> None:
        """Refuse to work with a private schema in which others have rights.

        Raises:
            DatabaseError: who has which, and what to do.
        """
        if self._engine.rights:
            self._engine.rights.seclude(PRIVATE_SCHEMA, anew=False)

    def secret_in(self, found: Found, release: str) -> str | None:
        """What the release's hashes are keyed with; None before its first version."""
        if self._secrets not in found.relations:
            return None
        made = statement("catalog/secret", self._engine.dialect, {"release": release}, secrets=self._secrets)
        rows = self._engine.fetch(made)
        return str(rows[0][0]) if rows else None

    def keep_secret(self, release: str, secret: str) -> None:
        """Store the secret of a release that has none yet."""
        binds: dict[str, str | int | float | None] = {"release": release, "secret": secret}
        made = statement("catalog/insert_secret", self._engine.dialect, binds, secrets=self._secrets)
        self._engine.execute(made)

    def entries(self, release: str | None = None) -> list[Entry]:
        """The catalog's rows, by release and version; empty where there is no catalog yet."""
        found = self._engine.look_up(self.tables)
        if self.table not in found.relations:
            return []
        with reading(self._engine, self.table):
            entries = self.rows(found)
        return [entry for entry in entries if release is None or entry.release == release]

    def rows(self, found: Found) -> list[Entry]:
        """The same, of a catalog that was looked up, by who has made sure that it is read safely (`guard`, `Rights.reading`)."""
        if self.table not in found.relations:
            return []
        known = {column.name for column in found.columns(self.table)}
        later = [{"name": name, "known": name in known} for name in (*LATER, STEP)]
        made = statement("catalog/list", self._engine.dialect, catalog=self.table, later=later)
        rows = self._engine.fetch(made)
        last: dict[tuple[object, object], Row] = {}
        for row in sorted(rows, key=lambda row: int(str(row[-1] or 0))):
            last[row[0], row[1]] = row
        return [_entry(row[:-1], self.table.database) for row in rows if last[row[0], row[1]] is row]

    def add(self, spec: ReleaseSpec, version: int, physical: str, target: TableRef, status: str, report: RunReport,
            source: SourceState, seed: int) -> Entry:  # fmt: skip
        """Write the row of a new version, and give it."""
        text, policy_hash = _hashed(redacted(spec))
        binds: dict[str, str | int | float | None] = {
            "release": spec.name,
            "version": version,
            "status": status,
            "view_schema": target.schema,
            "view_name": target.name,
            "file": spec.publish_file,
            "physical": physical,
            "source": report.source,
            "policy": text,
            "policy_hash": policy_hash,
            "report": json.dumps(report.to_dict(), sort_keys=True),
            "seed": seed,
            "published_at": now(),
            "published_by": _user(),
            "sqlanon": __version__,
            "fingerprint": source.fingerprint,
            "source_columns": json.dumps(source.columns),
            "checked_at": source.read_at,
        }
        self._engine.execute(statement("catalog/insert", self._engine.dialect, binds, catalog=self.table))
        return _entry(tuple(binds[name] for name in READ), self.table.database)

    def checked(self, spec: ReleaseSpec, version: int, at: str) -> None:
        """A run found nothing to do: note when, and the policy's present readers and times."""
        self._keep_policy(spec.name, version, redacted(spec), at)

    def keep_policy(self, entry: Entry, policy: Mapping[str, Any]) -> None:
        """A version goes by other settings from now on; what it was made by stays."""
        self._keep_policy(entry.release, entry.version, policy, entry.checked_at)

    def _keep_policy(self, release: str, version: int, policy: Mapping[str, Any], at: str | None) -> None:
        text, policy_hash = _hashed(policy)
        changes: dict[str, Bind] = {"checked_at": at, "policy": text, "policy_hash": policy_hash}
        self._change("catalog/checked", release, version, changes)

    def replace_report(self, release: str, version: int, report: RunReport) -> None:
        """Set the report of one version."""
        changes: dict[str, Bind] = {"report": json.dumps(report.to_dict(), sort_keys=True)}
        self._change("catalog/report", release, version, changes)

    def mark(self, release: str, version: int, status: str) -> None:
        """Change the status of one version.

        pending, published, replaced, withdrawn, returning (to a file), withdrawing (a file), dropped or abandoned.
        """
        self._change("catalog/update", release, version, {"status": status})

    def _change(self, name: str, release: str, version: int, changes: dict[str, Bind]) -> None:
        """Change columns of a version's row, or append a row with the changes, which counts from then on."""
        binds: dict[str, Bind] = {"release": release, "version": version, **changes}
        if self._engine.updates:
            made = statement(name, self._engine.dialect, binds, catalog=self.table)
        else:
            made = statement(
                "catalog/append", self._engine.dialect, binds, catalog=self.table, columns=(*READ, "seed"), changed=list(changes),
                step=STEP,
            )  # fmt: skip
        self._engine.execute(made)


def now() -> str:
    """The time as the catalog writes it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _hashed(policy: Mapping[str, Any]) -> tuple[str, str]:
    text = json.dumps(policy, sort_keys=True)
    return text, hashlib.sha256(text.encode()).hexdigest()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


@lru_cache(maxsize=1024)
def _entry(row: tuple[object, ...], database: str | None) -> Entry:
    """A row as it was read. Most rows are as they were the last time: their JSON is parsed once."""
    cells = list(row)
    cells[1] = int(str(cells[1]))
    cells[8] = json.loads(str(cells[8]))
    cells[10] = json.loads(str(cells[10]))
    if cells[15] is not None:
        cells[15] = tuple((str(name), str(kind)) for name, kind in json.loads(str(cells[15])))
    return replace(Entry(*cells), database=database)  # type: ignore[arg-type]


def schema_of(engine: Engine, ref: TableRef) -> Statement:
    """What makes the schema of a table, where it is missing."""
    schema = ".".join(identifier(part) for part in (ref.database, ref.schema) if part)
    return statement("publish/schema", engine.dialect, schema=schema)


def private_table(engine: Engine, name: str) -> TableRef:
    """A table of the private schema, by its exact name."""
    return engine.target(f"{identifier(PRIVATE_SCHEMA)}.{identifier(name)}")


def physical_name(release: str, version: int) -> str:
    """The versioned table's name: readable, and short enough for every engine whatever the release is called."""
    plain = (
        "".join(char if char.isascii() and char.isalnum() else "_" for char in release)[:24]
        .strip("_")
        .lower()
    )
    return f"{plain or 'release'}_{hashlib.sha256(release.encode()).hexdigest()[:8]}_v{version}"


def redacted(spec: ReleaseSpec) -> dict[str, Any]:
    """The policy for the catalog: lists of values (hierarchies, orders) replaced by their hashes, no seed."""
    policy = cast("dict[str, Any]", plain(spec))
    for column, original in zip(policy["columns"], spec.columns, strict=True):
        if isinstance(original.hierarchy, Hierarchy):
            column["hierarchy"] = {
                "name": original.hierarchy.name,
                "sha256": _hash(original.hierarchy.levels),
            }
        if isinstance(original.ordered, tuple):
            column["ordered"] = {"values": len(original.ordered), "sha256": _hash(original.ordered)}
    if spec.privacy.accuracy is not None:
        policy["privacy"]["accuracy"]["extents"] = dict(spec.privacy.accuracy.extents)
    policy.pop("seed")
    if spec.refine is not None:  # 0.1.0 had no search: a policy without one is kept as it was then
        policy["refine"]["search"] = "auto" if spec.refine.search is None else spec.refine.search
        if spec.refine.search == 0:
            del policy["refine"]["search"]
    policy["privacy"] |= policy["privacy"].pop("more")
    return {key: _written(value) for key, value in policy.items()}


def _written(value: object) -> object:
    """The value with fractions as text, which JSON has no other exact form for."""
    if isinstance(value, Mapping):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value


def _hash(values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
