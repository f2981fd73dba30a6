"""Lake tables as sources on Spark: small ones, by way of this process, at one version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake

import sqlanon
from sqlanon import policy
from sqlanon.engines.portable import PortableColumn
from sqlanon.engines.spark.engine import SparkEngine
from sqlanon.errors import DatabaseError, UnsupportedError
from tests.contract.test_transfer import marks

TYPES = """
SELECT 1::TINYINT AS a, 2::SMALLINT AS b, 3 AS c, 4::BIGINT AS d, 'x' AS e, 1.25::DECIMAL(9,2) AS f, -0.0::DOUBLE AS g,
    0.1::FLOAT AS h, true AS i, DATE '2020-02-29' AS j, TIMESTAMP '2020-02-29 23:59:59.123456' AS k,
    TIMESTAMPTZ '2020-02-29 23:59:59.5+05' AS l, '\\xff\\x00'::BLOB AS m, ['a', NULL, 'b'] AS n
UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
"""


@pytest.fixture(scope="module")
def spark(session: Any) -> Iterator[Any]:
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        yield db


def write(folder: Path, ids: Any) -> None:
    ids = list(ids)
    rows = {"id": ids, "age": [20 + i % 6 for i in ids], "ill": [f"d{i % 4}" for i in ids]}
    write_deltalake(folder / "visits", pa.table(rows), mode="overwrite")


def spec_of(folder: Path) -> Any:
    return policy.release(
        source=f"delta:{folder}/visits",
        name="from_lake",
        publish="release.from_lake",
        identifiers="id",
        quasi="age",
        sensitive="ill",
        k=3,
        method="mondrian",
    )


def rows_of(db: Any) -> Counter[tuple[str, ...]]:
    rows = db.engine.fetch("SELECT age_lo, age_hi, ill FROM release.from_lake")
    return Counter(tuple(map(str, row)) for row in rows)


def test_versions_are_those_of_duckdb_and_an_unchanged_table_is_not_read(spark, tmp_path, monkeypatch):
    write(tmp_path, range(24))
    spec = spec_of(tmp_path)
    with sqlanon.connect("duckdb:///:memory:") as duck:
        duck.run(spec)
        first = spark.run(spec)
        assert (first.outcome, first.rows) == ("published", 24)
        assert rows_of(spark) == rows_of(duck)
        spark_lakes = set(spark.engine._lakes)
        with monkeypatch.context() as patched:
            patched.setattr(SparkEngine, "_load_lake", lambda *_: pytest.fail("a row is read"))
            patched.setattr(spark.engine, "_lakes", {})
            again = spark.run(spec)
        assert again.outcome == "unchanged"
        write(tmp_path, range(6, 30))
        duck.run(spec)
        assert spark.run(spec).outcome == "published"
        assert rows_of(spark) == rows_of(duck)
        assert set(spark.engine._lakes).isdisjoint(spark_lakes)


def test_a_table_with_too_many_rows_publishes_nothing(spark, tmp_path, monkeypatch):
    write(tmp_path, range(30))
    spec = spec_of(tmp_path)
    spark.run(spec)
    before = rows_of(spark)
    write(tmp_path, range(40))
    monkeypatch.setattr(SparkEngine, "most_lake_rows", 35)
    with pytest.raises(UnsupportedError, match=r"has more than 35 rows .* register it in Spark's catalog"):
        spark.run(spec)
    assert rows_of(spark) == before
    with pytest.raises(DatabaseError, match="nothing_here"):
        spark.profile(f"delta:{tmp_path}/nothing_here")


def test_parquet_files_in_folders_are_released_and_the_same_is_registered(spark, session, tmp_path, monkeypatch):
    for year in (2025, 2026):
        (tmp_path / f"visits/year={year}").mkdir(parents=True)
        rows = f"SELECT {year} * 100 + i AS id, 20 + i % 6 AS age, 'd' || i % 4 AS ill FROM range(24) AS r(i)"
        duckdb.sql(rows).write_parquet(str(tmp_path / f"visits/year={year}/a.parquet"))
    asked = {"quasi": ["age", "year"], "sensitive": "ill", "identifiers": "id", "k": 3, "name": "from_files"}
    seen = []
    session.sql(f"CREATE TABLE files USING parquet LOCATION '{tmp_path}/visits'")
    session.sql("MSCK REPAIR TABLE files")
    for source in (f"parquet:{tmp_path}/visits", "files"):
        spark.anonymize(source, publish="release.from_files", **asked)
        seen.append(
            Counter(map(str, spark.engine.fetch("SELECT age_lo, age_hi, year_lo, ill FROM release.from_files")))
        )
    session.sql("DROP TABLE files")
    assert seen[0] == seen[1]
    assert seen[0].total() == 48
    monkeypatch.setattr(SparkEngine, "most_lake_rows", 20)
    with pytest.raises(UnsupportedError, match=r"more than 20 rows .*CREATE TABLE t USING parquet LOCATION"):
        spark.anonymize(f"parquet:{tmp_path}/visits/*/*.parquet", **(asked | {"name": "many"}))


def test_every_type_arrives_with_its_values(spark, tmp_path):
    duckdb.sql(TYPES).write_parquet(str(tmp_path / "types.parquet"))
    relation = spark.engine.relation(f"parquet:{tmp_path}/types.parquet")
    duck = spark.engine.lake_engine
    origin = duck.relation(f"parquet:{tmp_path}/types.parquet")
    columns = [PortableColumn(column.name, duck.read_type(column)) for column in origin.columns]
    assert [spark.engine.read_type(column) for column in relation.columns] == [column.type for column in columns]
    asked = [column.parameters() for column in columns]
    assert marks(spark.engine, relation.ref, asked) == marks(duck, origin.ref, asked)


@pytest.mark.parametrize("kind", ["UBIGINT", "UINTEGER", "TIME", "INTERVAL"])
def test_types_that_spark_lacks_are_refused(spark, tmp_path, kind):
    duckdb.sql(f"SELECT 1 AS id, CAST(NULL AS {kind}) AS odd").write_parquet(str(tmp_path / "odd.parquet"))
    with pytest.raises(UnsupportedError, match="no type for every value of these columns: odd"):
        spark.engine.relation(f"parquet:{tmp_path}/odd.parquet")


def test_parquet_files_that_change_before_their_rows_are_read_are_refused(spark, tmp_path):
    place = tmp_path / "changed.parquet"
    duckdb.sql("SELECT 1 AS id UNION ALL SELECT 2").write_parquet(str(place))
    opened = spark.engine.relation(f"parquet:{place}")
    duckdb.sql("SELECT 7 AS id").write_parquet(str(place))
    with pytest.raises(DatabaseError, match="files were written or removed since they were opened; run again"):
        spark.engine.fetch(f"SELECT id FROM {opened.ref.name}")
    again = spark.engine.relation(f"parquet:{place}")
    assert spark.engine.fetch(f"SELECT id FROM {again.ref.name}") == [(7,)]


def test_rows_are_of_the_version_that_was_opened(spark, tmp_path):
    write_deltalake(tmp_path / "t", pa.table({"id": [1, 2]}))
    opened = spark.engine.relation(f"delta:{tmp_path}/t")
    write_deltalake(tmp_path / "t", pa.table({"id": [9]}), mode="overwrite")
    assert sorted(spark.engine.fetch(f"SELECT id FROM {opened.ref.name}")) == [(1,), (2,)]
