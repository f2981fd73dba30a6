"""A made-up table of people, and a release of it by a run, for the forms of queries."""

from __future__ import annotations

import random
from typing import Any

COLUMNS = [
    ("person", "INTEGER"),
    ("age", "INTEGER"),
    ("city", "TEXT"),
    ("joined", "DATE"),
    ("plan", "TEXT"),
    ("region", "TEXT"),
    ("visits", "INTEGER"),
    ("score", "DOUBLE PRECISION"),
    ("last_seen", "DATE"),
    ("illness", "TEXT"),
]
PLANS = [("free", 0, "basic"), ("plus", 10, "paid"), ("team", 30, "paid")]
CITIES = ["Aix", "Bern", "Cork", "Graz", "Lund", "Pisa"]
REGIONS = ["east", "north", "south", "west"]


def rows(count: int = 240, seed: int = 5) -> list[tuple[object, ...]]:
    """The rows of the table; a few scores are NULL, and one plan."""
    rng = random.Random(seed)
    return [
        (
            number,
            rng.randint(18, 79),
            rng.choice(CITIES),
            f"20{rng.randint(19, 23)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            None if number == 7 else rng.choice(["free", "free", "plus", "team"]),
            rng.choice(REGIONS),
            rng.randint(0, 24),
            None if rng.random() < 0.1 else rng.randint(0, 40) / 4,
            f"2024-{rng.randint(1, 6):02}-{rng.choice([3, 9, 14, 21]):02}",
            rng.choice(["none", "flu", "asthma"]),
        )
        for number in range(count)
    ]


def load(db: Any) -> None:
    """The tables ``people`` and ``plans`` and the release of the first, by k=4 of age, city and joined."""
    run = db.engine.execute
    run(f"CREATE TABLE people ({', '.join(f'{name} {kind}' for name, kind in COLUMNS)})")
    run("INSERT INTO people VALUES " + ", ".join(f"({', '.join(map(_sql, row))})" for row in rows()))
    run("CREATE TABLE plans (plan TEXT PRIMARY KEY, price INTEGER, tier TEXT)")
    run("INSERT INTO plans VALUES " + ", ".join(f"({', '.join(map(_sql, row))})" for row in PLANS))
    names = [name for name, _ in COLUMNS if name not in ("person", "age", "city", "joined", "illness")]
    db.anonymize(
        "people",
        identifiers=["person"],
        quasi=["age", "city", "joined"],
        sensitive="illness",
        insensitive=names,
        dimensions=["plans"],
        k=4,
    )


def _sql(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
