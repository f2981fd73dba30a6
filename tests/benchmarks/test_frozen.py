"""The benchmark of frozen refreshes on few rows and nights, and its own figures."""

import json

import numpy as np
import pytest

from benchmarks.frozen import cohort_rows, stopped
from benchmarks.frozen import main as benchmark
from benchmarks.nights import SETTINGS, Source, gcp
from examples.nightly.frozen import lifetime
from examples.nightly.frozen import main as example
from tests.benchmarks.commands import command


def test_a_night_changes_what_its_setting_says():
    source = Source(1000)
    before = dict(zip(source.columns["id"].tolist(), rows_of(source), strict=True))
    source.night(SETTINGS[-1])
    after = dict(zip(source.columns["id"].tolist(), rows_of(source), strict=True))
    assert after.keys() - before.keys() == set(range(1000, 1010))
    assert len(before.keys() - after.keys()) == 5
    assert 1 <= sum(before[key] != after[key] for key in before.keys() & after.keys()) <= 5


def rows_of(source):
    names = [name for name in source.columns if name != "id"]
    return list(zip(*(source.columns[name].tolist() for name in names), strict=True))


def test_gcp_is_the_mean_of_widths():
    source = Source(500)
    whole, point = [], []
    for name in list(source.columns)[:7]:
        values = source.columns[name]
        whole += [values.min(), values.max()]
        point += [values.min(), values.min()]
    assert gcp(np.array([[*whole, 5]], dtype=np.int64), source) == 1
    assert gcp(np.array([[*whole, 5], [*point, 15]], dtype=np.int64), source) == 0.25


def test_the_night_that_a_limit_stops():
    none = {"stale": 0.0, "retained": 0.0, "waiting": 0.0}
    lines = [{"night": night, **none, "stale": night / 50} for night in range(8)]
    found = stopped(lines)
    assert found["max_stale"] == {"0.05": 3, "0.1": 6, "0.2": None}
    assert found["max_retained"] == {"0.05": None, "0.1": None, "0.2": None}


def test_a_cohort_of_three_nights_is_due_in_the_third():
    assert 2 * 300 < cohort_rows(30_000, SETTINGS[0], 3) <= 3 * 300


@pytest.mark.parametrize("words", [("--nights", "0"), ("--rows", "-1"), ("--repeat", "0")])
def test_nothing_is_measured_of_no_nights(words, capsys):
    with pytest.raises(SystemExit) as ended:
        benchmark(["--only", "drift", *words])
    assert ended.value.code == 2
    assert f"{words[0]}: at least 1" in capsys.readouterr().err


@pytest.mark.thorough
def test_the_example_prints_a_line_a_night(capsys):
    assert example(["--rows", "200", "--nights", "1", "--cohort", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("=== a night:") == len(SETTINGS)
    assert [line.split()[:2] for line in shown.splitlines() if line.startswith(" " * 4 + "1 ")] == [
        ["1", str(202 - round(setting.deleted * 200))] for setting in SETTINGS
    ]
    assert lifetime({"max_stale": {"0.05": 3, "0.1": None}}) == ["max_stale: 5% would stop night 3, 10% is not reached"]


@pytest.mark.thorough
def test_frozen(tmp_path):
    command("benchmarks.frozen", "--quick", "--out", str(tmp_path))
    found = json.loads((tmp_path / "frozen_drift.json").read_text())
    assert len(found["runs"]) == 2 * len(SETTINGS)
    for one in found["runs"]:
        assert one["failing"] == 0
        assert one["ratio"] >= 1
        assert [night["waiting"] > 0 for night in one["nights"]] == [False, True, True, False]
        assert one["nights"][-1]["full_failing"] > 0
    assert [one["cohort_nights"] for one in found["curve"]] == [1, 3]
    found = json.loads((tmp_path / "frozen_year.json").read_text())
    assert found["failing"] == 0
    assert [night["night"] for night in found["nights"]] == [0, 3]
    found = json.loads((tmp_path / "frozen_cost.json").read_text())
    assert found["best"]["frozen"]["entered"] == 50
    assert found["cpu_seconds_ratio"] > 0
