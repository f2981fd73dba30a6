"""Files that a release did not publish are neither overwritten nor removed, whatever a path or a catalog says.

Their content decides.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.release.publish import content
from tests.refresh.conftest import fill, release


def source(path: Path, versions: int = 2, **changes: Any) -> Any:
    """A database of ``path`` with versions of release f; the next one would be made anew."""
    duckdb.connect(str(path)).close()
    db = sqlanon.connect(f"duckdb:///{path}")
    for rows in (40, 50, 60)[:versions]:
        fill(db, "f", rows)
        db.run(release("f", **changes))
    return db


@pytest.fixture
def filed(tmp_path: Path) -> Any:
    """A release that is published in a file, two versions, both kept; its options."""
    path = tmp_path / "out.duckdb"
    changes = {"publish_file": str(path), "keep": 3}
    with source(tmp_path / "mine.duckdb", **changes) as db:
        yield db, path, changes


def text(path: Path) -> None:
    path.write_text("accounts of 2026")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def database(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE accounts AS SELECT 1 AS x")


def unmarked(path: Path) -> None:
    """All that a reader of the published file knows, but the marker."""
    with duckdb.connect(str(path)) as made:
        ((facts,),) = made.execute("SELECT published FROM release.f_metadata WHERE column_name = ''").fetchall()
        facts = json.loads(facts)
        facts.pop("marker")
        made.execute("UPDATE release.f_metadata SET published = ? WHERE column_name = ''", [json.dumps(facts)])
        made.execute("CREATE TABLE accounts AS SELECT 1 AS x")


def another_version(path: Path) -> None:
    """The marker of one version says nothing of another one."""
    with duckdb.connect(str(path)) as made:
        ((facts,),) = made.execute("SELECT published FROM release.f_metadata WHERE column_name = ''").fetchall()
        made.execute(
            "UPDATE release.f_metadata SET published = ? WHERE column_name = ''",
            [json.dumps(json.loads(facts) | {"version": 7})],
        )


def of_another_database(path: Path) -> None:
    """The file of a release of the same name, the same view and the same version, with another source."""
    other = path.with_name("other.duckdb")
    with source(path.with_name("theirs.duckdb"), publish_file=str(other)):
        pass
    shutil.move(other, path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "accounts").write_text("mine")


KINDS = (text, empty, database, unmarked, another_version, of_another_database)


def held(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else (path / "accounts").read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("put", [*KINDS, folder], ids=lambda made: made.__name__)
def test_what_was_put_in_the_place_of_a_file_stays(filed: Any, put: Callable[[Path], None]) -> None:
    db, path, changes = filed
    put(path)
    before = held(path)
    fill(db, "f", 60)
    for action in (
        lambda: db.run(release("f", **changes)),
        lambda: db.run(release("f", **changes), full=True),
        lambda: db.rollback("f"),
        lambda: db.unpublish("f"),
    ):
        with pytest.raises(
            sqlanon.PolicyError, match=r"is not a file that this release published|does not hold version 2"
        ):
            action()
        assert held(path) == before
    db.clean()
    assert held(path) == before
    assert [entry.status for entry in db.releases("f")] == ["replaced", "published"]
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert db.run(release("f", **changes)).version == 3


def test_a_file_that_appears_during_the_run_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.duckdb"
    verify = content.verify_physical

    def appears(*given: Any) -> Any:
        path.write_text("accounts of 2026")
        return verify(*given)

    with source(tmp_path / "mine.duckdb", versions=0) as db:
        fill(db, "f", 40)
        with monkeypatch.context() as patched:
            patched.setattr(content, "verify_physical", appears)
            with pytest.raises(sqlanon.PolicyError, match="is not a file that this release published"):
                db.run(release("f", publish_file=str(path)))
        assert path.read_text() == "accounts of 2026"
        assert [entry.status for entry in db.releases("f")] in (["abandoned"], ["discarded"])
        assert [found.name for found in tmp_path.glob("out.duckdb*")] == ["out.duckdb"]
        path.unlink()
        assert db.run(release("f", publish_file=str(path))).version == 2


@pytest.mark.parametrize("status", ["withdrawing", "pending", "returning", "published", "replaced", "withdrawn"])
def test_the_catalog_of_a_foreign_file_moves_nothing(tmp_path: Path, status: str) -> None:
    """It names a file that a release of the same name and version published, and even that release's random token."""
    path = tmp_path / "out.duckdb"
    with source(tmp_path / "mine.duckdb", publish_file=str(path)):
        pass
    before = path.read_bytes()
    changes = {"publish_file": str(tmp_path / "other.duckdb"), "keep": 3}
    with source(tmp_path / "theirs.duckdb", **changes) as db:
        db.engine.execute(f"UPDATE _sqlanon.catalog SET file = '{path}'")
        db.engine.execute(f"UPDATE _sqlanon.catalog SET status = '{status}' WHERE version = 2")
    with sqlanon.connect(f"duckdb:///{tmp_path}/theirs.duckdb") as db:
        refused = 0
        for action in (
            db.clean,
            lambda: db.unpublish("f"),
            lambda: db.rollback("f"),
            lambda: db.rollback("f", to=1),
            lambda: db.unpublish("f", purge=True),
            lambda: db.run(release("f", publish_file=str(path)), full=True),
            db.clean,
        ):
            try:
                action()
            except sqlanon.PolicyError:
                refused += 1
            assert path.read_bytes() == before
        assert refused


@pytest.mark.thorough
def test_a_file_that_another_process_writes_is_known_by_its_content(filed: Any) -> None:
    """It is replaced as before; one that is not ours stays, also while nobody else may open it."""
    db, path, changes = filed
    code = "import sys, duckdb; held = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    for ours in (True, False):
        if not ours:
            database(path)
        before = path.read_bytes()
        holder = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "open\n"
            fill(db, "f", 60)
            if ours:
                assert db.run(release("f", **changes), full=True).version == 3
            else:
                with pytest.raises(sqlanon.PolicyError, match="is not a file that this release published"):
                    db.run(release("f", **changes), full=True)
        finally:
            holder.communicate("")
        assert (path.read_bytes() == before) is not ours
