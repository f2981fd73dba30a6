"""A method that suppresses rows and sets levels as a test asks, and releases of one small table by it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sqlanon.methods.base import Assignment
from tests.declared import declare
from tests.engines import create_table, quote, read_table

TYPES = {"q": "INTEGER", "h": "TEXT", "n": "TEXT", "s": "TEXT", "c": "INTEGER"}
TREE = (("a", "X"), ("b", "X"), ("d", "Y"), ("e", "Y"), ("f", "Z"))
"""Leaves and parents; Z has one leaf."""
ROWS = [(i, "abdedeafabdf"[i], "uuuuvvwwuvwx"[i], "klm"[i % 3], i % 2) for i in range(12)]
"""Class 0 has the first four rows, and so on."""


class Generalizing:
    """A toy: the classes are those of the first code divided by four.

    What is starred and which levels are asked, tests say.
    """

    starred: ClassVar[int | None] = 2
    levels: ClassVar[Sequence[tuple[int | None, ...]] | None] = None
    size: ClassVar[int] = 4

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        scratch, encoded = context.scratch, context.encoded
        code = encoded.quasi[0].code
        rows = scratch.engine.fetch(f"SELECT rid, {code} FROM {quote(encoded.work.name)} ORDER BY {code}, rid")
        table, levels = scratch.table("assign"), None
        arrays = {"rid": np.array([rid for rid, _ in rows], np.int32)}
        scratch.engine.load_arrays(table, arrays | {"class": np.arange(len(rows), dtype=np.int32) // self.size})
        if self.levels is not None:
            levels = scratch.table("levels")
            columns = [("class", "INTEGER"), *((domain.code, "SMALLINT") for domain in encoded.quasi)]
            scratch.engine.load_rows(levels, columns, ((i, *own) for i, own in enumerate(self.levels)))
        return Assignment(table, "kernel", starred=self.starred, levels=levels)


Release = Callable[..., Any]


def releaser(db: Any, monkeypatch: pytest.MonkeyPatch, directory: Path) -> Release:
    """Releases `ROWS`, or rows of the same columns, by the method; the source's name is new for every test."""
    declare(monkeypatch, "generalizing", Generalizing, suppresses="rows")
    name = f"starring_{uuid.uuid4().hex[:10]}"
    tree = directory / "h.csv"
    tree.write_text("".join(f"{leaf};{parent};*\n" for leaf, parent in TREE))

    def release(rows: Sequence[tuple[Any, ...]] = ROWS, **options: Any) -> Any:
        if not db.engine.exists(db.engine.target(name)):
            create_table(db, name, TYPES, rows)
        asked = {
            "quasi": ["q", "h", "n"],
            "sensitive": "s",
            "insensitive": "c",
            "accept_unique": ["c"],
            "k": 3,
            "method": "generalizing",
            "hierarchies": {"h": tree},
            "suppression": {"limit": "4/12"},
        }
        made = db.anonymize(name, allow_weaker=True, **{**asked, **options})
        return made.report

    release.name = name  # type: ignore[attr-defined]
    return release


def cells(db: Any, name: str) -> dict[int, tuple[Any, ...]]:
    """What is published of each class: rows in the order of the source, which c and s fix within a class."""
    rows = read_table(db, ("release", name))
    found: dict[Any, int] = {}
    for row in rows:
        own = tuple(tuple(v) if isinstance(v, list) else v for key, v in row.items() if key not in "sc")
        found[own] = found.get(own, 0) + 1
    return found  # type: ignore[return-value]
