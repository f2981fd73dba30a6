"""A run killed by SIGKILL anywhere leaves the last release whole, and the next run tidies up."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from tests.safety.conftest import FILE, SERVER, hear, kill, wait_for
from tests.safety.people import RELEASE, VERSIONS, assert_tidy, generation_of, is_whole, write_people
from tests.safety.worker import hold_file, rollback_until, run_until, unpublish_until

STOPS = [
    ("snapshot", 1),
    ("profile", 1),
    ("encode", 1),
    ("method", 1),
    ("recode", 1),
    ("verify", 1),
    ("publish", 1),  # before the physical table
    ("verify", 2),  # of the physical table
    ("publish", 2),  # verified, and not yet in place
]

MAIN_STOPS = STOPS[3:4] + STOPS[-3:]
"""Stops after which something differs: in the middle of the work, and around what is written for readers."""


@dataclass
class Place:
    """A database with a release of `people`, and how many generations it has seen."""

    url: str
    file: Path | None = None
    generation: int = 0
    arguments: dict[str, Any] = field(default_factory=lambda: dict(RELEASE))

    def write(self) -> None:
        """A new generation of the source, not yet released."""
        self.generation += 1
        with sqlanon.connect(self.url) as db:
            write_people(db.engine, self.generation)

    def run(self) -> None:
        """Release what the source holds."""
        with sqlanon.connect(self.url) as db:
            db.anonymize("people", **self.arguments)

    def seen(self) -> int:
        """The generation that readers see."""
        if self.file is None:
            with sqlanon.connect(self.url) as db:
                return generation_of(db.engine)
        import duckdb

        with duckdb.connect(str(self.file), read_only=True) as connection:
            row = connection.execute(VERSIONS).fetchone()
        assert row is not None
        assert is_whole(row), row
        return int(row[1])

    def statuses(self) -> list[str]:
        """What the catalog says of every version."""
        with sqlanon.connect(self.url) as db:
            return [row.status for row in db.releases()]

    def leftovers(self) -> list[str]:
        """Files beside the published one that nobody should see for long."""
        if self.file is None:
            return []
        beside = [path.name for path in self.file.parent.iterdir() if path != self.file]
        return [name for name in beside if name.startswith(self.file.name)]

    def gone(self) -> None:
        """Wait until the server has noticed that the killed process is gone."""
        if not self.url.startswith("postgresql"):
            return
        with sqlanon.connect(self.url) as db:
            others = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND application_name = 'sqlanon' AND pid <> pg_backend_pid()"
            )
            wait_for(lambda: db.engine.fetch(others) == [(0,)])

    def assert_next_run_works(self) -> None:
        """The next run releases what is there now, and nothing of the killed one is left."""
        self.write()
        self.run()
        assert self.seen() == self.generation
        assert self.leftovers() == []
        with sqlanon.connect(self.url) as db:
            db.clean()
            assert_tidy(db)
        assert self.seen() == self.generation


@pytest.fixture(scope="module", params=["duckdb", "duckdb_two_files", "postgres"])
def place(request, make_url, tmp_path_factory) -> Place:
    made = Place(make_url(SERVER if request.param == "postgres" else FILE))
    if request.param == "duckdb_two_files":
        made.file = tmp_path_factory.mktemp("published") / "people [1].duckdb"
        made.arguments |= {"publish_file": str(made.file)}
    made.write()
    made.run()
    return made


def killed_at(place: Place, start, stage: str, nth: int = 1) -> int:
    """Kill a run of a new generation there; gives the generation released before."""
    before = place.generation
    place.write()
    process, pipe = start(run_until, place.url, place.arguments, stage, nth)
    assert hear(pipe) == "here"
    kill(process)
    place.gone()
    return before


@pytest.mark.cover
@pytest.mark.parametrize(
    ("stage", "nth"), [pytest.param(*stop, marks=[pytest.mark.thorough] * (stop not in MAIN_STOPS)) for stop in STOPS]
)
def test_killed_at_a_stage(place, start, stage, nth):
    before = killed_at(place, start, stage, nth)
    assert place.seen() == before
    assert place.statuses().count("published") == 1
    place.assert_next_run_works()


@pytest.mark.thorough
def test_killed_at_a_stage_then_cleaned(place, start):
    before = killed_at(place, start, "publish", 2)
    with sqlanon.connect(place.url) as db:
        db.clean()
        assert_tidy(db)
    assert place.seen() == before
    assert place.leftovers() == []
    assert place.statuses().count("published") == 1
    place.assert_next_run_works()


@pytest.fixture
def two_files(place) -> Place:
    if place.file is None:
        pytest.skip("only a release in another file is renamed into place")
    return place


def test_killed_before_the_file_is_in_place(two_files, start):
    before = killed_at(two_files, start, "replace")
    assert two_files.seen() == before
    assert two_files.statuses()[-1] == "pending"
    two_files.assert_next_run_works()


def test_killed_after_the_file_is_in_place(two_files, start):
    """The file is the new release: the catalog must come to say so."""
    killed_at(two_files, start, "replaced")
    assert two_files.seen() == two_files.generation
    assert two_files.statuses()[-1] == "pending"
    with sqlanon.connect(two_files.url) as db:
        db.clean()
    assert two_files.statuses()[-1] == "published"
    assert two_files.statuses().count("published") == 1
    with sqlanon.connect(two_files.url) as db:
        report = db.version("people").report
    assert report["verified"]
    assert [(one["name"], one["satisfied"]) for one in report["requirements"]] == [("k", True)]
    two_files.assert_next_run_works()


def test_killed_after_the_file_is_in_place_and_read(two_files, start):
    """As before, while an analyst reads the file."""
    killed_at(two_files, start, "replaced")
    _, pipe = start(hold_file, str(two_files.file))
    assert hear(pipe) == "here"
    with sqlanon.connect(two_files.url) as db:
        db.clean()
    assert two_files.statuses()[-1] == "published"
    two_files.assert_next_run_works()


@pytest.mark.parametrize("stage", ["replace", "replaced"])
def test_killed_rollback_of_a_file(two_files, start, stage):
    """Readers have the version before or the one rolled back to, and the catalog comes to say which."""
    two_files.write()
    two_files.run()
    now = two_files.generation
    process, pipe = start(rollback_until, two_files.url, stage)
    assert hear(pipe) == "here"
    kill(process)
    assert two_files.seen() == (now if stage == "replace" else now - 1)
    assert two_files.statuses()[-2:] == ["returning", "published"]
    with sqlanon.connect(two_files.url) as db:
        db.clean()
        assert_tidy(db)
    settled = ["replaced", "published"] if stage == "replace" else ["published", "withdrawn"]
    assert two_files.statuses()[-2:] == settled
    assert two_files.leftovers() == []
    two_files.assert_next_run_works()


@pytest.mark.parametrize("stage", ["unlink", "unlinked"])
def test_killed_unpublish_of_a_file(two_files, start, stage):
    """Readers have the file or none; the next command finishes what was begun."""
    process, pipe = start(unpublish_until, two_files.url, stage, two_files.file.name)
    assert hear(pipe) == "here"
    kill(process)
    assert two_files.file.exists() == (stage == "unlink")
    with sqlanon.connect(two_files.url) as db:
        assert db.releases()[-1].status == "withdrawing"
        db.unpublish("people", purge=True)
        assert_tidy(db)
        assert {row.status for row in db.releases()} <= {"dropped", "discarded"}
    assert not two_files.file.exists()
    assert two_files.leftovers() == []
    two_files.assert_next_run_works()


@pytest.mark.parametrize("engine", [FILE, SERVER], ids=lambda engine: engine.name)
def test_killed_unpublish_of_views(make_url, start, engine):
    """Views that were dropped and not yet committed are there for readers, whole."""
    url = make_url(engine)
    with sqlanon.connect(url) as db:
        write_people(db.engine, 1)
        db.anonymize("people", **RELEASE)
    process, pipe = start(unpublish_until, url, "dropped", "")
    assert hear(pipe) == "here"
    kill(process)
    with sqlanon.connect(url) as db:
        assert generation_of(db.engine) == 1
        assert db.releases()[-1].status == "published"
        assert db.unpublish("people", purge=True).purged == (1,)
        assert_tidy(db)


def test_error_after_the_file_is_in_place(two_files, monkeypatch):
    """What the catalog says of a file that was put in place stays true when flushing its folder fails."""
    import os

    fsync, calls = os.fsync, []

    def failing(number: int) -> None:
        calls.append(number)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        fsync(number)

    two_files.write()
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises((OSError, sqlanon.SqlanonError)):
        two_files.run()
    monkeypatch.undo()
    with sqlanon.connect(two_files.url) as db:
        db.clean()
        published = [row.rows for row in db.releases() if row.status == "published"]
    assert published == [40 + two_files.seen()]
    two_files.assert_next_run_works()


def test_server_ends_the_session(make_url):
    """The same when it is not us who die: the error is ours, and the next run works."""
    place = Place(make_url(SERVER))
    place.write()
    place.run()
    place.write()

    class Cut:
        def stage(self, release, stage):
            if stage == "publish":
                with sqlanon.connect(place.url) as other:
                    other.engine.fetch(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                        "AND pid <> pg_backend_pid()"
                    )

        def update(self, done, total, unit): ...

        def note(self, message): ...

        def finish(self, release): ...

    with sqlanon.connect(place.url, progress=Cut()) as db, pytest.raises(sqlanon.DatabaseError):
        db.anonymize("people", **place.arguments)
    assert place.seen() == 1
    place.assert_next_run_works()
