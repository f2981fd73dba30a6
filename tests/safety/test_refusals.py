"""Verify refuses what a method or a recoding did wrong, and readers keep the release before."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon.formats.boxes import BoxFormat
from tests.declared import declare
from tests.engines import create_table
from tests.safety.bad import changed_after, tampered_release, tampering
from tests.safety.people import assert_tidy, generation_of, private_tables, write_people

ONE_CLASS = {"k": 1}
LONELY = "UPDATE {t} SET class = 1 WHERE rid = 0"

BAD_METHODS = {
    "below_k": (tampering(LONELY, as_one=True), {"k": 2}),
    "k_by_singles": (tampering("UPDATE {t} SET class = rid"), {"k": 4}),
    "row_lost": (tampering("DELETE FROM {t} WHERE rid = 7"), ONE_CLASS),
    "row_without_class": (tampering("UPDATE {t} SET class = NULL WHERE rid = 7"), ONE_CLASS),
    "row_doubled": (tampering("INSERT INTO {t} SELECT rid, class FROM {t} WHERE rid = 7"), ONE_CLASS),
    "row_in_two_classes": (
        tampering("INSERT INTO {t} SELECT rid, class + 1 FROM {t} WHERE rid = 7", as_one=True),
        ONE_CLASS,
    ),
    "row_lost_and_another_doubled": (
        tampering("DELETE FROM {t} WHERE rid = 7", "INSERT INTO {t} SELECT rid, class FROM {t} WHERE rid = 8"),
        ONE_CLASS,
    ),
    "row_of_nobody": (tampering("DELETE FROM {t} WHERE rid = 7", "INSERT INTO {t} VALUES (4000, 0)"), ONE_CLASS),
    "nothing": (tampering("DELETE FROM {t}"), ONE_CLASS),
}


@pytest.fixture(scope="module")
def db(shared_db):
    """The shared database, with one good release of people by now, which every refusal leaves as it is."""
    shared_db.engine.execute("DROP TABLE IF EXISTS people")
    write_people(shared_db.engine, 0)
    shared_db.anonymize("people", allow_weaker=True, **GOOD)
    write_people(shared_db.engine, 1)
    return shared_db


GOOD = {"quasi": ["age", "sex"], "sensitive": "illness", "identifiers": "id", "insensitive": "generation", "k": 2}


def refused(db, **arguments) -> str:
    """The release is refused, nothing of it is visible, and the one before is whole."""
    before = db.releases("people")
    tables = private_tables(db.engine)
    with pytest.raises(sqlanon.PrivacyViolation) as caught:
        db.anonymize("people", allow_weaker=True, **GOOD | arguments)
    assert caught.value.exit_code == 1
    assert generation_of(db.engine) == 0
    assert db.releases("people") == before
    assert private_tables(db.engine) == tables
    assert_tidy(db)
    return str(caught.value)


@pytest.mark.cover
@pytest.mark.parametrize("name", BAD_METHODS)
def test_bad_methods(db, monkeypatch, name):
    method, asked = BAD_METHODS[name]
    declare(monkeypatch, "bad", method, like="mondrian")
    refused(db, method="bad", **asked)


def test_a_bad_method_without_release_before(shared_db, monkeypatch):
    write_people(shared_db.engine, 0, "nobody")
    declare(monkeypatch, "bad", BAD_METHODS["below_k"][0], like="mondrian")
    with pytest.raises(sqlanon.PrivacyViolation):
        shared_db.anonymize("nobody", **GOOD, method="bad")
    with pytest.raises(sqlanon.DatabaseError):
        shared_db.engine.fetch("SELECT * FROM release.nobody")
    assert shared_db.releases("nobody") == ()


DIVERSE = {
    "l": {"l": 2},
    "l_fraction": {"l": "3/2"},
    "distinct_l": {"distinct_l": 2},
    "joint_l": {"sensitive": ["illness", "outcome"], "l": "3/2", "joint": True},
    "joint_distinct_l": {"sensitive": ["illness", "outcome"], "distinct_l": 2, "joint": True},
}


@pytest.mark.cover
@pytest.mark.parametrize("name", DIVERSE)
def test_a_class_that_is_not_diverse(shared_db, monkeypatch, name):
    """Rows 0..19 are one class and meet everything alone; rows 20..23 make the class that does not."""
    bad_class = {"l": "xxxy", "l_fraction": "xxxy", "distinct_l": "xxxx"}.get(name, "xyxy")
    rows = [(i, 1, "xyz"[i % 3], "uv"[i // 2 % 2]) for i in range(20)]
    # joint: both columns are diverse alone, but illness determines outcome
    rows += [(20 + i, 2, value, "uv"["xy".index(value)]) for i, value in enumerate(bad_class)]
    engine = shared_db.engine
    engine.execute("DROP TABLE IF EXISTS diverse")
    create_table(shared_db, "diverse", {"id": "INTEGER", "age": "INTEGER", "illness": "TEXT", "outcome": "TEXT"}, rows)
    asked = {"quasi": "age", "sensitive": "illness", "rest": "drop", "k": 2, "method": "bad", "name": name}
    asked |= {"publish": f"release.diverse_{name}"}
    declare(
        monkeypatch, "bad", tampering("UPDATE {t} SET class = CASE WHEN rid < 20 THEN 0 ELSE 1 END"), like="mondrian"
    )
    shared_db.anonymize("diverse", **asked)
    with pytest.raises(sqlanon.PrivacyViolation, match="1 classes fail" if "joint" not in name else "classes fail"):
        shared_db.anonymize("diverse", **asked | DIVERSE[name])
    assert [row.status for row in shared_db.releases(name)] == ["published"]


TAMPERED = {
    "ranges": ("UPDATE {t} SET age_lo = age_hi + 1", {}),
    "ranges_null": ("UPDATE {t} SET age_lo = NULL", {}),
    "ranges_set": ("UPDATE {t} SET sex = NULL", {}),
    "labels": ("UPDATE {t} SET age = '[90, 99]'", {"format": "labels"}),
    "labels_null": ("UPDATE {t} SET age = 'NULL'", {"format": "labels"}),
    "labels_of_set": ("UPDATE {t} SET sex = 'x'", {"format": "labels"}),
    "points": ("UPDATE {t} SET age = 99", {"format": "points"}),
    "suppressed": ("UPDATE {t} SET age = 99", {"format": "suppressed"}),
    "one_class_published_twice": ("INSERT INTO {t} SELECT * FROM {t}", {}),
    "one_class_forgotten": ("DELETE FROM {t} WHERE age_lo = (SELECT min(age_lo) FROM {t})", {}),
}


@pytest.mark.cover
@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_recoding(db, monkeypatch, name):
    statement, asked = TAMPERED[name]
    monkeypatch.setattr(BoxFormat, "recode", tampered_release(BoxFormat.recode, statement))
    refused(db, **asked)


def test_a_column_too_many(db, monkeypatch):
    """An identifier in the physical table is refused, whoever put it there."""
    changed_after(monkeypatch, "publish/table", "ALTER TABLE {t} ADD COLUMN id INTEGER")
    refused(db)


ROWS = {
    "row_lost": "DELETE FROM {t} WHERE age_lo = (SELECT min(age_lo) FROM {t}) AND illness = 'flu'",
    "row_doubled": "INSERT INTO {t} SELECT * FROM {t}",
    "sensitive_changed": "UPDATE {t} SET illness = 'x' WHERE illness = 'flu'",
    "box_changed": "UPDATE {t} SET age_hi = age_hi + 1",
}


@pytest.mark.cover
@pytest.mark.parametrize("name", ROWS)
def test_physical_rows_changed(db, monkeypatch, name):
    """The table that was written is not the staged one."""
    changed_after(monkeypatch, "publish/table", ROWS[name])
    refused(db)


def test_refused_into_another_file(connect, tmp_path, monkeypatch):
    import duckdb

    from tests.engines import ENGINES

    db = connect(ENGINES[1])
    file = tmp_path / "out.duckdb"
    write_people(db.engine, 0)
    db.anonymize("people", **GOOD, publish_file=str(file))
    write_people(db.engine, 1)
    declare(monkeypatch, "bad", BAD_METHODS["below_k"][0], like="mondrian")
    with pytest.raises(sqlanon.PrivacyViolation):
        db.anonymize("people", **GOOD, publish_file=str(file), method="bad")
    with duckdb.connect(str(file), read_only=True) as reader:
        assert reader.execute("SELECT count(*), max(generation) FROM release.people").fetchone() == (40, 0)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == ["out.duckdb"]
    assert_tidy(db)
