"""Iceberg by the REST protocol of its catalogs; and published tables as polars reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from pyiceberg import catalog as catalogs
from pyiceberg.utils.config import Config

import sqlanon
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.errors import DatabaseError, LockedError
from tests.contract.rest_catalog import RestServer, serving

pytestmark = pytest.mark.duckdb
ASKED: dict[str, Any] = {
    "name": "visits",
    "identifiers": "id",
    "quasi": "age",
    "sensitive": "ill",
    "k": 3,
    "method": "mondrian",
}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Any]:
    file = tmp_path / "state" / "state.duckdb"
    file.parent.mkdir()
    with duckdb.connect(file) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS id, 20 + i % 6 AS age, 'd' || (i % 4) AS ill FROM range(24) AS r(i)"
        )
    with sqlanon.connect(f"duckdb:///{file}") as made:
        yield made


@pytest.fixture
def rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[RestServer, Any]]:
    """The server, and a client as the environment configures it."""
    with serving(tmp_path) as server:
        monkeypatch.setenv("PYICEBERG_CATALOG__SERVED__TYPE", "rest")
        monkeypatch.setenv("PYICEBERG_CATALOG__SERVED__URI", server.url)
        monkeypatch.setattr(catalogs, "_ENV_CONFIG", Config())
        client = catalogs.load_catalog("served")
        client.create_namespace("clinic")
        yield server, client


@pytest.mark.thorough
def test_a_catalog_by_rest(db, rest, monkeypatch):
    server, client = rest
    asked = ASKED | {"publish": "iceberg:served/clinic.out"}
    db.anonymize("visits", **asked)
    db.engine.execute("INSERT INTO visits SELECT 100 + i, 40 + i % 2, 'd' || i FROM range(8) AS r(i)")
    for form in ("ranges", "labels"):
        db.anonymize("visits", **asked, format=form)
        table = client.load_table("clinic.out")
        assert table.scan().to_arrow().num_rows == 32
        assert list(table.refs()) == ["main"]
    assert db.audit("iceberg:served/clinic.out", quasi="age").k >= 3
    rows = table.scan().to_arrow()
    plain = LakeWriter.commit

    def commit(self: Any, place: str, file: str | None, facts: Any, check: Any) -> None:
        plain(self, place, file, facts, lambda commits: (check(commits), client.load_table("clinic.out").append(rows)))

    with monkeypatch.context() as patched:
        patched.setattr(LakeWriter, "commit", commit)
        with pytest.raises(LockedError, match="another program committed to the table meanwhile") as refused:
            db.anonymize("visits", **asked)
    assert "canary" not in str(refused.value)
    table = client.load_table("clinic.out")
    assert (table.scan().to_arrow().num_rows, list(table.refs())) == (64, ["main"])
    assert "POST namespaces/clinic/tables/out" in server.asked


@pytest.mark.thorough
def test_a_catalog_that_is_not_there_any_more_is_one_error(db, rest):
    server, _ = rest
    asked = ASKED | {"publish": "iceberg:served/clinic.out"}
    db.anonymize("visits", **asked)
    server.shutdown()
    server.server_close()
    with pytest.raises(DatabaseError, match="the catalog served cannot be opened"):
        db.anonymize("visits", **asked)
    assert [row.status for row in db.releases()] == ["published"]


def test_polars_reads_what_was_published_into_delta(db, tmp_path):
    db.anonymize("visits", **ASKED, publish=f"delta:{tmp_path}/out")
    assert_same(polars.read_delta(f"{tmp_path}/out"), db)


@pytest.mark.thorough
def test_polars_reads_what_was_published_into_iceberg(db, rest, monkeypatch):
    _, client = rest
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    db.anonymize("visits", **ASKED, publish="iceberg:served/clinic.out")
    assert_same(polars.scan_iceberg(client.load_table("clinic.out")).collect(), db)


def assert_same(frame: polars.DataFrame, db: Any) -> None:
    rows = db.engine.fetch("SELECT age_lo, age_hi, ill FROM release.visits ORDER BY ALL")
    assert sorted(frame.select("age_lo", "age_hi", "ill").rows()) == [tuple(row) for row in rows]
