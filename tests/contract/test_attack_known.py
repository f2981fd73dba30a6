"""Which columns an attacker knows, and what he knows wrongly."""

from __future__ import annotations

import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sqlanon.attack import victim_sample
from sqlanon.errors import PolicyError
from tests.contract.attacked import COLUMNS, check_linkage, marked
from tests.covering import seeds
from tests.engines import create_table, read_table
from tests.oracle import attacks
from tests.shelf import Shelf


@pytest.mark.thorough
def test_columns_that_are_known(shelf: Shelf) -> None:
    """Sets of the named columns, and all columns together; what names no column is refused."""
    made, db = shelf.take("victims"), shelf.db
    name, published, rows = made.name, made.rows, made.source
    report = db.attack(name, known=["SEX", "age"])
    assert report.quasi == ("age", "sex")
    expected = attacks.linkage("ranges", COLUMNS, published, rows)
    kept = {known: chances for known, chances in expected.items() if "zip" not in known or len(known) == 3}
    check_linkage(report, kept, 3)
    with pytest.raises(PolicyError, match="no quasi column weight; there are: age, sex, zip"):
        db.attack(name, known=["weight"])


@pytest.mark.thorough
def test_too_many_columns_are_refused(shared_db: Any) -> None:
    name = f"attacked_{uuid.uuid4().hex[:10]}"
    columns = {f"q{i}": "INTEGER" for i in range(11)}
    create_table(shared_db, name, columns, [(row % 2,) * 11 for row in range(8)])
    shared_db.anonymize(name, quasi=list(columns), k=2)
    with pytest.raises(PolicyError, match=r"all sets of 11 quasi columns are too many; name at most 10.*--known"):
        shared_db.attack(name)
    right = [one for one in shared_db.attack(name, known=["q1"]).linkage if not one.errors]
    assert [one.known for one in right] == [1, 11]


@pytest.mark.cover("engine", "form")
@pytest.mark.parametrize("form", ["ranges", "labels", "suppressed"])
@pytest.mark.parametrize("seed", seeds(3))
def test_one_wrong_value(shared_db: Any, tmp_path: Path, form: str, seed: int) -> None:
    name, rows = marked(shared_db, tmp_path, seed, format=form)
    published = read_table(shared_db, ("release", name))
    expected = attacks.mistaken(form, COLUMNS, published, rows, "mark")
    found = [one for one in shared_db.attack(name).linkage if one.errors]
    assert [one.known for one in found] == [1, 2, 3]
    for one in found:
        means = {known: sum(some) / len(some) for known, some in expected.items() if len(known) == one.known}
        assert one.mean == pytest.approx(float(sum(means.values()) / len(means)))
        assert one.worst_mean == pytest.approx(float(max(means.values())))
        assert one.highest == pytest.approx(float(max(max(expected[known]) for known in means)))
        assert not one.exceeded


def test_victims_that_are_drawn(shelf: Shelf) -> None:
    """Means of a part of the victims are within their margin of those of all.

    What is promised is compared as before.
    """
    name, db = shelf.take("many_victims").name, shelf.db
    every, part = db.attack(name), db.attack(name, victims=30)
    assert (every.drawn, part.drawn, part.published, part.victims) == (90, 30, 90, 90)
    assert every.margin == 0 < part.margin < 0.3
    assert [one for one in part.not_measured if "a wrong value is tried only where every victim is compared" in one]
    exact = {one.known: one for one in every.linkage if not one.errors}
    assert {one.known for one in part.linkage} == exact.keys()
    for one in part.linkage:
        whole = exact[one.known]
        assert abs(one.mean - whole.mean) <= one.margin
        assert (one.fewest >= whole.fewest, one.promised, one.exceeded) == (True, whole.promised, False)
    for one, whole in zip((*part.homogeneity, *part.bayes), (*every.homogeneity, *every.bayes), strict=True):
        assert abs(_figure(one) - _figure(whole)) <= one.margin
    assert db.attack(name, victims=90) == every == db.attack(name, victims=10**9)
    with pytest.raises(PolicyError, match="0 victims: a whole number above 0"):
        db.attack(name, victims=0)


def _figure(one: Any) -> float:
    return float(one.mean if hasattr(one, "mean") else one.accuracy)


def test_long_attacks_draw_victims(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    name, db = shelf.take("many_victims").name, shelf.db
    monkeypatch.setattr(victim_sample, "WORK", 1)
    assert db.attack(name).drawn == 90  # fewer than FEWEST
    monkeypatch.setattr(victim_sample, "FEWEST", 20)
    report = db.attack(name)
    assert (report.drawn, report.victims) == (20, 90)
    assert report == db.attack(name)


def test_the_margin_holds_for_the_worst_distribution() -> None:
    """Of successes that are 0 or 1: the interval misses the mean in few draws, whatever the mean is."""
    rng = np.random.default_rng(3)
    for ones in (0, 1, 10, 300, 999, 1000):
        successes = np.repeat([0.0, 1.0], [1000 - ones, ones])
        missed = 0
        for _ in range(400):
            mean = float(rng.choice(successes, 50, replace=False).mean())
            material = SimpleNamespace(drawn=50, published=1000)
            missed += abs(mean - ones / 1000) > victim_sample.measure_margin(mean, material)  # type: ignore[arg-type]
        assert missed <= 0.08 * 400, ones
