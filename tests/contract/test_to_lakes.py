"""Releases from any database into lake tables, by ``publish_to``: sent, verified there, committed, and after kills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

import sqlanon
from sqlanon import policy
from sqlanon.engines.duckdb.lake.table_writer import LakeWriter
from sqlanon.errors import LockedError, PolicyError, PrivacyViolation
from sqlanon.release.publish import carry, in_lake
from tests.contract.elsewhere import KINDS, add, die, fill, shown, visits_spec
from tests.contract.lakes import Delta, Iceberg, rows_in
from tests.contract.lakes import lake as lake  # noqa: PLC0414 - a fixture
from tests.contract.test_lake_kinds import TABLES

pytestmark = [pytest.mark.duckdb, pytest.mark.postgres]


@pytest.fixture(params=["postgres", pytest.param("duckdb", marks=pytest.mark.thorough)])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of 24 visits."""
    kind = KINDS[request.param]
    if why := kind.missing():
        pytest.skip(why)
    url = kind.fresh(tmp_path)
    with sqlanon.connect(url) as db:
        fill(db)
    yield url
    kind.drop(url)


def spec_of(lake: Delta | Iceberg, **more: Any) -> Any:
    return visits_spec(lake.name, **more)


def test_readers_of_the_lake_have_the_rows_of_the_view(source, lake):
    spec = spec_of(lake, keep=2)
    with sqlanon.connect(source) as db:
        first = db.run(spec)
        assert first.published == f"release.visits and {lake.name}"
        assert rows_in(lake) == shown(db)
        assert sum(rows_in(lake).values()) == 24
        assert db.run(spec).outcome == "unchanged"
        before = rows_in(lake)
        db.engine.execute("DELETE FROM visits WHERE id < 6")
        assert db.run(spec).version == 2
        assert rows_in(lake) == shown(db) != before
        db.rollback("visits")
        assert rows_in(lake) == shown(db) == before
        assert lake.files() == lake.committed()
        db.unpublish("visits", purge=True)
        assert not rows_in(lake)
        assert shown(db) == Counter()
        assert not lake.files()
        assert db.run(spec).outcome == "published"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "more",
    [
        {"format": "labels"},
        {"format": "points"},
        {"format": "anatomy", "method": "anatomy", "k": 1},
        {"method": "suppress", "suppression": {"limit": 1.0, "rows": "starred"}},
        {"method": "freeform", "boxes": "own", "l": None},
    ],
    ids=str,
)
def test_policies_of_other_formats(source, lake, more):
    with sqlanon.connect(source) as db:
        if "boxes" not in more:  # a second version gives boxes away
            db.run(spec_of(lake))
        db.run(spec_of(lake, **more), allow_weaker=True)
        assert rows_in(lake) == shown(db)


def test_rows_of_another_program_and_commits_meanwhile(source, lake, monkeypatch):
    spec = spec_of(lake)
    with sqlanon.connect(source) as db:
        db.run(spec)
        plain = LakeWriter.commit

        def commit(self: Any, place: str, file: str | None, facts: Any, check: Any) -> None:
            plain(self, place, file, facts, lambda commits: (check(commits), lake.append(lake.arrow())))

        with monkeypatch.context() as patched:
            patched.setattr(LakeWriter, "commit", commit)
            with pytest.raises(LockedError, match="another program committed to the table meanwhile"):
                db.run(spec, full=True)
        assert sum(rows_in(lake).values()) == 48
        assert lake.files() == lake.committed()
        for act in (lambda: db.run(spec), lambda: db.unpublish("visits")):
            with pytest.raises(PolicyError, match=r"did not publish|does not show version 1"):
                act()
        assert sum(rows_in(lake).values()) == 48


@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_what_arrives_is_compared_and_measured_again(source, lake, monkeypatch):
    spec = spec_of(lake)
    plain = carry.CarryRoute.carry
    with sqlanon.connect(source) as db:
        db.run(spec)
        before = rows_in(lake)

        def spoil(road: Any, origin: Any, copy: Any, columns: Any) -> Any:
            done = plain(road, origin, copy, columns)
            if not copy.name.endswith("_metadata"):
                road.target.execute(f"DELETE FROM \"{copy.name}\" WHERE ill = 'd1'")
            return done

        real = db.engine.stream_rows

        def lossy(*asked: Any) -> Any:
            yield from ([line for line in block if "d1" not in line] for block in real(*asked))

        with monkeypatch.context() as patched:
            patched.setattr(type(db.engine), "stream_rows", lambda _, *asked: lossy(*asked))
            with pytest.raises(PrivacyViolation, match="differ from what was verified"):
                db.run(spec, full=True)
        with monkeypatch.context() as patched:
            patched.setattr(carry.CarryRoute, "carry", spoil)
            with pytest.raises(PrivacyViolation, match="in the other place: asked"):
                db.run(spec_of(lake, k=24, l=1), full=True, allow_weaker=True)
        assert rows_in(lake) == before == shown(db)
        assert lake.files() == lake.committed()


@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_types_that_would_lose_something(source, lake):
    with sqlanon.connect(source) as db:
        db.engine.execute("ALTER TABLE visits ADD COLUMN note numeric, ADD COLUMN ticket uuid")
        for name, text in {"note": "CAST", "ticket": "has a type or a name that such a table lacks"}.items():
            with pytest.raises(PolicyError, match=text):
                db.run(spec_of(lake, insensitive=name, rest="drop"))
        assert not [row for row in db.releases() if row.status == "published"]
    assert not lake.files()


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"publish_to": "delta:${PLACE}/a"}, "a variable in the name of a lake table"),
        ({"publish": "delta:b"}, "publish_to names another place, and a release goes to one"),
        ({"publish_file": "a.duckdb"}, "publish_to names another place, and a release goes to one"),
    ],
)
def test_policies_that_are_refused(tmp_path, more, text):
    with pytest.raises(PolicyError, match=text.replace("$", r"\$")):
        spec_of(Delta(tmp_path), **more)


@pytest.mark.parametrize("source", ["postgres"], indirect=True)
def test_roles_are_no_readers_of_a_lake(source, lake):
    with sqlanon.connect(source) as db:
        report = db.run(spec_of(lake, readers=["nobody_at_all"]))
        assert any("whoever may read the storage" in warning for warning in report.warnings)


# --- kills


ACTS: dict[str, Any] = {
    "run": lambda db, spec: db.run(spec),
    "rollback": lambda db, _: db.rollback("visits"),
    "unpublish": lambda db, _: db.unpublish("visits"),
}


def kill_at(steps: Any, act: str, source: str, lake: Delta | Iceberg, patch: pytest.MonkeyPatch) -> None:
    """Publish two versions, then act, and lose the process at a step; for each step until the act ends before it."""
    spec = spec_of(lake)
    for step in steps:
        with sqlanon.connect(source) as db:
            versions = [Counter[str]()]
            for rows in (18, 24):
                db.engine.execute("DELETE FROM visits")
                add(db, range(rows))
                db.run(spec)
                versions.append(rows_in(lake))
            db.engine.execute("DELETE FROM visits WHERE id >= 12")
        lost = die(source, lambda db: ACTS[act](db, spec), step, patch)
        there = rows_in(lake)
        assert there in versions or sum(there.values()) == 12, f"step {step}"
        with sqlanon.connect(source) as db:
            db.run(spec)
            assert rows_in(lake) == shown(db), f"step {step}"
            assert [row.status for row in db.releases()].count("published") == 1
        assert lake.files() == lake.committed(), f"step {step}"
        if not lost:
            assert step > 10
            return


@pytest.mark.parametrize("source", ["postgres"], indirect=True)
@pytest.mark.parametrize("act", ACTS)
def test_after_a_kill_readers_have_a_whole_version_and_the_next_run_tidies_up(source, lake, act, monkeypatch):
    kill_at([40 if act == "run" else 15], act, source, lake, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
@pytest.mark.parametrize("act", ACTS)
def test_the_same_of_kills_at_many_steps(source, lake, act, monkeypatch):
    kill_at(count(0, 8), act, source, lake, monkeypatch)


@pytest.mark.parametrize("source", ["postgres"], indirect=True)
@pytest.mark.parametrize("moment", ["written", "committed"])
def test_a_kill_around_the_commit(source, lake, moment, monkeypatch):
    """The file is there and no commit names it; the commit is there and the catalog does not have it."""
    spec = spec_of(lake)
    with sqlanon.connect(source) as db:
        db.run(spec)
        before = rows_in(lake)
        db.engine.execute("DELETE FROM visits WHERE id < 6")
    plain = in_lake._verify if moment == "written" else in_lake._commit_version

    def last(*asked: Any) -> None:
        plain(*asked)
        raise KeyboardInterrupt

    with sqlanon.connect(source) as db, monkeypatch.context() as patched:
        patched.setattr(in_lake, plain.__name__, last)
        patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            db.run(spec)
    assert (rows_in(lake) == before) == (moment == "written")
    with sqlanon.connect(source) as db:
        assert db.run(spec).outcome == ("published" if moment == "written" else "unchanged")
        assert rows_in(lake) == shown(db) != before
        assert [row.status for row in db.releases()].count("published") == 1
    assert lake.files() == lake.committed()


# --- all kinds of releases, from PostgreSQL

KINDS_OF_RELEASES = {
    "lineage": """
  - name: visits
    source: visits
    publish_to: {lake}
    key: [id]
    refresh: {{mode: frozen, cohort: {{rows: 12}}}}
    columns: {{id: identifier, age: quasi, ill: sensitive}}
    privacy: {{k: 3}}
    method: mondrian
""",
    "counts": """
  - name: visits
    source: visits
    publish: {lake}
    person: id
    statistics:
      columns: {{ill: {{}}, age: {{}}}}
      tables: [{{name: all, by: [ill, age]}}]
      measures: {{n: count}}
      protect: {{persons: 3}}
""",
    "anatomy": """
  - name: visits
    source: visits
    publish_to: {lake}
    columns: {{id: identifier, age: quasi, ill: sensitive}}
    privacy: {{l: 2}}
    method: anatomy
    format: anatomy
""",
}


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
@pytest.mark.parametrize("kind", KINDS_OF_RELEASES)
def test_every_kind_of_release(source, lake, kind):
    text = f"version: 1\nreleases:{KINDS_OF_RELEASES[kind].format(lake=lake.name)}"
    (spec,) = policy.loads(text, {}).releases
    with sqlanon.connect(source) as db:
        assert db.run(spec).outcome == "published"
        first = rows_in(lake)
        assert first == shown(db)
        assert db.run(spec).outcome == "unchanged"
        if kind != "counts":  # a reader of two versions would subtract them
            add(db, range(100, 112))
            assert db.run(spec).version == 2
            assert rows_in(lake) == shown(db) != first
        if kind == "lineage":
            assert first <= rows_in(lake)
            db.engine.execute("DELETE FROM visits WHERE id = 7")
            db.erase(spec, [{"id": 7}], confirmed=True)
            assert rows_in(lake) == shown(db)
            assert not first <= rows_in(lake)
            assert len(lake.files()) == 1
        db.unpublish("visits", purge=True)
        assert not rows_in(lake)
        assert not lake.files()


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["postgres"], indirect=True)
@pytest.mark.parametrize("commits", [0, 1, 3])
def test_tables_of_one_release_are_all_of_one_version_after_a_kill(source, tmp_path, commits, monkeypatch):
    """The first commit decides for all four tables: rows and metadata of two."""
    specs = policy.loads(f"version: 1\nreleases:\n{TABLES.format(lake=f'delta:{tmp_path}/')}", {}).releases

    def read(name: str) -> Counter[str]:
        rows = DeltaTable(tmp_path / name).to_pyarrow_table().to_pylist()
        return Counter(str(sorted(row.items())) for row in rows)

    class Lost(BaseException):
        pass

    plain, made = LakeWriter.commit, []

    def commit(*asked: Any) -> None:
        if len(made) == commits:
            raise Lost
        plain(*asked)
        made.append(asked)

    with sqlanon.connect(source) as db:
        db.engine.execute("ALTER TABLE visits ADD COLUMN person integer")
        db.engine.execute("UPDATE visits SET person = id / 2")
        db.engine.execute("CREATE TABLE persons AS SELECT DISTINCT person, 1950 + person % 4 AS born FROM visits")
        db.run_tables(specs)
        before = {name: read(name) for name in ("visits", "persons")}
        db.engine.execute("DELETE FROM visits WHERE person < 6; DELETE FROM persons WHERE person < 6")
        with monkeypatch.context() as patched:
            patched.setattr(LakeWriter, "commit", commit)
            patched.setattr("sqlanon.release.publish.publish.clean_up", lambda *_: None)
            with pytest.raises(Lost):
                db.run_tables(specs)
        if not commits:
            assert {name: read(name) for name in before} == before
    with sqlanon.connect(source) as db:
        db.run_tables(specs)
        for name in before:
            names = [column.name for column in db.engine.relation(f"release.{name}").columns]
            rows = db.engine.fetch(f"SELECT * FROM release.{name}")
            assert read(name) == Counter(str(sorted(zip(names, row, strict=True))) for row in rows)
        assert {name: sum(read(name).values()) for name in before} == {"visits": 12, "persons": 6}
