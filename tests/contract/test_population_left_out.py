"""Rows left out or starred under requirements over a population, by plain Python, and what a reader counts.

A reader knows how many rows are suppressed, and that they are among the rows of the population in no published cell.
"""

from __future__ import annotations

import random
import re
import uuid
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import InfeasibleError, PrivacyViolation
from sqlanon.methods.fulldomain.in_memory import InMemory
from tests.contract.lattices import CITY
from tests.contract.populations import COLUMNS, HEIGHTS, SMALL, World, asked_for, made
from tests.engines import create_table, read_table

NODES = list(product(*(range(height + 1) for height in HEIGHTS)))


@dataclass(frozen=True)
class Question:
    """What is asked of cells, and of the rows that are left out together."""

    k: int
    most: Fraction
    limit: int

    def holds(self, rows: int, people: int) -> bool:
        return people >= self.k and rows <= self.most * people


def world(seed: int) -> World:
    rng = random.Random(seed)
    cities = [path[0] for path in CITY]
    people = [(rng.choice(cities), rng.randrange(4), rng.choice("xyz")) for _ in range(rng.randrange(10, 30))]
    return World(tuple(rng.sample(people, rng.randrange(4, len(people) // 2 + 3))), tuple(people))


def least_scores(one: World, asked: Question, node: tuple[int, ...]) -> tuple[int, int] | None:
    """Levels of all rows at a node, and of the left-out rows; two numbers, as cells of equal size join in any order."""
    rows, people = one.counted(node)
    failing = [cell for cell in rows if not asked.holds(rows[cell], people[cell])]
    others, scores = [cell for cell in rows if cell not in failing], []
    for sign in (1, -1):
        gone = list(failing)
        for cell in [None, *sorted(others, key=lambda cell: (rows[cell], sign * people[cell]))]:
            gone += [] if cell is None else [cell]
            left_out = sum(rows[each] for each in gone)
            if left_out > min(asked.limit, len(one.source) - 1):
                break
            if not left_out or asked.holds(left_out, people[None] + sum(people[each] for each in gone)):
                scores.append((len(one.source) - left_out) * sum(node) + left_out * sum(HEIGHTS))
                break
    return (min(scores), max(scores)) if len(scores) == 2 else None


def check(db: Any, seed: int, cities: Path, suppressed: str = "left_out") -> bool:
    """Whether a release leaves rows out, or stars them."""
    one, rng = world(seed), random.Random(seed)
    table, people = made(db, one)
    asked = Question(rng.randrange(2, 6), Fraction(rng.choice([2, 3, 4]), 4), rng.randrange(1, len(one.source)))
    arguments = asked_for(
        cities,
        k_map={"k": asked.k, "population": people},
        delta_presence={"max": str(asked.most), "population": people},
        suppression={"limit": f"{asked.limit}/{len(one.source)}", "rows": suppressed},
        format="labels",
    )
    bounds = [score for score in (least_scores(one, asked, node) for node in NODES) if score]
    whole_rows, whole_people = one.counted(HEIGHTS)
    if not all(asked.holds(whole_rows[cell], whole_people[cell]) for cell in whole_rows):
        return False  # no release is feasible where all rows as one cell are not
    published = []
    for execution in ("kernel", "pushdown"):
        try:
            done = db.anonymize(table, **arguments, execution=execution)
        except InfeasibleError:
            assert not bounds
            return False
        report = done.report
        levels = re.search(r"city (\d), n (\d), kind (\d);", report.notes[0])
        assert levels is not None
        node = tuple(int(level) for level in levels.groups())
        gone = report.suppressed
        score = (len(one.source) - gone) * sum(node) + gone * sum(HEIGHTS)
        assert min(low for low, _ in bounds) <= score <= min(high for _, high in bounds)
        audit = db.audit(f"release.{table}", spec=done.spec)
        assert set(report.requirements) <= set(audit.requirements)
        assert not audit.not_measured
        assert all(item.satisfied for item in audit.requirements)
        everything = read_table(db, ("release", table))
        # Where no row is starred, the one cell of all rows may be published, whose labels are the same.
        shown = [row for row in everything if not gone or [row[name] for name in COLUMNS] != ["*"] * 3]
        stars = len(everything) - len(shown)
        assert not gone or stars == (gone if suppressed == "starred" else 0)
        published.append(sorted(map(str, everything)))
        # The reader: the whole cell of every row that is there, and the rest in the cells of nobody.
        rows, counted = one.counted(node)
        sizes = Counter(
            tuple(
                "any" if column and level == HEIGHTS[column] else str(row[name])
                for column, (name, level) in enumerate(zip(COLUMNS, node, strict=True))
            )
            for row in shown
        )
        cells = {tuple(map(str, cell or ())): cell for cell in rows}
        assert all(asked.holds(n, counted[cells[cell]]) and n == rows[cells[cell]] for cell, n in sizes.items())
        outside = len(one.people) - sum(counted[cells[cell]] for cell in sizes)
        assert len(shown) + gone == len(one.source)
        assert not gone or asked.holds(gone, outside)
    assert published[0] == published[1]
    return bool(gone)


@pytest.mark.parametrize("suppressed", ["left_out", "starred"])
def test_releases_that_leave_rows_out_are_those_of_plain_python(shared_db: Any, suppressed: str, cities: Path) -> None:
    leaves_rows_out = [check(shared_db, seed, cities, suppressed) for seed in range(4)]
    assert any(leaves_rows_out)


@pytest.mark.thorough
@pytest.mark.parametrize("suppressed", ["left_out", "starred"])
@pytest.mark.parametrize("seed", range(4, 44))
def test_more_worlds(shared_db: Any, seed: int, suppressed: str, cities: Path) -> None:
    check(shared_db, seed, cities, suppressed)


def test_rows_of_which_a_reader_would_be_certain_are_not_left_out_alone(shared_db: Any, cities: Path) -> None:
    """Pisa's row is the only one there: left out alone, it would be one of the 2 in no cell, bergen's and pisa's."""
    table, people = made(shared_db, SMALL)
    arguments = asked_for(
        cities, delta_presence={"max": "1/2", "population": people}, suppression={"limit": "1/4", "rows": "left_out"}
    )
    report = shared_db.anonymize(table, **arguments).report
    assert (report.suppressed, report.requirements[-1].reached) == (1, 1 / 2)
    arguments["delta_presence"] = {"max": "2/5", "population": people}
    with pytest.raises(InfeasibleError):
        shared_db.anonymize(table, **arguments)


def test_verify_counts_left_out_rows(shared_db: Any, cities: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With city and n hidden 6 of the population have kind x, and 2 kind y, of whom the one of the source is left out.

    With that row in the table all 8 are in the one cell.
    """
    table, people = made(shared_db, SMALL)
    arguments = asked_for(
        cities, k_map={"k": 5, "population": people}, suppression={"limit": "1/2", "rows": "left_out"}
    )
    report = shared_db.anonymize(table, **arguments).report
    assert (report.suppressed, {one.name: one.reached for one in report.requirements}["k_map"]) == (0, 8)
    monkeypatch.setattr(InMemory, "meets", lambda *_: True)
    with pytest.raises(PrivacyViolation, match="k_map: asked 5, reached 2"):
        shared_db.anonymize(table, **arguments, name="careless", publish=f"release.{table}_careless")


def test_a_hidden_range_of_the_published_rows_alone_is_noticed(shared_db: Any) -> None:
    """With n as it is and kind hidden, 1 of 3 have n = 1. But all rows of kind y are left out, and 2 of them have x."""
    people = ["0x", "0x", "0y", "1x", "1x", "1y", "2x", "2y", "2y"]
    source = ["0y", "1x", "2x", "2y", "2y"]
    table = f"shrunk_{uuid.uuid4().hex[:8]}"
    for name, rows in ((table, source), (f"{table}_all", people)):
        create_table(shared_db, name, {"n": "INTEGER", "kind": "TEXT"}, [(int(row[0]), row[1]) for row in rows])
    with pytest.raises(PrivacyViolation, match=r"k_map: asked 3, reached 2.* give such columns a hierarchy"):
        shared_db.anonymize(
            table,
            quasi=["n", "kind"],
            method="fulldomain:search=global",
            k_map={"k": 3, "population": f"{table}_all"},
            delta_presence={"max": "2/3", "population": f"{table}_all"},
            suppression={"limit": "0.9", "rows": "left_out"},
        )


def test_a_starred_row_has_the_population_in_no_other_cell(shared_db: Any, cities: Path) -> None:
    """Pisa's row is starred: of it a reader knows that it is of pisa or bergen, whoever else is in the population."""
    table, people = made(shared_db, SMALL)
    arguments = asked_for(
        cities, delta_presence={"max": "1/2", "population": people}, suppression={"limit": "1/4", "rows": "starred"}
    )
    for form in ("labels", "ranges"):
        done = shared_db.anonymize(table, **arguments, format=form)
        assert (done.report.suppressed, done.report.requirements[-1].reached) == (1, 1 / 2)
        audit = shared_db.audit(f"release.{table}", spec=done.spec)
        assert (audit.not_measured, audit.requirements[-2].reached) == ((), 1 / 2)
    arguments["delta_presence"] = {"max": "2/5", "population": people}
    with pytest.raises(InfeasibleError):
        shared_db.anonymize(table, **arguments)


def test_starred_rows_are_a_class_that_meets_k_too(shared_db: Any, cities: Path) -> None:
    """Alone pisa's row is no class of two: rome's, the smallest, is starred with it where that many may be."""
    table, people = made(shared_db, SMALL)
    arguments = asked_for(
        cities, k=2, k_map={"k": 2, "population": people}, suppression={"limit": "1/2", "rows": "starred"}
    )
    for execution in ("kernel", "pushdown"):
        report = shared_db.anonymize(table, **arguments, execution=execution).report
        assert report.suppressed in (0, 2)
        assert report.least_group >= 2
