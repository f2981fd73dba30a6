"""Releases in tables of Delta and Iceberg: what their readers have while versions change."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from deltalake import DeltaTable

from sqlanon import policy
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.engines.lacks import IN_BUCKETS, LAKE_LACKS
from sqlanon.errors import DatabaseError, LockedError, PolicyError, PrivacyViolation, SqlanonError, UnsupportedError
from tests.contract.lake_visits import db as db  # noqa: PLC0414 - a fixture
from tests.contract.lake_visits import shown, spec_of
from tests.contract.lake_visits import warehouse as warehouse  # noqa: PLC0414 - a fixture
from tests.contract.lakes import Delta, Iceberg, rows_in
from tests.contract.lakes import lake as lake  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.duckdb


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


@pytest.mark.thorough
@pytest.mark.parametrize("lake", ["iceberg"], indirect=True)
def test_a_table_that_has_partitions_since(db, lake):
    """A reader who asks for a partition would not find the rows of a file that has no values of it."""
    spec = spec_of(lake)
    db.run(spec)
    before, files = rows_in(lake), lake.files()
    with lake.table.update_spec() as change:
        change.add_identity("ill")
    with pytest.raises(UnsupportedError, match="the table has partitions"):
        db.run(spec, full=True)
    assert (rows_in(lake), lake.files()) == (before, files)
    with lake.table.update_spec() as change:
        change.remove_field("ill")
    assert db.run(spec, full=True).outcome == "published"
    assert rows_in(lake) == shown(db)


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
