"""Bounded answers in Python, written from the words of docs/differential-privacy.md: which of a person's rows count."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

Row = tuple[Any, ...]


def _mark(secret: str, kind: str, cell: int, person: str) -> str:
    return hashlib.sha256(f"{secret}{kind}/0/{cell}/{person}".encode()).hexdigest()


def bounded(
    rows: Sequence[tuple[str, int, int | None]], secret: str, groups: int, kept: int
) -> dict[str, dict[int, list[int | None]]]:
    """The values that count, by person and cell, of the first table of a release with one measure of values.

    Args:
        rows: person as `own_name` spells it, cell, value in units.
        secret: what the choice is keyed with.
        groups, kept: cells of a person, and rows of each.
    """
    by_cell: dict[str, dict[int, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for person, cell, value in rows:
        by_cell[person][cell].append(value)
    found: dict[str, dict[int, list[int | None]]] = {}
    for person, cells in by_cell.items():
        first = sorted(cells, key=lambda cell: _mark(secret, "/group", cell, person))[:groups]
        found[person] = {}
        for cell in first:
            copies: dict[int | None, int] = defaultdict(int)
            marked = []
            for value in cells[cell]:
                copies[value] += 1
                written = "n" if value is None else str(value)
                marked.append((_mark(secret, f"/row/{copies[value]}/{written}", cell, person), value))
            found[person][cell] = [value for _, value in sorted(marked, key=lambda one: one[0])[:kept]]
    return found


def own_name(person: object) -> str:
    """A person of one column as the product spells it."""
    return f"{len(str(person))}:{person}"
