"""Budgets: what readers have seen is charged, whatever is killed, restored, copied or done by two at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon
from sqlanon.errors import DatabaseError, InfeasibleError, PolicyError
from sqlanon.noisy.accounting import Mechanism, total_epsilon
from sqlanon.noisy_spec import BudgetSpec
from sqlanon.release.budget.anchor import Anchor
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.events import list_spendings
from sqlanon.release.budget.ledger import Ledger
from tests.engines import create_table
from tests.safety.conftest import forked, wait_for
from tests.safety.worker import run_until_call

pytest.importorskip("opendp")

POLICY = """\
version: 1
budgets:
  - {{name: people, persons: {{stays: pid}}, epsilon: {epsilon}, delta: 1e-6, anchor: {anchor}}}
releases:
  - name: nightly
    source: stays
    every: 1d
    statistics:
      budget: people
      epsilon: 0.5
      tables: [{{by: [sex]}}]
      groups: {{sex: [F, M]}}
      measures: {{n: rows}}
      contributions: {{groups: 1, rows: 2}}
"""

ENDS = ("drawn", "published")
"""What a version comes to after it was charged."""


class Place:
    """A database of persons, a policy and an anchor."""

    def __init__(self, url: str, folder: Path, epsilon: str = "100") -> None:
        self.url, self.folder = url, folder
        self.anchor, self.file = folder / "anchor", folder / "anon.yml"
        self.write(epsilon)
        if url.startswith("duckdb"):
            duckdb.connect(url.removeprefix("duckdb:///")).close()
        with sqlanon.connect(url) as db:
            create_table(db, "stays", {"pid": "INTEGER", "sex": "TEXT"}, [(i // 2, "FM"[i % 2]) for i in range(40)])

    def write(self, epsilon: str) -> None:
        self.file.write_text(POLICY.format(anchor=self.anchor, epsilon=epsilon))

    @property
    def budget(self) -> BudgetSpec:
        return sqlanon.load_policy(self.file).budgets[0]

    def run(self, url: str = "", **asked: Any) -> Any:
        with sqlanon.connect(url or self.url) as db:
            return db.run(sqlanon.load_policy(self.file).releases[0], **asked)

    def look(self, url: str = "") -> tuple[list[str], list[Any]]:
        """The states of all versions in the ledger, and what readers see."""
        with sqlanon.connect(url or self.url) as db:
            events = Ledger(db.engine).read().get("people", [])
            states = [one.state for one in list_spendings(events)]
            seen = []
            if db.releases("nightly"):
                seen = db.engine.fetch("SELECT n FROM release.nightly ORDER BY level, sex")
            return states, seen


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(f"duckdb:///{tmp_path / 'own.duckdb'}", tmp_path)


def kill_at(place: Place, nth: int) -> bool:
    """Run until the nth call of the engine, and die there; whether it died."""
    process = forked().Process(target=run_until_call, args=(place.url, place.file, nth))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def wait_until_gone(place: Place) -> None:
    """Wait until the server has noticed that the killed process is gone, which holds its locks until then."""
    if place.url.startswith("postgresql"):
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'sqlanon' AND pid <> pg_backend_pid()"
        )
        with sqlanon.connect(place.url) as db:
            wait_for(lambda: db.engine.fetch(others) == [(0,)])


def check_charged(place: Place, seen_before: set[str]) -> None:
    """Every noisy table that readers saw is charged, and so is every one that was drawn."""
    states, seen = place.look()
    if seen:
        seen_before.add(repr(seen))
    published = states.count("published") + states.count("drawn")
    assert len(seen_before) <= published <= len(states)


def some_kills(place: Place, points: range) -> None:
    seen: set[str] = set()
    for nth in points:
        if not kill_at(place, nth):
            break
        wait_until_gone(place)
        check_charged(place, seen)
        place.run(spend=True)
        check_charged(place, seen)
    states, _ = place.look()
    assert set(states) <= {"published", "lost"}


@pytest.mark.thorough
def test_killed_before_and_after_it_is_charged(place: Place) -> None:
    place.run()
    some_kills(place, range(30, 31))


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_killed_at_every_statement(place: Place, part: int) -> None:
    some_kills(place, range(1 + part, 400, 4))


def test_a_copy_of_the_database_is_refused_and_recovers_what_it_cost(place: Place, tmp_path: Path) -> None:
    place.run()
    copy = tmp_path / "copy.duckdb"
    shutil.copy(tmp_path / "own.duckdb", copy)
    place.run(spend=True)
    with pytest.raises(DatabaseError, match="lacks rows that it wrote"):
        place.run(f"duckdb:///{copy}", spend=True)
    with sqlanon.connect(f"duckdb:///{copy}") as db:
        assert db.recover_budget(place.budget, "the disk was lost") == 3
        spent = db.budgets([place.budget])[0].spent
    assert place.run(f"duckdb:///{copy}", spend=True).noisy.spent > spent
    assert place.run(spend=True).noisy.spent > spent  # both go on, under one budget
    assert place.look()[0] == ["published"] * 4


def all_charged(place: Place, url: str = "") -> Counter[Mechanism]:
    """The mechanisms that a database's ledger charges, whatever event has them."""
    with sqlanon.connect(url or place.url) as db:
        return Counter(one for event in Ledger(db.engine).read().get("people", []) for one in event.mechanisms)


def stop_before_the_anchor(patched: pytest.MonkeyPatch, place: Place, kind: str) -> None:
    """End a run where a new row of a kind is in the database and not in the anchor."""
    write, before = Anchor.write, len(place.anchor.read_text().splitlines())

    def interrupted(anchor: Anchor, events: Any) -> None:
        if events[-1].kind == kind and len(events) > before:
            raise KeyboardInterrupt
        write(anchor, events)

    patched.setattr(Anchor, "write", interrupted)


@pytest.mark.parametrize("kind", ["reserved", *(pytest.param(one, marks=pytest.mark.thorough) for one in ENDS)])
def test_a_crash_between_database_and_anchor_recovers_with_both_charges(
    kind: str, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Place(f"duckdb:///{tmp_path / 'other.duckdb'}", tmp_path)
    place.run()
    other.run()
    with monkeypatch.context() as patched:
        stop_before_the_anchor(patched, place, kind)
        with pytest.raises(KeyboardInterrupt):
            place.run(spend=True)
    other.run(spend=True)
    both = all_charged(place) | all_charged(other)
    with pytest.raises(DatabaseError, match="a run ended between the two while another database spent"):
        place.run(spend=True)
    with sqlanon.connect(place.url) as db:
        assert db.recover_budget(place.budget, "the machine stopped") > 0
        (report,) = db.budgets([place.budget])
    assert all_charged(place) >= both
    assert ("recovered" in [one.state for one in report.versions]) == (kind == "reserved")
    assert report.spent == pytest.approx(float(total_epsilon(list(all_charged(place).elements()), Fraction(1, 10**6))))
    place.run(spend=True)
    other.run(spend=True)
    assert all_charged(other) >= both


@pytest.mark.thorough
def test_a_recovery_that_crashes_is_recovered_with_its_charge(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Place(f"duckdb:///{tmp_path / 'other.duckdb'}", tmp_path)
    place.run()
    other.run()
    with monkeypatch.context() as patched:
        stop_before_the_anchor(patched, place, "reserved")
        with pytest.raises(KeyboardInterrupt):
            place.run(spend=True)
    other.run(spend=True)
    with monkeypatch.context() as patched, sqlanon.connect(place.url) as db:
        stop_before_the_anchor(patched, place, "recovered")
        with pytest.raises(KeyboardInterrupt):
            db.recover_budget(place.budget, "once")
    other.run(spend=True)
    both = all_charged(place) | all_charged(other)
    with sqlanon.connect(place.url) as db:
        db.recover_budget(place.budget, "twice")
        db.budgets([place.budget])
    assert all_charged(place) >= both
    place.run(spend=True)
    assert all_charged(place) > both


def test_rows_of_another_history_do_not_recover(place: Place, tmp_path: Path) -> None:
    other = Place(f"duckdb:///{tmp_path / 'other.duckdb'}", tmp_path)
    place.run()
    kept = place.anchor.read_text()
    place.anchor.unlink()
    other.run()  # opens a budget of its own in the same file
    with sqlanon.connect(place.url) as db, pytest.raises(DatabaseError, match="neither follows the other"):
        db.recover_budget(place.budget, "no")
    place.anchor.write_text(kept)


@pytest.mark.thorough
def test_a_restored_or_lost_anchor_is_refused(place: Place, tmp_path: Path) -> None:
    place.run()
    kept = place.anchor.read_text()
    place.run(spend=True)
    place.anchor.write_text(kept)
    with pytest.raises(DatabaseError, match="the anchor is older than the ledger"):
        place.run(spend=True)
    place.anchor.unlink()
    with pytest.raises(DatabaseError, match="is gone: without it a copy of this database cannot be recognized"):
        place.run(spend=True)
    place.file.write_text(place.file.read_text().replace(f", anchor: {place.anchor}", ""))
    with pytest.raises(DatabaseError, match="the policy names no anchor any more"):
        place.run(spend=True)
    place.write("100")
    place.anchor.write_text(kept.replace('"epsilon": "100"', '"epsilon": "200"', 1))
    with pytest.raises(DatabaseError, match="row 1 of its ledger does not follow"):
        place.run(spend=True)
    place.anchor.write_text("{}\n")
    with pytest.raises(DatabaseError, match="is no anchor"):
        place.run(spend=True)
    place.file.write_text(place.file.read_text().replace(str(place.anchor), str(tmp_path / "no" / "anchor")))
    with pytest.raises(DatabaseError, match="is gone"):
        place.run(spend=True)


TAMPERED = {
    "a deleted row": "DELETE FROM _sqlanon.budgets WHERE seq = 2",
    "a deleted end": "DELETE FROM _sqlanon.budgets WHERE seq = 4",
    "a changed charge": "UPDATE _sqlanon.budgets SET body = replace(body, '\"mechanisms\"', '\"none\"') WHERE seq = 2",
    "a changed state": "UPDATE _sqlanon.budgets SET event = 'lost' WHERE seq = 4",
    "no row": "DELETE FROM _sqlanon.budgets",
}


@pytest.mark.parametrize(
    "what", [pytest.param(one, marks=[pytest.mark.thorough] * (one != "a changed charge")) for one in TAMPERED]
)
def test_a_ledger_that_was_changed_by_hand_is_refused(what: str, place: Place) -> None:
    place.run()
    with sqlanon.connect(place.url) as db:
        db.engine.execute(TAMPERED[what])
    if what == "no row":  # as a new database: what the anchor has is charged
        assert place.run(spend=True).noisy.spent > 0.7
        return
    with pytest.raises(DatabaseError, match=r"does not follow from those before it|lacks rows that it wrote"):
        place.run(spend=True)


def test_a_database_keeps_its_name_when_another_one_joins(place: Place, tmp_path: Path) -> None:
    other = Place(f"duckdb:///{tmp_path / 'other.duckdb'}", tmp_path)
    for of in (place, other, place):  # the first charges once more after the other's rows are in its ledger
        of.run(spend=True)
    rows = [json.loads(line) for line in place.anchor.read_text().splitlines()]
    named = [row["body"]["database"] for row in rows if row["event"] == "reserved"]
    assert named[0] == named[2] != named[1]


@pytest.mark.thorough
def test_two_databases_share_a_budget_by_its_anchor(place: Place, tmp_path: Path) -> None:
    other = Place(f"duckdb:///{tmp_path / 'other.duckdb'}", tmp_path, epsilon="1")
    place.write("1")
    assert place.run().noisy.spent == pytest.approx(0.5, rel=1e-3)
    second = other.run()
    assert second.noisy.spent > 0.6
    while True:  # in turn, until both find the budget spent
        try:
            spent = place.run(spend=True).noisy.spent
            assert spent <= 1
            assert other.run(spend=True).noisy.spent <= 1
        except InfeasibleError:
            break
    with pytest.raises(InfeasibleError):
        place.run(spend=True)
    with pytest.raises(InfeasibleError):
        other.run(spend=True)


@pytest.mark.thorough
def test_a_larger_budget_is_recorded_and_never_silent(place: Place) -> None:
    place.write("0.6")
    place.run()
    with pytest.raises(InfeasibleError):
        place.run(spend=True)
    place.write("2")
    with pytest.raises(PolicyError, match=r"`sqlanon budget raise people --because REASON`"):
        place.run(spend=True)
    with sqlanon.connect(place.url) as db:
        with pytest.raises(PolicyError, match="name a larger one"):
            db.raise_budget(place.budget, Fraction("0.6"), "no reason")
        db.raise_budget(place.budget, Fraction(2), "a second study")
        (report,) = db.budgets([place.budget])
    assert [(epsilon, because) for _, _, epsilon, because in report.raised] == [(2, "a second study")]
    place.run(spend=True)
    place.write("0.6")  # a smaller policy counts
    with pytest.raises(InfeasibleError):
        place.run(spend=True)


@pytest.mark.thorough
def test_two_reservations_at_once_are_both_charged(place: Place) -> None:
    spec = place.budget
    mechanisms = [Mechanism("laplace", Fraction(1, 2))]
    with sqlanon.connect(place.url) as db:
        place.run()
        first, second = Budget(db.engine, spec), Budget(db.engine, spec)
        for one in (first, second):
            with one.hold():
                one.reserve(
                    {"main.stays": ["pid"]}, mechanisms, {"release": "x", "version": 1, "policy": "", "epsilon": "1/2"}
                )
        states = [one.state for one in list_spendings(Ledger(db.engine).read()["people"])]
    assert states == ["published", "reserved", "reserved"]


@pytest.mark.thorough
def test_a_file_of_its_own_has_the_statistics_and_not_the_source(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.duckdb"
    place.file.write_text(place.file.read_text().replace("    every:", f"    publish_file: {out}\n    every:"))
    place.run()
    with duckdb.connect(str(out), read_only=True) as db:
        tables = {name for (name,) in db.sql("SELECT table_name FROM information_schema.tables").fetchall()}
        first = db.sql("SELECT n FROM release.nightly").fetchall()
    assert (tables, len(first)) == ({"nightly", "nightly_metadata"}, 3)
    replace = os.replace

    def interrupted(source: Any, target: Any) -> None:
        if str(target) == str(out):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        place.run(spend=True)
    monkeypatch.undo()
    with duckdb.connect(str(out), read_only=True) as db:
        assert db.sql("SELECT n FROM release.nightly").fetchall() == first
    place.run()  # publishes what was drawn
    with duckdb.connect(str(out), read_only=True) as db:
        assert db.sql("SELECT n FROM release.nightly").fetchall() != first
    with sqlanon.connect(place.url) as db:
        assert [one.state for one in list_spendings(Ledger(db.engine).read()["people"])] == ["published"] * 2
