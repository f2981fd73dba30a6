"""Nights of running counts: a killed run, a restored backup and a copy never measure a night that is not charged."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import DatabaseError, GuardError, LockedError
from sqlanon.release.budget.ledger import Ledger
from sqlanon.release.budget.nights import name_kept_tables
from tests.safety.conftest import SERVER
from tests.safety.test_budget import Place, kill_at, wait_until_gone

pytest.importorskip("opendp")

NIGHTS = 300


class NightlyPlace(Place):
    """The same persons with running counts."""

    def write(self, epsilon: str) -> None:
        super().write(epsilon)
        text = self.file.read_text().replace("{n: rows}", "{n: persons}").replace("{groups: 1", "{groups: 2")
        self.file.write_text(f"{text}      running: {{nights: {NIGHTS}}}\n")

    def check(self) -> None:
        """Every measurement has a charge of its own, and every person arrives in one night."""
        with sqlanon.connect(self.url) as db:
            events = Ledger(db.engine).read().get("people", [])
            charges = [event for event in events if event.kind == "reserved"]
            if not charges:
                return
            drawn = [event for event in events if event.kind == "drawn"]
            assert len({event.paid_by for event in charges}) == 1
            # Of each night the first charge is paid with all nights, and each further one by itself.
            for night in {event.night for event in charges}:
                own = [event for event in charges if event.night == night]
                assert [len(event.mechanisms) for event in own] == [int(night == 1)] + [1] * (len(own) - 1)
            seen, measured = name_kept_tables(db.engine, "people", charges[0].seq)
            nights = []
            if db.engine.exists(measured):
                nights = [n for (n,) in db.engine.fetch(f"SELECT DISTINCT night FROM {measured} ORDER BY night")]
                twice = f"SELECT person FROM {seen} GROUP BY number, person HAVING min(night) < max(night)"
                assert db.engine.fetch(twice) == []
            assert nights == list(range(1, len(drawn) + 1))
            if db.releases("nightly"):
                shown = db.engine.fetch("SELECT DISTINCT night FROM release.nightly")
                assert {night for (night,) in shown} <= set(nights)


@pytest.fixture
def place(tmp_path: Path) -> NightlyPlace:
    return NightlyPlace(f"duckdb:///{tmp_path / 'own.duckdb'}", tmp_path)


def some_kills(place: NightlyPlace, points: range) -> None:
    for nth in points:
        if not kill_at(place, nth):
            break
        wait_until_gone(place)
        place.check()
        place.run(spend=True)
        place.check()


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_nights_that_are_killed_at_every_statement(place: NightlyPlace, part: int) -> None:
    some_kills(place, range(1 + part, 400, 4))


@pytest.mark.thorough
def test_nights_that_are_killed_on_a_server(make_url: Any, tmp_path: Path) -> None:
    some_kills(NightlyPlace(make_url(SERVER), tmp_path), range(3, 400, 9))


@pytest.mark.thorough
def test_two_runs_at_once_measure_each_night_once(make_url: Any, tmp_path: Path) -> None:
    place = NightlyPlace(make_url(SERVER), tmp_path)
    place.run()

    def run(_: int) -> int:
        try:
            return int(place.run(spend=True).noisy.night)
        except LockedError:
            return 0

    with ThreadPoolExecutor(2) as both:
        nights = [night for _ in range(3) for night in both.map(run, range(2)) if night]
    assert sorted(nights) == list(range(2, 2 + len(nights)))
    assert len(nights) >= 3
    place.check()


@pytest.mark.thorough
def test_a_restored_backup_does_not_measure_a_night_again(place: NightlyPlace, tmp_path: Path) -> None:
    place.run()
    backup = tmp_path / "backup.duckdb"
    shutil.copy(tmp_path / "own.duckdb", backup)
    spent = place.run(spend=True).noisy.spent
    shutil.copy(backup, tmp_path / "own.duckdb")
    with pytest.raises(DatabaseError, match="lacks rows that it wrote"):
        place.run(spend=True)
    with sqlanon.connect(place.url) as db:
        db.recover_budget(place.budget, "the disk was lost")
        db.engine.execute("UPDATE _sqlanon.catalog SET checked_at = '2020-01-01T00:00:00+00:00'")
    with pytest.raises(GuardError, match="a copy of this database has measured some of the nights"):
        place.run()
    report = place.run(spend=True)
    assert (report.noisy.night, report.noisy.spent > spent) == (1, True)


@pytest.mark.thorough
def test_another_database_of_the_same_budget_has_nights_of_its_own(place: NightlyPlace, tmp_path: Path) -> None:
    other = NightlyPlace(f"duckdb:///{tmp_path / 'other.duckdb'}", tmp_path)
    first = place.run()
    second = other.run()
    assert (second.noisy.night, second.noisy.spent > first.noisy.spent) == (1, True)
    third = place.run(spend=True)
    assert (third.noisy.night, third.noisy.spent) == (2, second.noisy.spent)


def test_purged_versions_are_still_counted(place: NightlyPlace) -> None:
    """Whoever was counted is counted once, also after the release was withdrawn and its tables dropped."""
    spent = place.run().noisy.spent
    with sqlanon.connect(place.url) as db:
        db.unpublish("nightly", purge=True)
    report = place.run(spend=True)
    assert (report.noisy.night, report.noisy.spent) == (2, spent)
    place.check()


@pytest.mark.thorough
def test_no_other_role_sees_who_was_counted(make_url: Any, tmp_path: Path) -> None:
    """Default privileges would let everybody read the statistics of private tables, without a right on their schema."""
    place = NightlyPlace(make_url(SERVER), tmp_path)
    with sqlanon.connect(place.url) as db:
        db.engine.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC")
    for _ in range(2):
        place.run(spend=True)
        with sqlanon.connect(place.url) as db:
            db.engine.execute("ANALYZE")
            granted = (
                "SELECT c.relname::text, g.grantee FROM pg_class AS c, aclexplode(c.relacl) AS g "
                "WHERE c.relnamespace = '_sqlanon'::regnamespace AND g.grantee <> c.relowner"
            )
            assert db.engine.fetch(granted) == []
            assert db.engine.fetch("SELECT attname::text FROM pg_stats WHERE tablename LIKE '%seen'") == []
