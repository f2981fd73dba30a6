"""Wards whose releases are lineages: tables that change from night to night, and what readers see of them."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from sqlanon import policy
from sqlanon.spec import CohortSpec, RefreshSpec
from tests.engines import create_table

FRESH = count()
"""Numbers of tables."""
COLUMNS = {"id": "INTEGER", "age": "INTEGER", "dose": "INTEGER", "ill": "TEXT", "cost": "INTEGER"}
Rows = dict[int, tuple[Any, ...]]
"""age, dose, ill and cost by id."""


def spec_of(
    table: str,
    *,
    rows: int = 8,
    every: int | None = None,
    k: int = 3,
    l: int | None = 2,  # noqa: E741 - the papers' symbol
    **changes: Any,
) -> Any:
    """The spec of a ward's release."""
    limits = {
        name: changes.pop(name) for name in ("max_stale", "max_retained", "max_waiting", "max_age") if name in changes
    }
    made = policy.release(
        **{
            "source": table,
            "name": table,
            "publish": f"release.{table}",
            "quasi": ["age", "dose"],
            "sensitive": "ill",
            "insensitive": ["cost"],
            "accept_unique": ["cost", "ill"],
            "identifiers": ["id"],
            "key": ["id"],
            "k": k,
            "l": l,
            **changes,
        }
    )
    return replace(
        made, refresh=RefreshSpec("frozen", cohort=CohortSpec(rows, every), keep=made.refresh.keep, **limits)
    )


def patient(draw: random.Random) -> tuple[Any, ...]:
    """A row without its id."""
    return (draw.randrange(90), draw.randrange(1, 6), draw.choice(("flu", "cold", "hiv")), draw.randrange(40))


def ward(draw: random.Random, rows: int) -> Rows:
    """So many patients, as many of each illness."""
    found = {number: patient(draw) for number in range(rows)}
    return {number: (*row[:2], ("flu", "cold", "hiv")[number % 3], row[3]) for number, row in found.items()}


def write(db: Any, table: str, rows: Rows) -> None:
    """Make the table what the rows say."""
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    create_table(db, table, COLUMNS, [(number, *row) for number, row in rows.items()])


def begun(db: Any, seed: int = 1, **changes: Any) -> tuple[str, Any, dict[int, tuple[Any, ...]]]:
    """A release with its first version."""
    table = f"rule_{next(FRESH)}"
    spec, source = spec_of(table, **changes), ward(random.Random(seed), 20)
    write(db, table, source)
    db.run(spec)
    return table, spec, source


def seen(db: Any, table: str) -> Counter[tuple[Any, ...]]:
    """The rows that readers see: both ends of age and dose, ill, cost."""
    names = "age_lo, age_hi, dose_lo, dose_hi, ill, cost"
    return Counter(tuple(row) for row in db.engine.fetch(f"SELECT {names} FROM release.{table}"))


def lineage_table(db: Any, table: str, number: int = 1) -> str:
    """The private table of a lineage's rows, qualified."""
    found = db.engine.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon' "
        f"AND table_name LIKE '{table}%\\_lineage{number}' ESCAPE '\\'"
    )
    return f'_sqlanon."{found[0][0]}"'


def hashed(db: Any, table: str, number: int) -> str:
    """The hash of a ward's key: SHA-256 of the release's secret and the key, as docs/frozen.md says."""
    return hashes(db, table, [number])[number]


def hashes(db: Any, table: str, numbers: Iterable[int]) -> dict[int, str]:
    """Of several keys."""
    secret = db.engine.fetch(f"SELECT secret FROM _sqlanon.secrets WHERE release = '{table}'")[0][0]
    texts = {number: f"{secret}/key/{len(str(number))}:{number}" for number in numbers}
    return {number: hashlib.sha256(text.encode()).hexdigest() for number, text in texts.items()}


def classes(db: Any, table: str, ids: Iterable[int]) -> dict[int, int]:
    """The class of keys in the first lineage."""
    rows = db.engine.fetch(
        f"SELECT _sqlanon_key, _sqlanon_class FROM {lineage_table(db, table)} WHERE _sqlanon_class IS NOT NULL"
    )
    known = dict(rows)
    return {number: known[key] for number, key in hashes(db, table, ids).items() if key in known}
