"""A tiny source and a release of it that was written by hand.

Three classes, a range of ages and a set of sexes each.
"""

from __future__ import annotations

from typing import Any

from sqlanon.query.find import find
from sqlanon.query.release import ReaderRelease
from tests.oracle.handmade import members, plain, publish, quasi

ROWS = [
    (21, "F", "flu", 3),
    (24, "M", "flu", 5),
    (25, "F", "asthma", None),
    (30, "M", "flu", 7),
    (30, "M", "ulcer", 2),
    (33, "F", "asthma", 4),
    (38, "F", "flu", 1),
    (38, "F", "ulcer", 6),
]
CLASSES = [((21, 25), ("F", "M"), ROWS[:3]), ((30, 30), ("M",), ROWS[3:5]), ((33, 38), ("F",), ROWS[5:])]
KINDS = [("flu", "lung"), ("asthma", "lung"), ("ulcer", "belly")]


def load(db: Any) -> tuple[ReaderRelease, frozenset[Any]]:
    """The tables ``people`` and ``kinds`` and the release of the first; returns the release and the tables to join."""
    engine = db.engine
    columns = [("age", "INTEGER"), ("sex", "TEXT"), ("ill", "TEXT"), ("cost", "INTEGER")]
    engine.load_rows(engine.target("people"), columns, ROWS)
    engine.load_rows(engine.target("kinds"), [("ill", "TEXT"), ("organ", "TEXT")], KINDS)
    given = [
        quasi("age", "integer", "INTEGER"),
        members("sex"),
        plain("ill", "text", "TEXT", "sensitive"),
        plain("cost", "integer", "INTEGER"),
    ]
    cells = []
    for (low, high), sexes, rows in CLASSES:
        assert all(low <= age <= high and sex in sexes for age, sex, _, _ in rows)
        listed = "ARRAY[" + ", ".join(f"'{sex}'" for sex in sexes) + "]"
        cells += [
            [str(low), str(high), listed, f"'{ill}'", "NULL" if cost is None else str(cost)] for _, _, ill, cost in rows
        ]
    publish(db, "people", given, cells)
    return find(engine, "release.people"), frozenset([engine.relation("kinds").ref])
