"""Releases with boxes of their own, for their tests.

It has a small table, its arguments, and the tables behind a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlanon.engines.base import Statement, TableRef
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.sqltext import identifier
from tests.contract.cases import QI, Case, release_rows
from tests.oracle.requirements import Privacy

OWN: dict[str, Any] = {"method": "freeform", "boxes": "own", "l": None, "distinct_l": None, "joint": False}
PATHS = tuple((leaf, leaf[0], "*") for leaf in ("a1", "a2", "b1", "b2", "b3"))
SMALL = Case(
    "small boxes",
    {"id": "INTEGER", "x": "INTEGER", "c": "TEXT", "h": "TEXT", "s": "TEXT"},
    tuple((i, None if i % 13 == 5 else i * i % 29, "pqr"[i % 3], PATHS[i * 7 % 5][0], f"s{i}") for i in range(30)),
    {"x": QI(), "c": QI("nominal"), "h": QI("hierarchy", levels=PATHS)},
    ("s",),
    Privacy(k=3),
)


def placed(table: TableRef) -> str:
    """A table's name as SQL has it."""
    return ".".join(identifier(part) for part in (table.database, table.schema, table.name) if part)


def fetch(engine: Any, table: TableRef, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of a table."""
    text = f"SELECT {', '.join(columns)} FROM {placed(table)}"
    return list(engine.fetch(Statement("test", text, {}), max_rows=100_000))


def run(db: Any, case: Case, directory: Path, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    arguments = {**OWN, "sensitive": list(case.sensitive) or None, **options}
    return release_rows(db, case, directory, **arguments)


def version_of(db: Any, report: Any) -> Any:
    (entry,) = [e for e in Catalog(db.engine).entries(report.release) if e.version == report.version]
    return entry


@contextmanager
def without_mark(db: Any, report: Any) -> Iterator[None]:
    """While the catalog has no mark of the drawn boxes of a version."""
    table = placed(Catalog(db.engine).table)
    mark = version_of(db, report).report["drawn"]

    def put(before: str, after: str) -> None:
        text = (
            f"UPDATE {table} SET report = REPLACE(report, '{before}', '{after}') WHERE release = '{report.release}' "
            f"AND version = {report.version}"
        )
        db.engine.execute(Statement("test", text, {}))

    put(f'"drawn": "{mark}"', '"drawn": null')
    assert version_of(db, report).report["drawn"] is None
    yield
    put('"drawn": null', f'"drawn": "{mark}"')
