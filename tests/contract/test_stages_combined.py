"""What plan announces is what run does, in every combination of modes that the policy admits, and of every kind.

Errors are announced too: a plan is refused as the run is.
"""

from __future__ import annotations

import itertools
import uuid
from pathlib import Path
from typing import Any

import pytest

from sqlanon.release.stages.stage import PublishStage
from tests.contract import counted, noisy_releases
from tests.contract.modes import AXES, COLUMNS, ROWS, agree, combine, logged, make_spec
from tests.engines import create_table

SOME = (
    ("rows", "ranges", "l and t", "all rows", "refined", "key", "file"),
    ("persons whole", "points", "k", "all rows", "fast", "frozen", "view"),
    ("tokens", "ranges", "k", "all rows", "fast", "no key", "view"),
    ("rows", "levels", "population", "all rows", "fast", "no key", "view"),
)
"""Combinations of the default run; every combination is in the thorough run."""
PARTS = 6


def make_tables(db: Any) -> str:
    """A source and a population, under a new name."""
    table = f"staged_{uuid.uuid4().hex[:8]}"
    create_table(db, table, COLUMNS, ROWS)
    create_table(db, f"{table}_people", COLUMNS, ROWS)
    return table


def live_through(db: Any, spec: Any, table: str) -> list[str]:
    """The outcomes of a release at first, unchanged, and with rows that changed and came."""
    outcomes = []
    changes = (f"UPDATE {table} SET age = 7 - age WHERE id < 8", f"INSERT INTO {table} VALUES (100, 50, 3, 2, 'a')")
    for some in ((), (), changes):
        for change in some:
            db.engine.execute(change)
        _, made = agree(db, spec)
        outcomes.append(made.outcome if made else "failed")
    return outcomes


@pytest.mark.parametrize("names", SOME, ids=", ".join)
def test_some_combinations(shared_db: Any, tmp_path: Path, names: tuple[str, ...]) -> None:
    table = make_tables(shared_db)
    outcomes = live_through(shared_db, make_spec(names, table, tmp_path), table)
    assert outcomes[:2] == ["published", "unchanged"] or "file" in names


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_every_combination(shared_db: Any, tmp_path: Path, part: int) -> None:
    """Also where the engine refuses it: plan and run say the same."""
    published = 0
    for number, (name, made) in enumerate(combine("staged", tmp_path)):
        if number % PARTS == part:
            table = make_tables(shared_db)
            spec = make_spec(tuple(name.split(", ")), table, tmp_path)
            assert spec.kind is made.kind
            published += live_through(shared_db, spec, table)[0] == "published"
    assert published > 10


PROTECTED = ("{persons: 3, bounds: exact}", "{persons: 3, bounds: none}", "{persons: 3, insiders: none}")
MEASURED = ("{n: count}", "{n: count, people: persons}")


@pytest.mark.parametrize("protect", PROTECTED[:1])
def test_counts(shared_db: Any, tmp_path: Path, protect: str) -> None:
    live_as_counts(counted.Made(shared_db, tmp_path, counted.stays("plan"), protect=protect))


@pytest.mark.thorough
@pytest.mark.parametrize(("protect", "measures"), list(itertools.product(PROTECTED, MEASURED)))
def test_every_combination_of_counts(shared_db: Any, tmp_path: Path, protect: str, measures: str) -> None:
    live_as_counts(counted.Made(shared_db, tmp_path, counted.stays("plan"), protect=protect, measures=measures))


def live_as_counts(made: Any) -> None:
    """At first, unchanged, with other rows, which are refused, and after a withdrawal, which is too."""
    spec = made.spec
    first, _ = agree(made.db, spec)
    assert any("count the cells" in stage for stage in first)
    assert agree(made.db, spec)[1].outcome == "unchanged"
    made.db.engine.execute(f"UPDATE {made.source} SET sex = 'F'")
    assert agree(made.db, spec) == ([], None)
    made.db.unpublish(made.name)
    assert agree(made.db, spec) == ([], None)


def live_as_noise(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn and not published, then published, then not due, then without a budget."""
    with monkeypatch.context() as patched, logged():
        patched.setattr(PublishStage, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            made.run()
    stages, report = agree(made.db, made.spec)
    assert report.outcome == "published"
    assert stages[0].endswith("take the noisy table that an earlier run stored")
    stages, report = agree(made.db, made.spec)
    assert report.outcome == "fresh"
    assert stages == [f"{made.name}: leave version 1, as it is not due yet"]


def test_noise(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = noisy_releases.stays("plan")
    live_as_noise(noisy_releases.Made(shared_db, tmp_path, rows), monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("budget", ["epsilon: 3, delta: 1e-6", "epsilon: 3"])
@pytest.mark.parametrize("measures", ["{n: rows}", noisy_releases.MEASURES])
@pytest.mark.parametrize("anchor", [True, False])
def test_every_combination_of_noise(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: str, measures: str, anchor: bool
) -> None:
    rows = noisy_releases.stays("plan")
    first = noisy_releases.Made(shared_db, tmp_path, rows, budget=budget, measures=measures, anchor=anchor)
    done, report = agree(shared_db, first.spec)
    assert [stage.split(": ")[1].split()[0] for stage in done[:2]] == ["charge", "bound"]
    assert report.outcome == "published"
    (tmp_path / "again").mkdir()
    again = noisy_releases.Made(shared_db, tmp_path / "again", rows, budget=budget, measures=measures, anchor=anchor)
    live_as_noise(again, monkeypatch)


def test_each_mode_is_admitted_in_some_combination(tmp_path: Path) -> None:
    """By the default run's own combinations and by those of pairs: no mode is left out of all of them."""
    base = ("rows", "ranges", "k", "all rows", "fast", "no key", "view")
    admitted = set(itertools.chain.from_iterable(SOME))
    for place, axis in enumerate(AXES):
        for name in axis:
            names = [*base[:place], name, *base[place + 1 :]]
            if name in ("left out", "population"):
                names[1] = "levels"
            make_spec(tuple(names), "t", tmp_path)
            admitted.add(name)
    assert admitted == set(itertools.chain.from_iterable(AXES))
