"""Lake tables on object storage: sources and published tables, by the protocol of S3."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
import pytest
from deltalake import DeltaTable, write_deltalake

import sqlanon
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.errors import DatabaseError, PolicyError, PrivacyViolation
from tests.contract.buckets import Served, serving
from tests.contract.lakes import make_catalog

pytestmark = pytest.mark.duckdb
ASKED: dict[str, Any] = {
    "name": "visits",
    "identifiers": "id",
    "quasi": "age",
    "sensitive": "ill",
    "k": 3,
    "method": "mondrian",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving() as served:
        yield served


@pytest.fixture
def bucket(server: Served, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The URL of a folder of the test's own; the environment has the credentials."""
    for name, value in server.variables().items():
        monkeypatch.setenv(name, value)
    return f"s3://bucket/{abs(hash(request.node.name))}"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Any]:
    duckdb.connect(tmp_path / "state.duckdb").close()
    with sqlanon.connect(f"duckdb:///{tmp_path}/state.duckdb") as made:
        yield made


def rows_of(n: int = 24) -> pa.Table:
    ids = range(n)
    return pa.table(
        {
            "id": list(ids),
            "age": [20 + i % 6 for i in ids],
            "ill": [f"d{i % 4}" for i in ids],
            "year": [i % 2 for i in ids],
        }
    )


def test_delta_in_a_bucket(db, bucket, server):
    write_deltalake(f"{bucket}/visits", rows_of())
    asked = ASKED | {"rest": "drop", "publish": f"delta:{bucket}/out"}
    for n in (24, 30):
        write_deltalake(f"{bucket}/visits", rows_of(n), mode="overwrite")
        made = db.anonymize(f"delta:{bucket}/visits", **asked)
        assert DeltaTable(f"{bucket}/out").to_pyarrow_table().num_rows == made.report.rows == n
    assert DeltaTable(f"{bucket}/out_metadata").version() == 1
    written = [name for name in server.names() if "/out" in name and "sqlanon-" in name]
    assert len(written) == 4
    assert db.audit(f"delta:{bucket}/out", quasi=["age_lo", "age_hi"]).k >= 3


@pytest.mark.thorough
def test_a_version_that_fails_leaves_no_file_in_the_bucket(db, bucket, server, monkeypatch):
    asked = ASKED | {"rest": "drop", "publish": f"delta:{bucket}/out"}
    write_deltalake(f"{bucket}/visits", rows_of())
    monkeypatch.setattr(LakeWriter, "_hash", lambda _, table, __: table)
    with pytest.raises(PrivacyViolation, match="differs from what was verified"):
        db.anonymize(f"delta:{bucket}/visits", **asked)
    assert not [name for name in server.names() if "/out" in name and bucket.rpartition("/")[2] in name]


@pytest.mark.thorough
def test_iceberg_in_a_bucket(db, bucket, server, tmp_path, monkeypatch):
    names = ("ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "REGION")
    values = (server.url, *(os.environ[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")))
    for name, value in zip(names, values, strict=True):
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__S3__{name}", value)
    catalog = make_catalog(tmp_path, monkeypatch, f"{bucket}/warehouse")
    catalog.create_table("clinic.visits", rows_of().schema).append(rows_of())
    asked = ASKED | {"rest": "drop", "publish": "iceberg:lake/clinic.out"}
    for version in (1, 2):
        made = db.anonymize("iceberg:lake/clinic.visits", **asked)
        table = catalog.load_table("clinic.out")
        assert table.scan().to_arrow().num_rows == made.report.rows == 24
        assert list(table.refs()) == ["main"]
        assert len([name for name in server.names() if "/out/data/" in name]) == version
    catalog.close()


@pytest.mark.thorough
def test_parquet_in_a_bucket(db, bucket):
    system, path = pyarrow.fs.FileSystem.from_uri(bucket)
    parts = ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive")
    ds.write_dataset(rows_of(60), f"{path}/visits", filesystem=system, format="parquet", partitioning=parts)
    asked = ASKED | {"quasi": ["age", "year"]}
    first = db.anonymize(f"parquet:{bucket}/visits", **asked).report
    assert (first.rows, first.verified) == (60, True)
    assert (
        db.anonymize(
            f"parquet:{bucket}/visits/year=1/*", **asked | {"name": "one", "publish": "release.one"}
        ).report.rows
        == 30
    )
    ds.write_dataset(
        rows_of(66).slice(60),
        f"{path}/visits",
        filesystem=system,
        format="parquet",
        partitioning=parts,
        basename_template="more-{i}.parquet",
        existing_data_behavior="overwrite_or_ignore",
    )
    again = db.anonymize(f"parquet:{bucket}/visits", **asked).report
    assert again.rows == 66
    assert again.snapshot != first.snapshot
    ds.write_dataset(rows_of(6), f"{path}/visits/year=1/other", filesystem=system, format="parquet")
    with pytest.raises(PolicyError, match="2 different sets of columns or types"):
        db.anonymize(f"parquet:{bucket}/visits", **asked)


@pytest.mark.thorough
def test_a_bucket_without_rights_is_one_error_without_the_answer_of_the_storage(db, bucket, monkeypatch):
    write_deltalake(f"{bucket}/visits", rows_of())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "canary")
    for source in (f"delta:{bucket}/visits", f"parquet:{bucket}/visits"):
        with pytest.raises(DatabaseError, match="cannot be read") as refused:
            db.anonymize(source, **ASKED | {"rest": "drop"})
        assert "canary" not in str(refused.value)
    assert db.releases() == ()
