"""Contributions by weight: every person's part is scaled to a norm, which nobody exceeds, and nobody's rows are cut."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.noisy import answers as answering
from sqlanon.noisy.shape import WEIGHT_STEPS, shape_of
from sqlanon.release.budget.ledger import Ledger
from sqlanon.release.versions import noisy
from tests.contract.noisy_releases import REGIONS, Made, Rows, exact, stays
from tests.contract.test_noisy import ADVERSARIAL, cell_of, check_every_person, units
from tests.contract.test_noisy_readers import attack

pytest.importorskip("opendp")

WEIGHT = 2
MEASURES = (
    "{n: rows, people: persons, total: {sum: cost, range: [-10, 50]}, cost: {mean: cost, range: [0, 20]}, "
    "paid: {quantiles: [0.5], of: cost, range: [0, 20], steps: 4}}"
)
ASKED: dict[str, Any] = {
    "contributions": f"{{weight: {WEIGHT}}}",
    "tables": "[{by: [region, sex], totals: false}]",
    "measures": MEASURES,
}


def weigh(number: int, squares: int) -> int:
    """A number of a person with such a sum of squares, in whole parts, from the words of noisy/bounded_by_weight."""
    if squares <= WEIGHT**2:
        return number * WEIGHT_STEPS
    size = 2**16
    root = math.isqrt(squares * size**2)
    root += int(root**2 < squares * size**2) + 1
    return int(math.copysign(abs(number) * WEIGHT * WEIGHT_STEPS * size // root, number))


def expected_of(rows: Rows) -> dict[str, list[int]]:
    """The weighed sums of each finest group."""
    persons: dict[Any, dict[int, Rows]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cell = cell_of(row)
        if cell is not None:
            persons[row[0]][cell].append(row)
    found = {part: [0] * (2 * len(REGIONS)) for part in ("rows", "persons", "sum", "values", "centered")}
    for cells in persons.values():
        squares = sum(len(own) ** 2 for own in cells.values())
        for cell, own in cells.items():
            sums = [value for row in own if (value := units(row[4], -10, 50)) is not None]
            means = [value for row in own if (value := units(row[4], 0, 20)) is not None]
            found["rows"][cell] += weigh(len(own), squares)
            found["persons"][cell] += weigh(1, len(cells))
            found["sum"][cell] += weigh(sum(sums), squares)
            found["values"][cell] += weigh(len(means), squares)
            found["centered"][cell] += weigh(sum(2 * one - 20 for one in means), squares)
    return found


def test_weighed_answers_are_those_of_all_rows_of_each_person(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("weight", 30, 20) + [(99, "north", "F", 5, 50.0)] * 5000
    made = Made(shared_db, tmp_path, rows, **ASKED)
    shape = shape_of(made.spec)
    expected = expected_of(rows)
    for one, found in zip(shape.series, exact(shared_db, shape, made.source), strict=True):
        if one.table == 0:
            assert list(map(int, found)) == expected[one.part], one


SPREAD: dict[str, Rows] = {
    **ADVERSARIAL,
    "as many rows as groups": [
        (99, r, s, 5, 50.0) for at, r in enumerate(REGIONS) for s in "FM" for _ in range(1 + 7 * at)
    ],
    "just above the weight": [(99, "north", "F", 5, 50.0)] * WEIGHT + [(99, "south", "F", 5, -50.0)],
    "very many": [(99, "north", "F", 5, 50.0)] * 3000 + [(99, "south", "F", 5, 0.0)] * 2999,
}


@pytest.mark.thorough
def test_one_person_changes_no_more_than_the_weight(shared_db: Any, tmp_path: Path) -> None:
    check_every_person(shared_db, tmp_path, stays("weigh one", 1) + SPREAD["just above the weight"], **ASKED)


@pytest.mark.thorough
@pytest.mark.parametrize("name", SPREAD)
def test_nobody_changes_more_than_the_weight(name: str, shared_db: Any, tmp_path: Path) -> None:
    check_every_person(shared_db, tmp_path, stays(name, 6, 30) + SPREAD[name], **ASKED)


def test_no_root_that_is_rounded_lets_a_norm_exceed_the_weight() -> None:
    """The root of a floating-point number is off by a part in 2^52; brute force over persons of all sizes."""
    draw = random.Random(5)
    for _ in range(20_000):
        counts = [draw.randrange(1, 2 ** draw.randrange(1, 32)) for _ in range(draw.randrange(1, 5))]
        squares = sum(one**2 for one in counts)
        root = math.ceil(math.sqrt(float(squares)) * 65536) + 1
        parts = [one * WEIGHT * WEIGHT_STEPS * 65536 // root for one in counts]
        if squares > WEIGHT**2:
            assert sum(one**2 for one in parts) <= (WEIGHT * WEIGHT_STEPS) ** 2


@pytest.mark.thorough
def test_weighed_statistics_are_published_in_rows(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noisy, "add_noise", lambda answers, *_: answers)
    rows = [(pid, "north", "F", 5, 10.0) for pid in range(50)] + [(pid, "south", "M", 5, 4.0) for pid in range(50)]
    rows += [(99, region, "F", 5, 20.0) for region in REGIONS[:2] for _ in range(8)]
    made = Made(shared_db, tmp_path, rows, **(ASKED | {"more": "kept: true"}))
    report = made.run()
    found = {(row["region"], row["sex"]): row for row in made.rows()}
    north = found["north", "F"]
    share = WEIGHT / math.sqrt(128)
    assert north["n"] == pytest.approx(50 + 8 * share, rel=1e-3)
    assert north["people"] == pytest.approx(51, rel=1e-3)
    assert north["total"] == pytest.approx(500 + 160 * share, rel=1e-3)
    assert north["cost"] == pytest.approx((500 + 160 * share) / (50 + 8 * share), rel=1e-3)
    assert north["n_low"] < north["n"] < north["n_high"]
    assert report.noisy.kept == pytest.approx((50 + share) / 51, abs=2e-3)
    answer = shared_db.query(f"SELECT count(*) AS n FROM release.{made.view} WHERE sex = 'F'").to_dict()["rows"][0]["n"]
    assert answer["estimate"] == pytest.approx(50 + 16 * share, rel=1e-3)
    assert "are counted, with weight 2 (exact, for the owner alone)" in shared_db.plan(made.spec).notes[-1]


@pytest.mark.thorough
def test_a_reader_of_weighed_statistics_learns_no_more_than_is_claimed(shared_db: Any, tmp_path: Path) -> None:
    asked = {key: value for key, value in ASKED.items() if key != "measures"}
    found, claimed = attack(shared_db, tmp_path, law="gaussian", measures="{n: rows}", **asked)
    assert found < claimed


@pytest.mark.thorough
def test_rows_that_are_not_scaled_are_noticed(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The naive variant: noise for the weight, and all rows of everybody count as they are."""
    made = Made(shared_db, tmp_path, ADVERSARIAL["many rows of every group"], **ASKED)
    context = answering._context
    monkeypatch.setattr(answering, "_context", lambda *given: context(*given) | {"weight": 1000})
    with pytest.raises(PrivacyViolation, match="a person contributes more than the noise is drawn for"):
        made.run()
    assert made.states() == ["withheld"]


REFUSED = {
    "with groups": ({"contributions": "{weight: 2, groups: 3}"}, "weight together with groups or rows"),
    "totals": ({"tables": "[{by: [region, sex]}]"}, "totals weigh more than their parts"),
    "no delta": ({"budget": "epsilon: 3"}, "needs the budget's delta"),
    "running": ({"measures": "{n: persons}", "more": "running: {nights: 3}"}, "running counts count a person once"),
    "a wide range": ({"measures": "{c: {sum: cost, range: [0, 100000000]}}"}, "weight times range is above"),
    "nothing": ({"contributions": "{}"}, "is missing"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_weighed_is_refused(what: str, shared_db: Any, tmp_path: Path) -> None:
    asked, text = REFUSED[what]
    made = Made(shared_db, tmp_path, [], **(ASKED | asked))
    with pytest.raises(PolicyError, match=text) as raised:
        made.run()
    assert len(raised.value.problems) == (2 if what == "nothing" else 1)
    assert made.budget not in Ledger(shared_db.engine).read()


def test_noise_of_a_weight_is_in_rows(shared_db: Any, tmp_path: Path) -> None:
    """One count of weight 2 has the noise of one group of 2 rows a person."""
    asked = ASKED | {"measures": "{n: rows}"}
    weighed = Made(shared_db, tmp_path, [], **asked).spec
    counted = Made(
        shared_db,
        tmp_path,
        [],
        **(asked | {"contributions": "{groups: 1, rows: 2}", "more": "noise: gaussian\n      kept: false"}),
    ).spec
    scales = [
        float(noisy.noise_of(shape).scales[0] / shape.series[0].steps) for shape in map(shape_of, (weighed, counted))
    ]
    # A fine scale is charged less: of the coarse one a variance of 3/2 is that of rounding.
    assert scales[0] <= scales[1] <= math.sqrt(scales[0] ** 2 + 1.5) * 1.001
