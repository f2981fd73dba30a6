"""A release of 24 visits into a lake table, for tests of what readers of the lake have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon import policy
from tests.contract.lakes import Delta, Iceberg


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    """A database of 24 visits, whose ages are not published one by one."""
    file = tmp_path / "warehouse.duckdb"
    with duckdb.connect(file) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS id, 20 + i % 6 AS age, 'd' || (i % 4) AS ill FROM range(24) AS r(i)"
        )
    return f"duckdb:///{file}"


@pytest.fixture
def db(warehouse: str) -> Iterator[Any]:
    with sqlanon.connect(warehouse) as made:
        yield made


def spec_of(lake: Delta | Iceberg, **more: Any) -> Any:
    asked: dict[str, Any] = {
        "source": "visits",
        "name": "visits",
        "identifiers": "id",
        "quasi": "age",
        "sensitive": "ill",
        "k": 3,
        "method": "mondrian",
        "publish": lake.name,
    }
    return policy.release(**asked | more)


def shown(db: Any) -> Counter[str]:
    """The rows of the view."""
    names = [column.name for column in db.engine.relation("release.visits").columns]
    rows = db.engine.fetch("SELECT * FROM release.visits")
    return Counter(str(sorted(zip(names, row, strict=True))) for row in rows)
