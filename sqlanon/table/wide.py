"""Tables of many columns, each from a join of its own: in parts of few columns, which are then put beside each other.

An engine plans a join in more than linear time in its tables (DuckDB 2 took 8 s for 100 of them), so a statement has few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlanon.engines.base import TableRef
from sqlanon.table.scratch import Scratch

T = TypeVar("T")

FEW = 8
"""Columns, or parts, that one statement joins."""


def in_parts(
    scratch: Scratch, name: str, key: str, items: Sequence[T], make: Callable[[TableRef, Sequence[T], bool], list[str]],
) -> TableRef:  # fmt: skip
    """Make a table for every few items and put them beside each other.

    Args:
        scratch: the run.
        name: of the table.
        key: the column that every part has, unique in each: rows of the same key are one row.
        items: what has columns; none makes one part without.
        make: makes a part of some items: (table to make, items, whether it is the first); gives its columns but the key.
    """
    wide = scratch.table(name)
    if len(items) <= FEW:
        make(wide, items, True)
        return wide
    parts: list[tuple[TableRef, list[str]]] = []
    for at in range(0, len(items), FEW):
        part = scratch.table(f"{name}_{len(parts)}")
        parts.append((part, make(part, items[at : at + FEW], at == 0)))
    level = 0
    while len(parts) > 1:
        level += 1
        joined: list[tuple[TableRef, list[str]]] = []
        last = len(parts) <= FEW
        for at in range(0, len(parts), FEW):
            few = parts[at : at + FEW]
            table = wide if last else scratch.table(f"{name}_{level}_{at}")
            scratch.execute(
                "table/beside",
                wide=table,
                parts=[{"table": part, "columns": columns} for part, columns in few],
                key=key,
            )
            for part, _ in few:
                scratch.drop(part)
            joined.append((table, [column for _, columns in few for column in columns]))
        parts = joined
    return wide


__all__ = ["FEW", "in_parts"]
