"""Releases in tables of Delta and Iceberg: what their readers have while versions change, and after kills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest
from deltalake import DeltaTable
from pyiceberg.table import Table

import sqlanon
from sqlanon import policy
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.engines.lacks import IN_BUCKETS, LAKE_LACKS
from sqlanon.errors import DatabaseError, LockedError, PolicyError, PrivacyViolation, SqlanonError, UnsupportedError
from tests.contract.lakes import Delta, Iceberg, rows_in
from tests.contract.lakes import lake as lake  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.duckdb


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


def test_readers_of_the_lake_have_the_rows_of_the_view(db, lake):
    spec = spec_of(lake)
    made = db.run(spec)
    assert made.published == f"release.visits and {lake.name}"
    assert rows_in(lake) == shown(db)
    assert sum(rows_in(lake).values()) == 24
    assert db.run(spec).outcome == "unchanged"
    db.engine.execute("INSERT INTO visits SELECT 100 + i, 40 + i % 2, 'd' || i FROM range(8) AS r(i)")
    assert db.run(spec).version == 2
    assert rows_in(lake) == shown(db)
    assert sum(rows_in(lake).values()) == 32
    assert lake.files() == lake.committed()
    assert len(lake.files()) == 2
    (read_file,) = db.engine.lake.list_files(db.engine.lake.place(lake.name))
    assert read_file in lake.files()
    assert db.audit(lake.name, quasi=["age_lo", "age_hi"]).k >= 3


@pytest.mark.thorough
def test_rollback_and_unpublish(db, lake):
    spec = spec_of(lake)
    db.run(spec)
    first = rows_in(lake)
    db.engine.execute("DELETE FROM visits WHERE id < 6")
    db.run(spec)
    assert rows_in(lake) != first
    db.rollback("visits")
    assert rows_in(lake) == shown(db) == first
    report = db.unpublish("visits")
    assert not rows_in(lake)
    assert any("have its rows until" in warning for warning in report.warnings)
    assert db.run(spec).outcome == "published"
    assert sum(rows_in(lake).values()) == 18


def test_a_published_table_is_queried_and_reported_by_its_own_name(db, lake):
    db.run(spec_of(lake))
    (by_view,) = db.query("SELECT count(*) AS n FROM visits WHERE age < 22").rows
    (by_table,) = db.query(f'SELECT count(*) AS n FROM "{lake.name}" WHERE age < 22').rows
    assert by_table == by_view
    assert db.report(lake.name).replace(lake.name, "visits") == db.report("visits").replace(lake.name, "visits")
    assert "age_lo" in db.propose(lake.name).policy(None, lake.name)


def count_versions(lake: Delta | Iceberg) -> int:
    """Versions with rows that a reader can go back to."""
    if isinstance(lake, Iceberg):
        return sum(lake.table.scan(snapshot_id=one.snapshot_id).count() > 0 for one in lake.table.snapshots())
    readable = set()
    for version in range(lake.table.version() + 1):
        old = DeltaTable(lake.table.table_uri, version=version)
        with suppress(OSError):
            readable |= set(old.file_uris()) if old.to_pyarrow_table().num_rows else set()
    return len(readable)


def test_versions_beyond_keep_leave_the_history(db, lake):
    spec = spec_of(lake, keep=2, expire=True)
    for version in range(1, 5):
        db.run(spec, full=True)
        assert count_versions(lake) == len(lake.files()) == min(version, 2)
        assert rows_in(lake) == shown(db)
    db.rollback("visits")
    assert rows_in(lake) == shown(db)
    report = db.unpublish("visits", purge=True)
    assert not any("have its rows until" in warning for warning in report.warnings)
    assert not rows_in(lake)
    assert count_versions(lake) == len(lake.files()) == 0
    assert db.run(spec).outcome == "published"


def test_a_run_that_changes_nothing_finishes_an_expiry(db, lake, monkeypatch):
    spec = spec_of(lake, keep=1, expire=True)
    db.run(spec)
    with monkeypatch.context() as patched:
        patched.setattr(LakeWriter, "expire", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            db.run(spec, full=True)
    assert (count_versions(lake), db.run(spec).outcome) == (2, "unchanged")
    assert count_versions(lake) == len(lake.files()) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("lake", ["iceberg"], indirect=True)
def test_manifests_have_no_values_of_deleted_rows(db, lake):
    db.run(spec_of(lake))
    db.unpublish("visits", purge=True)
    (manifest,) = lake.table.current_snapshot().manifests(lake.table.io)
    (entry,) = manifest.fetch_manifest_entry(lake.table.io, discard_deleted=False)
    assert (entry.data_file.lower_bounds or {}, entry.data_file.upper_bounds or {}) == ({}, {})


def test_without_expire_readers_can_go_back(db, lake):
    for _ in range(3):
        db.run(spec_of(lake, keep=1), full=True)
    assert count_versions(lake) == 3


def test_a_version_that_the_format_restores_is_ours(db, lake):
    """Delta's restore and Iceberg's rollback give the rows of our own; the next run notices, and publishes anew."""
    spec = spec_of(lake, keep=3)
    db.run(spec)
    first = rows_in(lake)
    db.engine.execute("DELETE FROM visits WHERE id < 6")
    db.run(spec)
    second = rows_in(lake)
    db.rollback("visits")
    assert rows_in(lake) == first
    db.rollback("visits", to=2)
    if isinstance(lake, Iceberg):
        table = lake.table
        own = next(
            item for item in table.snapshots() if item.summary.additional_properties.get("sqlanon.version") == "1"
        )
        table.manage_snapshots().rollback_to_snapshot(own.snapshot_id).commit()
    else:
        lake.table.restore(0)
    assert rows_in(lake) == first
    with pytest.raises(PolicyError, match="does not show version 2"):
        db.unpublish("visits")
    assert db.run(spec).version == 3
    assert rows_in(lake) == second == shown(db)


@pytest.mark.thorough
def test_a_policy_of_other_columns_replaces_the_schema(db, lake):
    db.run(spec_of(lake))
    for form in ("labels", "ranges", "points"):
        db.run(spec_of(lake, format=form))
        assert rows_in(lake) == shown(db)


@pytest.mark.thorough
def test_rows_of_another_program_are_not_replaced(db, lake):
    spec = spec_of(lake)
    db.run(spec)
    before = rows_in(lake)
    if isinstance(lake, Delta):
        lake.table.alter.set_table_properties({"delta.logRetentionDuration": "interval 20 days"})
        assert lake.table.version() == 1
        assert db.run(spec).outcome == "unchanged"
    lake.append(lake.arrow().slice(0, 1))
    for act in (lambda: db.run(spec, full=True), lambda: db.unpublish("visits")):
        with pytest.raises(PolicyError, match=r"did not publish|does not show version 1"):
            act()
    assert sum((rows_in(lake) - before).values()) == 1
    assert lake.files() == lake.committed()


def test_a_commit_of_another_program_meanwhile(db, lake, monkeypatch):
    """It comes after the last look at the table's commits."""
    spec = spec_of(lake)
    db.run(spec)
    plain = LakeWriter.commit

    def commit(self: Any, place: str, file: str | None, facts: Any, check: Any) -> None:
        plain(self, place, file, facts, lambda commits: (check(commits), lake.append(lake.arrow())))

    monkeypatch.setattr(LakeWriter, "commit", commit)
    with pytest.raises(LockedError, match="another program committed to the table meanwhile"):
        db.run(spec, full=True)
    assert sum(rows_in(lake).values()) == 48
    assert lake.files() == lake.committed()


@pytest.mark.thorough
def test_what_is_written_is_compared(db, lake, monkeypatch):
    spec = spec_of(lake)
    db.run(spec)
    before = rows_in(lake)
    copied = LakeWriter._hash
    monkeypatch.setattr(
        LakeWriter, "_hash", lambda self, table, columns: copied(self, table, columns) if "sqlanon-" in table else None
    )
    with pytest.raises(PrivacyViolation, match="differs from what was verified"):
        db.run(spec, full=True)
    assert rows_in(lake) == before == shown(db)
    assert lake.files() == lake.committed()
    assert [row.status for row in db.releases() if row.version == 1] == ["published"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"publish": "parquet:visits"}, "tables of Delta and Iceberg are written"),
        ({"publish": "iceberg:visits"}, "write iceberg:CATALOG/namespace.table"),
        ({"publish": "iceberg:nothing/clinic.visits"}, "the catalog nothing cannot be opened"),
        ({"insensitive": "t"}, "the column t has a type or a name that such a table lacks"),
        ({"insensitive": "two words"}, "the column two words has a type or a name"),
    ],
)
def test_what_is_refused(db, tmp_path, asked, text):
    db.engine.execute('ALTER TABLE visits ADD COLUMN t TIME; ALTER TABLE visits ADD COLUMN "two words" INTEGER')
    spec = spec_of(Delta(tmp_path), rest="drop", **asked)
    with pytest.raises(SqlanonError) as refused:
        db.run(spec)
    assert text in str(refused.value)
    assert isinstance(refused.value, UnsupportedError | PolicyError | DatabaseError)
    assert not list(tmp_path.glob("published/*"))
    assert not [row for row in db.releases() if row.status == "published"]


@pytest.mark.parametrize(
    ("scheme", "feature"), [(scheme, feature) for scheme, lacks in LAKE_LACKS.items() for feature in lacks]
)
def test_what_a_format_lacks_is_refused_with_the_reason(db, tmp_path, scheme, feature):
    place = "s3://bucket/visits" if feature == IN_BUCKETS else "visits"
    with pytest.raises(UnsupportedError) as refused:
        db.run(spec_of(Delta(tmp_path), publish=f"{scheme}:{place}"))
    assert LAKE_LACKS[scheme][feature].why in str(refused.value)


def test_a_folder_with_other_files_is_not_written(db, tmp_path):
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "own.txt").touch()
    with pytest.raises(SqlanonError, match="is no table of Delta Lake"):
        db.run(spec_of(Delta(tmp_path)))
    assert [path.name for path in tmp_path.glob("published/*")] == ["own.txt"]


def test_two_releases_do_not_share_a_table():
    text = (
        "version: 1\nreleases:\n"
        "  - {name: a, source: t, publish: 'delta:x', columns: {q: quasi}, privacy: {k: 2}}\n"
        "  - {name: b, source: t, publish: 'delta:./x', columns: {q: quasi}, privacy: {k: 2}}\n"
    )
    with pytest.raises(PolicyError, match="the table of the release in line 3 again"):
        policy.loads(text, {})


# --- kills


class Lost(BaseException):
    """The process is gone."""


class Dying:
    """A connection that lives to see a number of calls, counted from the first one after `begin`."""

    def __init__(self, connection: Any, calls: int) -> None:
        self._connection = connection
        self._left = calls
        self._counts = False
        self.used = 0

    def begin(self) -> None:
        self._counts = True

    def step(self) -> None:
        if self._counts:
            if self._left == self.used:
                raise Lost
            self.used += 1

    def execute(self, *asked: Any) -> Any:
        self.step()
        return self._connection.execute(*asked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def die(warehouse: str, act: Callable[[Any], object], calls: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Act in a process that is lost after so many steps from the catalog's first note on; gives the steps it took."""
    with monkeypatch.context() as patched, sqlanon.connect(warehouse) as db:
        real = db.engine._connection
        dying = Dying(real, calls)
        db.engine._connection = dying
        for name in ("write", "commit", "remove"):
            plain = getattr(LakeWriter, name)

            def stepped(self: Any, *asked: Any, plain: Any = plain) -> Any:
                dying.begin()
                dying.step()
                done = plain(self, *asked)
                dying.step()
                return done

            patched.setattr(LakeWriter, name, stepped)
        catalogued = Table._do_commit

        def do_commit(self: Any, *asked: Any, **more: Any) -> Any:
            dying.step()
            done = catalogued(self, *asked, **more)
            dying.step()
            return done

        patched.setattr(Table, "_do_commit", do_commit)
        with suppress(Lost):
            act(db)
        real.close()  # nothing of an open transaction stays
        db.engine._connection = duckdb.connect()
        return dying.used


ACTS: dict[str, Callable[[Any, Any], object]] = {
    "run": lambda db, spec: db.run(spec, full=True),
    "rollback": lambda db, _: db.rollback("visits"),
    "unpublish": lambda db, _: db.unpublish("visits"),
}


def copied(folder: Path) -> dict[Path, bytes]:
    """Every file of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def restore(folder: Path, before: dict[Path, bytes], lake: Delta | Iceberg) -> None:
    """Make a folder as it was, also for the catalog that has a file of it open."""
    lake.forget()
    for path in copied(folder):
        if path not in before:
            path.unlink()
    for path, content in before.items():
        path.write_bytes(content)


def kill_at(steps: Iterable[int], act: str, warehouse: str, lake: Delta | Iceberg, patch: pytest.MonkeyPatch) -> None:
    """Publish twice, then act, once for each step at which the process is lost, until the act ends before."""
    spec = spec_of(lake)
    versions = []
    with sqlanon.connect(warehouse) as db:
        for rows in ("id < 30", "id >= 6"):
            db.engine.execute(f"DELETE FROM visits WHERE NOT {rows}")
            db.run(spec)
            versions.append(rows_in(lake))
    before = copied(lake.folder)
    for step in steps:
        restore(lake.folder, before, lake)
        if die(warehouse, lambda db: ACTS[act](db, spec), step, patch) < step:
            assert step > 5
            return
        assert rows_in(lake) in [*versions, Counter()]
        with sqlanon.connect(warehouse) as db:
            db.run(spec)
            assert rows_in(lake) == shown(db)
            assert rows_in(lake) in versions
            assert lake.files() == lake.committed()


@pytest.mark.parametrize(
    "act", ["run", *(pytest.param(act, marks=pytest.mark.thorough) for act in ("rollback", "unpublish"))]
)
def test_after_a_kill_readers_have_a_whole_version_and_the_next_run_tidies_up(warehouse, lake, act, monkeypatch):
    kill_at([0, 2], act, warehouse, lake, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("act", ACTS)
def test_the_same_of_kills_at_every_step(warehouse, lake, act, monkeypatch):
    kill_at(count(), act, warehouse, lake, monkeypatch)
