"""The catalog: a row per version of a release, in the private schema of the source's database. Never a cell value."""

from __future__ import annotations

import datetime
import getpass
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon._version import __version__
from sqlanon.engines.base import PRIVATE_SCHEMA, Bind, Engine, LookupResult, Statement, TableRef
from sqlanon.release.catalog.entry import LATER, READ, Entry, SourceState, entry_of
from sqlanon.release.catalog.private_tables import private_table, schema_of
from sqlanon.release.catalog.reader import STEP, CatalogReader
from sqlanon.release.catalog.redacted_policy import hash_policy, redact
from sqlanon.release.catalog.rights import drop_statistics
from sqlanon.results import RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.release.catalog.publication import Publication

HASHES = ("_link", "_edges", "_drawn", "_history", "_seen")
"""Suffixes of private tables that hold hashes."""


class Catalog(CatalogReader):
    """The catalog table of a database; made on first use."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._later = LATER if engine.updates else (*LATER, STEP)

    def complete(self, lookup: LookupResult) -> bool:
        """Whether there is a catalog with every column of today."""
        names = {column.name for column in lookup.columns(self.table)}
        return names.issuperset(self._later) and self._secrets in lookup.relations

    def create(self, lookup: LookupResult, schemas: Sequence[TableRef] = ()) -> None:
        """Make the private schema and the catalog if they are missing; an older catalog gets the later columns.

        Args:
            lookup: `tables` and ``schemas``, as they were looked up; under the lock of schemas, if there is a catalog.
            schemas: tables; their schemas are made as well.
        """
        dialect = self._engine.dialect
        anew = self.table not in lookup.relations
        makes = [schema_of(self._engine, self.table)] if anew else []
        if self._engine.rights:
            self._engine.execute_all(makes)
            self._engine.rights.make_private(PRIVATE_SCHEMA, anew=anew)
            makes = []
        names = {column.name for column in lookup.columns(self.table)}
        if anew:
            makes.append(statement("catalog/create", dialect, catalog=self.table))
            names = set(LATER)
        makes += [
            statement("catalog/add_column", dialect, catalog=self.table, column=name)
            for name in self._later
            if name not in names
        ]
        if self._secrets not in lookup.relations:
            makes.append(statement("catalog/create_secrets", dialect, secrets=self._secrets))
        makes += [schema_of(self._engine, ref) for ref in schemas if ref.schema not in lookup.schemas]
        self._engine.execute_all(makes)

    def drop_statistics(self, lookup: LookupResult) -> None:
        """Keep values out of the planner's statistics of the catalog and of tables of hashes.

        Older versions of the tables are included.

        Args:
            lookup: the names of all private tables.
        """
        hashes = [name for name in lookup.tables if name.endswith(HASHES)]
        tables = [self.table, self._secrets, *(private_table(self._engine, name) for name in hashes)]
        drop_statistics(self._engine, tables)

    def guard(self) -> None:
        """Refuse to work with a private schema in which others have rights.

        Raises:
            DatabaseError: others have rights; the text names roles, rights and the remedy.
        """
        if self._engine.rights:
            self._engine.rights.make_private(PRIVATE_SCHEMA, anew=False)

    def secret_in(self, lookup: LookupResult, release: str) -> str | None:
        """Key of the release's hashes; None before the first version."""
        if self._secrets not in lookup.relations:
            return None
        query = statement("catalog/secret", self._engine.dialect, {"release": release}, secrets=self._secrets)
        rows = self._engine.fetch(query)
        return str(rows[0][0]) if rows else None

    def keep_secret(self, release: str, secret: str) -> None:
        """Store the secret of a release that has none yet."""
        binds: dict[str, str | int | float | None] = {"release": release, "secret": secret}
        command = statement("catalog/insert_secret", self._engine.dialect, binds, secrets=self._secrets)
        self._engine.execute(command)

    def add(
        self, spec: ReleaseSpec, target: Publication, status: str, report: RunReport, source: SourceState, seed: int
    ) -> Entry:
        """Write and return the row of a new version."""
        text, policy_hash = hash_policy(redact(spec))
        binds: dict[str, str | int | float | None] = {
            "release": spec.name,
            "version": target.version,
            "status": status,
            "view_schema": target.view.schema,
            "view_name": target.view.name,
            "file": spec.publish_file,
            "physical": target.physical,
            "source": report.source,
            "policy": text,
            "policy_hash": policy_hash,
            "report": json.dumps(report.to_dict(), sort_keys=True),
            "seed": seed,
            "published_at": now(),
            "published_by": account_name(),
            "sqlanon": __version__,
            "fingerprint": source.fingerprint,
            "source_columns": json.dumps(source.columns),
            "checked_at": source.read_at,
        }
        self._engine.execute(statement("catalog/insert", self._engine.dialect, binds, catalog=self.table))
        return entry_of(tuple(binds[name] for name in READ), self.table.database)

    def record_check(self, spec: ReleaseSpec, version: int, time: str) -> None:
        """Record the time of a run that found nothing to do, and the policy's present readers and times."""
        self._keep_policy(spec.name, version, redact(spec), time)

    def keep_policy(self, entry: Entry, policy: Mapping[str, Any]) -> None:
        """Replace the settings of a version; the policy that made the version stays."""
        self._keep_policy(entry.release, entry.version, policy, entry.checked_at)

    def _keep_policy(self, release: str, version: int, policy: Mapping[str, Any], time: str | None) -> None:
        text, policy_hash = hash_policy(policy)
        changes: dict[str, Bind] = {"checked_at": time, "policy": text, "policy_hash": policy_hash}
        self._change("catalog/checked", release, version, changes)

    def replace_report(self, release: str, version: int, report: RunReport) -> None:
        """Set the report of a version."""
        changes: dict[str, Bind] = {"report": json.dumps(report.to_dict(), sort_keys=True)}
        self._change("catalog/report", release, version, changes)

    def mark(self, release: str, version: int, status: str, first: Sequence[Statement] = ()) -> None:
        """Change the status of a version, after statements that are sent with the change.

        pending, published, replaced, withdrawn, returning (to a file), withdrawing (a file), dropped, abandoned or
        discarded (it was abandoned, and its tables are dropped).
        """
        self._change("catalog/update", release, version, {"status": status}, first)

    def mark_all(self, release: str, statuses: Mapping[int, str]) -> None:
        """Change the statuses of versions, where rows are appended in one statement; see `mark`."""
        if self._engine.updates:
            for version, status in statuses.items():
                self.mark(release, version, status)
        else:
            self._engine.execute(self._append(release, {key: {"status": value} for key, value in statuses.items()}))

    def _change(
        self,
        name: str,
        release: str,
        version: int,
        changes: dict[str, Bind],
        first: Sequence[Statement] = (),
    ) -> None:
        """Change columns of a version's row, or append a row with the changes; the last row counts."""
        if self._engine.updates:
            binds: dict[str, Bind] = {"release": release, "version": version, **changes}
            command = statement(name, self._engine.dialect, binds, catalog=self.table)
        else:
            command = self._append(release, {version: changes})
        if first:
            self._engine.execute_all([*first, command])
        else:
            self._engine.execute(command)

    def _append(self, release: str, changes: Mapping[int, Mapping[str, Bind]]) -> Statement:
        """The statement that appends a row for each of these versions, with changes of the same columns."""
        binds: dict[str, Bind] = {"release": release}
        versions, changed = [], dict[str, None]()
        for place, (version, values) in enumerate(changes.items()):
            versions.append(f"version_{place}")
            changed |= dict.fromkeys(values)
            binds[versions[-1]] = version
            binds |= {f"{column}_{versions[-1]}": value for column, value in values.items()}
        return statement(
            "catalog/append",
            self._engine.dialect,
            binds,
            catalog=self.table,
            columns=(*READ, "seed"),
            changed=list(changed),
            versions=versions,
            step=STEP,
        )


def now() -> str:
    """The time as the catalog writes it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def account_name() -> str:
    """Who runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
