"""Releases from lake tables into lake tables with all private tables in PostgreSQL (``state: postgresql://..``)."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import sqlanon
from sqlanon import policy
from sqlanon.engines.base import Statement
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.postgres.lakes import LakeSession
from sqlanon.errors import DatabaseError, LockedError, UnsupportedError
from sqlanon.release.publish import in_lake
from tests.conftest import ready
from tests.contract.elsewhere import die
from tests.contract.lakes import Delta, rows_in
from tests.engines import ENGINES

pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]


class Clinic:
    """A Delta table of visits, a database of PostgreSQL, and a Delta table for readers."""

    def __init__(self, folder: Path, state: str) -> None:
        self.folder, self.state, self.lake = folder, state, Delta(folder)
        self.write(range(24))

    def write(self, ids: Any, mode: Any = "overwrite") -> None:
        ids = list(ids)
        rows = {"id": ids, "age": [20 + i % 6 for i in ids], "ill": [f"d{i % 4}" for i in ids]}
        write_deltalake(self.folder / "visits", pa.table(rows), mode=mode)

    def spec(self, **more: Any) -> Any:
        asked: dict[str, Any] = {
            "source": f"delta:{self.folder}/visits",
            "name": "visits",
            "identifiers": "id",
            "quasi": "age",
            "sensitive": "ill",
            "k": 3,
            "method": "mondrian",
            "publish": self.lake.name,
        }
        return policy.release(**asked | more)


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    kind = ready(ENGINES[2])
    url = kind.fresh(tmp_path)
    yield Clinic(tmp_path, url)
    kind.drop(url)


def shown(db: Any) -> Counter[str]:
    """The rows of the owner's view."""
    if not db.engine.exists(db.engine.target("release.visits")):
        return Counter()
    names = [column.name for column in db.engine.relation("release.visits").columns]
    rows = db.engine.fetch("SELECT * FROM release.visits")
    return Counter(str(sorted(zip(names, row, strict=True))) for row in rows)


def test_readers_have_the_rows_that_a_state_of_duckdb_gives_them(clinic, tmp_path):
    file = tmp_path / "state" / "state.duckdb"
    file.parent.mkdir()
    duckdb.connect(file).close()
    other = Delta(tmp_path / "other")
    with sqlanon.connect(clinic.state) as db, sqlanon.connect(f"duckdb:///{file}") as beside:
        for ids in (range(24), range(30)):
            clinic.write(ids)
            version = db.run(clinic.spec())
            same = beside.run(clinic.spec(publish=other.name))
            assert rows_in(clinic.lake) == rows_in(other) == shown(db)
            assert sum(rows_in(clinic.lake).values()) == len(ids)
            assert (version.source, version.snapshot) == (same.source, same.snapshot)
        assert db.audit(clinic.lake.name, quasi=["age_lo", "age_hi"]).k >= 3
        (answer,) = db.query(f'SELECT count(*) AS n FROM "{clinic.lake.name}" WHERE age < 22').rows
        assert answer["n"].low <= 10 <= answer["n"].high


def list_copies(db: Any) -> list[str]:
    """Temporary tables with rows of lake tables."""
    rows = db.engine.fetch("SELECT relname FROM pg_class WHERE relname LIKE '~_sqlanon~_lake~_%' ESCAPE '~'")
    return [str(name) for (name,) in rows]


def test_copies_of_rows_end_with_the_snapshot_or_with_the_next_version(clinic):
    with sqlanon.connect(clinic.state) as db:
        db.run(clinic.spec())
        assert not list_copies(db)
        copies = []
        for ids in (range(24), range(30)):
            clinic.write(ids)
            assert db.audit(f"delta:{clinic.folder}/visits", quasi=["age"]).rows == len(ids)
            copies.append(list_copies(db))
        assert [len(names) for names in copies] == [1, 1]
        assert copies[0] != copies[1]


def test_a_version_that_was_looked_up_before_the_latest_is_not_mixed_with_it(clinic):
    with sqlanon.connect(clinic.state) as db:
        earlier = db.engine.relation(f"delta:{clinic.folder}/visits")
        clinic.write(range(30))
        db.engine.relation(f"delta:{clinic.folder}/visits")
        with pytest.raises(DatabaseError, match="another version was looked up meanwhile; run again"):
            db.engine.fetch(Statement("read", f'SELECT count(*) FROM "{earlier.ref.name}"'))


def test_a_run_at_the_same_version_brings_no_row(clinic, monkeypatch):
    with sqlanon.connect(clinic.state) as db:
        first = db.run(clinic.spec())
        monkeypatch.setattr(LakeSession, "_load_lake", lambda *_: 1 // 0)
        again = db.run(clinic.spec())
    assert again.outcome == "unchanged"
    assert again.why[0] == f"the source is at {first.snapshot}, as before"


def test_a_run_reads_one_version_whatever_is_committed_meanwhile(clinic, monkeypatch):
    plain = LakeSession._load_lake

    def load(self: Any, copy: Any) -> None:
        plain(self, copy)
        clinic.write(range(100, 140), mode="append")

    with sqlanon.connect(clinic.state) as db:
        with monkeypatch.context() as patched:
            patched.setattr(LakeSession, "_load_lake", load)
            assert db.run(clinic.spec()).rows == 24
        assert db.run(clinic.spec()).rows >= 64


def test_the_servers_log_gets_no_value_of_a_copy_that_ends_early(clinic, monkeypatch):
    # The log has the context of an error: the row that the server has read, from its beginning.
    monkeypatch.setattr(DuckDBEngine, "read_texts", lambda *_: iter([["4711777"]]))
    with sqlanon.connect(clinic.state) as db:
        with pytest.raises(DatabaseError, match="PostgreSQL refused load delta:") as caught:
            db.run(clinic.spec(publish="release.visits"))
        cause = caught.value.__cause__
        assert isinstance(cause, psycopg.errors.BadCopyFileFormat)
        assert "line 1" in str(cause.diag.context)
        assert "4711777" not in str(cause)


@pytest.mark.parametrize("value", ["DATE '5874898-01-01'", "DATE '4714-01-01 (BC)'", "[DATE '5874898-01-01']"])
def test_times_that_postgresql_cannot_hold_are_not_sent(clinic, tmp_path, value):
    duckdb.sql(f"SELECT i AS id, i % 6 AS age, 'd' AS ill, {value} AS day FROM range(24) AS r(i)").write_parquet(
        str(tmp_path / "days.parquet")
    )
    spec = clinic.spec(source=f"parquet:{tmp_path}/days.parquet", insensitive="day", publish="release.visits")
    with sqlanon.connect(clinic.state) as db, pytest.raises(UnsupportedError, match="column day has times in years"):
        db.run(spec)


def test_rollback_unpublish_and_versions_in_history(clinic):
    spec = clinic.spec(keep=2, expire=True)
    with sqlanon.connect(clinic.state) as db:
        db.run(spec)
        first = rows_in(clinic.lake)
        clinic.write(range(6, 24))
        db.run(spec)
        assert rows_in(clinic.lake) != first
        db.rollback("visits")
        assert rows_in(clinic.lake) == shown(db) == first
        db.unpublish("visits", purge=True)
        assert rows_in(clinic.lake) == shown(db) == Counter()
        assert not clinic.lake.files()
        assert db.run(spec).outcome == "published"


def test_two_runs_at_once(clinic):
    with sqlanon.connect(clinic.state) as db, sqlanon.connect(clinic.state) as second:
        with second.engine.lock("release visits"), pytest.raises(LockedError, match="another session"):
            db.run(clinic.spec())
        assert db.run(clinic.spec()).outcome == "published"


LINEAGE = """
version: 1
releases:
  - name: visits
    source: delta:{folder}/visits
    publish: {lake}
    key: [id]
    refresh: {{mode: frozen, cohort: {{rows: 12}}}}
    columns: {{id: identifier, age: quasi, ill: sensitive}}
    privacy: {{k: 3}}
    method: mondrian
"""


def test_persons_are_erased_from_a_lineage_and_from_the_history_of_the_table(clinic):
    (spec,) = policy.loads(LINEAGE.format(folder=clinic.folder, lake=clinic.lake.name), {}).releases
    with sqlanon.connect(clinic.state) as db:
        db.run(spec)
        clinic.write(range(100, 112), mode="append")
        db.run(spec)
        assert sum(rows_in(clinic.lake).values()) == 36
        clinic.write([i for i in (*range(24), *range(100, 112)) if i != 7])
        report = db.erase(spec, [{"id": 7}], confirmed=True)
        assert report.done
        assert rows_in(clinic.lake) == shown(db)
        assert len(clinic.lake.files()) == 1
        assert 0 < sum(rows_in(clinic.lake).values()) < 36


# --- kills

ACTS: dict[str, Any] = {
    "run": lambda db, spec: db.run(spec),
    "rollback": lambda db, _: db.rollback("visits"),
    "unpublish": lambda db, _: db.unpublish("visits"),
}


def kill_at(steps: Any, act: str, clinic: Clinic, patch: pytest.MonkeyPatch) -> None:
    """Publish two versions, then act, and lose the process at a step; for each step until the act ends before it."""
    spec = clinic.spec()
    for step in steps:
        with sqlanon.connect(clinic.state) as db:
            versions = [Counter[str]()]
            for rows in (18, 24):
                clinic.write(range(rows))
                db.run(spec)
                versions.append(rows_in(clinic.lake))
            clinic.write(range(12))
        lost = die(clinic.state, lambda db: ACTS[act](db, spec), step, patch)
        there = rows_in(clinic.lake)
        assert there in versions or sum(there.values()) == 12, f"step {step}"
        with sqlanon.connect(clinic.state) as db:
            db.run(spec)
            assert rows_in(clinic.lake) == shown(db), f"step {step}"
            assert [row.status for row in db.releases()].count("published") == 1
        assert clinic.lake.files() == clinic.lake.committed(), f"step {step}"
        if not lost:
            assert step > 10
            return


@pytest.mark.parametrize("act", ACTS)
def test_after_a_kill_readers_have_a_whole_version_and_the_next_run_tidies_up(clinic, act, monkeypatch):
    kill_at([40 if act == "run" else 15], act, clinic, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("act", ACTS)
def test_the_same_of_kills_at_many_steps(clinic, act, monkeypatch):
    kill_at(count(0, 8), act, clinic, monkeypatch)


@pytest.mark.parametrize("moment", ["written", "committed"])
def test_a_kill_around_the_commit(clinic, moment, monkeypatch):
    with sqlanon.connect(clinic.state) as db:
        db.run(clinic.spec())
    before = rows_in(clinic.lake)
    clinic.write(range(18))
    plain = in_lake._verify if moment == "written" else in_lake._commit_version

    def last(*asked: Any) -> None:
        plain(*asked)
        raise KeyboardInterrupt

    with sqlanon.connect(clinic.state) as db, monkeypatch.context() as patched:
        patched.setattr(in_lake, plain.__name__, last)
        patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            db.run(clinic.spec())
    assert (rows_in(clinic.lake) == before) == (moment == "written")
    with sqlanon.connect(clinic.state) as db:
        assert db.run(clinic.spec()).outcome == ("published" if moment == "written" else "unchanged")
        assert rows_in(clinic.lake) == shown(db) != before
    assert clinic.lake.files() == clinic.lake.committed()


# --- values and refusals

VALUES = {
    "small": pa.array([1, -(2**15), None], pa.int16()),
    "large": pa.array([2**63 - 1, -(2**63), None], pa.int64()),
    "unsigned": pa.array([2**64 - 1, 0, None], pa.uint64()),
    "number": pa.array([0.1, float("nan"), -0.0], pa.float64()),
    "short": pa.array([0.1, float("-inf"), None], pa.float32()),
    "price": pa.array([Decimal("1.25"), Decimal("-99999.99"), None], pa.decimal128(7, 2)),
    "truth": pa.array([True, False, None]),
    "words": pa.array(["a\tb\\N\n", "", None]),
    "day": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
    "at": pa.array([dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2000, 1, 1), None], pa.timestamp("us")),
    "moment": pa.array([dt.datetime(2000, 1, 1, 12, tzinfo=dt.UTC), None, None], pa.timestamp("us", "UTC")),
    "hour": pa.array([dt.time(1, 2, 3, 4), dt.time(0), None], pa.time64("us")),
    "data": pa.array([b"\x00\xff\\", b"", None]),
    "listed": pa.array([["a,b", None, '"'], [], None], pa.list_(pa.string())),
    "times": pa.array([[dt.date(2000, 1, 1)], [None], None], pa.list_(pa.date32())),
}


def test_every_type_arrives_with_its_values(clinic, tmp_path):
    pq.write_table(pa.table(VALUES), tmp_path / "values.parquet")
    with sqlanon.connect(clinic.state) as db:
        relation = db.engine.relation(f"parquet:{tmp_path}/values.parquet")
        names = ", ".join(f'"{name}"' for name in VALUES)
        statement = Statement("read", f'SELECT {names} FROM "{relation.ref.name}"')
        rows = db.engine.fetch(statement)
        described = db.engine.describe(f'SELECT * FROM "{relation.ref.name}"')
    arrived = {name: [row[i] for row in rows] for i, name in enumerate(VALUES)}
    expected = {name: array.to_pylist() for name, array in VALUES.items()}
    assert str(arrived.pop("number")) == str(expected.pop("number")) == "[0.1, nan, -0.0]"
    assert arrived.pop("short") == pytest.approx(expected.pop("short"))
    assert [str(cell) for cell in arrived.pop("unsigned")] == [str(cell) for cell in expected.pop("unsigned")]
    assert arrived == expected
    assert described == tuple(column.type for column in relation.columns)


def test_types_that_postgres_lacks_are_refused(clinic, tmp_path):
    (tmp_path / "files").mkdir()
    rows = {"id": list(range(24)), "age": list(range(24)), "ill": ["a"] * 24, "box": [{"x": i} for i in range(24)]}
    pq.write_table(pa.table(rows), tmp_path / "files" / "boxes.parquet")
    with sqlanon.connect(clinic.state) as db:
        with pytest.raises(UnsupportedError, match=r"no type for every value of these columns.*: box \(STRUCT"):
            db.run(clinic.spec(source=f"parquet:{tmp_path}/files/boxes.parquet", rest="drop"))
        assert not db.releases()
    assert not list(tmp_path.glob("published"))


def test_files_that_change_while_they_are_read(clinic, tmp_path, monkeypatch):
    (tmp_path / "files").mkdir()
    pq.write_table(DeltaTable(tmp_path / "visits").to_pyarrow_table(), tmp_path / "files" / "a.parquet")
    plain = LakeSession._load_lake

    def load(self: Any, copy: Any) -> None:
        plain(self, copy)
        pq.write_table(pa.table({"id": [1], "age": [1], "ill": ["a"]}), tmp_path / "files" / "a.parquet")

    monkeypatch.setattr(LakeSession, "_load_lake", load)
    with sqlanon.connect(clinic.state) as db:
        with pytest.raises(DatabaseError, match="files were written or removed while they were read"):
            db.run(clinic.spec(source=f"parquet:{tmp_path}/files/a.parquet"))
        assert not [row for row in db.releases() if row.status == "published"]


COUNTS = """
version: 1
releases:
  - name: visits
    source: delta:{folder}/visits
    publish: {lake}
    person: id
    statistics:
      columns: {{ill: {{}}, age: {{}}}}
      tables: [{{name: all, by: [ill, age]}}]
      measures: {{n: count}}
      protect: {{persons: 3}}
"""


@pytest.mark.thorough
def test_counts_of_a_lake_table(clinic):
    (spec,) = policy.loads(COUNTS.format(folder=clinic.folder, lake=clinic.lake.name), {}).releases
    with sqlanon.connect(clinic.state) as db:
        db.run(spec)
        assert rows_in(clinic.lake) == shown(db)
        assert db.run(spec).outcome == "unchanged"
