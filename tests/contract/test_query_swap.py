"""A release that is replaced, or made again, while a connection asks it: no answer mixes two versions."""

from __future__ import annotations

import importlib
import json
import uuid
from typing import Any

import pytest

from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.query import find as finding
from sqlanon.query.boxes.kept_classes import KeptClasses
from sqlanon.release.catalog.metadata import metadata_rows
from tests.contract.leaving import Leaving
from tests.declared import declare
from tests.engines import ENGINES

asking = importlib.import_module("sqlanon.query.ask")
COUNT = "SELECT count(*) AS n FROM {t}"


def write(db: Any, name: str, rows: int, step: int = 1) -> None:
    """A source of ``rows`` rows whose ages are ``step`` apart."""
    db.engine.execute(f"DROP TABLE IF EXISTS {name}")
    cells = [(i * step, f"d{i % 3}") for i in range(rows)]
    db.engine.load_rows(db.engine.target(name), [("age", "INTEGER"), ("ill", "TEXT")], cells)


def release(db: Any, source: str, /, **options: Any) -> None:
    """A new version."""
    asked = {"name": source, "quasi": "age", "sensitive": "ill", "k": 3, "publish": f"release.{source}"}
    db.anonymize(source, allow_weaker=True, **{**asked, **options})


@pytest.fixture
def source(shared_db: Any) -> str:
    """A source of 12 rows with a release."""
    name = f"s{uuid.uuid4().hex[:10]}"
    write(shared_db, name, 12)
    release(shared_db, name)
    return name


def swapping(monkeypatch: pytest.MonkeyPatch, db: Any, name: str, times: int, **options: Any) -> list[int]:
    """Publish another version after the release is found, as another session may.

    Returns the rows that each leaves out.
    """
    declare(monkeypatch, "leaving", Leaving, suppresses="rows")
    asked = {"method": "leaving", "suppression": {"limit": f"{times}/12", "rows": "left_out"}, **options}
    monkeypatch.setattr(Leaving, "out", ())
    release(db, name, **asked)
    found, left_out = asking.find, [0]

    def find(*args: Any, **others: Any) -> Any:
        before = found(*args, **others)
        if len(left_out) <= times:
            left_out.append(len(left_out))
            monkeypatch.setattr(Leaving, "out", tuple(range(12 - left_out[-1], 12)))
            kept = dict(db._asked)
            release(db, name, **asked)
            db._asked.update(kept)  # a session beside clears nothing here
        return before

    monkeypatch.setattr(asking, "find", find)
    return left_out


def test_metadata_and_rows_are_of_one_version(shared_db: Any, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second version leaves a row out, which the metadata of the first do not count."""
    left_out = swapping(monkeypatch, shared_db, source, 1)
    answer = shared_db.query(COUNT.format(t=source))
    assert left_out == [0, 1]
    assert answer.left_out == 1
    assert answer.rows[0]["n"].low <= 12 <= answer.rows[0]["n"].high
    (again,) = shared_db.query(COUNT.format(t=source)).rows
    assert again["n"] == answer.rows[0]["n"]


def test_a_query_that_is_overtaken_each_time_is_refused(
    shared_db: Any, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapping(monkeypatch, shared_db, source, 4)
    with pytest.raises(DatabaseError, match="replaced by another version"):
        shared_db.query(COUNT.format(t=source))


def test_with_a_role_as_well(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db = connect(ENGINES[2])
    name, role = f"s{uuid.uuid4().hex[:10]}", f"r{uuid.uuid4().hex[:10]}"
    db.engine.execute(f"CREATE ROLE {role}")
    try:
        write(db, name, 12)
        swapping(monkeypatch, db, name, 1, readers=[role])
        answer = db.query(COUNT.format(t=name), role=role)
        assert answer.left_out == 1
        assert answer.rows[0]["n"].low <= 12 <= answer.rows[0]["n"].high
    finally:
        db.engine.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_facts_of_a_version_end_with_a_catalog_that_is_made_again(shared_db: Any, source: str) -> None:
    """Release, version and columns are the same, the values are not."""
    db = shared_db
    by_age = f"SELECT age, count(*) AS n FROM {source} GROUP BY age"
    assert len(db.query(by_age).rows) == 12
    kept = dict(db._asked)
    (before,) = kept.values()
    assert before.released.known
    db.unpublish(source, purge=True)
    db.engine.execute(f"DELETE FROM _sqlanon.catalog WHERE release = '{source}'")
    write(db, source, 12, step=1000)
    release(db, source)
    db._asked.update(kept)
    found = finding.find(db.engine, source, cached=db._asked)
    assert found is not before.released
    assert found.token != before.released.token
    assert not found.known.keys() - {KeptClasses}  # which has no tables yet


def test_metadata_without_a_token_are_not_kept(shared_db: Any, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the metadata of 0.1.0 were."""

    def old(*args: Any, **options: Any) -> Any:
        for row in metadata_rows(*args, **options):
            cells = list(row)
            if cells[0] == "":
                facts = json.loads(cells[5])
                del facts["token"]
                cells[5] = json.dumps(facts)
            yield tuple(cells)

    monkeypatch.setattr("sqlanon.release.publish.content.metadata_rows", old)
    release(shared_db, source)
    assert shared_db.query(COUNT.format(t=source)).rows[0]["n"].low == 12
    assert not shared_db._asked


def test_a_name_that_means_several_releases_by_now_is_refused(shared_db: Any, source: str) -> None:
    db = shared_db
    assert db.query(COUNT.format(t=source)).rows[0]["n"].low == 12
    assert db.query(COUNT.format(t=f"release.{source}")).rows[0]["n"].low == 12
    kept = dict(db._asked)
    assert len(kept) == 2
    release(db, source, name=f"{source}_b", publish=f"release.{source}_b")
    db._asked.update(kept)
    with pytest.raises(PolicyError, match="several releases"):
        db.query(COUNT.format(t=source))
    assert db.query(COUNT.format(t=f"release.{source}")).rows[0]["n"].low == 12
