"""Private rows of a published version: tables of the version, or of the lineage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from sqlanon.engines.base import Engine, TableRef
from sqlanon.engines.rows import count
from sqlanon.errors import DatabaseError
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import Lineage, lineage_of
from sqlanon.release.catalog.refresh import data_change, link_columns_of
from sqlanon.release.catalog.rights import guard_reading
from sqlanon.spec import PrivacySpec, ReleaseSpec, person_name
from sqlanon.sqltext import statement, table_name
from sqlanon.table.reading import hashes_of
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage


class OwnRows:
    """Private rows of a version that was made of the whole source.

    Attributes:
        other_values: reason why the hashes of rows do not find values in the published table.
    """

    other_values: ClassVar[str] = "the table has other values than version {} was made with"

    def __init__(self, engine: Engine, entry: Entry) -> None:
        self._engine = engine
        self._entry = entry

    @property
    def changing(self) -> tuple[TableRef, ...]:
        """Private tables with rows that are changed or deleted later."""
        return (self._entry.history,)

    @property
    def why_uncounted(self) -> str:
        """Reason why the persons cannot be counted, with the remedy."""
        return (
            f"version {self._entry.version} was made without counting it, by an older sqlanon or another policy; "
            "run again with --full"
        )

    @contextmanager
    def link(self) -> Iterator[TableRef]:
        """Private table that links the rows to persons, or a copy from the lineage."""
        with guard_reading(self._engine, self._entry.link):
            yield self._entry.link

    def columns(self) -> set[str]:
        """Columns of the link table; empty if it does not exist."""
        return self._columns(self._entry.link)

    def _columns(self, table: TableRef) -> set[str]:
        if not self._engine.exists(table):
            return set()
        return {column.name for column in self._engine.relation(table_name(table)).columns}

    def find_by_hash(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Columns with hashes that the published table has as well."""
        return values

    def history(self, scratch: Scratch) -> TableRef:
        """History: class, values and persons of each key."""
        return self._entry.history

    def count_deleted(self) -> int | None:
        """Number of rows that the source no longer has, by the hashes of the link table; None if unknown."""
        engine, entry = self._engine, self._entry
        if not engine.exists(entry.link):
            return None
        try:
            relation = engine.relation(entry.source)
        except DatabaseError:
            return None
        names = [column.name for column in relation.columns]
        before = [name for name, _ in entry.source_columns or ()]
        links = link_columns_of(entry, names)
        if not links or links != link_columns_of(entry, before or names):
            return None
        nothing = ReleaseSpec(entry.release, entry.source, (), PrivacySpec(), rest="drop")
        with Scratch(engine) as scratch:
            with engine.snapshot():
                stage = take_stage(scratch, assign_roles(nothing, relation), links)
            rows = scratch.count("table/count", source=stage)
            change = data_change(scratch, entry, stage, links, names, rows)
        return change.removed if change else None


class LineageRows(OwnRows):
    """Private rows of a version of a lineage, as the lineage stores them."""

    other_values: ClassVar[str] = (
        "a lineage has hashes of values that the table does not have; each run measures it of its cohort"
    )

    def __init__(self, engine: Engine, entry: Entry, lineage: Lineage) -> None:
        super().__init__(engine, entry)
        self._lineage = lineage

    @property
    def changing(self) -> tuple[TableRef, ...]:
        return (*super().changing, self._lineage.rows, self._lineage.classes, self._lineage.erased)

    @property
    def why_uncounted(self) -> str:
        return (
            f"the lineage of version {self._entry.version} does not have them: it is gone, or another policy made it; "
            "run --new-lineage"
        )

    @contextmanager
    def link(self) -> Iterator[TableRef]:
        """See `OwnRows.link`: a copy."""
        with guard_reading(self._engine, self._lineage.rows), Scratch(self._engine) as scratch:
            yield self._rows(scratch, scratch.table("persons"), merged=False)

    def columns(self) -> set[str]:
        names = self._columns(self._lineage.rows)
        return {
            *(name.removeprefix("_sqlanon_") for name in names),
            *(self._persons if "_sqlanon_owner" in names else ()),
        }

    @property
    def _persons(self) -> list[str]:
        return list(hashes_of(read_counted(self._entry.policy)).values())

    def find_by_hash(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """None."""
        return {}

    def history(self, scratch: Scratch) -> TableRef:
        """See `OwnRows.history`.

        Classes of a lineage that publish the same cells are merged, as readers see them. If persons are counted,
        classes stay separate, as persons are promised for each: there are no exit groups, and a union of classes of
        several cohorts may fail a requirement that the parts meet.
        """
        name = f"history_v{self._entry.version}"
        table = scratch.name_table(name)
        if table not in scratch.made:
            # Of an older lineage somebody may have dropped its classes.
            has_classes = not self._persons and scratch.engine.exists(self._lineage.classes)
            self._rows(scratch, scratch.table(name), merged=has_classes)
        return table

    def _rows(self, scratch: Scratch, table: TableRef, *, merged: bool) -> TableRef:
        """Fill a table with the rows; ``merged``: classes that publish the same cells are merged."""
        sensitive = sum(column["role"] == "sensitive" for column in self._entry.policy["columns"])
        scratch.execute(
            "frozen/history",
            history=table,
            rows=self._lineage.rows,
            at=self._entry.version,
            sensitive=range(1, 1 + sensitive),
            persons=self._persons,
            classes=self._lineage.classes if merged else None,
            parts=self._lineage.list_published_parts() if merged else [],
        )
        return table

    def count_deleted(self) -> int | None:
        """See `OwnRows.count_deleted`: rows that later versions do not publish any more.

        Rows that later versions retain are not looked up in the source.
        """
        if not self._engine.exists(self._lineage.rows):
            return None
        dialect, rows = self._engine.dialect, self._lineage.rows
        return count(self._engine, statement("frozen/left_since", dialect, rows=rows, at=self._entry.version))


def find_stored_rows(engine: Engine, entry: Entry) -> OwnRows:
    """The rows of a version of the catalog."""
    lineage = lineage_of(engine, entry)
    return OwnRows(engine, entry) if lineage is None else LineageRows(engine, entry, lineage)


def read_counted(policy: Mapping[str, Any]) -> tuple[str, ...]:
    """The identifiers by which a version's policy in the catalog counts persons of events.

    None if rows are persons.
    """
    return tuple(columns_in(policy))


def columns_in(policy: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Columns of each of these identifiers."""
    if policy.get("rows_are") != "events":
        return {}
    if policy.get("person"):
        return {person_name(policy["person"]): tuple(policy["person"])}
    return {
        column["name"]: (column["name"],)
        for column in policy["columns"]
        if column["role"] == "identifier" and not column.get("accept_repeats")
    }
