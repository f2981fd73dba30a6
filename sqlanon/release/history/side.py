"""One version of a release in a comparison of two: its history, and what the hashes there were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.verify.stored_rows import counted_in, stored_rows
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
        boxes: the column of its history with all boxes that a row fits; None: its class is all.
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
        boxes: str | None = None,
    ) -> None:
        self.version = version
        self.boxes = boxes
        self.boxes_beside = boxes and f"{boxes}_beside"
        self.rows_are = rows_are
        self.persons = persons
        self.history = history
        kinds = {name.lower(): kind for name, kind in types}
        read = [(name.lower(), role) for name, role in columns if role in ("quasi", "sensitive")]
        # As the rows' marks are made: quasi columns first.
        self.marked = [(name, role, kinds.get(name)) for name, role in sorted(read, key=lambda column: column[1])]
        self.sensitive = [name for name, role in read if role == "sensitive"]
        self.key = sorted((name.lower(), kinds.get(name.lower(), "")) for name in key)


def side_of(scratch: Scratch, entry: Entry) -> Side:
    """A version of the catalog; an older sqlanon kept no persons in its history."""
    persons_of, history = hashes_of(counted_in(entry.policy)), stored_rows(scratch.engine, entry).history(scratch)
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
        boxes=entry.boxes,
    )


class Boxed(Protocol):
    """A version, or a side of a comparison."""

    @property
    def boxes(self) -> str | None:
        """The column of its history with all boxes that a row fits; None: its class is all."""


def counts_candidates(one: Boxed, two: Boxed) -> bool:
    """Whether a comparison counts the rows that fit two boxes, not those of two classes."""
    return one.boxes is not None or two.boxes is not None
