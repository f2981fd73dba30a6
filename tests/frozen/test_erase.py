"""Erased keys: their classes leave, whole, and nothing shows or keeps what was published of them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import DatabaseError, GuardError, PolicyError, PrivacyViolation
from sqlanon.spec import RefreshSpec
from tests.frozen.wards import begun, hashed, lineage_table, seen, spec_of, ward, write


def test_erased_keys_leave_with_their_classes_for_ever(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    names = {"id": 3}, {"id": "7"}, {"id": 1234}
    asked = shared_db.erase(spec, names)
    assert (asked.keys, asked.published, asked.version) == (3, 2, None)
    assert sum(seen(shared_db, table).values()) == 20
    done = shared_db.erase(spec, names, confirmed=True)
    assert (done.rows, done.classes, done.version) == (asked.rows, asked.classes, 2)
    assert sum(seen(shared_db, table).values()) == 20 - done.rows
    with pytest.raises(PolicyError):
        shared_db.rollback(table)
    kept = shared_db.engine.fetch(f"SELECT COUNT(*) FROM {lineage_table(shared_db, table)} WHERE ill IS NULL")
    assert kept[0][0] == done.rows
    emptied = (
        f'SELECT COUNT(*) FROM {lineage_table(shared_db, table)[:-1]}_classes" WHERE age_lo IS NULL AND dose_hi IS NULL'
    )
    assert shared_db.engine.fetch(emptied) == [(done.classes,)]
    report = shared_db.run(spec, full=True).lineage
    assert (report.erased, report.gone) == (2, done.rows - 2)
    anew = shared_db.run(spec, new_lineage=True).lineage
    assert (anew.published, anew.erased) == (len(source) - 2, 2)
    with pytest.raises(PolicyError, match="no value of its column"):
        shared_db.erase(spec, [{"id": "x"}])
    with pytest.raises(PolicyError, match="the key is id"):
        shared_db.erase(spec, [{"age": 3}])
    for keys in ([{"id": 3}, {"id": None}], [{"id": 3}, {"age": 4}], [{"id": 3}, {"id": 4, "age": 4}]):
        with pytest.raises(PolicyError, match="every key of the list has a value of each of id"):
            shared_db.erase(spec, keys)


@pytest.mark.thorough
def test_a_list_that_is_gone_is_not_taken_for_an_empty_one(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    shared_db.engine.execute(f"DROP TABLE {lineage_table(shared_db, table).replace('lineage1', 'erased')}")
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    for anew in (False, True):
        with pytest.raises(GuardError, match="the list of erased keys"):
            shared_db.run(spec, new_lineage=anew)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    assert shared_db.run(spec, full=True).lineage.erased == 1


def test_keys_of_a_withdrawn_release_are_erased_and_nothing_is_published(shared_db: Any) -> None:
    table, spec, _ = begun(shared_db)
    shared_db.unpublish(table)
    done = shared_db.erase(spec, [{"id": 3}], confirmed=True)
    assert (done.done, done.version) == (True, None)
    with pytest.raises(DatabaseError):
        seen(shared_db, table)
    with pytest.raises(PolicyError):
        shared_db.rollback(table)
    report = shared_db.run(spec).lineage
    assert (report.published, report.gone, report.erased) == (20 - done.rows, done.rows - 1, 1)


def test_versions_that_an_erasure_did_not_drop_are_not_returned_to(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was killed after the version without the keys was published."""
    table, spec, _ = begun(shared_db, keep=3)
    with monkeypatch.context() as patch:
        patch.setattr("sqlanon.release.publish.new_version.drop_old", lambda *_: [])
        with pytest.raises(DatabaseError, match="could not be dropped"):
            shared_db.erase(spec, [{"id": 3}], confirmed=True)
    for to in (None, 1):
        with pytest.raises(PolicyError):
            shared_db.rollback(table, to)
    assert shared_db.run(spec).outcome == "unchanged"
    assert [one.status for one in shared_db.releases(table)] == ["dropped", "published"]


@pytest.mark.thorough
@pytest.mark.parametrize("keep", [1, 3])
def test_an_erasure_that_never_reached_the_file_is_done_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int
) -> None:
    database, released = tmp_path / "s.duckdb", tmp_path / "r.duckdb"
    __import__("duckdb").connect(str(database)).close()
    spec, source = spec_of("people", publish_file=str(released), keep=keep), ward(random.Random(3), 20)
    spec = replace(spec, refresh=replace(spec.refresh, every=86400))

    def broken(*_: object) -> None:
        raise OSError("no room")

    with sqlanon.connect(f"duckdb:///{database}") as db:
        write(db, "people", source)
        db.run(spec)
        asked = db.erase(spec, [{"id": 3}])
        with monkeypatch.context() as patch:
            patch.setattr("sqlanon.release.publish.second_file.put_in_place", broken)
            with pytest.raises(sqlanon.SqlanonError):
                db.erase(spec, [{"id": 3}], confirmed=True)
        with pytest.raises(PolicyError):
            db.rollback("people")
        again = db.erase(spec, [{"id": 3}])
        assert (again.published, again.classes, again.rows) == (1, asked.classes, asked.rows)
        assert db.plan(spec).state == "made anew"
        report = db.run(spec, only_due=True).lineage  # though a run looked at it a moment ago
        assert report is not None
        assert (report.published, report.left, report.gone, report.erased) == (
            20 - asked.rows,
            asked.rows,
            asked.rows - 1,
            1,
        )
        assert [one.status for one in db.releases("people")] == ["dropped", "discarded", "published"]
        assert db.run(spec).outcome == "unchanged"
        with __import__("duckdb").connect(str(released), read_only=True) as file:
            assert file.execute("SELECT COUNT(*) FROM release.people").fetchone() == (20 - asked.rows,)


def test_a_secret_that_is_gone_is_not_taken_for_a_first_run(shared_db: Any) -> None:
    """With a secret drawn anew no key is recognized.

    All rows would be published again, in the same lineage, erased ones too.
    """
    table, spec, _ = begun(shared_db)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    rows = seen(shared_db, table)
    shared_db.engine.execute(f"DELETE FROM _sqlanon.secrets WHERE release = '{table}'")
    for anew in (False, True):
        with pytest.raises(GuardError, match="secret"):
            shared_db.run(spec, new_lineage=anew)
        with pytest.raises(GuardError, match="secret"):
            shared_db.plan(spec, new_lineage=anew)
    asked = shared_db.erase(spec, [{"id": 3}])
    assert (asked.apart, asked.only_listed, asked.done) == (1, True, False)
    assert shared_db.erase(spec, [{"id": 3}], confirmed=True).done
    assert seen(shared_db, table) == rows
    with pytest.raises(GuardError, match="secret"):
        shared_db.run(spec)
    anew = shared_db.run(spec, new_lineage=True)
    assert (anew.lineage.number, anew.lineage.published, anew.lineage.erased) == (2, 19, 1)
    assert [one.failing for one in anew.history] == [19]  # as after tables that were dropped: nothing is known
    assert shared_db.run(spec).outcome == "unchanged"


def test_a_secret_that_is_gone_stops_a_lineage_without_erased_keys(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    shared_db.engine.execute(f"DELETE FROM _sqlanon.secrets WHERE release = '{table}'")
    write(shared_db, table, source | {99: (1, 1, "flu", 1)})
    with pytest.raises(GuardError, match="secret"):
        shared_db.run(spec)
    assert sum(seen(shared_db, table).values()) == 20
    asked = shared_db.erase(spec, [{"id": 3}], confirmed=True)
    assert (asked.apart, asked.only_listed) == (0, True)
    anew = shared_db.run(spec, new_lineage=True).lineage
    assert (anew.published, anew.erased) == (20, 1)


def test_a_new_lineage_by_another_key_publishes_no_erased_key(shared_db: Any) -> None:
    """Ids become texts that are spelled in another way: no hash on the list is one of theirs."""
    table, spec, source = begun(shared_db)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    ids = "CAST(id AS DECIMAL(9, 2)) AS id, age, dose, ill, cost"
    shared_db.engine.execute(f"CREATE TABLE {table}_old AS SELECT {ids} FROM {table}")
    shared_db.engine.execute(f"DROP TABLE {table}")
    shared_db.engine.execute(f"ALTER TABLE {table}_old RENAME TO {table}")
    for anew in (False, True):
        with pytest.raises(GuardError, match=f"sqlanon erase {table} --key-file"):
            shared_db.run(spec, new_lineage=anew)
    asked = shared_db.erase(spec, [{"id": 3}])
    assert (asked.apart, asked.only_listed) == (1, True)
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    with pytest.raises(GuardError, match="type"):
        shared_db.run(spec)
    anew = shared_db.run(spec, new_lineage=True).lineage
    assert (anew.published, anew.erased) == (len(source) - 1, 1)
    again = shared_db.erase(spec, [{"id": 3}, {"id": 5}], confirmed=True)
    assert (again.apart, again.published, again.only_listed) == (0, 1, False)


@pytest.mark.thorough
def test_a_release_that_is_frozen_no_more_publishes_no_erased_key(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    full = replace(spec, refresh=RefreshSpec("full", keep=spec.refresh.keep))
    shared_db.erase(spec, [{"id": 3}], confirmed=True)
    rows = seen(shared_db, table)
    for does in (shared_db.plan, lambda asked: shared_db.run(asked, allow_weaker=True)):
        with pytest.raises(GuardError, match="keys of 1 row of the source were erased"):
            does(full)
    with pytest.raises(GuardError, match="name the key"):
        shared_db.run(replace(full, key=()), allow_weaker=True)
    assert seen(shared_db, table) == rows
    write(shared_db, table, {number: row for number, row in source.items() if number != 3})
    assert shared_db.run(full, allow_weaker=True).outcome == "published"
    assert sum(seen(shared_db, table).values()) == 19
    shared_db.engine.execute(f"DROP TABLE {lineage_table(shared_db, table).replace('lineage1', 'erased')}")
    with pytest.raises(GuardError, match="is gone, the list of erased keys"):
        shared_db.run(full, full=True)
    assert shared_db.erase(spec, [{"id": 3}], confirmed=True).only_listed
    assert shared_db.run(full, full=True).outcome == "published"


def test_an_older_lineage_whose_classes_are_gone_is_erased_from_too(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    shared_db.run(spec, new_lineage=True)
    older = lineage_table(shared_db, table)
    classes = f'{older[:-1]}_classes"'
    shared_db.engine.execute(f"DROP TABLE {classes}")
    done = shared_db.erase(spec, [{"id": 3}], confirmed=True)
    assert sum(seen(shared_db, table).values()) == len(source) - done.rows
    left = shared_db.engine.fetch(
        f"SELECT COUNT(*), COUNT(ill) FROM {older} WHERE _sqlanon_class = (SELECT _sqlanon_class FROM {older} WHERE "
        f"_sqlanon_key = '{hashed(shared_db, table, 3)}')"
    )
    assert left[0][0] >= 3
    assert left[0][1] == 0


def test_to_erase_everybody_the_release_is_withdrawn_first(shared_db: Any) -> None:
    table, spec, source = begun(shared_db)
    everybody = [{"id": number} for number in source]
    with pytest.raises(PrivacyViolation, match=rf"no row would stay published.*unpublish {table}.*then erase"):
        shared_db.erase(spec, everybody, confirmed=True)
    assert sum(seen(shared_db, table).values()) == len(source)
    shared_db.engine.execute(f"DELETE FROM {table}")
    for emptied in (shared_db.plan, shared_db.run):
        with pytest.raises(PrivacyViolation, match=r"no row would stay published.*check the source"):
            emptied(spec)
    write(shared_db, table, source)
    shared_db.unpublish(table)
    assert shared_db.erase(spec, everybody, confirmed=True).done
    kept = shared_db.engine.fetch(f"SELECT COUNT(ill) FROM {lineage_table(shared_db, table)}")
    assert kept[0][0] == 0


@pytest.mark.thorough
def test_as_many_keys_as_there_are(shared_db: Any) -> None:
    """More than the rows that are few elsewhere, of which two are published."""
    _, spec, _ = begun(shared_db)
    asked = shared_db.erase(spec, [{"id": number} for number in [3, 7, *range(10_000, 260_000)]])
    assert (asked.keys, asked.published) == (250_002, 2)
