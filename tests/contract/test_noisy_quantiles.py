"""Quantiles of noisy statistics on every engine: which rows are in which step, and what is published."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from sqlanon.noisy.draw import add_noise
from sqlanon.noisy.published_values import estimate
from sqlanon.noisy.shape import shape_of
from sqlanon.noisy.split import noise_of
from sqlanon.release.versions import noisy
from tests.contract.noisy_releases import Made, Rows, exact, stays
from tests.engines import create_table

pytest.importorskip("opendp")

ASKED = {
    "measures": "{n: rows, cost: {quantiles: [0.5, 0.9], range: [0, 20], steps: 4}}",
    "groups": "{sex: [F, M]}",
    "tables": "[{by: [sex]}]",
}


def step(cost: float | None) -> int | None:
    """The step of a value of steps of 5, whose ends take what is beyond."""
    return None if cost is None or math.isnan(cost) else max(0, min(3, math.floor(min(max(cost, -100), 100) / 5)))


@pytest.mark.every_engine
def test_rows_are_in_their_steps(shared_db: Any, tmp_path: Path) -> None:
    draw = random.Random(8)
    costs = [None, math.nan, math.inf, -math.inf, -0.5, 0.0, 4.999, 5.0, 19.9, 20.0, 1e300]
    rows: Rows = [(pid, "north", draw.choice("FM"), 5, draw.choice(costs)) for pid in range(60)]
    made = Made(shared_db, tmp_path, rows, contributions="{groups: 1, rows: 1}", **ASKED)
    shape = shape_of(made.spec)
    answers = exact(shared_db, shape, made.source)
    finest = {one.measure: answer for one, answer in zip(shape.series, answers, strict=True) if one.level == 1}
    expected = [sum(row[2] == sex and step(row[4]) == at for row in rows) for at in range(4) for sex in "FM"]
    assert finest[1].tolist() == expected


@pytest.mark.every_engine
def test_without_noise_they_are_those_of_the_rows(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noisy, "add_noise", lambda counts, *_: counts)
    monkeypatch.setattr(noisy, "try_law", lambda *_: None)
    draw = random.Random(9)
    rows: Rows = [(pid, "north", draw.choice("FM"), 5, float(draw.randrange(25))) for pid in range(80)]
    made = Made(shared_db, tmp_path, rows, contributions="{groups: 1, rows: 1}", **ASKED)
    made.run()
    for row in made.rows():
        values = sorted(min(cost, 20.0) for _, _, sex, _, cost in rows if row["sex"] in (None, sex))
        for name, share in (("cost_p50", 0.5), ("cost_p90", 0.9)):
            own = values[math.ceil(share * len(values)) - 1]
            at = step(own)
            assert at is not None
            assert 5 * at <= row[name] <= 5 * (at + 1)
            assert row[f"{name}_low"] <= own <= row[f"{name}_high"]


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("{quantiles: [0.5], range: [0, 1]}", "less than two units"),
        ("{quantiles: [1], range: [0, 9]}", "no quantiles"),
        ("{quantiles: [0.9, 0.5], range: [0, 9]}", "no quantiles"),
        ("{quantiles: [0.5]}", "never taken from the data"),
        ("{sum: cost, of: cost, range: [0, 9]}", "only quantiles name their column"),
        ("{mean: cost, quantiles: [0.5], range: [0, 9]}", "mean, quantiles together"),
        ("{quantiles: [0.5], of: sex, range: [0, 9]}", "are of numbers"),
    ],
)
def test_what_is_no_quantile_is_refused(measure: str, text: str, shared_db: Any, tmp_path: Path) -> None:
    made = Made(shared_db, tmp_path, [], measures=f"{{cost: {measure}}}")
    with pytest.raises(Exception, match=text):
        made.run()


def test_a_person_of_all_steps_changes_no_more_than_the_norms(shared_db: Any, tmp_path: Path) -> None:
    rows = stays("steps", 6)
    victim = [(99, "north", sex, 5, float(cost)) for sex in "FM" for cost in range(0, 25, 2) for _ in range(3)]
    made = Made(shared_db, tmp_path, rows + victim, **ASKED)
    shape = shape_of(made.spec)
    whole = exact(shared_db, shape, made.source)
    other = f"without_{made.source}"
    create_table(
        shared_db,
        other,
        {"pid": "INTEGER", "region": "TEXT", "sex": "TEXT", "age": "INTEGER", "cost": "DOUBLE PRECISION"},
        rows,
    )
    for one, a, b in zip(shape.series, whole, exact(shared_db, shape, other), strict=True):
        change = [abs(int(x) - int(y)) for x, y in zip(a, b, strict=True)]
        assert sum(change) <= one.l1
        assert sum(x * x for x in change) <= one.l2
        assert one.measure == 0 or sum(change) == one.l1  # the person has more than counts


@pytest.mark.thorough
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_intervals_contain_the_step_of_the_counted_rows(law: str, shared_db: Any, tmp_path: Path) -> None:
    draw = random.Random(4)
    rows: Rows = [(pid, "north", draw.choice("FM"), 5, draw.expovariate(0.15)) for pid in range(400)]
    asked: dict[str, Any] = ASKED | {"measures": "{n: rows, cost: {quantiles: [0.5, 0.9], range: [0, 20], steps: 10}}"}
    more = f"noise: {law}\n      kept: false"
    made = Made(shared_db, tmp_path, rows, contributions="{groups: 1, rows: 1}", more=more, **asked)
    shape = shape_of(made.spec)
    found, noise = exact(shared_db, shape, made.source), noise_of(shape)
    ends = [float(end) for end in shape.spec.measures[1].ends]
    inside = total = 0
    for _ in range(150):
        drawn = [add_noise(one, noise.law, scale) for one, scale in zip(found, noise.scales, strict=True)]
        made_of = estimate(shape, noise, drawn)
        for level, size in enumerate((1, 2)):
            counts = found[shape.find_series(shape.steps(0, 1), level, 1, "rows")].reshape(-1, size)
            for share, one in zip((0.5, 0.9), made_of[0, level, 1], strict=True):
                for group in range(size):
                    below = counts[:, group].cumsum()
                    at = int((below < share * below[-1]).sum())
                    inside += one.low[group] <= ends[at] and ends[at + 1] <= one.high[group]
                    total += 1
    assert inside / total > 0.9, inside / total  # the claim is 0.95, and those of one drawing depend on each other
