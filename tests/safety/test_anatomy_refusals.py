"""Format anatomy: verify refuses wrong groups and wrong tables, and readers keep both tables of the release before."""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon.formats.anatomy import Anatomy
from tests.contract.anatomies import read_pair
from tests.declared import declare
from tests.safety.bad import changed_after, tampered_release, tampering
from tests.safety.people import ANATOMY, private_tables, write_people

GOOD = {**ANATOMY, "seed": 5}


@pytest.fixture(scope="module")
def db(shared_db):
    """The shared database, with one good release of people by now, which every refusal leaves as it is."""
    write_people(shared_db.engine, 0)
    shared_db.anonymize("people", allow_weaker=True, **GOOD)
    write_people(shared_db.engine, 1)
    return shared_db


def refused(db, **arguments) -> str:
    """The release is refused; both tables of the one before are as they were, and nothing else is left."""
    before, pair, tables = db.releases("people"), read_pair(db, "people"), private_tables(db.engine)
    with pytest.raises(sqlanon.PrivacyViolation) as caught:
        db.anonymize("people", allow_weaker=True, **GOOD | arguments)
    assert caught.value.exit_code == 1
    assert db.releases("people") == before
    assert read_pair(db, "people") == pair
    assert {row["generation"] for row in pair.rows} == {0}
    assert private_tables(db.engine) == tables
    return str(caught.value)


BAD_METHODS = {
    "not_diverse": (tampering("UPDATE {t} SET class = rid % 20"), "l of illness"),
    "row_lost": (tampering("DELETE FROM {t} WHERE rid = 7", as_one=True), "40 have a class"),
    "row_without_class": (tampering("UPDATE {t} SET class = NULL WHERE rid = 7", as_one=True), "not the staged"),
    "row_in_two_groups": (
        tampering("INSERT INTO {t} SELECT rid, class + 1 FROM {t} WHERE rid = 7", as_one=True),
        "more than one",
    ),
    "row_of_nobody": (
        tampering("DELETE FROM {t} WHERE rid = 7", "INSERT INTO {t} VALUES (4000, 0)", as_one=True),
        "40 have a class",
    ),
    "nothing": (tampering("DELETE FROM {t}"), "0 have a class"),
}


@pytest.mark.cover
@pytest.mark.parametrize("name", BAD_METHODS)
def test_bad_methods(db, monkeypatch, name):
    method, problem = BAD_METHODS[name]
    declare(monkeypatch, "bad", method, like="mondrian")
    assert problem in refused(db, method="bad")


GROUPS = {
    "one_class_with_two_numbers": "INSERT INTO {t} SELECT _sqlanon_class, group_id + 99, 1 FROM {t}",
    "one_class_forgotten": "DELETE FROM {t} WHERE group_id = 1",
}


@pytest.mark.parametrize("name", GROUPS)
def test_tampered_groups(db, monkeypatch, name):
    monkeypatch.setattr(Anatomy, "recode", tampered_release(Anatomy.recode, GROUPS[name]))
    refused(db)


ROWS = {
    "row_lost": "DELETE FROM {t} WHERE age = (SELECT min(age) FROM {t})",
    "rows_doubled": "INSERT INTO {t} SELECT * FROM {t}",
    "quasi_changed": "UPDATE {t} SET age = age + 1",
    "insensitive_changed": "UPDATE {t} SET generation = 7",
    "group_changed": "UPDATE {t} SET group_id = group_id + 1",
    "all_in_one_group": "UPDATE {t} SET group_id = 1",
    "identifier_added": "ALTER TABLE {t} ADD COLUMN id INTEGER",
    "sensitive_added": "ALTER TABLE {t} ADD COLUMN illness TEXT",
    "column_missing": "ALTER TABLE {t} DROP COLUMN sex",
}
COUNTED = {
    "value_lost": "DELETE FROM {t} WHERE group_id = 1 AND illness = 'flu'",
    "values_doubled": "INSERT INTO {t} SELECT * FROM {t}",
    "value_split": "UPDATE {t} SET count = count - 1 WHERE group_id = 1 AND count > 1",
    "value_of_nobody": "INSERT INTO {t} VALUES (1, 'plague', 1)",
    "group_of_nobody": "INSERT INTO {t} VALUES (9999, 'flu', 1)",
    "nothing_of_a_value": "INSERT INTO {t} VALUES (1, 'plague', 0)",
    "value_changed": "UPDATE {t} SET illness = 'plague' WHERE illness = 'flu'",
    "values_exchanged": "UPDATE {t} SET illness = CASE illness WHEN 'flu' THEN 'cold' ELSE 'flu' END",
    "counts_moved": "UPDATE {t} SET count = CASE illness WHEN 'flu' THEN count + 1 ELSE count - 1 END",
    "counts_unknown": "UPDATE {t} SET count = NULL WHERE group_id = 1",
    "groups_moved": "UPDATE {t} SET group_id = group_id + 1",
    "identifier_added": "ALTER TABLE {t} ADD COLUMN id INTEGER",
    "column_missing": "ALTER TABLE {t} DROP COLUMN count",
}


@pytest.mark.cover
@pytest.mark.parametrize(
    ("template", "name"), [("publish/table", name) for name in ROWS] + [("publish/sensitive", name) for name in COUNTED]
)
def test_physical_tables_changed(db, monkeypatch, template, name):
    """What was written is not what was staged."""
    changed_after(monkeypatch, template, (ROWS if template == "publish/table" else COUNTED)[name])
    refused(db)


def test_rows_exchanged_between_groups(db, monkeypatch):
    """Both tables keep their totals, and every group its size: only the rows' own groups show it."""
    last = "(SELECT max(group_id) FROM {t})"
    exchanged = (("1", "-1"), (last, "1"), ("-1", f"{last} + 1"))
    changes = [f"UPDATE {{t}} SET group_id = {new} WHERE group_id = {old}" for old, new in exchanged]
    changed_after(monkeypatch, "publish/table", *changes)
    refused(db)


def test_refused_without_a_release_before(shared_db, monkeypatch):
    write_people(shared_db.engine, 0, "nobody")
    declare(monkeypatch, "bad", BAD_METHODS["not_diverse"][0], like="mondrian")
    with pytest.raises(sqlanon.PrivacyViolation):
        shared_db.anonymize("nobody", **GOOD, method="bad")
    for view in ("nobody", "nobody_sensitive", "nobody_metadata"):
        with pytest.raises(sqlanon.DatabaseError):
            shared_db.engine.fetch(f"SELECT * FROM release.{view}")
