"""Rollback, retention, and versions of the catalog side by side; a catalog that an older sqlanon made."""

from __future__ import annotations

import json
import os
import shutil

import duckdb
import pytest

import sqlanon
from tests.engines import ENGINES
from tests.refresh.conftest import fill, release


def nights(db, table, rows, **changes):
    """A version for every number of rows."""
    for count in rows:
        fill(db, table, count)
        db.run(release(table, **changes))


def seen(db, table):
    return db.engine.fetch(f"SELECT count(*) FROM release.{table}")[0][0]


def statuses(db, table):
    return [row.status for row in db.releases(table)]


@pytest.mark.thorough
def test_back_and_forward_again(shared_db):
    nights(shared_db, "r1", (40, 50, 60), keep=3)
    back = shared_db.rollback("r1")
    assert (back.withdrawn, back.version, seen(shared_db, "r1")) == (3, 2, 50)
    assert statuses(shared_db, "r1") == ["replaced", "published", "withdrawn"]
    assert back.warnings == ()  # the source has more rows than then, and lost none
    assert shared_db.rollback("r1").version == 1
    assert shared_db.rollback("r1", to=3).version == 3
    assert seen(shared_db, "r1") == 60
    assert shared_db.run(release("r1", keep=3)).outcome == "unchanged"
    audit = shared_db.audit("release.r1", spec=release("r1"))
    assert all(one.satisfied for one in audit.requirements)


def test_the_next_run_makes_a_new_version(shared_db):
    nights(shared_db, "r2", (40, 50), keep=2)
    shared_db.rollback("r2")
    again = shared_db.run(release("r2", keep=2))
    assert (again.version, again.replaces, again.outcome) == (3, 1, "published")
    assert statuses(shared_db, "r2") == ["replaced", "dropped", "published"]  # the withdrawn one goes first
    assert seen(shared_db, "r2") == 50


def test_back_to_what_readers_had(shared_db):
    """Not to a version between that nobody wants again."""
    nights(shared_db, "r10", (40, 50, 60), keep=4)
    shared_db.rollback("r10", to=1)
    fill(shared_db, "r10", 45)
    assert shared_db.run(release("r10", keep=2)).replaces == 1
    assert statuses(shared_db, "r10") == ["replaced", "dropped", "dropped", "published"]
    assert shared_db.rollback("r10").version == 1


def test_rows_that_were_deleted_since_come_back(shared_db):
    nights(shared_db, "r3", (40, 50), keep=2)
    shared_db.engine.execute("DELETE FROM r3 WHERE id IN (3, 4, 5)")
    (warning,) = shared_db.rollback("r3").warnings
    assert warning.startswith("3 rows of version 1 are no longer in the source")


def test_columns_change_back(shared_db):
    fill(shared_db, "r4")
    shared_db.run(release("r4"))
    first = [column.name for column in shared_db.engine.relation("release.r4").columns]
    shared_db.run(release("r4", format="labels"))
    second = [column.name for column in shared_db.engine.relation("release.r4").columns]
    shared_db.rollback("r4")
    assert [column.name for column in shared_db.engine.relation("release.r4").columns] == first != second


def test_to_anatomy_and_back(shared_db):
    fill(shared_db, "r5")
    shared_db.run(release("r5"))
    shared_db.run(release("r5", format="anatomy", presence="disclosed"), allow_weaker=True)
    assert shared_db.engine.exists(shared_db.engine.target("release.r5_sensitive"))
    shared_db.rollback("r5")
    assert not shared_db.engine.exists(shared_db.engine.target("release.r5_sensitive"))
    with pytest.raises(sqlanon.GuardError, match="format ranges -> anatomy"):
        shared_db.rollback("r5", to=2)
    shared_db.rollback("r5", to=2, allow_weaker=True)
    assert shared_db.engine.exists(shared_db.engine.target("release.r5_sensitive"))


def test_a_weaker_version_must_be_confirmed(shared_db):
    fill(shared_db, "r6")
    shared_db.run(release("r6", k=3))
    shared_db.run(release("r6", k=5))
    with pytest.raises(sqlanon.GuardError, match=r"k 5 -> 3 \(weaker\).*--allow-weaker") as refused:
        shared_db.rollback("r6")
    assert refused.value.exit_code == 2
    assert statuses(shared_db, "r6") == ["replaced", "published"]
    assert shared_db.rollback("r6", allow_weaker=True).warnings == ("weaker than before: k 5 -> 3 (weaker)",)


@pytest.mark.cover
@pytest.mark.parametrize(
    ("name", "to", "reported"),
    [
        ("nosuch", None, "nosuch: nothing is published"),
        ("r7", 2, "version 2 is published already"),
        ("r7", 9, "version 9 is not kept; versions to return to: 1"),
    ],
)
def test_what_cannot_be_rolled_back(shared_db, name, to, reported):
    if not shared_db.releases("r7"):
        nights(shared_db, "r7", (40, 50))
    with pytest.raises(sqlanon.PolicyError, match=reported):
        shared_db.rollback(name, to)


def test_only_one_version_is_kept(shared_db):
    nights(shared_db, "r8", (40, 50), keep=1)
    assert statuses(shared_db, "r8") == ["dropped", "published"]
    with pytest.raises(sqlanon.PolicyError, match="no earlier version is kept"):
        shared_db.rollback("r8")


def test_retention(shared_db):
    nights(shared_db, "r9", (40, 43, 46, 49, 52), keep=3)
    assert statuses(shared_db, "r9") == ["dropped", "dropped", "replaced", "replaced", "published"]
    shared_db.run(release("r9", keep=1))  # unchanged, and yet what is kept is what the policy now says
    assert statuses(shared_db, "r9") == ["dropped"] * 4 + ["published"]


def test_show_and_diff(shared_db):
    fill(shared_db, "s1")
    spec = release("s1", k=3, hierarchies={}, ordered={"sex": ["f", "m"]})
    shared_db.run(spec)
    fill(shared_db, "s1", 50)
    shared_db.run(release("s1", k=5, l=None, ordered={"sex": ["f", "m"]}), allow_weaker=True)
    shown = shared_db.version("s1@1")
    assert (shown.version, shown.status, shown.report["rows"]) == (1, "replaced", 40)
    assert shown.policy["columns"][1]["ordered"]["values"] == 2  # a list of values is kept as its hash
    assert shown.fingerprint.startswith("40:")
    assert ("age", "INTEGER") in [(name, kind.upper()) for name, kind in shown.source_columns]
    assert shared_db.version("s1").version == 2
    found = shared_db.diff("s1@1", "s1@2")
    assert found.policy == ("k 3 -> 5", "l 2 -> none (weaker)")
    assert found.weaker == ("l 2 -> none (weaker)",)
    json.dumps(found.to_dict())
    for name, reported in (("s1@7", "has no version 7; versions: 1, 2"), ("no@1", "no is not a release")):
        with pytest.raises(sqlanon.PolicyError, match=reported):
            shared_db.version(name)


def test_a_catalog_of_an_older_sqlanon(db):
    """It lacks columns and secrets: it is read as it is, and the next run adds them."""
    fill(db, "old")
    spec = release("old")
    db.run(spec)
    for column in ("fingerprint", "source_columns", "checked_at"):
        db.engine.execute(f"ALTER TABLE _sqlanon.catalog DROP COLUMN {column}")
    db.engine.execute("DROP TABLE _sqlanon.secrets")
    report = json.loads(db.engine.fetch("SELECT report FROM _sqlanon.catalog")[0][0])
    policy = json.loads(db.engine.fetch("SELECT policy FROM _sqlanon.catalog")[0][0])
    for later in ("outcome", "why", "replaces", "data", "history"):
        del report[later]
    for later in ("key", "refresh"):
        del policy[later]
    reported = [json.dumps(one).replace("'", "''") for one in (report, policy)]
    db.engine.execute(f"UPDATE _sqlanon.catalog SET report = '{reported[0]}', policy = '{reported[1]}'")
    assert [row.status for row in db.releases()] == ["published"]
    assert db.version("old").fingerprint is None
    assert db.plan(spec).why == ("the published version has no fingerprint of the source's rows",)
    assert db.run(spec).version == 2
    assert db.run(spec).outcome == "unchanged"
    assert db.rollback("old").version == 1


def in_file(path, query="SELECT count(*) FROM release.f"):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(query).fetchall()


def contents(path):
    """Every table of a file but the order of its rows."""
    tables = in_file(path, "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL")
    return {name: sorted(map(repr, in_file(path, f"FROM {'.'.join(name)}"))) for name in tables}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["ranges", "anatomy"])
def test_back_in_another_file(connect, tmp_path, kind):
    """The file holds the version that readers get, and nothing of any other."""
    db, path = connect(ENGINES[1]), tmp_path / "out.duckdb"
    changes = {"publish_file": str(path), "format": kind, "keep": 3}
    changes |= {"presence": "disclosed"} if kind == "anatomy" else {}
    held = []
    for rows in (40, 50, 60):
        fill(db, "f", rows)
        db.run(release("f", **changes))
        held.append(contents(path))
    assert db.run(release("f", **changes)).outcome == "unchanged"
    back = db.rollback("f")
    assert (back.withdrawn, back.version, in_file(path)) == (3, 2, [(50,)])
    assert contents(path) == held[1]
    assert statuses(db, "f") == ["replaced", "published", "withdrawn"]
    assert db.rollback("f", to=3).version == 3
    assert contents(path) == held[2]
    db.rollback("f", to=1)
    assert contents(path) == held[0]
    assert [name.name for name in tmp_path.glob("out.duckdb*")] == ["out.duckdb"]
    again = db.run(release("f", **changes))
    assert (again.version, again.replaces, in_file(path)) == (4, 1, [(60,)])
    shutil.copy(path, tmp_path / "old")
    fill(db, "f", 50)
    db.run(release("f", **changes))
    os.replace(tmp_path / "old", path)  # a backup
    assert db.run(release("f", **changes)).why[0] == f"{path} does not hold version 5"
    path.unlink()
    assert db.run(release("f", **changes)).why == (f"{path} is gone",)


@pytest.mark.thorough
def test_another_file_that_cannot_be_written(connect, tmp_path, monkeypatch):
    db, path = connect(ENGINES[1]), tmp_path / "out.duckdb"
    for rows in (40, 50):
        fill(db, "f", rows)
        db.run(release("f", publish_file=str(path)))
        path.chmod(0o640 if rows == 40 else path.stat().st_mode)

    def failing(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", failing)
        with pytest.raises(sqlanon.DatabaseError, match="No space"):
            db.rollback("f")
    assert (statuses(db, "f"), in_file(path)) == (["replaced", "published"], [(50,)])
    assert [name.name for name in tmp_path.glob("out.duckdb*")] == ["out.duckdb"]
    assert db.rollback("f").version == 1
    assert path.stat().st_mode & 0o777 == 0o640  # who may read it stays as it was, whatever is put in its place


@pytest.mark.thorough
def test_a_release_that_moved_to_another_file(connect, tmp_path):
    """Its views go, a file stays and is reported; what other readers had is no version to return to."""
    db = connect(ENGINES[1])
    for name, keep in ((None, 3), ("one", 3), ("two", 3), ("two", 1)):
        fill(db, "f", 40 + 5 * len(db.releases("f")))
        place = {"publish_file": str(tmp_path / f"{name}.duckdb")} if name else {}
        report = db.run(release("f", **place, keep=keep))
        moved = [line for line in report.warnings if "not refreshed any more" in line]
        assert [line.split()[0] for line in moved] == [str(tmp_path / "one.duckdb")] * (report.version == 3)
        assert db.engine.exists(db.engine.target("release.f")) == (name is None)
        with pytest.raises(sqlanon.PolicyError, match="no earlier version is kept"):
            db.rollback("f")
