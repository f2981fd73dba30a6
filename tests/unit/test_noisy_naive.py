"""Variants of noisy statistics that a trial has shown to leak: each fails the trial that ours passes."""

from __future__ import annotations

import inspect
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from sqlanon.noisy.draw import add_noise, make_mechanism
from sqlanon.noisy.published_values import estimate, list_drawn_rows
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import noise_of
from sqlanon.policy import load
from sqlanon.release.budget.charged_versions import is_noisy_due

POLICY = """\
version: 1
budgets: [{{name: people, persons: {{stays: pid}}, epsilon: 1}}]
releases:
  - name: nightly
    source: stays
    every: 1d
    statistics:
      budget: people
      epsilon: 1
      tables: [{{by: [sex]}}]
      groups: {{sex: [F, M]}}
      measures: {{total: {{sum: cost, range: [0, {high}]}}}}
      contributions: {{groups: 1, rows: 1}}
"""


def scales(folder: Path, high: int) -> tuple[Any, ...]:
    file = folder / "anon.yml"
    file.write_text(POLICY.format(high=high))
    return noise_of(shape_of(load(file).releases[0])).scales


def test_a_range_of_the_data_shows_in_the_scale_and_a_declared_one_does_not(tmp_path: Path) -> None:
    """The metadata has scales: one person who has the largest value is seen by them if they follow from it."""
    with_, without = [5, 7, 1000], [5, 7]
    assert scales(tmp_path, max(with_)) != scales(tmp_path, max(without))
    assert set(inspect.signature(noise_of).parameters) == {"shape"}  # which follows from the policy alone


def law(answer: int, *, redrawn: bool) -> dict[int, float]:
    """Probabilities of what is published of an answer, with discrete Laplace noise of epsilon 1; by brute force."""
    weights = {value: math.exp(-abs(value - answer)) for value in range(-60, 61) if value >= 0 or not redrawn}
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


@pytest.mark.parametrize("redrawn", [False, True])
def test_noise_that_is_redrawn_until_nothing_is_negative_exceeds_its_epsilon(*, redrawn: bool) -> None:
    first, second = law(0, redrawn=redrawn), law(1, redrawn=redrawn)
    epsilon = max(abs(math.log(first[value] / second[value])) for value in first)
    assert (epsilon > 1.2) == redrawn
    assert epsilon < 1 + 1e-9 or redrawn


GROUPS = ("a", "b", "rare")


@pytest.mark.parametrize("threshold", [None, 0])
def test_groups_that_are_taken_from_the_data_give_a_person_away(threshold: int | None) -> None:
    """GROUP BY of what is there, shown always or where the noisy number is above 0: a rare group means its person."""
    pytest.importorskip("opendp")

    def shown(persons: list[str]) -> set[str]:
        there = [group for group in GROUPS if group in persons]
        counts = np.array([persons.count(group) for group in there], np.int64)
        drawn = add_noise(counts, "laplace", Fraction(1))
        return {group for group, n in zip(there, drawn, strict=True) if threshold is None or n > threshold}

    without = sum("rare" in shown(["a", "b"]) for _ in range(200))
    victim = sum("rare" in shown(["a", "b", "rare"]) for _ in range(200))
    assert without == 0
    assert victim > 60  # with a threshold of 0: 0.73, and 60 of 200 are 13 standard errors below


def test_every_declared_group_is_drawn_whoever_is_there(tmp_path: Path) -> None:
    scales(tmp_path, 9)
    shape = shape_of(load(tmp_path / "anon.yml").releases[0])
    labels = []
    for persons in (0, 5):
        noisy = [np.full(shape.tables[one.table].levels[one.level].size, persons) for one in shape.series]
        labels.append([row[:4] for row in list_drawn_rows(shape, estimate(shape, noise_of(shape), noisy))])
    assert labels[0] == labels[1]
    assert [row[3] for row in labels[0]] == [None, "F", "M"]


def test_a_threshold_that_forgets_the_number_at_it_understates_delta() -> None:
    """Who is alone in a group is seen where 1 and the noise reach the threshold (a library's bug; it is not used)."""
    threshold, fade = 5, math.exp(-1)
    exact = math.fsum((1 - fade) / (1 + fade) * fade ** abs(z) for z in range(threshold - 1, 200))
    forgotten = math.fsum((1 - fade) / (1 + fade) * fade ** abs(z) for z in range(threshold, 200))
    assert exact > 2.7 * forgotten
    used = inspect.getsource(make_mechanism)
    assert "threshold" not in used


def test_versions_that_follow_changes_show_a_change() -> None:
    """A version where the source has another fingerprint: one person's row is seen by there being a version."""

    def is_made(before: list[int], tonight: list[int]) -> bool:
        return hash(tuple(before)) != hash(tuple(tonight))

    assert [is_made([1, 2], [1, 2]), is_made([1, 2], [1, 2, 3])] == [False, True]
    # Ours is asked by the clock alone: see test_noisy.py, test_a_version_is_due_by_the_clock_even_if_nothing_changed.
    assert set(inspect.signature(is_noisy_due).parameters) == {"state"}


def test_cohorts_by_the_earliest_event_have_a_person_twice() -> None:
    """An entry that comes late moves a person to an earlier cohort, after the later one was published."""

    def cohort(events: list[int], month: int) -> int:
        return int(min(events) == month)

    published = [cohort([2], 2), cohort([2, 1], 1)]  # month 2 is published before the entry of month 1 comes
    assert sum(published) == 2


def test_floating_point_noise_has_numbers_that_only_one_answer_gives() -> None:
    """Numbers near 0 have digits that 1 and any noise have not (Mironov 2012)."""
    draw = random.Random(1)
    noise = [draw.choice((-1, 1)) * -math.log(1 - draw.random()) for _ in range(5000)]
    only_of_zero = sum((y - 1) + 1 != y for y in noise) / len(noise)
    assert only_of_zero > 0.2
    pytest.importorskip("opendp")
    assert add_noise(np.zeros(3, np.int64), "laplace", Fraction(1)).dtype == np.int64


@pytest.mark.parametrize("value", ["'x'", "'1e300'"])
def test_a_cast_that_fails_shows_a_person(value: str) -> None:
    with duckdb.connect() as db:
        db.execute("CREATE TABLE stays AS SELECT '7' AS v")
        db.execute("SELECT sum(CAST(v AS INTEGER)) FROM stays")
        db.execute(f"INSERT INTO stays VALUES ({value})")
        with pytest.raises(duckdb.Error):
            db.execute("SELECT sum(CAST(v AS INTEGER)) FROM stays")


def test_noise_makes_numbers_negative() -> None:
    pytest.importorskip("opendp")
    drawn = add_noise(np.zeros(2000, np.int64), "laplace", Fraction(1))
    assert 0.2 < np.mean(drawn < 0) < 0.34  # 0.269, and 7 standard errors
