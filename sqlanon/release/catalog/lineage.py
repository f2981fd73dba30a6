"""The lineage of a release (`refresh: {mode: frozen}`): in which class every key was ever published, and with what.

Two tables of the private schema. One has a row for every key that was ever seen: its class, the versions in which it
came and went, hashes of its values, and the columns that are published as they are; a key that waits has no class yet.
The other has a row for every class, with what is published of its quasi columns. So a version is what the lineage says
of it, whatever the source has become; the tables outlive the versions.
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
"""How the lineage's own columns begin; the others are published."""
KEEPS = ("_sqlanon_key", "_sqlanon_first", "_sqlanon_gone", "_sqlanon_refused", "_sqlanon_owner")
"""Columns of its rows that a version which readers never had leaves as they are, or that are set back apart."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The tables of one lineage.

    Attributes:
        engine: the source's database.
        number: from 1.
        rows, classes: its tables.
        erased: hashes of keys that are never published again, of all lineages of the release.
    """

    engine: Engine
    number: int
    rows: TableRef
    classes: TableRef
    erased: TableRef

    @classmethod
    def of(cls, engine: Engine, release: str, number: int) -> Lineage:
        """The lineage of a release, whether or not there is one."""
        rows = rows_table(release, number)
        names = (rows, f"{rows}_classes", f"{_base(release)}_erased")
        return cls(engine, number, *(private_table(engine, name) for name in names))

    def columns(self, table: TableRef) -> list[str]:
        """The columns of one of its tables."""
        return [column.name for column in self.engine.look_up([table]).columns(table)]

    def published_parts(self) -> list[str]:
        """The published columns that come from the class."""
        return [name for name in self.columns(self.classes) if not name.startswith(OWN)]

    def describe_kept(self) -> KeptLineage | None:
        """What stays of it when its versions are dropped; None: somebody dropped its tables."""
        tables = (self.rows, self.classes)
        if not all(map(self.engine.exists, tables)):
            return None
        dialect, own = self.engine.dialect, [n for n in self.columns(self.rows) if not n.startswith(OWN)]
        counted = statement(
            "frozen/kept",
            dialect,
            rows=self.rows,
            classes=self.classes,
            own=own,
            parts=self.published_parts(),
        )
        keys, held = numbers(self.engine, counted)
        drop = "; ".join(f"DROP TABLE {identifier(PRIVATE_SCHEMA)}.{identifier(one.name)}" for one in tables)
        return KeptLineage(self.number, tuple(map(str, tables)), keys, held, drop)

    def count_erased(self) -> int:
        """How many keys are on the list of those that are never published again."""
        if not self.engine.exists(self.erased):
            return 0
        return count(self.engine, statement("frozen/listed", self.engine.dialect, erased=self.erased))

    def undo(self, version: int) -> None:
        """Take back what a version set that readers never had, in the transaction that is open.

        A cohort that was refused stays so, and classes that left with an erased key do: nothing is kept of them.
        """
        if not self.engine.exists(self.rows):
            return
        emptied = [name for name in self.columns(self.rows) if name not in (*KEEPS, "_sqlanon_class", "_sqlanon_since")]
        dialect, rows = self.engine.dialect, self.rows
        made = [statement("frozen/undo_rows", dialect, rows=rows, version=version, columns=emptied)]
        # Somebody may have dropped one of them, and the run that says so undoes first. Without the list classes that
        # left stay away.
        if self.engine.exists(self.erased):
            made.append(statement("frozen/undo", dialect, rows=rows, version=version, erased=self.erased))
        if self.engine.exists(self.classes):
            made.append(statement("frozen/undo_classes", dialect, classes=self.classes, version=version))
        self.engine.execute_all(made)


def _base(release: str) -> str:
    return physical_name(release, 0).removesuffix("_v0")


def rows_table(release: str, number: int) -> str:
    """The name of the table of a lineage's rows, in the private schema."""
    return f"{_base(release)}_lineage{number}"


def number_of(entry: Entry) -> int | None:
    """The lineage that a version belongs to; None: it was computed anew from the whole source."""
    return number_in(entry.report)


def number_in(report: Mapping[str, Any]) -> int | None:
    """The same, of the report of a version."""
    lineage = report.get("lineage")
    return int(lineage["number"]) if lineage else None


def history_table_of(entry: Entry) -> TableRef:
    """The table that has the history of a version."""
    number = number_of(entry)
    return entry.history if number is None else replace(entry.history, name=rows_table(entry.release, number))


def lineage_of(engine: Engine, entry: Entry) -> Lineage | None:
    """The same, with its tables."""
    number = number_of(entry)
    return None if number is None else Lineage.of(engine, entry.release, number)


def find_current(state: ReleaseState) -> Lineage | None:
    """The lineage that the next version belongs to: that of the newest version that readers had; None: there is none.

    After a rollback it is the same: what was shown since counts, as readers may have kept it.

    Raises:
        GuardError: somebody dropped its tables.
    """
    shown = [entry for entry in state.versions if entry.status in SHOWN]
    found = lineage_of(state.engine, shown[-1]) if shown else None
    if found is None:
        return None
    lost = [table for table in (found.rows, found.classes) if not state.exists(table)]
    if lost:
        raise GuardError(
            f"{state.spec.name}: {', '.join(map(str, lost))} is gone: which rows were published in which classes is "
            "not known any more, so that no version can be made that is safe together with those before; run "
            "--new-lineage begins anew and reports what old and new versions reveal together"
        ).advising("--new-lineage")
    return found


def secret_mark(secret: str | None) -> str:
    """A mark of the secret that a lineage's hashes are made with; nobody can compute it from that."""
    return hashlib.sha256(f"{secret}/lineage".encode()).hexdigest()


def of_other_secret(entry: Entry, secret: str | None) -> bool:
    """Whether a version's lineage was made with another secret, so that no key of now is found in it."""
    keyed = (entry.report.get("lineage") or {}).get("keyed")
    return bool(keyed) and keyed != secret_mark(secret)


def of_two_secrets(old: Entry, new: Entry) -> bool:
    """Whether two versions are of lineages with different secrets, so that they have no key in common."""
    marks = [(entry.report.get("lineage") or {}).get("keyed") for entry in (old, new)]
    return all(marks) and marks[0] != marks[1]


def lineages_of(engine: Engine, entries: Sequence[Entry]) -> list[Lineage]:
    """The lineages that versions of one release belong to, by number."""
    found = {number_of(entry): lineage_of(engine, entry) for entry in entries}
    return [lineage for _, lineage in sorted((n, one) for n, one in found.items() if n and one)]


def next_number(entries: Sequence[Entry]) -> int:
    """The number of a lineage that begins now."""
    return max((number_of(entry) or 0 for entry in entries), default=0) + 1


def undo(engine: Engine, entry: Entry) -> None:
    """Take back what a version set in its lineage, as readers never had it."""
    for lineage in lineages_of(engine, [entry]):
        lineage.undo(entry.version)
