"""A version of a release in a comparison of two: the history, and the inputs of the hashes in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.verify.stored_rows import find_stored_rows, read_counted
from sqlanon.table.reading import hashes_of
from sqlanon.table.scratch import Scratch


class Side:
    """A version in a comparison: the history table, and the inputs of the hashes in it.

    Args:
        version: number of the version.
        history: the history table.
        policy: the policy, as the catalog has it.
        types: (name, type) of the source's columns: the same value of another type may be written, and so hashed,
            otherwise.
        persons: of events: the column in the history of each identifier that is counted.
        boxes: the column of the history with all boxes that a row fits; None: the class is all.
    """

    def __init__(
        self,
        version: int,
        history: TableRef,
        policy: Mapping[str, Any],
        types: Sequence[tuple[str, str]],
        persons: Mapping[str, str],
        boxes: str | None,
    ) -> None:
        self.version = version
        self.boxes = boxes
        self.boxes_beside = boxes and f"{boxes}_beside"
        self.rows_are = policy.get("rows_are", "persons")
        self.persons = persons
        self.history = history
        kinds = {name.lower(): kind for name, kind in types}
        roles = [(column["name"].lower(), column["role"]) for column in policy["columns"]]
        columns_read = [(name, role) for name, role in roles if role in ("quasi", "sensitive")]
        # As the rows' marks are made: quasi columns first.
        self.marked = [
            (name, role, kinds.get(name)) for name, role in sorted(columns_read, key=lambda column: column[1])
        ]
        self.sensitive = [name for name, role in columns_read if role == "sensitive"]
        self.key = sorted((name.lower(), kinds.get(name.lower(), "")) for name in policy.get("key") or ())


def side_of(scratch: Scratch, entry: Entry) -> Side:
    """A version of the catalog; an older sqlanon kept no persons in the history."""
    persons_of, history = (
        hashes_of(read_counted(entry.policy)),
        find_stored_rows(scratch.engine, entry).history(scratch),
    )
    if persons_of:
        history_columns = {column.name for column in scratch.engine.look_up([history]).columns(history)}
        persons_of = persons_of if history_columns.issuperset(persons_of.values()) else {}
    return Side(entry.version, history, entry.policy, entry.source_columns or (), persons_of, entry.boxes)


class BoxesColumn(Protocol):
    """A version, or a side of a comparison."""

    @property
    def boxes(self) -> str | None:
        """The column of the history with all boxes that a row fits; None: the class is all."""


def counts_candidates(first: BoxesColumn, two: BoxesColumn) -> bool:
    """Whether a comparison counts the rows that fit two boxes, not those of two classes."""
    return first.boxes is not None or two.boxes is not None
