"""Versions of a lineage that never were in the place of their file are taken back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import sqlanon
from sqlanon.errors import GuardError
from tests.frozen.wards import lineage_table, spec_of, ward, write


def test_a_file_that_was_never_put_in_place_leaves_the_lineage_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lineage is written before the rename; a version that readers never had is taken back."""
    database, released = tmp_path / "s.duckdb", tmp_path / "r.duckdb"
    __import__("duckdb").connect(str(database)).close()
    spec = spec_of("people", publish_file=str(released), keep=1)
    source = ward(random.Random(3), 20)
    more = {number: (number, 1, ("flu", "hiv")[number % 2], 1) for number in range(50, 60)}

    def broken(*_: object) -> None:
        raise OSError("no room")

    with sqlanon.connect(f"duckdb:///{database}") as db:
        write(db, "people", source)
        with monkeypatch.context() as patch:
            patch.setattr("sqlanon.release.publish.second_file.put_in_place", broken)
            with pytest.raises(sqlanon.SqlanonError):
                db.run(spec)
        # Readers never had that version: the lineage that it began is none.
        assert (db.run(spec).lineage.number, [one.status for one in db.releases("people")]) == (
            2,
            ["discarded", "published"],
        )
        lineage = lineage_table(db, "people", 2)
        before = db.engine.fetch(f"SELECT * FROM {lineage} ORDER BY 1")
        write(db, "people", source | {60: (5, 1, "cold", 1)})
        assert db.run(spec).lineage.waiting == 1
        waits = db.engine.fetch(f"SELECT * FROM {lineage} ORDER BY 1")
        write(db, "people", source | more | {60: (5, 1, "cold", 1)})

        with monkeypatch.context() as patch:
            patch.setattr("sqlanon.release.publish.second_file.put_in_place", broken)
            with pytest.raises(sqlanon.SqlanonError):
                db.run(spec)
        after = db.engine.fetch(f"SELECT * FROM {lineage} ORDER BY 1")
        assert [row for row in after if row[1] is not None] == before
        assert next(row for row in waits if row[1] is None) in after
        done = db.run(spec)
        assert (done.lineage.entered, done.lineage.published) == (11, 31)
    with sqlanon.connect(f"duckdb:///{released}", read_only=True) as readers:
        assert readers.engine.fetch("SELECT COUNT(*) FROM release.people")[0][0] == 31


@pytest.mark.thorough
@pytest.mark.parametrize("lost", ["classes", "erased"])
def test_a_run_undoes_a_killed_one_though_a_table_of_the_lineage_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """It was killed before its version was in place; somebody dropped one of the lineage's tables.

    The next run says so, and what to do.
    """
    database, released = tmp_path / "s.duckdb", tmp_path / "r.duckdb"
    __import__("duckdb").connect(str(database)).close()
    spec, source = spec_of("people", publish_file=str(released), keep=1), ward(random.Random(3), 20)
    more = {number: (number, 1, ("flu", "hiv")[number % 2], 1) for number in range(50, 60)}

    def killed(*_: object) -> None:
        raise OSError

    with sqlanon.connect(f"duckdb:///{database}") as db:
        write(db, "people", source)
        db.run(spec)
        write(db, "people", source | more)
        with monkeypatch.context() as patch:
            patch.setattr("sqlanon.release.publish.second_file.put_in_place", killed)
            patch.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
            with pytest.raises((OSError, sqlanon.SqlanonError)):
                db.run(spec)
        rows = lineage_table(db, "people")
        table = f'{rows[:-1]}_classes"' if lost == "classes" else rows.replace("lineage1", "erased")
        db.engine.execute(f"DROP TABLE {table}")
        for _ in range(2):
            with pytest.raises(GuardError, match="is gone"):
                db.run(spec)
        assert db.engine.fetch(f"SELECT COUNT(_sqlanon_class), COUNT(*) FROM {rows}") == [(20, 30)]
        if lost == "erased":
            db.erase(spec, [{"id": 1234}], confirmed=True)
        report = db.run(spec, new_lineage=lost == "classes").lineage
        assert report is not None
        assert (report.published, report.entered) == (30, 30 if lost == "classes" else 10)
