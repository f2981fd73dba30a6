"""Intervals of noisy statistics, and the answers before each person's rows are bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.cli.show.query import describe_bounding
from sqlanon.noisy.published_values import estimate
from sqlanon.noisy.shape import KEPT_STEPS, shape_of
from sqlanon.noisy.split import noise_of
from tests.contract.noisy_releases import Made, Rows, exact
from tests.engines import read_table

pytest.importorskip("opendp")

from sqlanon.noisy.draw import add_noise

REGIONS, SEXES = ("north", "south", "it's", "empty"), ("F", "M")
MEASURES = (
    "{n: rows, people: persons, paid: {sum: cost, range: [0, 20]}, owed: {sum: cost, range: [-20, 0]}, "
    "total: {sum: cost, range: [-5, 5]}, mean: {mean: cost, range: [0, 20]}}"
)
DRAWINGS = 60


def events(heavy: int) -> Rows:
    """Persons of one row, or of that many in each of several groups, of values with and beyond both ranges."""
    costs = (-30.0, -4.0, 3.0, 25.0)
    return [
        (pid, REGIONS[(pid + at) % 3], SEXES[(pid + at) % 2], 5, costs[(pid + at) % 4])
        for pid in range(40)
        for at in range(heavy if pid % 4 == 0 else 1)
    ]


def count_all(rows: Rows, region: str | None, sex: str | None) -> dict[str, float]:
    """The answers of a group, of all rows."""
    own = [row for row in rows if region in (None, row[1]) and sex in (None, row[2])]
    return {
        "n": len(own),
        "people": len({row[0] for row in own}),
        "paid": sum(min(max(row[4], 0), 20) for row in own),
        "owed": sum(min(max(row[4], -20), 0) for row in own),
    }


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("heavy", [1, 300])
def test_ends_that_are_known_hold_before_bounding(heavy: int, law: str, shared_db: Any, tmp_path: Path) -> None:
    rows = events(heavy)
    made = Made(shared_db, tmp_path, rows, measures=MEASURES, more=f"noise: {law}\n      kept: false")
    shape = shape_of(made.spec)
    noise, found = noise_of(shape), exact(shared_db, shape, made.source)
    groups = [(None, None), *((one, None) for one in REGIONS), *((one, sex) for one in REGIONS for sex in SEXES)]
    levels = (groups[:1], groups[1:5], groups[5:])
    truth = [[count_all(rows, *group) for group in level] for level in levels]
    held: dict[str, list[bool]] = {name: [] for name in ("n", "people", "paid", "owed", "of the total", "inside")}
    for _ in range(DRAWINGS):
        drawn = [add_noise(one, noise.law, scale) for one, scale in zip(found, noise.scales, strict=True)]
        made_of = estimate(shape, noise, drawn)
        for level, answers in enumerate(truth):
            for place, name in enumerate(("n", "people", "paid", "owed")):
                (one,) = made_of[0, level, place]
                whole = np.array([answer[name] for answer in answers])
                held[name] += (one.high >= whole if name == "owed" else one.low <= whole).tolist()
                if name == "n":
                    held["inside"] += ((one.low <= whole) & (whole <= one.high)).tolist()
                if name == "people":
                    held["of the total"] += (whole <= made_of[0, 0, place][0].high).tolist()
    for name in ("n", "people", "paid", "owed", "of the total"):
        # The eight finest groups of 60 drawings are independent: a mean below 0.9 in place of 0.975 is beyond 1e-6.
        assert np.mean(held[name]) >= 0.9, name
    assert (np.mean(held["inside"]) < 0.85) == (heavy > 1)  # the truth is beyond the other end where rows are cut


def test_the_share_that_is_kept_bounds_no_number_of_rows(shared_db: Any, tmp_path: Path) -> None:
    rows = [(pid, "north", "F", 5, 5.0) for pid in range(99)] + [(99, "north", "F", 5, 5.0)] * 900
    made = Made(shared_db, tmp_path, rows, more="kept: true")
    shape = shape_of(made.spec)
    *counts, kept, persons = exact(shared_db, shape, made.source)
    share = float(kept[0]) / KEPT_STEPS / float(persons[0])
    assert share > 0.99
    counted = int(counts[shape.find_series(0, 0, 0, "rows")][0])
    assert counted == 101
    assert counted / share < len(rows) / 9


@pytest.mark.every_engine
def test_metadata_answers_and_reports_say_which_ends_hold(shared_db: Any, tmp_path: Path) -> None:
    rows = events(400)
    asked = {"measures": MEASURES, "epsilon": "3", "tables": "[{by: [region]}]", "groups": "{region: [north, south]}"}
    made = Made(shared_db, tmp_path, rows, **asked)
    made.run()
    view = f"release.{made.view}"
    (said,) = [one for one in read_table(shared_db, ("release", f"{made.view}_metadata")) if one["column_name"] == ""]
    known = {one["name"]: one["before_bounding"] for one in json.loads(said["published"])["statistics"]["measures"]}
    assert known == {
        "n": {"at_least": "low", "at_most": None},
        "people": {"at_least": "low", "at_most": "high of the total"},
        "paid": {"at_least": "low", "at_most": None},
        "owed": {"at_least": None, "at_most": "high"},
        "total": {"at_least": None, "at_most": None},
        "mean": {"at_least": None, "at_most": None},
    }
    asked_for = "count(*) AS n, sum(people) AS people, sum(paid) AS paid, sum(owed) AS owed, sum(total) AS total"
    answer = shared_db.query(f"SELECT {asked_for}, avg(mean) AS mean FROM {view}")
    (row,) = answer.rows
    held = {name: row[name].interval.before_bounding for name in row}
    assert held == {"n": "low", "people": "both", "paid": "low", "owed": "high", "total": "", "mean": ""}
    # The groups add up: the truth is that of all their rows, far beyond the noise.
    of_groups = [count_all(rows, region, None) for region in ("north", "south")]
    whole = {name: sum(one[name] for one in of_groups) for name in ("n", "paid", "owed")}
    assert row["n"].interval.low < row["n"].interval.high < whole["n"]
    assert row["paid"].interval.low < row["paid"].interval.high < whole["paid"]
    assert row["owed"].interval.high > row["owed"].interval.low > whole["owed"]
    text = describe_bounding(answer)
    assert "n: the low end; people: both ends; paid: the low end; owed: the high end; total: no end" in text
    (one,) = shared_db.query(f"SELECT sum(people) AS people FROM {view} WHERE region = 'north'").rows
    assert one["people"].interval.before_bounding == "low"
    for asked_of in ((made.name, "owner"), (view, "readers")):
        report = shared_db.report(asked_of[0], audience=asked_of[1], form="md")
        assert "how far it is beyond them no interval can say" in report
        assert "high of the total" in report
