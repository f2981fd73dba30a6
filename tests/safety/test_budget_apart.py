"""Budgets whose ledger is in another database than the source, killed before every change of either.

The source's engine has no transactions. Every noisy table that readers see is charged, and what was drawn is published
as it is, and never drawn again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from sqlanon.database.database import Database
from sqlanon.engines import _choose_ledger
from sqlanon.engines.base import Engine
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.errors import DatabaseError, GuardError, LockedError
from sqlanon.policy import load
from sqlanon.progress import SilentProgress
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.events import list_spendings
from sqlanon.release.budget.ledger import Ledger
from sqlanon.release.divide.classes import Machine
from sqlanon.release.versions import noisy
from tests.weakest import Lost, WeakestEngine

pytest.importorskip("opendp")

POLICY = """\
version: 1
budgets:
  - {{name: people, persons: {{stays: pid}}, epsilon: 90, delta: 1e-6, anchor: {anchor}}}
releases:
  - name: nightly
    source: stays
    every: 1d
    statistics:
      budget: people
      epsilon: 0.5
      tables: [{{by: [sex]}}]
      groups: {{sex: [F, M]}}
      measures: {measures}
      contributions: {{groups: 1, rows: 2}}
      {more}
"""
CHANGES = re.compile(r"(?:\s|--[^\n]*\n|;)*(?!SELECT|WITH|FROM|DESCRIBE|USE)\w", re.IGNORECASE)
LONGEST = 150
"""More changes than a run makes."""


class Life:
    """How many changes a process lives to make in its databases; None: all of them."""

    def __init__(self, left: int | None) -> None:
        self.left = left

    def change(self) -> None:
        if self.left == 0:
            raise Lost
        if self.left is not None:
            self.left -= 1


class Mortal:
    """A connection whose process may be dead: then nothing reaches the database."""

    def __init__(self, connection: Any, life: Life) -> None:
        self._connection, self._life = connection, life

    def execute(self, text: Any, *more: Any) -> Any:
        if CHANGES.match(text if isinstance(text, str) else text.query):
            self._life.change()
        elif self._life.left == 0:
            raise Lost
        return self._connection.execute(text, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Apart(WeakestEngine):
    """The weakest engine, which has a database for ledgers."""

    lacks = {name: lack for name, lack in WeakestEngine.lacks.items() if not name.startswith("statistics")}  # noqa: RUF012
    ledger_engine: Engine | None = None


class Place:
    """The source in a database in memory, the ledger in a file."""

    def __init__(self, folder: Path, measures: str = "{n: rows}", more: str = "kept: false") -> None:
        self.source, self.ledger = duckdb.connect(), folder / "state.duckdb"
        self.source.execute("CREATE TABLE stays AS SELECT i // 2 AS pid, 'FM'[1 + i % 2] AS sex FROM range(40) AS r(i)")
        self.file = folder / "anon.yml"
        self.file.write_text(POLICY.format(anchor=folder / "anchor", measures=measures, more=more))

    @contextmanager
    def opened(self, left: int | None = None, ledger: Path | None = None) -> Iterator[Database]:
        life = Life(left)
        raw = duckdb.connect(str(ledger or self.ledger))
        try:
            engine, home = Apart(self.source.cursor(), "memory"), DuckDBEngine(raw, str(self.ledger))
            engine.ledger_engine = home
            for one in (engine, home):
                one._connection = Mortal(one._connection, life)  # type: ignore[assignment]
            yield Database(engine, SilentProgress(), Machine(1 << 28, 1))
        finally:
            raw.close()  # which rolls back what was not committed

    def run(self, left: int | None = None, **asked: Any) -> bool:
        """Whether the process lived to the end."""
        with self.opened(left) as db:
            try:
                db.run(load(self.file).releases[0], **asked)
            except Lost:
                return False
        return True

    def states(self) -> list[str]:
        with self.opened() as db:
            events = Ledger(db.engine).read().get("people", [])
        return [one.state for one in list_spendings(events)]

    def seen(self) -> list[Any]:
        """What readers see; nothing before the first publication."""
        try:
            return sorted(self.source.execute("SELECT * FROM release.nightly").fetchall(), key=repr)
        except duckdb.CatalogException:
            return []

    def drawn(self) -> list[Any]:
        """The noisy tables at home, with the columns of the view."""
        with duckdb.connect(str(self.ledger), read_only=True) as raw:
            names = raw.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
            tables = [name for (name,) in names if name.endswith("_noisy")]
            return [
                sorted(raw.execute(f'SELECT * EXCLUDE _sqlanon_order FROM _sqlanon."{one}"').fetchall(), key=repr)
                for one in tables
            ]


def check_killed(folder: Path, left: int, *more: str) -> bool:
    """Kill a run after so many changes, and repair; whether it lived."""
    folder.mkdir()
    place = Place(folder, *more)
    lived = place.run(left)
    before, seen, tables = place.states(), place.seen(), place.drawn()
    assert len(before) <= 1
    if seen:
        assert before in (["drawn"], ["published"]), (left, before)
        assert [seen] == tables
    if before == ["reserved"]:
        with pytest.raises(GuardError, match="run --spend pays another one"):
            place.run()
    assert place.run(spend=before == ["reserved"])
    after, published = place.states(), place.seen()
    ends = {"reserved": [["lost", "published"]], "drawn": [["published"], ["drawn"]]}
    # Where the first run had published it, the next version notes that.
    assert after in ends.get("".join(before), [["published"]]), (left, before, after)
    assert published in place.drawn()
    if tables:
        assert [published] == tables, left  # drawn once: the very table
    return lived


def test_a_killed_run_is_charged_and_published_as_it_was_drawn(tmp_path: Path) -> None:
    check_killed(tmp_path / "killed", 33)


@pytest.mark.thorough
@pytest.mark.parametrize(("step", "more"), [(2, ()), (5, ("{people: persons}", "running: {nights: 3}"))])
def test_a_run_killed_before_many_changes(tmp_path: Path, step: int, more: tuple[str, ...]) -> None:
    for left in range(0, LONGEST, step):
        if check_killed(tmp_path / str(left), left, *more):
            break
    assert 20 < left < LONGEST - step


def test_nothing_is_drawn_twice_for_a_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that another one took for ended stores nothing: its charge has ended."""
    place = Place(tmp_path)
    add_noise = noisy.add_noise

    def meanwhile(*given: Any) -> Any:
        budget = Budget(runs.engine, load(place.file).budgets[0])
        with budget.hold():
            (reserved,) = budget.account.spendings if budget.account else ()
            budget.note("lost", reserved.reserved, {"version": 1})
        return add_noise(*given)

    monkeypatch.setattr(noisy, "add_noise", meanwhile)
    with place.opened() as runs, pytest.raises(LockedError, match="another run has found this version unfinished"):
        runs.run(load(place.file).releases[0])
    assert place.states() == ["lost"]
    assert place.drawn() == []
    assert place.seen() == []


def test_a_ledger_that_lacks_a_published_version_is_refused(tmp_path: Path) -> None:
    """For every release of the persons, and every name of their budget: each would be paid from nothing."""
    place = Place(tmp_path)
    assert place.run()
    (tmp_path / "anchor").unlink()
    place.ledger = tmp_path / "another.duckdb"
    policy = place.file.read_text()
    with place.opened() as db:
        for other in (("nightly", "nightly"), ("nightly", "another"), (": people", ": others")):
            place.file.write_text(re.sub(*other, policy))
            for work in (db.plan, lambda spec: db.run(spec, spend=True)):
                with pytest.raises(
                    DatabaseError, match=r"no charge of version 1 of nightly.* Nothing was read or spent"
                ):
                    work(load(place.file).releases[0])
    assert place.states() == []


def test_what_is_kept_beside_a_ledger_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_ledger = _choose_ledger(f"duckdb:///{tmp_path}/state.duckdb", read_only=False)
    assert open_ledger is not None
    before = os.umask(0o022)
    try:
        with closing(open_ledger()) as engine:
            engine.execute("CREATE TABLE seen (person TEXT)")
            modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir()}
            assert {"state.duckdb", "state.duckdb.wal"} <= modes.keys()
            assert not any(modes.values())
    finally:
        os.umask(before)


def test_a_ledger_of_another_source_is_no_proof_of_a_charge(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.run()
    (tmp_path / "anchor").unlink()
    other = Place(tmp_path)
    other.ledger = place.ledger = tmp_path / "another.duckdb"
    policy = place.file.read_text()
    other.file.write_text(policy.replace("nightly", "another"))
    assert other.run()  # as many rows, of a budget of the same name
    place.file.write_text(policy)
    with place.opened() as db, pytest.raises(DatabaseError, match="no charge of version 1 of nightly"):
        db.run(load(place.file).releases[0], spend=True)
    assert place.states() == ["published"]


def test_a_table_is_copied_again_where_it_was_not_copied_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path)
    load_rows = Apart.load_rows

    def changed(self: Any, table: Any, columns: Any, rows: Any) -> None:
        given = list(rows)
        if table.name.endswith("_drawn"):
            place_of = next(place for place, (name, _) in enumerate(columns) if name == "n")
            first = list(given[0])
            first[place_of] = float(np.nextafter(first[place_of], np.inf))
            given[0] = tuple(first)
        load_rows(self, table, columns, given)

    monkeypatch.setattr(Apart, "load_rows", changed)
    with place.opened() as db, pytest.raises(DatabaseError, match="was not copied as it is"):
        db.run(load(place.file).releases[0])
    assert place.states() == ["drawn"]
    assert place.seen() == []
    tables = place.drawn()
    monkeypatch.undo()
    assert place.run()
    assert place.states() == ["published"]
    assert [place.seen()] == tables


@pytest.mark.thorough
@pytest.mark.every_engine
@pytest.mark.parametrize("more", [(), ("{people: persons}", "running: {nights: 3}")])
def test_a_ledger_of_any_engine(shared_db: Any, tmp_path: Path, more: tuple[str, ...]) -> None:
    place = Place(tmp_path, *more)
    name, table = f"people {len(more)}", f"stays_{len(more)}"  # a ledger refuses two budgets of one table
    place.source.execute(f"ALTER TABLE stays RENAME TO {table}")
    place.file.write_text(place.file.read_text().replace(": people", f": {name}").replace("stays", table))
    engine = Apart(place.source.cursor(), "memory")
    engine.ledger_engine = shared_db.engine
    db = Database(engine, SilentProgress(), Machine(1 << 28, 1))
    (spec,) = load(place.file).releases
    assert db.run(spec).version == 1
    assert db.run(spec, spend=True).version == 2
    assert all(one.satisfied for one in db.audit("release.nightly").requirements)
    states = [one.state for one in list_spendings(Ledger(shared_db.engine).read()[name])]
    assert states == ["published", "published"]
