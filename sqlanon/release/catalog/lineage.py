"""The lineage of a release (`refresh: {mode: frozen}`): the class and the cells in which every key was published.

Two tables of the private schema. The first has a row for every key that was ever seen: the class, the versions in which
the key came and went, hashes of the values, and the columns published unchanged; a key that waits has no class yet. The
second has a row for every class, with the published cells of the quasi columns. So the lineage alone defines a version,
also after changes of the source; the tables outlive the versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, TableRef
from sqlanon.engines.rows import count, numbers
from sqlanon.errors import GuardError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.private_tables import physical_name, private_table
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.results import KeptLineage
from sqlanon.sqltext import identifier, statement

OWN = "_sqlanon_"
"""Prefix of the lineage's private columns; the others are published."""
KEEPS = ("_sqlanon_key", "_sqlanon_first", "_sqlanon_gone", "_sqlanon_refused", "_sqlanon_owner")
"""Columns of rows that undoing a version leaves unchanged, or that are reset separately."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The tables of a lineage.

    Attributes:
        engine: the source's database.
        number: from 1.
        rows, classes: the tables.
        erased: hashes of keys that are never published again, for all lineages of the release.
    """

    engine: Engine
    number: int
    rows: TableRef
    classes: TableRef
    erased: TableRef

    @classmethod
    def of(cls, engine: Engine, release: str, number: int) -> Lineage:
        """The lineage of a release, whether or not the tables exist."""
        rows = rows_table(release, number)
        names = (rows, f"{rows}_classes", f"{_base(release)}_erased")
        return cls(engine, number, *(private_table(engine, name) for name in names))

    def columns(self, table: TableRef) -> list[str]:
        """The columns of a table of the lineage."""
        return [column.name for column in self.engine.look_up([table]).columns(table)]

    def list_published_parts(self) -> list[str]:
        """The published columns that come from the class."""
        return [name for name in self.columns(self.classes) if not name.startswith(OWN)]

    def describe_kept(self) -> KeptLineage | None:
        """The tables that stay when all versions are dropped; None if somebody dropped them."""
        tables = (self.rows, self.classes)
        if not all(map(self.engine.exists, tables)):
            return None
        dialect, columns = self.engine.dialect, [n for n in self.columns(self.rows) if not n.startswith(OWN)]
        query = statement(
            "frozen/kept",
            dialect,
            rows=self.rows,
            classes=self.classes,
            own=columns,
            parts=self.list_published_parts(),
        )
        keys, row_count = numbers(self.engine, query)
        drop = "; ".join(f"DROP TABLE {identifier(PRIVATE_SCHEMA)}.{identifier(table.name)}" for table in tables)
        return KeptLineage(self.number, tuple(map(str, tables)), keys, row_count, drop)

    def count_erased(self) -> int:
        """Number of keys on the list of keys that are never published again."""
        if not self.engine.exists(self.erased):
            return 0
        return count(self.engine, statement("frozen/listed", self.engine.dialect, erased=self.erased))

    def undo(self, version: int) -> None:
        """Undo the changes of a version that readers never had, in the open transaction.

        Refused cohorts stay refused, and classes that left with an erased key stay away: nothing is kept of them.
        """
        if not self.engine.exists(self.rows):
            return
        emptied = [name for name in self.columns(self.rows) if name not in (*KEEPS, "_sqlanon_class", "_sqlanon_since")]
        dialect, rows = self.engine.dialect, self.rows
        statements = [statement("frozen/undo_rows", dialect, rows=rows, version=version, columns=emptied)]
        # Somebody may have dropped a table, and the run that reports it undoes first. Without the list, classes that
        # left stay away.
        if self.engine.exists(self.erased):
            statements.append(statement("frozen/undo", dialect, rows=rows, version=version, erased=self.erased))
        if self.engine.exists(self.classes):
            statements.append(statement("frozen/undo_classes", dialect, classes=self.classes, version=version))
        self.engine.execute_all(statements)


def _base(release: str) -> str:
    return physical_name(release, 0).removesuffix("_v0")


def rows_table(release: str, number: int) -> str:
    """Name of the table of a lineage's rows, in the private schema."""
    return f"{_base(release)}_lineage{number}"


def number_of(entry: Entry) -> int | None:
    """Number of the version's lineage; None if the version was computed anew from the whole source."""
    return number_in(entry.report)


def number_in(report: Mapping[str, Any]) -> int | None:
    """The same from the report of a version."""
    lineage = report.get("lineage")
    return int(lineage["number"]) if lineage else None


def history_table_of(entry: Entry) -> TableRef:
    """Table with the history of a version."""
    number = number_of(entry)
    return entry.history if number is None else replace(entry.history, name=rows_table(entry.release, number))


def lineage_of(engine: Engine, entry: Entry) -> Lineage | None:
    """Lineage of a version, with the tables; None without a lineage."""
    number = number_of(entry)
    return None if number is None else Lineage.of(engine, entry.release, number)


def find_current(state: ReleaseState) -> Lineage | None:
    """Lineage of the next version: the lineage of the newest version that readers had; None without such a version.

    A rollback does not change it: later versions count, as readers may have kept them.

    Raises:
        GuardError: somebody dropped the lineage's tables.
    """
    shown = [entry for entry in state.versions if entry.status in SHOWN]
    lineage = lineage_of(state.engine, shown[-1]) if shown else None
    if lineage is None:
        return None
    lost = [table for table in (lineage.rows, lineage.classes) if not state.exists(table)]
    if lost:
        raise GuardError(
            f"{state.spec.name}: {', '.join(map(str, lost))} is gone: which rows were published in which classes is "
            "not known any more, so that no version can be made that is safe together with those before; run "
            "--new-lineage begins anew and reports what old and new versions reveal together"
        ).with_advice("--new-lineage")
    return lineage


def secret_mark(secret: str | None) -> str:
    """Mark of the secret of a lineage's hashes; the secret cannot be computed from the mark."""
    return hashlib.sha256(f"{secret}/lineage".encode()).hexdigest()


def of_other_secret(entry: Entry, secret: str | None) -> bool:
    """Whether a version's lineage was made with another secret, so that no present key is found in it."""
    keyed = (entry.report.get("lineage") or {}).get("keyed")
    return bool(keyed) and keyed != secret_mark(secret)


def of_two_secrets(old: Entry, new: Entry) -> bool:
    """Whether two versions are of lineages with different secrets, so that they have no key in common."""
    marks = [(entry.report.get("lineage") or {}).get("keyed") for entry in (old, new)]
    return all(marks) and marks[0] != marks[1]


def lineages_of(engine: Engine, entries: Sequence[Entry]) -> list[Lineage]:
    """Lineages of versions of a release, by number."""
    by_number = {number_of(entry): lineage_of(engine, entry) for entry in entries}
    return [lineage for _, lineage in sorted((n, lineage) for n, lineage in by_number.items() if n and lineage)]


def next_number(entries: Sequence[Entry]) -> int:
    """Number of a lineage that begins now."""
    return max((number_of(entry) or 0 for entry in entries), default=0) + 1


def undo(engine: Engine, entry: Entry) -> None:
    """Undo the changes of a version in the lineage, as readers never had the version."""
    for lineage in lineages_of(engine, [entry]):
        lineage.undo(entry.version)
