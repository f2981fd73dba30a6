"""What was erased is in no file of the database any more once it is compacted; without that it is."""

from __future__ import annotations

import random
import subprocess
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

import sqlanon
from sqlanon.engines.duckdb import compaction, fresh_copy
from sqlanon.engines.postgres import compaction as postgres_compaction
from tests.engines import ENGINES, create_table
from tests.frozen.wards import spec_of

FILE, SERVER = ENGINES[1], ENGINES[2]
GONE, KEPT = "4g0n3v4lu3", "k3ptv4lu3"
ERASED = tuple(range(0, 600, 120))
"""Keys; the notes of their rows begin with `GONE`."""
COLUMNS = {"id": "INTEGER", "age": "INTEGER", "dose": "INTEGER", "ill": "TEXT", "note": "TEXT"}


def fill(db: Any, table: str) -> Any:
    """A table whose notes are published as they are; the spec of its release."""
    draw = random.Random(7)
    rows = [
        (
            number,
            draw.randrange(90),
            number % 5,
            ("flu", "cold", "hiv")[number % 3],
            f"{GONE if number in ERASED else KEPT}{number}",
        )
        for number in range(600)
    ]
    create_table(db, table, COLUMNS, rows)
    return spec_of(table, insensitive=["note"], accept_unique=["note", "ill"])


def loose(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts in the file are as they are written, so that they are found; also in the copy."""
    db.engine.execute("PRAGMA force_compression = 'uncompressed'")
    write_anew = fresh_copy.write_anew

    def uncompressed(path: Path, database: str, settings: Any) -> Any:
        return write_anew(path, database, {**settings, "force_compression": "uncompressed"})

    monkeypatch.setattr(compaction.fresh_copy, "write_anew", uncompressed)


def of_file(db: Any) -> Callable[[], bytes]:
    """Reads the DuckDB file of a database, its log included."""

    def read() -> bytes:
        path = Path(db.engine._path)
        db.engine.execute("CHECKPOINT")
        # By another process: the first descriptor of the file that is closed here would end this one's lock.
        return subprocess.run(
            ["cat", *map(str, path.parent.glob(f"{path.name}*"))], capture_output=True, check=False
        ).stdout

    return read


def of_relations(db: Any) -> Callable[[], bytes]:
    """Reads all files of a PostgreSQL database but those of the source and of the server's statistics."""
    (folder,) = (Path(row[0]) for row in db.engine.fetch("SHOW data_directory"))
    if not folder.is_dir():
        pytest.skip("the server's files are on another machine")

    def read() -> bytes:
        db.engine.execute("CHECKPOINT")
        ((own, *others),) = db.engine.fetch(
            "SELECT pg_relation_filepath('_sqlanon.catalog'), pg_relation_filepath('people'), "
            "pg_relation_filepath('pg_statistic')"
        )
        files = [entry for entry in (folder / own).parent.iterdir() if entry.is_file()]
        left_out = {Path(other).name for other in others}
        return b"".join(entry.read_bytes() for entry in files if entry.name.split("_")[0] not in left_out)

    return read


@pytest.mark.parametrize("engine", [FILE, SERVER], ids=lambda engine: engine.name)
def test_erased_values_are_in_no_file_after_compaction(
    connect: Any, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = connect(engine)
    if engine is FILE:
        loose(db, monkeypatch)
    spec = fill(db, "people")
    read = of_file(db) if engine is FILE else of_relations(db)
    db.run(spec)
    assert GONE.encode() in read()
    db.engine.execute(f"DELETE FROM people WHERE note LIKE '{GONE}%'")
    done = db.erase(spec, [{"id": key} for key in ERASED], confirmed=True)
    assert done.version == 2
    assert not db.engine.fetch(f"SELECT 1 FROM release.people WHERE note LIKE '{GONE}%'")
    assert GONE.encode() in read()  # erased, and there all the same
    seen = sorted(db.engine.fetch("SELECT * FROM release.people"), key=repr)
    monkeypatch.setattr(postgres_compaction, "SEEN_SECONDS", 300.0)  # tests of other processes share the server
    report = db.compact(["people"])
    found = read()
    assert GONE.encode() not in found
    assert KEPT.encode() in found  # so that it would be found
    assert sorted(db.engine.fetch("SELECT * FROM release.people"), key=repr) == seen
    assert 0 < report.after < report.before
    assert db.run(spec).outcome == "unchanged"
    assert db.run(spec, full=True).lineage.erased == 0
    assert [one.status for one in db.releases("people")] == ["dropped", "replaced", "published"]


@pytest.mark.thorough
def test_values_of_a_purged_release_are_not_in_the_compacted_file(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = connect(FILE)
    loose(db, monkeypatch)
    fill(db, "people")
    db.anonymize(
        "people",
        quasi=["age", "dose"],
        insensitive="note",
        accept_unique="note",
        sensitive="ill",
        identifiers="id",
        k=3,
    )
    read = of_file(db)
    db.engine.execute(f"DELETE FROM people WHERE note LIKE '{GONE}%'")
    assert db.unpublish("people", purge=True).purged == (1,)
    assert GONE.encode() in read()
    db.compact(["people"])
    assert GONE.encode() not in read()
    assert KEPT.encode() in read()


@pytest.mark.thorough
def test_rows_that_an_older_transaction_sees_are_waited_for(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of another database.

    VACUUM FULL keeps what was deleted after the oldest transaction of the server began.
    """
    db = connect(SERVER)
    spec = fill(db, "people")
    db.run(spec)
    read = of_relations(db)
    monkeypatch.setattr(postgres_compaction, "SEEN_SECONDS", 0.0)
    with psycopg.connect(_url(connect(SERVER))) as older:
        older.execute("SELECT pg_current_xact_id()")
        db.engine.execute(f"DELETE FROM people WHERE note LIKE '{GONE}%'")
        db.erase(spec, [{"id": key} for key in ERASED], confirmed=True)
        with pytest.raises(
            sqlanon.DatabaseError, match=r"lineage\S* are still in its file: a transaction on this server"
        ):
            db.compact(["people"])
        assert GONE.encode() in read()
        monkeypatch.setattr(postgres_compaction, "SEEN_SECONDS", 300.0)
        monkeypatch.setattr(postgres_compaction, "_PAUSE", 0.0)
        ending = threading.Timer(1.0, older.rollback)
        ending.start()
        db.compact(["people"])
        ending.join()
    assert GONE.encode() not in read()


def test_a_table_of_another_role_is_named(connect: Any) -> None:
    """The server only warns that it left the table as it is."""
    db, role = connect(SERVER), f"other {uuid.uuid4().hex[:6]}"
    db.engine.execute(f'CREATE ROLE "{role}"; CREATE TABLE "not mine" AS SELECT 1 AS a')
    table = db.engine.relation('"not mine"').ref
    db.engine.execute(f'SET ROLE "{role}"')
    with pytest.raises(sqlanon.DatabaseError, match=r"not written public\.not mine anew: .* for the owner"):
        db.engine.compaction.compact([table])
    db.engine.execute("RESET ROLE")
    assert db.engine.compaction.compact([table]).written == ("public.not mine",)
    db.engine.execute(f'DROP ROLE "{role}"')


@pytest.mark.parametrize("engine", [FILE, SERVER], ids=lambda engine: engine.name)
def test_a_run_of_the_release_is_not_disturbed(connect: Any, engine: Any) -> None:
    db = connect(engine)
    spec = fill(db, "people")
    db.run(spec)
    with db.engine.lock("release people"):
        if engine is FILE:
            with pytest.raises(sqlanon.LockedError):
                db.compact()
            return
        with sqlanon.connect(_url(db)) as other, pytest.raises(sqlanon.LockedError, match="people"):
            other.compact()


def _url(db: Any) -> str:
    info = db.engine._connection.info
    return f"postgresql://{info.user}@/{info.dbname}?host={info.host}&port={info.port}"
