"""A toy method that leaves rows out by declaration, and releases by it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from sqlanon.methods.base import Assignment
from tests.declared import declare
from tests.engines import create_table, quote

ROWS = [(i, "abc"[i % 3], i % 2) for i in range(12)]
ALONE = (11,)
"""The code that the toy method leaves out; the others are classes of four and more, by order."""


class Leaving:
    """A toy: classes of at least four by the code of the first quasi column, and some codes in none."""

    out: ClassVar[Sequence[int]] = ALONE
    first: ClassVar[int] = 0
    declares: ClassVar[bool] = True
    asked: ClassVar[list[int]] = []

    def refusal(self, problem: Any) -> str | None:
        return None

    def assign(self, context: Any) -> Assignment:
        self.asked.append(context.most_unassigned)
        work, code = context.encoded.work, context.encoded.quasi[0].code
        rows = context.scratch.engine.fetch(f"SELECT rid, {code} FROM {quote(work.name)} ORDER BY {code}, rid")
        kept = [rid for rid, c in rows if c not in self.out][self.first :]
        table = context.scratch.table("assign")
        classes = [min(i // 4, max(len(kept) // 4 - 1, 0)) for i in range(len(kept))]
        arrays = {"rid": np.array(kept, np.int32), "class": np.array(classes, np.int32)}
        context.scratch.engine.load_arrays(table, arrays)
        return Assignment(table, "kernel", unassigned=self.declares)


def leaving_releaser(db: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Releases `ROWS` by the toy method; the source's name is new for every test."""
    declare(monkeypatch, "leaving", Leaving, suppresses="rows")
    monkeypatch.setattr(Leaving, "out", ALONE)
    monkeypatch.setattr(Leaving, "declares", True)
    name = f"leaving_{uuid.uuid4().hex[:10]}"
    create_table(db, name, {"q": "INTEGER", "s": "TEXT", "c": "INTEGER"}, ROWS)

    def release(**options: Any) -> Any:
        asked = {
            "quasi": "q",
            "sensitive": "s",
            "insensitive": "c",
            "accept_unique": ["c"],
            "k": 3,
            "method": "leaving",
            "suppression": {"limit": "2/12", "rows": "left_out"},
        }
        return db.anonymize(name, allow_weaker=True, **{**asked, **options})

    release.name = name  # type: ignore[attr-defined]
    return release
