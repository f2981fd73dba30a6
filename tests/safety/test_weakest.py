"""The whole walk on the weakest engine, and that walk killed after every statement.

Readers have the old version or the new one.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon import policy
from sqlanon.database.database import Database
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.progress import SilentProgress
from sqlanon.release.divide.classes import Machine
from sqlanon.results import RunReport
from tests.safety.people import RELEASE, ROWS, VERSIONS, assert_tidy, write_people
from tests.weakest import Lost, normal, weakest

FACTS = "SELECT published FROM release.people_metadata WHERE column_name = ''"
SENSITIVE = 'SELECT sum("count") FROM release.people_sensitive'
PAIR: dict[str, Any] = {
    "quasi": "sex",
    "sensitive": "age",
    "identifiers": "id",
    "insensitive": ["generation", "illness"],
    "k": 1,
    "l": 3,
    "method": "anatomy",
    "format": "anatomy",
}
LABELS = {**RELEASE, "format": "labels"}


@dataclass
class Place:
    """A database in memory, and the connections to it."""

    connection: duckdb.DuckDBPyConnection

    def open(self, make: Callable[..., DuckDBEngine]) -> Database:
        return Database(make(self.connection), SilentProgress(), Machine(1 << 28, 1))

    def write(self, generation: int) -> None:
        with self.open(normal) as db:
            write_people(db.engine, generation)

    def seen(self) -> tuple[int, int]:
        """The generation that a fresh connection sees, complete, and the version that its metadata say."""
        with self.open(normal) as db:
            ((rows, low, high),) = db.engine.fetch(VERSIONS)
            assert low == high, (rows, low, high)
            assert rows == ROWS + low
            ((facts,),) = db.engine.fetch(FACTS)
            if "sensitive_view" in json.loads(str(facts)):
                ((beside,),) = db.engine.fetch(SENSITIVE)
                assert beside == rows
        return int(str(low)), int(json.loads(str(facts))["version"])

    def copied(self, source: str, target: str, file: Path) -> None:
        """Copy the database into a file that is attached as ``kept``, or from it."""
        self.connection.execute(f"ATTACH '{file}' AS kept")
        self.connection.execute(f"COPY FROM DATABASE {source} TO {target}")
        self.connection.execute("DETACH kept")


@contextmanager
def places(kept: Path | None = None) -> Iterator[Place]:
    """A new database: the first generation, or all that was kept in a file."""
    with duckdb.connect(":memory:") as connection:
        made = Place(connection)
        if kept is None:
            made.write(1)
        else:
            made.copied("kept", "memory", kept)
        yield made


@pytest.fixture
def place() -> Iterator[Place]:
    with places() as made:
        yield made


def run(db: Database, arguments: dict[str, Any]) -> RunReport:
    """Bring the release up to date, as a policy would."""
    return db.run(policy.release(source="people", **arguments), allow_weaker=True)


def all_of(db: Database, view: str) -> list[Any]:
    return sorted(db.engine.fetch(f"SELECT * FROM release.{view}"), key=repr)


def described(db: Database) -> list[Any]:
    """The metadata, without the token that is of each version alone."""
    rows = []
    for name, *cells, published, declared in db.engine.fetch("SELECT * FROM release.people_metadata"):
        facts = json.loads(published)
        if name == "":
            assert len(facts.pop("token")) == 32
        rows.append((name, *cells, facts, declared))
    return sorted(rows, key=repr)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "tree"},
        {"method": "mondrian"},
        *(
            pytest.param(one, marks=pytest.mark.thorough)
            for one in (
                {"method": "mondrian", "execution": "pushdown"},
                {"method": "tree", "l": "7/5"},
                {"method": "topdown"},
                {"method": "tree", "format": "points"},
                {"method": "mondrian", "format": "labels"},
                {"method": "idistance"},
            )
        ),
    ],
    ids=lambda one: "-".join(map(str, one.values())),
)
def test_the_whole_walk(place, options):
    """Everything that a release goes through, and the same release as on DuckDB with all its abilities."""
    arguments = {**RELEASE, **options, "seed": 5}
    with duckdb.connect(":memory:") as other:
        beside = Place(other)
        beside.write(1)
        with beside.open(normal) as strong, place.open(weakest) as weak:
            run(weak, arguments)
            run(strong, arguments)
            assert all_of(weak, "people") == all_of(strong, "people")
            assert described(weak) == described(strong)
            asked = "SELECT count(*) AS n FROM people WHERE age < 3"
            assert weak.query(asked).rows == strong.query(asked).rows
            quasi = list(arguments["quasi"])
            assert weak.audit("people", quasi=quasi).to_dict() == strong.audit("people", quasi=quasi).to_dict()
    with place.open(weakest) as db:
        assert run(db, arguments).outcome == "unchanged"
        assert_tidy(db)
        write_people(db.engine, 2)
        assert run(db, arguments).version == 2
        assert place.seen() == (2, 2)
        db.rollback("people")
        assert place.seen() == (1, 1)
        assert [row.status for row in db.releases()] == ["published", "withdrawn"]
        assert_tidy(db)
        db.unpublish("people", purge=True)
        assert {row.status for row in db.releases()} == {"dropped"}
        assert_tidy(db)
        assert not db.engine.exists(db.engine.target("release.people"))
        assert run(db, arguments).version == 3
        assert place.seen() == (2, 3)


def test_two_tables(place):
    """A release of two tables is whole on an engine without transactions, too."""
    with place.open(weakest) as db:
        run(db, PAIR)
        write_people(db.engine, 2)
        run(db, PAIR)
        assert place.seen() == (2, 2)
        assert_tidy(db)


Step = Callable[[Database], object]


def killed(place: Place, step: Step, after: int) -> list[str] | None:
    """Kill a step after so many changes; gives what it did, or None if it came to its end."""
    db = place.open(weakest)
    seen = db.engine.seen  # type: ignore[attr-defined]
    seen.dies_at = after
    try:
        step(db)
    except Lost:
        return list(seen.changes)
    seen.dies_at = None
    db.close()
    return None


def publishing(changes: list[str]) -> bool:
    """Whether the last change was one that readers or the catalog may see."""
    last = changes[-1] if changes else ""
    return "VIEW" in last or ('"catalog"' in last and last.startswith("INSERT"))


def refreshes(arguments: dict[str, Any]) -> Step:
    return lambda db: run(db, arguments)


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "refresh": (RELEASE, RELEASE),
    "pair": (PAIR, PAIR),
    "columns": (RELEASE, LABELS),
}
"""By which arguments the version before is made, and the one that is killed."""


def changes_of(arguments: tuple[dict[str, Any], dict[str, Any]]) -> list[str]:
    """What an undisturbed refresh changes, statement by statement."""
    with places() as place:
        with place.open(weakest) as db:
            run(db, arguments[0])
        place.write(2)
        return changes_of_step(place, refreshes(arguments[1]))


def changes_of_step(place: Place, step: Step) -> list[str]:
    """What a step changes that is not disturbed."""
    with place.open(weakest) as db:
        step(db)
        return list(db.engine.seen.changes)  # type: ignore[attr-defined]


def kept_before(steps: list[Step], file: Path) -> Path:
    """Do some steps on the weakest engine, and keep the database: every kill begins with a copy of it."""
    with places() as place:
        with place.open(weakest) as db:
            for step in steps:
                step(db)
        place.copied("memory", "kept", file)
    return file


def rewritten(db: Database) -> None:
    """The source has its second generation."""
    write_people(db.engine, 2)


def unnumbered(changes: list[str]) -> list[str]:
    """The same without what a run draws for the names of its tables."""
    return [re.sub(r"_sqlanon_[0-9a-f]{8}_", "_sqlanon_", text) for text in changes]


def holds(place: Place, arguments: dict[str, Any]) -> None:
    """Readers can ask the release, and its rows keep what was promised."""
    with place.open(normal) as db:
        found = db.query("SELECT count(*) AS n FROM people").rows[0]["n"]
        assert found.low == found.high
        if arguments["k"] > 1:
            names = [column.name for column in db.engine.relation("release.people").columns]
            quasi = ", ".join(f'"{name}"' for name in names if name not in ("illness", "generation"))
            ((least,),) = db.engine.fetch(
                f"SELECT min(n) FROM (SELECT count(*) AS n FROM release.people GROUP BY {quasi})"
            )
            assert least >= arguments["k"]


def crash_at(place: Place, case: str, after: int) -> None:
    """Kill a refresh there; whoever reads finds a whole version, and the next run puts everything in order."""
    first, second = CASES[case]
    assert killed(place, refreshes(second), after) is not None
    assert place.seen() in ((1, 1), (2, 2))
    holds(place, first)
    with place.open(weakest) as db:
        if after % 2:
            db.clean()
            assert place.seen() in ((1, 1), (2, 2))
            holds(place, first)
            assert_tidy(db)
        run(db, second)
        assert place.seen()[0] == 2
        assert [row.status for row in db.releases()].count("published") == 1
        assert_tidy(db)
    holds(place, first)


@pytest.mark.thorough
@pytest.mark.parametrize("case", ["refresh", "columns"])
def test_killed_while_publishing(case, tmp_path):
    """After every change that readers or the catalog see, and some of the others."""
    kept = kept_before([refreshes(CASES[case][0]), rewritten], tmp_path / "before.duckdb")
    changes = changes_of(CASES[case])
    stops = [i for i in range(1, len(changes)) if publishing(changes[:i])]
    for after in [*stops, *((10, 25, len(changes) - 5) if case == "refresh" else ())]:
        with places(kept) as place:
            crash_at(place, case, after)


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_killed_anywhere(case, tmp_path):
    """After every statement of a refresh.

    Of other cases after those that readers or the catalog see, and every third.
    """
    changes = unnumbered(changes_of(CASES[case]))
    known = [] if case == "refresh" else unnumbered(changes_of(CASES["refresh"]))
    pairs = enumerate(zip(changes, known, strict=False))
    alike = next((at for at, (own, other) in pairs if own != other), 0) if CASES[case][0] == RELEASE else 0
    kept = kept_before([refreshes(CASES[case][0]), rewritten], tmp_path / "before.duckdb")
    for after in range(alike, len(changes)):
        if case != "refresh" and after % 3 and not publishing(changes[:after]):
            continue
        with places(kept) as place:
            crash_at(place, case, after)


@pytest.mark.thorough
def test_killed_first_run():
    """Before the first version there is nothing: readers find nothing or all of it."""
    for after in itertools.count():
        with places() as place:
            ended = killed(place, refreshes(RELEASE), after) is None
            with place.open(normal) as db:
                there = db.engine.exists(db.engine.target("release.people"))
            if there:
                assert place.seen() == (1, 1)
            with place.open(weakest) as db:
                run(db, RELEASE)
                assert place.seen()[0] == 1
                assert_tidy(db)
            if ended:
                return


def rolled_back(db: Database) -> object:
    return db.rollback("people")


def unpublished(db: Database) -> object:
    return db.unpublish("people", purge=True)


@pytest.mark.thorough
@pytest.mark.parametrize("step", [rolled_back, unpublished])
def test_killed_rollback_and_unpublish(step, tmp_path):
    """The version before or after, or none; the next command finishes."""
    steps = [refreshes(RELEASE), rewritten, *([refreshes(RELEASE)] if step is rolled_back else [])]
    kept = kept_before(steps, tmp_path / "before.duckdb")
    for after in itertools.count():
        with places(kept) as place:
            ended = killed(place, step, after) is None
            with place.open(normal) as db:
                there = db.engine.exists(db.engine.target("release.people"))
                metadata = db.engine.exists(db.engine.target("release.people_metadata"))
            if step is rolled_back:
                assert place.seen() in ((1, 1), (2, 2))
            elif there and metadata:
                assert place.seen() == (1, 1)
            with place.open(weakest) as db:
                db.clean()
                assert [row.status for row in db.releases()].count("published") <= 1
                run(db, RELEASE)
                assert place.seen()[0] == 2
                assert_tidy(db)
            if ended:
                return
