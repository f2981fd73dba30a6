"""The cost of linking in docs/threat-model.md is the measured one.

The example of two tables joins them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlanon
from benchmarks import linking
from examples.hospital import run as hospital
from sqlanon.policy import load

ROOT = Path(__file__).parents[2]


def test_the_figures_of_the_threat_model_are_those_of_the_file() -> None:
    runs = json.loads((ROOT / "benchmarks/results/linking.json").read_text())["runs"]
    text = (ROOT / "docs/threat-model.md").read_text()
    for first, second in zip(runs[::2], runs[1::2], strict=True):
        assert first["way"] == second["way"]
        assert f"| {first['way']} | {first['gcp']:.3f} | {second['gcp']:.3f} | {second['left_out']:.1%} |\n" in text


@pytest.mark.thorough
def test_the_benchmark_and_the_example_run(tmp_path: Path) -> None:
    linking.main(["--persons", "700", "--out", str(tmp_path / "linking.json")])
    assert len(json.loads((tmp_path / "linking.json").read_text())["runs"]) == 8
    policy = load(Path(hospital.__file__).with_name("anon.yml"), {"SQLANON_EXAMPLE_DB": "duckdb:///:memory:"})
    with sqlanon.connect("duckdb:///:memory:") as db:
        hospital.fill(db, 700)
        db.run_tables(policy.releases)
        joined = db.engine.fetch(hospital.JOIN)
    assert joined
    assert all(int(str(stays)) >= int(str(patients)) >= 10 for _, patients, stays in joined)
