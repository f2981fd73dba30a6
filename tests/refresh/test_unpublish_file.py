"""Unpublish of a release in a file of its own: the file goes, unless it is another one by now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sqlanon
from tests.engines import ENGINES
from tests.refresh.conftest import release
from tests.refresh.test_rollback import in_file, nights, statuses
from tests.refresh.test_unpublish import Cut

FILE = ENGINES[1]


@pytest.fixture
def filed(connect, tmp_path):
    """A release in a file of its own, two versions; the file's path."""
    db, path = connect(FILE), tmp_path / "out.duckdb"
    nights(db, "f", (40, 50), publish_file=str(path), keep=2)
    return db, path


@pytest.mark.parametrize("purge", [False, True])
def test_another_file(filed, purge):
    db, path = filed
    reported = db.unpublish("f", purge=purge)
    assert (reported.version, reported.purged, path.exists()) == (2, (1, 2) if purge else (), False)
    assert statuses(db, "f") == (["dropped"] * 2 if purge else ["replaced", "withdrawn"])
    if not purge:
        assert db.rollback("f").version == 2
        assert in_file(path) == [(50,)]
        db.unpublish("f")
    again = db.run(release("f", publish_file=str(path)))
    assert (again.version, in_file(path)) == (3, [(50,)])


@pytest.mark.thorough
def test_another_file_that_is_not_ours(filed):
    db, path = filed
    path.unlink()
    path.write_text("mine")
    with pytest.raises(sqlanon.PolicyError, match=r"out\.duckdb does not hold version 2"):
        db.unpublish("f")
    assert (path.read_text(), statuses(db, "f")[-1]) == ("mine", "published")
    path.unlink()
    assert db.unpublish("f").version == 2


@pytest.mark.parametrize("before", [True, False])
def test_cut_at_the_file(filed, monkeypatch, before):
    """Once it was said that the file goes, the next command removes it, if it still holds that version."""
    db, path = filed
    unlink = Path.unlink

    def cutting(self):
        if not before:
            unlink(self)
        raise Cut

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", cutting)
        with pytest.raises(Cut):
            db.unpublish("f")
    assert (path.exists(), statuses(db, "f")[-1]) == (before, "withdrawing")
    db.clean()
    assert (path.exists(), statuses(db, "f")) == (False, ["replaced", "withdrawn"])
    if not before:
        return
    assert db.run(release("f", publish_file=str(path))).version == 3


@pytest.mark.thorough
def test_a_killed_return_to_a_withdrawn_file(filed, monkeypatch):
    """The rollback that did not reach the file leaves what was there: nothing, and the version withdrawn."""
    db, path = filed
    db.unpublish("f")

    def failing(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", failing)
        with pytest.raises(sqlanon.DatabaseError, match="No space"):
            db.rollback("f")
    assert (statuses(db, "f"), path.exists()) == (["replaced", "withdrawn"], False)
    assert db.rollback("f").version == 2


@pytest.mark.thorough
def test_a_link_in_the_place_of_the_file(filed):
    """To remove or replace the link alone would leave readers the file behind it."""
    db, path = filed
    spec = release("f", publish_file=str(path), keep=2)
    moved = path.with_name("moved.duckdb")
    path.rename(moved)
    path.symlink_to(moved)
    held = moved.read_bytes()
    for action in (
        lambda: db.unpublish("f"),
        lambda: db.run(spec, full=True),
        lambda: db.rollback("f"),
        lambda: db.plan(spec),
    ):
        with pytest.raises(sqlanon.PolicyError, match="is a symbolic link to"):
            action()
    assert path.is_symlink()
    assert moved.read_bytes() == held
    assert statuses(db, "f")[-1] == "published"
    path.unlink()
    moved.rename(path)
    db.unpublish("f")
    assert not path.exists()
