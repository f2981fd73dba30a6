"""The Patients table of LeFevre, DeWitt and Ramakrishnan (ICDE 2006), Figure 1, and how it is released here."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from tests.engines import create_table, read_table

COLUMNS = {"age": "INTEGER", "sex": "TEXT", "zip": "INTEGER", "disease": "TEXT"}
ROWS = (
    (25, "M", 53711, "Flu"),
    (25, "F", 53712, "Hepatitis"),
    (26, "M", 53711, "Bronchitis"),
    (27, "M", 53710, "Broken Arm"),
    (27, "F", 53712, "AIDS"),
    (28, "M", 53711, "Hang Nail"),
)
ROW_OF = {row[-1]: number for number, row in enumerate(ROWS, start=1)}


def classes(rows: Iterable[dict[str, Any]], names: Sequence[str]) -> dict[tuple[Any, ...], set[int]]:
    """Released values of ``names`` to the paper's row numbers (every disease occurs once)."""
    found: dict[tuple[Any, ...], set[int]] = {}
    for row in rows:
        key = tuple(tuple(v) if isinstance(v := row[name], list) else v for name in names)
        found.setdefault(key, set()).add(ROW_OF[row["disease"]])
    return found


def release(db: Any, quasi: Sequence[str], **options: Any) -> list[dict[str, Any]]:
    """Release Patients on the given quasi columns, the disease as it is."""
    name = f"patients_{uuid.uuid4().hex[:8]}"
    create_table(db, name, COLUMNS, ROWS)
    db.anonymize(name, quasi=list(quasi), sensitive="disease", rest="drop", accept_unique=["disease"], **options)
    return read_table(db, ("release", name))
