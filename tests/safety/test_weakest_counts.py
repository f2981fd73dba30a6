"""Releases of counts on an engine without transactions, killed between two statements.

Readers have one whole version, and whoever runs next beside it knows whether they have it, or had it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlanon.database.database import Database
from sqlanon.errors import GuardError, PolicyError
from sqlanon.policy import loads
from tests.safety.test_weakest import Place, Step, all_of, changes_of_step, kept_before, killed, places, publishing
from tests.safety.visits import COUNTS, FOLLOWED, OTHER, ROWS, SUMS, TOGETHER, come, write
from tests.weakest import normal, weakest

pytest.importorskip("highspy")


def run(policy: str, **asked: Any) -> Step:
    """The step that brings a release up to date."""
    return lambda db: db.run(loads(policy, {}).releases[0], **asked)


def unpublish(db: Database) -> None:
    """The counts are withdrawn."""
    db.unpublish("counts")


def shown(place: Place) -> list[Any]:
    """The rows that a new connection reads; none without the view."""
    with place.open(normal) as db:
        return all_of(db, "counts") if db.engine.exists(db.engine.target("release.counts")) else []


def is_committed(place: Place) -> bool:
    """Whether the first version was committed: its metadata view decides, and is made before the view of the rows."""
    with place.open(normal) as db:
        there = db.engine.exists(db.engine.target("release.counts_metadata"))
    assert there or not shown(place)
    return there


def refused(db: Database, step: Step, why: str) -> None:
    """A step is refused for a reason."""
    with pytest.raises(GuardError, match=why):
        step(db)


def of_first(place: Place, before: list[Any], _: int) -> None:
    """A first version: while readers have it no other counts of the source are published."""
    assert not before
    there = is_committed(place)
    with place.open(weakest) as db:
        if there:
            refused(db, run(OTHER), "release counts publishes counts of the same source")
            assert db.run(loads(SUMS, {}).releases[0]).version == 1
            assert db.audit("release.counts").satisfied
        else:
            run(OTHER)(db)
            refused(db, run(SUMS), "release other publishes counts of the same source")


def of_withdrawn(place: Place, before: list[Any], _: int) -> None:
    """A version that is withdrawn: readers had it, whether they still have it or not."""
    assert shown(place) in (before, [])
    with place.open(weakest) as db:
        refused(db, run(OTHER), "publishes counts of the same source|who has kept them subtracts them")


def of_following(place: Place, before: list[Any], after: int) -> None:
    """A version that follows: the one before or this one, and in the end this one."""
    found = shown(place)
    with place.open(weakest) as db:
        ((version,),) = db.engine.fetch("SELECT max(as_of) FROM release.counts")
        assert (version == 1) == (found == before)
        if [row.version for row in db.releases("counts") if row.status == "published"] != [version]:
            with pytest.raises(PolicyError, match=r"a run was killed|certificate is in the private schema"):
                db.audit("release.counts")
        if after % 2:
            db.clean()
            assert db.audit("release.counts").satisfied
            assert all_of(db, "counts") == found
        run(FOLLOWED)(db)
        assert db.audit("release.counts").satisfied
        assert found in (before, all_of(db, "counts"))
        assert db.engine.fetch("SELECT max(as_of) > 1 FROM release.counts") == [(True,)]
        assert [row.status for row in db.releases("counts")].count("published") == 1


def of_rows(place: Place, before: list[Any], _: int) -> None:
    """Another version of the rows: counts are protected together with the first only if nobody had the other."""
    assert before == []
    version = "SELECT CAST(published AS JSON) ->> '$.version' FROM release.persons_metadata WHERE column_name = ''"
    with place.open(normal) as db:
        other = db.engine.fetch(version) == [("2",)]
    with place.open(weakest) as db:
        if other:
            refused(db, run(TOGETHER), r"readers had other versions of persons as well \(1\)")
        else:
            run(TOGETHER)(db)


def of_counts_with_rows(place: Place, _: list[Any], after: int) -> None:
    """Counts that are protected together with rows: while readers have them the rows get no other version."""
    there = is_committed(place)
    another = run(ROWS, full=True) if after % 2 else lambda db: db.rollback("persons")
    with place.open(weakest) as db:
        if there:
            refused(db, another, "protected together with version 2")
        else:
            another(db)


Check = Callable[[Place, list[Any], int], None]
CASES: dict[str, tuple[Sequence[Step], Step, Check]] = {
    "first": ([write], run(SUMS), of_first),
    "withdrawn": ([write, run(COUNTS)], unpublish, of_withdrawn),
    "following": ([write, run(FOLLOWED), come], run(FOLLOWED), of_following),
    "rows": ([write, run(ROWS)], run(ROWS, full=True), of_rows),
    "together": ([write, run(ROWS), run(ROWS, full=True)], run(TOGETHER, allow_weaker=True), of_counts_with_rows),
}
"""What is done before, the step that is killed, and what must hold then."""


def crash(case: str, folder: Path, choose: Callable[[list[int]], list[int]]) -> None:
    """Kill the step of a case after the changes that readers or the catalog see, as chosen; check what must hold."""
    steps, step, check = CASES[case]
    kept = kept_before([*steps], folder / "before.duckdb")
    with places(kept) as place:
        before = shown(place)
        changes = changes_of_step(place, step)
    for after in choose([at for at in range(1, len(changes)) if publishing(changes[:at])]):
        with places(kept) as place:
            assert killed(place, step, after) is not None
            check(place, before, after)


def test_killed_after_the_commit(tmp_path: Path) -> None:
    crash("first", tmp_path, lambda stops: stops[-2:-1])


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_killed_at_every_step_that_is_seen(case: str, tmp_path: Path) -> None:
    crash(case, tmp_path, lambda stops: stops)


@pytest.mark.thorough
def test_a_run_of_rows_knows_counts_that_are_being_withdrawn(tmp_path: Path) -> None:
    """The next run beside an unpublish that was killed finishes it, and then the rows may change."""
    steps = [write, run(ROWS), run(TOGETHER)]
    kept = kept_before(steps, tmp_path / "before.duckdb")
    with places(kept) as place:
        changes = changes_of_step(place, unpublish)
    stop = next(at for at, change in enumerate(changes, 1) if '"catalog"' in change)
    with places(kept) as place, place.open(weakest) as db:
        refused(db, run(ROWS, full=True), "protected together with version 1")
    with places(kept) as place:
        assert killed(place, unpublish, stop) is not None
        with place.open(weakest) as db:
            run(ROWS, full=True)(db)
        assert not shown(place)


@pytest.mark.thorough
def test_the_release_is_that_of_an_engine_with_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same key: the same cells, audits, answers and reports."""
    monkeypatch.setattr("sqlanon.release.versions.begin.secret_of", lambda _: "5a" * 32)
    found = []
    for engine in (weakest, normal):
        with duckdb.connect(":memory:") as connection, Place(connection).open(engine) as db:
            write(db)
            planned = db.plan(loads(SUMS, {}).releases[0]).notes
            run(SUMS)(db)
            answer = db.query("SELECT sex, count(*) AS n, sum(bill) AS b FROM visits WHERE ward < 3 GROUP BY sex")
            assert db.audit("release.counts").satisfied
            assert db.attack("counts").held
            found.append((all_of(db, "counts"), repr(answer.rows), planned))
            assert run(SUMS)(db).outcome == "unchanged"  # type: ignore[attr-defined]
            db.unpublish("counts")
            refused(db, run(SUMS), "If nobody has kept them")
            db.rollback("counts")
            assert all_of(db, "counts") == found[-1][0]
    assert found[0] == found[1]
