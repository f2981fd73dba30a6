"""Tables of many columns, each from a separate join.

They are made in parts of few columns, which are then joined by their row number.

An engine plans a join in more than linear time in the tables (DuckDB 2 took 8 s for 100 of them), so a statement has
few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlanon.engines.base import TableRef
from sqlanon.table.scratch import Scratch

T = TypeVar("T")

FEW = 8
"""Columns, or parts, in one statement."""

Part = tuple[TableRef, list[str]]
"""A table, and the columns without the key."""


def split_runs(items: Sequence[T]) -> list[Sequence[T]]:
    """The items in runs of `FEW`."""
    return [items[start : start + FEW] for start in range(0, len(items), FEW)]


def in_parts(
    scratch: Scratch, name: str, key: str, items: Sequence[T], make: Callable[[TableRef, Sequence[T], bool], list[str]]
) -> TableRef:
    """Make a table for every few items and join them.

    Args:
        scratch: the run.
        name: of the table.
        key: the column that every part has, unique in each: rows of the same key are one row.
        items: items that have columns; none makes one part without.
        make: makes a part of some items: (table to make, items, whether it is the first); gives its columns but the
            key.
    """
    parts: list[Part] = []
    for some in split_runs(items) or [items]:
        part = scratch.table(f"{name}_{len(parts)}")
        parts.append((part, make(part, some, not parts)))
    return join_parts(scratch, name, key, parts)


def join_parts(scratch: Scratch, name: str, key: str, parts: Sequence[Part]) -> TableRef:
    """A table of the columns of all parts, which are dropped; a single part stays as it is.

    Args:
        scratch: the run.
        name: of the table.
        key: the column that every part has, unique in each: rows of the same key are one row.
        parts: tables and their columns without the key.
    """
    level = 0
    while len(parts) > 1:
        level += 1
        joined: list[Part] = []
        for some in split_runs(parts):
            table = scratch.table(f"{name}_{level}_{len(joined)}")
            listed = [{"table": part, "columns": columns} for part, columns in some]
            scratch.execute("table/beside", wide=table, parts=listed, key=key)
            for part, _ in some:
                scratch.drop(part)
            joined.append((table, [column for _, columns in some for column in columns]))
        parts = joined
    return parts[0][0]
