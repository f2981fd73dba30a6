"""The benchmark of method fulldomain: its table, and the command on small tables."""

import json

import pytest

from benchmarks.lattice import CASES, judged, main
from benchmarks.report_lattice import SECTIONS

FACTS = {
    "command": "c",
    "date": "d",
    "versions": {"python": "3", "duckdb": "2"},
    "machine": {"cores": 2, "processor": "p", "memory_gib": 16},
}


def one(part, method, seconds, **more):
    return {
        "part": part,
        "method": method,
        "refine": False,
        "k": 10,
        "suppressed": 0,
        "rows": 5_000_000,
        "classes": 9,
        "lm": 0.25,
        "most_lm": None,
        "processor_seconds": seconds,
        "most_seconds": None,
        "gib": 1.0,
        "verified": True,
        **more,
    }


def test_table(tmp_path):
    found = [
        one("admissions", "tree:minimize=gcp", 4.0),
        one("admissions", "fulldomain:search=local", 6.0),
        one("adult", "fulldomain:search=global,metric=dm", 0.5, suppressed=50_000, most_seconds=0.4),
        one("adult", "fulldomain:search=local", 0.5, most_lm=0.3),
    ]
    judged(found, {"admissions": 5_000_000})
    (tmp_path / "lattice.json").write_text(json.dumps({**FACTS, "results": found}))
    lines = SECTIONS["lattice"](tmp_path).splitlines()
    assert (
        "| admissions, 5,000,000 | fulldomain local | k = 10 | **0.2500** | - | 6.00 | - | yes: 1.50 times tree's |"
        in lines
    )
    assert (
        "| adult, 5,000,000 | fulldomain global | k = 10, 1.0% suppressed | **0.2500** | - | 0.50 | 0.4 | **no** |"
        in lines
    )
    assert "| adult, 5,000,000 | fulldomain local | k = 10 | **0.2500** | 0.3 | 0.50 | - | yes |" in lines


@pytest.mark.thorough
def test_quick_run(tmp_path):
    out = tmp_path / "lattice.json"
    assert main(["--only", "admissions", "--rows", "2000", "--out", str(out)]) == 0
    found = json.loads(out.read_text())["results"]
    assert len(found) == sum(case.part == "admissions" for case in CASES)
    assert all(one["verified"] and one["met"] is None for one in found)
    assert len(SECTIONS["lattice"](tmp_path).splitlines()) == len(found) + 4
