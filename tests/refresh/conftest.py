"""A ward that is released night after night: few rows, a key, and ways to change them."""

from __future__ import annotations

from typing import Any

from sqlanon import policy

CATALOG_COLUMNS = (
    "release",
    "version",
    "status",
    "view_schema",
    "view_name",
    "file",
    "physical",
    "source",
    "policy",
    "policy_hash",
    "report",
    "seed",
    "published_at",
    "published_by",
    "sqlanon",
    "fingerprint",
    "source_columns",
    "checked_at",
)

BASE: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "illness", "identifiers": ["id"], "k": 3, "l": 2}


def fill(db: Any, table: str, rows: int = 40) -> None:
    """A table of so many patients."""
    db.engine.execute(f"DROP TABLE IF EXISTS {table}")
    db.engine.execute(
        f"CREATE TABLE {table} AS SELECT i AS id, CAST(20 + i % 30 AS INTEGER) AS age, "
        "CASE WHEN i % 2 = 0 THEN 'm' ELSE 'f' END AS sex, "
        "CASE i % 3 WHEN 0 THEN 'flu' WHEN 1 THEN 'cold' ELSE 'hiv' END AS illness "
        f"FROM generate_series(1, {rows}) AS g(i)"
    )


def release(table: str, **changes: Any) -> Any:
    """The spec of its release."""
    return policy.release(**{**BASE, "source": table, "name": table, "publish": f"release.{table}", **changes})
