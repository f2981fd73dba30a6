"""Lake tables of tests: a catalog of Iceberg, and what readers have of a published table, by the formats' packages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake


def make_catalog(folder: Path, monkeypatch: pytest.MonkeyPatch, warehouse: str | None = None) -> Any:
    """An Iceberg catalog in a SQLite file, as the environment configures it; by default the warehouse is there, too."""
    from pyiceberg import catalog as catalogs
    from pyiceberg.utils.config import Config

    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{folder}/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__WAREHOUSE", warehouse or f"file://{folder}/iceberg")
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", Config())  # it reads the environment when it is imported
    made = catalogs.load_catalog("lake")
    made.create_namespace("clinic")
    return made


@dataclass
class Delta:
    """A published table of Delta Lake."""

    folder: Path

    @property
    def name(self) -> str:
        return f"delta:{self.folder}/published"

    @property
    def table(self) -> DeltaTable:
        return DeltaTable(self.folder / "published")

    def forget(self) -> None:
        """Nothing is kept open."""

    def arrow(self) -> pa.Table:
        return self.table.to_pyarrow_table()

    def append(self, rows: pa.Table) -> None:
        write_deltalake(self.folder / "published", rows, mode="append")

    def files(self) -> set[str]:
        return {path.name for path in (self.folder / "published").glob("sqlanon-*.parquet")}

    def committed(self) -> set[str]:
        found = (commit.get("sqlanon", {}).get("file") for commit in self.table.history())
        return {str(file) for file in found if file}


@dataclass
class Iceberg:
    """A published table of Iceberg."""

    folder: Path
    catalog: Any
    name: str = "iceberg:lake/clinic.published"

    @property
    def table(self) -> Any:
        return self.catalog.load_table("clinic.published")

    def forget(self) -> None:
        """Close the catalog's connections; the next use opens new ones."""
        self.catalog.engine.dispose()

    def arrow(self) -> pa.Table:
        return self.table.scan().to_arrow()

    def append(self, rows: pa.Table) -> None:
        self.table.append(rows)

    def files(self) -> set[str]:
        return {path.name for path in self.folder.rglob("sqlanon-*.parquet")}

    def committed(self) -> set[str]:
        found = (snapshot.summary.additional_properties.get("sqlanon.file") for snapshot in self.table.snapshots())
        return {str(file) for file in found if file}


def rows_in(lake: Delta | Iceberg) -> Counter[str]:
    """What a reader has: each row as its values by the names of their columns, and how often."""
    return Counter(str(sorted(row.items())) for row in lake.arrow().to_pylist())


@pytest.fixture(params=["delta", pytest.param("iceberg", marks=pytest.mark.thorough)])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Delta | Iceberg]:
    """A table of each format."""
    if request.param == "delta":
        yield Delta(tmp_path)
        return
    catalog = make_catalog(tmp_path, monkeypatch)
    yield Iceberg(tmp_path, catalog)
    catalog.close()
