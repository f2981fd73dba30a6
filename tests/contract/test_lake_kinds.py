"""All kinds of releases in lake tables: pairs of tables, lineages, several tables of persons, counts, metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import sqlanon
from sqlanon import policy
from sqlanon.engines.duckdb.lake.parquet_files import ParquetFile
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.errors import PrivacyViolation
from sqlanon.release.publish import in_lake
from tests.contract.lakes import make_catalog

pytestmark = pytest.mark.duckdb
Read = Callable[[str], pa.Table]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Any]:
    """A database of 48 visits of 24 persons, and of 24 persons."""
    file = tmp_path / "state" / "state.duckdb"
    file.parent.mkdir()
    with duckdb.connect(file) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS id, i % 24 AS person, 20 + i % 6 AS age, 'd' || (i % 4) AS ill, "
            "'w' || (i % 3) AS ward FROM range(48) AS r(i)"
        )
        connection.execute("CREATE TABLE persons AS SELECT i AS person, 1950 + i % 4 AS born FROM range(24) AS r(i)")
    with sqlanon.connect(f"duckdb:///{file}") as made:
        yield made


@pytest.fixture(params=["delta", pytest.param("iceberg", marks=pytest.mark.thorough)])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Read]]:
    """What names of tables begin with, and a reader of tables by their own names."""
    if request.param == "delta":
        yield f"delta:{tmp_path}/lake_", lambda name: DeltaTable(tmp_path / f"lake_{name}").to_pyarrow_table()
        return
    catalog = make_catalog(tmp_path, monkeypatch)
    yield "iceberg:lake/clinic.", lambda name: catalog.load_table(f"clinic.{name}").scan().to_arrow()
    catalog.close()


def rows_of(read: Read, name: str) -> Counter[str]:
    return Counter(str(sorted(row.items())) for row in read(name).to_pylist())


def shown(db: Any, view: str) -> Counter[str]:
    names = [column.name for column in db.engine.relation(view).columns]
    rows = db.engine.fetch(f"SELECT * FROM {view}")
    return Counter(str(sorted(zip(names, row, strict=True))) for row in rows)


def release(text: str) -> Any:
    return policy.loads(f"version: 1\nreleases:\n{text}", {}).releases


VISITS = """\
  - name: visits
    source: visits
    publish: {lake}visits
    columns: {{id: identifier, person: identifier, age: quasi, ill: sensitive}}
    rest: drop
    rows_are: events
    persons: ignored
"""


def test_the_metadata_are_a_table_next_to_the_release(db, lake):
    name, read = lake
    (spec,) = release(VISITS.format(lake=name) + "    privacy: {k: 3}\n    method: mondrian\n")
    db.run(spec)
    metadata = read("visits_metadata").to_pylist()
    assert rows_of(read, "visits_metadata") == shown(db, "release.visits_metadata")
    assert {row["column_name"]: row["role"] for row in metadata}["age"] == "quasi"
    assert '"version": 1' in next(row["published"] for row in metadata if not row["column_name"])


def test_the_pair_of_tables_of_anatomy(db, lake):
    name, read = lake
    text = VISITS.format(lake=name) + "    privacy: {k: 1, l: 2}\n    method: anatomy\n    format: anatomy\n"
    for version in (1, 2):
        (spec,) = release(text)
        assert db.run(spec, full=True).version == version
        for part in ("", "_sensitive", "_metadata"):
            assert rows_of(read, f"visits{part}") == shown(db, f"release.visits{part}")
    assert sum(row["rows" if "rows" in row else "count"] for row in read("visits_sensitive").to_pylist()) == 48
    db.unpublish("visits")
    assert not [rows for part in ("", "_sensitive", "_metadata") for rows in read(f"visits{part}").to_pylist()]


LINEAGE = """\
  - name: persons
    source: persons
    publish: {lake}persons
    columns: {{person: identifier, born: quasi}}
    key: person
    privacy: {{k: 3}}
    refresh: {{mode: frozen, cohort: {{rows: 6}}}}
    keep: 2
    method: mondrian
"""


def test_what_was_published_stays_in_a_lineage(db, lake):
    name, read = lake
    text = LINEAGE.format(lake=name)
    (spec,) = release(text)
    db.run(spec)
    first = rows_of(read, "persons")
    db.engine.execute("INSERT INTO persons SELECT 100 + i, 1980 + i % 2 FROM range(8) AS r(i)")
    assert db.run(spec).version == 2
    second = rows_of(read, "persons")
    assert second == shown(db, "release.persons")
    assert first <= second
    assert sum((second - first).values()) == 8
    assert db.audit("release.persons").k >= 3
    db.rollback("persons")
    assert rows_of(read, "persons") == first


def test_erased_persons_leave_the_history(db, lake, tmp_path):
    name, read = lake
    text = LINEAGE.format(lake=name)
    (spec,) = release(text)
    db.run(spec)
    db.engine.execute("INSERT INTO persons SELECT 100 + i, 1980 + i % 2 FROM range(8) AS r(i)")
    db.run(spec)
    assert db.erase(spec, [{"person": 100}], confirmed=True).done
    assert rows_of(read, "persons") == shown(db, "release.persons")
    assert sum(rows_of(read, "persons").values()) < 32
    files = [path for path in tmp_path.rglob("sqlanon-*.parquet") if "persons_metadata" not in str(path)]
    assert len(files) == 1


def test_a_later_version_ends_the_expiry_of_a_killed_erasure(db, lake, tmp_path, monkeypatch):
    """Versions since the erasure stay in the history."""
    name, read = lake
    (spec,) = release(LINEAGE.format(lake=name))
    db.run(spec)
    with monkeypatch.context() as killed:
        killed.setattr(in_lake, "_expire", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            db.erase(spec, [{"person": 3}], confirmed=True)
    for first in (100, 200, 300):
        db.engine.execute(f"INSERT INTO persons SELECT {first} + i, 1980 + i % 2 FROM range(8) AS r(i)")
        db.run(spec)
    assert rows_of(read, "persons") == shown(db, "release.persons")
    files = [path for path in tmp_path.rglob("sqlanon-*.parquet") if "persons_metadata" not in str(path)]
    assert len(files) == 4


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


TABLES = """\
  - name: clinic
    person: person
    tables:
      - {{source: visits, columns: {{person: pseudonym, age: quasi, ill: insensitive}}, rest: drop,
         privacy: {{k: 2}}, publish: '{lake}visits'}}
      - {{source: persons, columns: {{person: pseudonym, born: quasi}}, privacy: {{k: 2}}, publish: '{lake}persons'}}
"""


def test_tables_that_are_published_together(db, lake):
    name, read = lake
    specs = release(TABLES.format(lake=name))
    reports = db.run_tables(specs)
    assert [report.outcome for report in reports] == ["published", "published"]
    for table in ("visits", "persons"):
        assert rows_of(read, table) == shown(db, f"release.{table}")
    tokens = {row["person"] for row in read("persons").to_pylist()}
    assert {row["person"] for row in read("visits").to_pylist()} <= tokens
    assert [report.outcome for report in db.run_tables(specs)] == ["unchanged", "unchanged"]


class Lost(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("commits", range(4))
def test_tables_of_one_release_are_all_of_one_version_after_a_kill(db, lake, commits, monkeypatch):
    """The first commit decides: after it the next run finishes, and before it the next run takes everything back."""
    name, read = lake
    specs = release(TABLES.format(lake=name))
    db.run_tables(specs)
    before = {table: rows_of(read, table) for table in ("visits", "persons")}
    db.engine.execute("DELETE FROM visits WHERE person < 12; DELETE FROM persons WHERE person < 12")
    plain, made = LakeWriter.commit, []

    def commit(self: Any, *asked: Any) -> None:
        if len(made) == commits:
            raise Lost
        plain(self, *asked)
        made.append(asked)

    with monkeypatch.context() as patched:
        patched.setattr(LakeWriter, "commit", commit)
        patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
        with pytest.raises(Lost):
            db.run_tables(specs)
    if not commits:
        assert {table: rows_of(read, table) for table in before} == before
    db.run_tables(specs)
    assert {table: sum(rows_of(read, table).values()) for table in before} == {"visits": 24, "persons": 12}
    for table in before:
        assert rows_of(read, table) == shown(db, f"release.{table}")
        assert rows_of(read, f"{table}_metadata") == shown(db, f"release.{table}_metadata")


def test_counts(db, lake):
    name, read = lake
    text = f"""\
  - name: counts
    source: visits
    publish: {name}counts
    person: person
    statistics:
      columns: {{ill: {{}}, ward: {{}}}}
      tables: [{{name: all, by: [ill, ward]}}]
      measures: {{n: count}}
      protect: {{persons: 3}}
"""
    (spec,) = release(text)
    assert db.run(spec).outcome == "published"
    assert rows_of(read, "counts") == shown(db, "release.counts")
    assert rows_of(read, "counts_metadata") == shown(db, "release.counts_metadata")
    assert db.run(spec).outcome == "unchanged"
    db.unpublish("counts")
    assert not rows_of(read, "counts")


def test_differentially_private_statistics(db, lake, monkeypatch):
    """A version that is drawn and not committed is published by the next run, and paid once."""
    name, read = lake
    text = f"""
version: 1
budgets:
  - {{name: patients, persons: {{visits: person}}, epsilon: 3}}
releases:
  - name: noisy
    source: visits
    publish: {name}noisy
    every: 30d
    statistics:
      budget: patients
      epsilon: 1
      tables: [{{by: [ward]}}]
      groups: {{ward: [w0, w1, w2]}}
      measures: {{n: rows}}
      contributions: {{groups: 2, rows: 2}}
"""
    loaded = policy.loads(text, {})
    (spec,) = loaded.releases

    class Lost(BaseException):
        pass

    def lose(*_: object) -> None:
        raise Lost

    with monkeypatch.context() as patched:
        patched.setattr(LakeWriter, "commit", lose)
        patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
        with pytest.raises(Lost):
            db.run(spec)
    assert db.run(spec).outcome == "published"
    assert rows_of(read, "noisy") == shown(db, "release.noisy")
    assert len(read("noisy")) == 4
    assert rows_of(read, "noisy_metadata") == shown(db, "release.noisy_metadata")
    assert db.run(spec).outcome == "fresh"
    (account,) = db.budgets(loaded.budgets)
    assert 0.9 < account.spent <= 1
    db.unpublish("noisy")
    assert not rows_of(read, "noisy")
    db.rollback("noisy")
    assert rows_of(read, "noisy") == shown(db, "release.noisy")


@pytest.mark.parametrize("form", ["labels", "ranges"])
def test_the_requirements_are_measured_on_the_written_files(db, lake, form, monkeypatch):
    """A file of as many rows with other cells, where the comparison of hashes is out of order, too."""
    name, _ = lake
    text = VISITS.format(lake=name) + f"    privacy: {{k: 3}}\n    method: mondrian\n    format: {form}\n"
    plain = ParquetFile.write

    def write(self: Any, rows: Any, schema: Any = None) -> None:
        table = pa.Table.from_batches(list(rows), rows.schema)
        column = next(name for name in table.column_names if name.startswith(("age", "column_name")))
        cell = pa.scalar(
            "99" if table.schema.field(column).type == pa.string() else 99, table.schema.field(column).type
        )
        cells = pa.chunked_array(
            [pa.array([cell], table.schema.field(column).type), table[column].combine_chunks()[1:]]
        )
        changed = table.set_column(table.column_names.index(column), table.schema.field(column), cells)
        plain(self, changed.to_reader(), schema)

    monkeypatch.setattr(ParquetFile, "write", write)
    monkeypatch.setattr(LakeWriter, "_hash", lambda *_: None)
    (spec,) = release(text)
    with pytest.raises(PrivacyViolation, match="the released rows are not the staged ones"):
        db.run(spec)
    assert not [row for row in db.releases() if row.status == "published"]
