"""Lake tables as sources: what deltalake, pyiceberg and pyarrow write, beside the same rows in a DuckDB table."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake

import sqlanon
from sqlanon import policy
from sqlanon.engines.duckdb.lake import tables
from sqlanon.errors import DatabaseError, PolicyError, SqlanonError, UnsupportedError
from sqlanon.lake_names import lake_of
from tests.contract.lakes import make_catalog

pytestmark = pytest.mark.duckdb
ASKED: dict[str, Any] = {
    "quasi": ["age", "sex"],
    "sensitive": "diagnosis",
    "identifiers": "id",
    "rest": "drop",
    "k": 3,
    "method": "mondrian",
    "name": "visits",
    "publish": "release.visits",
}


def rows_of(n: int = 60, *, start: int = 0) -> pa.Table:
    ids = range(start, start + n)
    return pa.table(
        {
            "id": list(ids),
            "age": [20 + (i * 7) % 50 for i in ids],
            "sex": ["FM"[i % 2] for i in ids],
            "diagnosis": [f"canary{i % 5}" for i in ids],
            "year": [2024 + i % 2 for i in ids],
        }
    )


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = make_catalog(tmp_path, monkeypatch)
    yield made
    made.close()


def write_delta(folder: Path, rows: pa.Table) -> str:
    write_deltalake(folder / "delta_visits", rows, mode="append", partition_by=["year"])
    return f"delta:{folder}/delta_visits"


def write_parquet(folder: Path, rows: pa.Table) -> str:
    parts = ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive")
    name = f"part-{len(list(folder.glob('parquet_visits/*/*')))}-{{i}}.parquet"
    place = folder / "parquet_visits"
    ds.write_dataset(
        rows,
        place,
        format="parquet",
        partitioning=parts,
        basename_template=name,
        existing_data_behavior="overwrite_or_ignore",
    )
    return f"parquet:{place}"


@pytest.fixture(params=["parquet", *(pytest.param(one, marks=pytest.mark.thorough) for one in ("delta", "iceberg"))])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[pa.Table], str]:
    """Appends rows to a table of each format, and gives the table's name."""
    if request.param == "delta":
        return lambda rows: write_delta(tmp_path, rows)
    if request.param == "parquet":
        return lambda rows: write_parquet(tmp_path, rows)
    made = request.getfixturevalue("catalog")

    def write(rows: pa.Table) -> str:
        made.create_table_if_not_exists("clinic.visits", schema=rows.schema).append(rows)
        return "iceberg:lake/clinic.visits"

    return write


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Any]:
    import duckdb

    file = tmp_path / "warehouse.duckdb"
    duckdb.connect(file).close()
    with sqlanon.connect(f"duckdb:///{file}") as db:
        yield db


def load(db: Any, rows: pa.Table, name: str = "visits") -> str:
    text = db.engine.capabilities.text_type
    kinds = [(field.name, text if field.type == pa.string() else "BIGINT") for field in rows.schema]
    db.engine.load_rows(db.engine.target(name), kinds, [tuple(row.values()) for row in rows.to_pylist()])
    return name


def published(db: Any, view: str) -> Counter[str]:
    return Counter(str(row) for row in db.engine.fetch(f"SELECT * FROM release.{view}"))


def test_a_release_of_a_lake_table_is_that_of_the_same_rows_in_the_database(lake, warehouse):
    rows = rows_of()
    source = lake(rows)
    assert warehouse.plan(spec_of(source)).rows == 60
    made = warehouse.anonymize(source, **ASKED)
    beside = warehouse.anonymize(load(warehouse, rows), **ASKED | {"name": "beside", "publish": "release.beside"})
    assert made.report.verified
    assert made.report.snapshot
    assert beside.report.snapshot == ""
    assert published(warehouse, "visits") == published(warehouse, "beside")
    assert made.audit().k >= 3
    assert warehouse.audit(source, quasi=["sex"]).rows == 60
    (answer,) = made.query("SELECT count(*) AS n FROM visits WHERE sex = 'F'").rows
    assert answer["n"].low <= 30 <= answer["n"].high


@pytest.mark.thorough
def test_a_proposal_for_a_lake_table_can_be_planned(lake, warehouse):
    source = lake(rows_of())
    (spec,) = policy.loads(warehouse.propose(source).policy(None, source), {}).releases
    assert (spec.source, spec.publish) == (source, f"release.{spec.name}")
    assert warehouse.plan(spec).source == source


def spec_of(source: str, **more: Any) -> Any:
    asked = {**ASKED, **more}
    return policy.release(source=source, **asked)


def test_a_run_at_the_same_version_reads_no_row(lake, warehouse, tmp_path):
    spec = spec_of(lake(rows_of()))
    first = warehouse.run(spec)
    again = warehouse.run(spec)
    assert again.outcome == "unchanged"
    assert again.why[0] == f"the source is at {first.snapshot}, as before"
    if not spec.source.startswith("parquet"):  # the files that it would read are gone
        for file in tmp_path.rglob("*.parquet"):
            file.unlink()
        assert warehouse.run(spec).outcome == "unchanged"


@pytest.mark.thorough
def test_a_run_says_from_which_version_to_which(lake, warehouse):
    spec = spec_of(lake(rows_of()))
    first = warehouse.run(spec)
    lake(rows_of(30, start=60))
    second = warehouse.run(spec)
    assert (second.outcome, second.rows, second.replaces) == ("published", 90, 1)
    assert second.why == (f"the source's rows changed: {first.snapshot} -> {second.snapshot}",)
    assert warehouse.plan(spec).state == "unchanged"


@pytest.mark.thorough
def test_a_version_of_the_same_rows_is_no_reason_for_a_release(warehouse, tmp_path):
    source = write_delta(tmp_path, rows_of(30))
    write_delta(tmp_path, rows_of(30, start=30))
    spec = spec_of(source)
    first = warehouse.run(spec)
    assert DeltaTable(tmp_path / "delta_visits").optimize.compact()["numFilesRemoved"]
    again = warehouse.run(spec)
    assert again.outcome == "unchanged"
    assert again.why == ("source, policy and sqlanon are as before",)
    assert first.snapshot.startswith("version 1 of")


@pytest.mark.thorough
def test_deleted_rows_and_renamed_columns_of_iceberg(catalog, warehouse):
    from pyiceberg.types import LongType

    table = catalog.create_table("clinic.visits", schema=rows_of().schema)
    table.append(rows_of())
    table.delete("age < 40")
    with table.update_schema() as change:
        change.rename_column("sex", "gender")
        change.add_column("extra", LongType())
    made = warehouse.anonymize(
        "iceberg:lake/clinic.visits", **ASKED | {"quasi": ["age", "gender"], "insensitive": "extra"}
    )
    assert made.report.rows == sum(age >= 40 for age in rows_of().column("age").to_pylist())
    shown = warehouse.engine.fetch("SELECT age_lo, gender, extra FROM release.visits")
    assert {extra for _, _, extra in shown} == {None}
    assert min(low for low, _, _ in shown) >= 40
    assert {one for _, genders, _ in shown for one in genders} == {"F", "M"}


def change_log(folder: Path, kind: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change one action of the first commit of a Delta table."""
    log = folder / "_delta_log" / "00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if kind in action:
            change(action[kind])
    log.write_text("\n".join(map(json.dumps, actions)))


def delete_by_vectors(protocol: dict[str, Any]) -> None:
    features = ["deletionVectors"]
    protocol |= {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}


def map_columns(metadata: dict[str, Any]) -> None:
    schema = json.loads(metadata["schemaString"])
    for number, field in enumerate(schema["fields"]):
        field["metadata"] = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number}"}
    metadata |= {"schemaString": json.dumps(schema), "configuration": {"delta.columnMapping.mode": "name"}}


@pytest.mark.thorough
def test_delta_tables_that_would_be_read_wrongly_are_refused(warehouse, tmp_path):
    source = write_delta(tmp_path, rows_of())
    change_log(tmp_path / "delta_visits", "protocol", delete_by_vectors)
    with pytest.raises(UnsupportedError, match="deletion vectors, which are not read"):
        warehouse.run(spec_of(source))
    mapped = tmp_path / "mapped"
    write_deltalake(mapped, rows_of())
    change_log(mapped, "protocol", lambda protocol: protocol.update(minReaderVersion=2, minWriterVersion=5))
    change_log(mapped, "metaData", map_columns)
    with pytest.raises(UnsupportedError, match="column mapping"):
        warehouse.run(spec_of(f"delta:{mapped}"))


@pytest.mark.thorough
@pytest.mark.usefixtures("catalog")
def test_what_is_not_there_or_not_readable_is_one_error_and_publishes_nothing(warehouse, tmp_path):
    rows = rows_of()
    source = write_delta(tmp_path, rows)
    ds.write_dataset(rows, tmp_path / "mixed" / "one", format="parquet")
    ds.write_dataset(rows.drop_columns(["sex"]), tmp_path / "mixed" / "two", format="parquet")
    wide = pa.table({"age": pa.array([1, 2], pa.decimal256(50, 2)), "sex": ["F", "M"]})
    ds.write_dataset(wide, tmp_path / "wide", format="parquet")
    (tmp_path / "text.parquet").write_text("canary")
    for name, kind, text in (
        (f"delta:{tmp_path}/nothing", DatabaseError, "no Delta table is there"),
        ("iceberg:lake/clinic.nothing", DatabaseError, "the catalog lake has no table clinic.nothing"),
        ("iceberg:lake/nothing.visits", DatabaseError, "the catalog lake has no table nothing.visits"),
        ("iceberg:other/clinic.visits", DatabaseError, "the catalog other cannot be opened"),
        ("iceberg:visits", PolicyError, "write iceberg:CATALOG/namespace.table"),
        (f"parquet:{tmp_path}/nothing", DatabaseError, "no file is there"),
        (f"parquet:{tmp_path}/text.parquet", DatabaseError, "the files cannot be read as one table"),
        (f"parquet:{tmp_path}/mixed", PolicyError, "2 different sets of columns or types"),
        (f"parquet:{tmp_path}/wide", PolicyError, "age has decimals of more than 38 digits"),
        ("parquet:nothing://bucket/visits", PolicyError, "Arrow knows no such storage"),
    ):
        with pytest.raises(SqlanonError, match=text) as refused:
            warehouse.run(spec_of(name))
        assert isinstance(refused.value, kind)
        assert str(refused.value).startswith(name)
        assert "canary" not in str(refused.value)
    warehouse.engine.relation(source)
    for file in tmp_path.glob("delta_visits/*/*.parquet"):
        file.unlink()
    with pytest.raises(DatabaseError, match=r"a file of delta:.* cannot be read; it is gone"):
        warehouse.run(spec_of(source))
    assert warehouse.releases() == ()


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["delta", "parquet"])
def test_folders_without_rights(warehouse, tmp_path, scheme):
    write, name = {
        "delta": (write_delta, "delta_visits/_delta_log"),
        "parquet": (write_parquet, "parquet_visits"),
    }[scheme]
    place, folder = write(tmp_path, rows_of()), tmp_path / name
    folder.chmod(0)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        with pytest.raises(DatabaseError, match=r"this user may not read it|no Delta table is there"):
            warehouse.run(spec_of(place))
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_missing_packages_are_named(warehouse, monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda _: None)
    for scheme in ("delta", "iceberg"):
        with pytest.raises(PolicyError, match=rf"{scheme} needs more packages: pip install 'sqlanon\[{scheme}\]'"):
            warehouse.run(spec_of(f"{scheme}:lake/clinic.visits"))


def test_parquet_files_that_change_while_they_are_read(warehouse, tmp_path):
    source = write_parquet(tmp_path, rows_of())
    warehouse.engine.relation(source)
    with (
        pytest.raises(DatabaseError, match="files were written or removed while they were read"),
        warehouse.engine.snapshot(),
    ):
        write_parquet(tmp_path, rows_of(4, start=60))
    with warehouse.engine.snapshot():  # another table's
        write_parquet(tmp_path, rows_of(4, start=64))
    assert warehouse.run(spec_of(source)).rows == 68


@pytest.mark.thorough
def test_hidden_files_and_folders_are_no_rows(warehouse, tmp_path):
    source = write_parquet(tmp_path, rows_of())
    (tmp_path / "parquet_visits" / "_temporary").mkdir()
    first = next((tmp_path / "parquet_visits").glob("year=2024/*"))
    shutil.copy(first, tmp_path / "parquet_visits" / "_temporary" / "a.parquet")
    shutil.copy(first, first.with_name(".hidden.parquet"))
    assert warehouse.run(spec_of(source)).rows == 60
    assert warehouse.run(spec_of(f"{source}/*/*.parquet", name="again", publish="release.again")).rows == 60


def test_names():
    for name, table in {
        "delta:/lake/visits": "visits",
        "delta:s3://bucket/lake/visits/": "visits",
        "iceberg:lake/clinic.visits": "visits",
        "parquet:visits/*/*.parquet": "visits",
        "parquet:visits/year=2024/a.parquet": "a",
        '"delta:a b"': "a b",
    }.items():
        found = lake_of(name)
        assert found is not None
        assert found.table == table
    assert [lake_of(name) for name in ("visits", "main.visits", "hudi:visits", "delta:", 'main."delta:x"')] == [
        None
    ] * 5


def test_a_relative_path_starts_where_the_command_runs(warehouse, tmp_path, monkeypatch):
    write_delta(tmp_path, rows_of())
    monkeypatch.chdir(tmp_path)
    made = warehouse.anonymize("delta:delta_visits", **{key: value for key, value in ASKED.items() if key != "publish"})
    assert made.report.source == f"delta:{tmp_path}/delta_visits"
    assert made.report.published == "release.delta_visits"
