"""One version of a release in a comparison of two: its history, and what the hashes there were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.lineage import lineage_of
from sqlanon.release.verify import persons
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import hashes_of


class Side:
    """One version in a comparison: its history table, and what its hashes were made of.

    Args:
        version: its number.
        history: its table.
        columns: (name, role) of its policy's columns.
        key: the key's columns.
        types: (name, type) of the source's columns: the same value of another type may be written, and so hashed,
            otherwise.
        rows_are: what its policy calls its rows.
        persons: of events: per identifier that is counted, its column in the history.
        own_boxes: every row has a box of its own, and the history all that it fits.
    """

    def __init__(
        self,
        version: int,
        history: TableRef,
        columns: Sequence[tuple[str, str]],
        key: Sequence[str],
        types: Sequence[tuple[str, str]],
        rows_are: str,
        persons: Mapping[str, str],
        *,
        own_boxes: bool = False,
    ) -> None:
        self.version = version
        self.own_boxes = own_boxes
        self.rows_are = rows_are
        self.persons = persons
        self.history = history
        kinds = {name.lower(): kind for name, kind in types}
        read = [(name.lower(), role) for name, role in columns if role in ("quasi", "sensitive")]
        # As the rows' marks are made: quasi columns first.
        self.marked = [(name, role, kinds.get(name)) for name, role in sorted(read, key=lambda column: column[1])]
        self.sensitive = [name for name, role in read if role == "sensitive"]
        self.key = sorted((name.lower(), kinds.get(name.lower(), "")) for name in key)


def history_of(scratch: Scratch, entry: Entry) -> TableRef:
    """The history of a version: its own table, or what its lineage says of it.

    Classes of a lineage that publish the same are one, as readers see them. Where persons are counted, every class is
    by itself, as what is promised of persons is promised of each: it has no exit groups, and a union of classes of
    several cohorts may fail what its parts meet.
    """
    lineage = lineage_of(scratch.engine, entry)
    if lineage is None:
        return entry.history
    table = scratch.named(f"history_v{entry.version}")
    if table not in scratch.made:
        sensitive = range(1, 1 + sum(column["role"] == "sensitive" for column in entry.policy["columns"]))
        persons_of = list(hashes_of(persons.counted_in(entry.policy)).values())
        # Of an older lineage somebody may have dropped its classes.
        kept = not persons_of and scratch.engine.exists(lineage.classes)
        scratch.execute(
            "frozen/history",
            history=scratch.table(f"history_v{entry.version}"),
            rows=lineage.rows,
            at=entry.version,
            sensitive=sensitive,
            persons=persons_of,
            classes=lineage.classes if kept else None,
            parts=lineage.published_parts() if kept else [],
        )
    return table


def side_of(scratch: Scratch, entry: Entry) -> Side:
    """A version of the catalog; an older sqlanon kept no persons in its history."""
    persons_of, history = hashes_of(persons.counted_in(entry.policy)), history_of(scratch, entry)
    if persons_of:
        there = {column.name for column in scratch.engine.look_up([history]).columns(history)}
        persons_of = persons_of if there.issuperset(persons_of.values()) else {}
    columns = [(column["name"], column["role"]) for column in entry.policy["columns"]]
    key = entry.policy.get("key") or ()
    rows_are = entry.policy.get("rows_are", "persons")
    return Side(
        entry.version,
        history,
        columns,
        key,
        entry.source_columns or (),
        rows_are,
        persons_of,
        own_boxes=bool(entry.certificate),
    )
